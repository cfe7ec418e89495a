"""Output of a call at the model seam."""

from typing import assert_never

from msgspec.structs import replace

from seamwise._results.containers import Failure, Success
from seamwise.program.outputs import CallResult, Defect, retry_summary
from seamwise.seams import model
from seamwise.seams.model import tables
from seamwise.seams.model.suggestions import advise_check
from seamwise.toolhost.guards.guarded_call import CallStats

TABLE = tables.TOOLS | tables.PARSING | tables.GUARDS


def output(result: CallResult) -> model.Done[object] | model.Guidance:
    """Return the value of a call, or the guidance after a failure."""
    match result.outcome:
        case Success(value):
            return model.Done(value)
        case Failure(error):
            guidance = TABLE(error)
            if result.may_have_taken_effect:
                guidance = advise_check(guidance, error)
            return add_retry_note(guidance, result.stats)
        case Defect(ref=ref):
            return model.defect(ref)
        case _:
            assert_never(result.outcome)


def add_retry_note(guidance: model.Guidance, stats: CallStats | None) -> model.Guidance:
    """Append the attempts that were made to the suggestion for a model."""
    summary = retry_summary(stats)
    if summary is None:
        return guidance
    sentences = [guidance.suggestion, f'So far: {summary}.']
    return replace(guidance, suggestion=' '.join(filter(None, sentences)))
