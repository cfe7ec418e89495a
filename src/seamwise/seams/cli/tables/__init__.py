"""How each error of the catalogue looks at a terminal: one file a union, one table.

Exit codes follow sysexits.h: 2 usage, 65 bad data, 66 no input, 69 unavailable, 73 cannot create, 75 later perhaps, 77 no
permission, 78 configuration; 124 is what timeout(1) gives, 130 what a shell says of Ctrl-C; 1 is for the rest.
"""

from seamwise.seams.cli.tables.access import ACCESS as ACCESS
from seamwise.seams.cli.tables.agents import AGENTS as AGENTS
from seamwise.seams.cli.tables.guards import GUARDS as GUARDS
from seamwise.seams.cli.tables.models import MODELS as MODELS
from seamwise.seams.cli.tables.network import NETWORK as NETWORK
from seamwise.seams.cli.tables.parsing import PARSING as PARSING
from seamwise.seams.cli.tables.protocols import A2A as A2A
from seamwise.seams.cli.tables.protocols import LSP as LSP
from seamwise.seams.cli.tables.protocols import MCP as MCP
from seamwise.seams.cli.tables.sessions import SESSIONS as SESSIONS
from seamwise.seams.cli.tables.storage import STORAGE as STORAGE
from seamwise.seams.cli.tables.streaming import STREAMING as STREAMING
from seamwise.seams.cli.tables.tools import TOOLS as TOOLS
from seamwise.seams.cli.tables.workspace import WORKSPACE as WORKSPACE
