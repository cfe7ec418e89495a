"""What a caller who is not let in is on JSON-RPC: turned away before any tool, so an error in MCP too."""

from collections.abc import Mapping

from seamwise.catalog.access import AccessDenied, AccessError, Unauthenticated
from seamwise.seams.adapter import Adapter
from seamwise.seams.jsonrpc.codes import Revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.jsonrpc.tables._dialects import Dialect, by_revision


def _access(to: Dialect) -> Adapter[AccessError, Answer]:
    return to.on(Unauthenticated).fails() | to.on(AccessDenied).fails()


ACCESS: Mapping[Revision, Adapter[AccessError, Answer]] = by_revision(_access)
