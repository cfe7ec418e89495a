"""What each error of the catalogue is to a planner: one file a union, one table each."""

from seamwise.seams.planner.tables.access import ACCESS as ACCESS
from seamwise.seams.planner.tables.agents import AGENTS as AGENTS
from seamwise.seams.planner.tables.guards import GUARDS as GUARDS
from seamwise.seams.planner.tables.models import MODELS as MODELS
from seamwise.seams.planner.tables.network import NETWORK as NETWORK
from seamwise.seams.planner.tables.parsing import PARSING as PARSING
from seamwise.seams.planner.tables.protocols import A2A as A2A
from seamwise.seams.planner.tables.protocols import LSP as LSP
from seamwise.seams.planner.tables.protocols import MCP as MCP
from seamwise.seams.planner.tables.sessions import SESSIONS as SESSIONS
from seamwise.seams.planner.tables.storage import STORAGE as STORAGE
from seamwise.seams.planner.tables.streaming import STREAMING as STREAMING
from seamwise.seams.planner.tables.tools import TOOLS as TOOLS
from seamwise.seams.planner.tables.workspace import WORKSPACE as WORKSPACE
