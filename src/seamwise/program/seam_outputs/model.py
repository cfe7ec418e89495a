"""Output of a call at the model seam."""

from typing import assert_never

from msgspec.structs import replace

from seamwise._results.containers import Failure, Success
from seamwise.program.outputs import CallError, CallResult, Defect, retry_summary
from seamwise.seams import model
from seamwise.seams.model import tables
from seamwise.seams.model.suggestions import advise_check

TABLE = tables.TOOLS | tables.PARSING | tables.GUARDS


def output(result: CallResult) -> model.Done[object] | model.Guidance:
    """Return the value of a call, or the guidance after a failure."""
    match result.outcome:
        case Success(value):
            return model.Done(value)
        case Failure(error):
            return guide(result, error)
        case Defect(ref=ref):
            return model.defect(ref)
        case _:
            assert_never(result.outcome)


def guide(result: CallResult, error: CallError) -> model.Guidance:
    """Return the guidance for the error of a call, with the attempts that were made."""
    guidance = TABLE(error)
    if result.may_have_taken_effect:
        guidance = advise_check(guidance, error)
    summary = retry_summary(result.stats)
    if summary is None:
        return guidance
    sentences = [guidance.suggestion, f'So far: {summary}.']
    return replace(guidance, suggestion=' '.join(filter(None, sentences)))
