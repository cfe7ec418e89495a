"""What the refusal of a guard is on JSON-RPC."""

from collections.abc import Mapping

from seamwise.policies import BulkheadFull, CircuitOpen, DeadlineExceeded, GuardError, RateLimited
from seamwise.seams.adapter import Adapter
from seamwise.seams.jsonrpc.codes import Revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.jsonrpc.tables._dialects import Dialect, by_revision
from seamwise.seams.model import tables as model


def _guards(to: Dialect) -> Adapter[GuardError, Answer]:
    return (
        to.on(RateLimited).fails(model.GUARDS)
        | to.on(CircuitOpen).fails(model.GUARDS)
        | to.on(BulkheadFull).fails(model.GUARDS)
        | to.on(DeadlineExceeded).fails(model.GUARDS)
    )


GUARDS: Mapping[Revision, Adapter[GuardError, Answer]] = by_revision(_guards)
