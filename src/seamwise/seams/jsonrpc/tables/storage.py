"""What a failing store is on JSON-RPC: to MCP its records are resources, so what is not there is the protocol's own error."""

from collections.abc import Mapping

from seamwise.catalog.storage import RecordExists, RecordNotFound, StorageError, StoreClosed, StoreUnavailable
from seamwise.seams.adapter import Adapter
from seamwise.seams.jsonrpc.codes import Revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.jsonrpc.tables._dialects import Dialect, by_revision


def _storage(to: Dialect) -> Adapter[StorageError, Answer]:
    return (
        to.on(RecordNotFound).fails(known_as='ResourceNotFound')
        | to.on(RecordExists).fails()
        | to.on(StoreClosed).fails()
        | to.on(StoreUnavailable).fails()
    )


STORAGE: Mapping[Revision, Adapter[StorageError, Answer]] = by_revision(_storage)
