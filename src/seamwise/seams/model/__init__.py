"""Model seam: failures as guidance for language models, and results as provider messages."""

from seamwise.seams.model.messages import tool_message as tool_message
from seamwise.seams.model.on import on as on
from seamwise.seams.model.shape import Done as Done
from seamwise.seams.model.shape import Guidance as Guidance
from seamwise.seams.model.shape import defect as defect
from seamwise.seams.model.shape import encode as encode
from seamwise.seams.model.token_budget import tokens as tokens
