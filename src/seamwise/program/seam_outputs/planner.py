"""Output of a call at the planner seam."""

from typing import assert_never

from seamwise.containers import Failure, Success
from seamwise.program.outputs import CallResult, Defect
from seamwise.seams import planner
from seamwise.seams.planner import tables

TABLE = tables.TOOLS | tables.PARSING | tables.GUARDS


def output(result: CallResult) -> planner.ErrorInfo | None:
    """Return the error of a call, or None after a success."""
    match result.outcome:
        case Success():
            return None
        case Failure(error):
            return planner.from_error(error, adapter=TABLE)
        case Defect(ref=ref):
            return planner.defect(ref)
        case _:
            assert_never(result.outcome)
