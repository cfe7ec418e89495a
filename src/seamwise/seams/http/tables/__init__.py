"""What each error of the catalogue is to an HTTP client: one file a union, one table or, by revision, one mapping."""

from seamwise.seams.http.tables.access import ACCESS as ACCESS
from seamwise.seams.http.tables.agents import AGENTS as AGENTS
from seamwise.seams.http.tables.guards import GUARDS as GUARDS
from seamwise.seams.http.tables.models import MODELS as MODELS
from seamwise.seams.http.tables.network import NETWORK as NETWORK
from seamwise.seams.http.tables.parsing import PARSING as PARSING
from seamwise.seams.http.tables.protocols import A2A as A2A
from seamwise.seams.http.tables.protocols import A2A_LATEST as A2A_LATEST
from seamwise.seams.http.tables.protocols import LSP as LSP
from seamwise.seams.http.tables.protocols import MCP as MCP
from seamwise.seams.http.tables.sessions import SESSIONS as SESSIONS
from seamwise.seams.http.tables.storage import STORAGE as STORAGE
from seamwise.seams.http.tables.streaming import STREAMING as STREAMING
from seamwise.seams.http.tables.tools import TOOLS as TOOLS
from seamwise.seams.http.tables.workspace import WORKSPACE as WORKSPACE
