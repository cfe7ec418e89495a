"""What a language model is told of each error of the catalogue: one file a union, one table each."""

from seamwise.seams.model.tables.access import ACCESS as ACCESS
from seamwise.seams.model.tables.agents import AGENTS as AGENTS
from seamwise.seams.model.tables.guards import GUARDS as GUARDS
from seamwise.seams.model.tables.models import MODELS as MODELS
from seamwise.seams.model.tables.network import NETWORK as NETWORK
from seamwise.seams.model.tables.parsing import PARSING as PARSING
from seamwise.seams.model.tables.protocols import A2A as A2A
from seamwise.seams.model.tables.protocols import LSP as LSP
from seamwise.seams.model.tables.protocols import MCP as MCP
from seamwise.seams.model.tables.sessions import SESSIONS as SESSIONS
from seamwise.seams.model.tables.storage import STORAGE as STORAGE
from seamwise.seams.model.tables.streaming import STREAMING as STREAMING
from seamwise.seams.model.tables.tools import TOOLS as TOOLS
from seamwise.seams.model.tables.workspace import WORKSPACE as WORKSPACE
