"""Output of a call at the planner seam."""

from typing import assert_never

from seamwise._results.containers import Failure, Success
from seamwise.program.outputs import CallResult, Defect
from seamwise.seams import planner
from seamwise.seams.planner import tables
from seamwise.seams.planner.decisions import POSSIBLE_EFFECT
from seamwise.seams.planner.shape import with_details

TABLE = tables.TOOLS | tables.PARSING | tables.GUARDS


def output(result: CallResult) -> planner.ErrorInfo | None:
    """Return the error of a call, or None after a success."""
    match result.outcome:
        case Success():
            return None
        case Failure(error):
            info = TABLE(error)
            if result.may_have_taken_effect:
                return with_details(info, {**info.details, POSSIBLE_EFFECT: True})
            return info
        case Defect(ref=ref):
            return planner.defect(ref)
        case _:
            assert_never(result.outcome)
