"""What a session is sent of each error of the catalogue: one file a union."""

from seamwise.seams.session.tables.access import ACCESS as ACCESS
from seamwise.seams.session.tables.agents import AGENTS as AGENTS
from seamwise.seams.session.tables.guards import GUARDS as GUARDS
from seamwise.seams.session.tables.models import MODELS as MODELS
from seamwise.seams.session.tables.network import NETWORK as NETWORK
from seamwise.seams.session.tables.parsing import PARSING as PARSING
from seamwise.seams.session.tables.protocols import A2A as A2A
from seamwise.seams.session.tables.protocols import LSP as LSP
from seamwise.seams.session.tables.protocols import MCP as MCP
from seamwise.seams.session.tables.sessions import SESSIONS as SESSIONS
from seamwise.seams.session.tables.storage import STORAGE as STORAGE
from seamwise.seams.session.tables.streaming import STREAMING as STREAMING
from seamwise.seams.session.tables.tools import TOOLS as TOOLS
from seamwise.seams.session.tables.workspace import WORKSPACE as WORKSPACE
