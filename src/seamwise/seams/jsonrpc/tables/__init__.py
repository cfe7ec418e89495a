"""What each error of the catalogue is on JSON-RPC: one file a union, one mapping by protocol and revision a table."""

from seamwise.seams.jsonrpc.tables.access import ACCESS as ACCESS
from seamwise.seams.jsonrpc.tables.agents import AGENTS as AGENTS
from seamwise.seams.jsonrpc.tables.guards import GUARDS as GUARDS
from seamwise.seams.jsonrpc.tables.models import MODELS as MODELS
from seamwise.seams.jsonrpc.tables.network import NETWORK as NETWORK
from seamwise.seams.jsonrpc.tables.parsing import PARSING as PARSING
from seamwise.seams.jsonrpc.tables.protocols import A2A as A2A
from seamwise.seams.jsonrpc.tables.protocols import A2A_LATEST as A2A_LATEST
from seamwise.seams.jsonrpc.tables.protocols import LSP as LSP
from seamwise.seams.jsonrpc.tables.protocols import MCP as MCP
from seamwise.seams.jsonrpc.tables.sessions import SESSIONS as SESSIONS
from seamwise.seams.jsonrpc.tables.storage import STORAGE as STORAGE
from seamwise.seams.jsonrpc.tables.streaming import STREAMING as STREAMING
from seamwise.seams.jsonrpc.tables.tools import TOOLS as TOOLS
from seamwise.seams.jsonrpc.tables.workspace import WORKSPACE as WORKSPACE
