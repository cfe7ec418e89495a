"""The model's seam: a failure as guidance for a language model, and either result as a provider's message."""

from seamwise.seams.model.messages import tool_message as tool_message
from seamwise.seams.model.on import on as on
from seamwise.seams.model.shape import Done as Done
from seamwise.seams.model.shape import Guidance as Guidance
from seamwise.seams.model.shape import defect as defect
from seamwise.seams.model.shape import encode as encode
from seamwise.seams.model.token_budget import tokens as tokens
