"""Output of one call at every seam, for the page of `seamwise serve`."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from seamwise._defects.defects import report_defect
from seamwise._errors.errors import TaggedError
from seamwise._errors.texts import available_locales
from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.parsing import ParsingError, UnreadableCall
from seamwise.catalog.tools import ToolError
from seamwise.policies.events import Retrying
from seamwise.program.outputs import OUTPUTS, CallResult, Defect
from seamwise.program.outputs import Outcome as CallOutcome
from seamwise.seams.rendering.encoding import to_json
from seamwise.seams.reporting.fingerprint import error_type, fingerprint
from seamwise.seams.reporting.tool_outcome import tool_defect
from seamwise.toolhost.calls import InputLine, ToolCall
from seamwise.toolhost.guards.guarded_call import CallStats
from seamwise.toolhost.outcome import ToolOutcome

MAX_OUTPUT: Final = 16_384
"""In bytes of JSON: a longer output of a seam is cut."""

MAX_EXCERPT: Final = 2_000
"""In characters: the part of an output that is left."""


class CutOutput(Struct, frozen=True):
    """The beginning of an output that is too long for an event.

    Attributes:
        excerpt: The beginning of its JSON.
        cut_bytes: The number of bytes of the whole.
    """

    excerpt: str
    cut_bytes: int


def page_outputs(outcome: ToolOutcome[ToolError], stats: CallStats) -> Mapping[str, object]:
    """Return the output of each seam for a call, by the name of the seam, as values of JSON.

    The output of the session seam is by language. An output that cannot be rendered is that of the
    defect which prevents it.
    """
    line = InputLine(outcome.place, _call_id(outcome), _call(outcome))
    result = CallResult(
        line,
        _call_outcome(outcome),
        stats=stats,
        may_have_taken_effect=outcome.may_have_taken_effect,
    )
    outputs: dict[str, object] = {}
    for seam in OUTPUTS:
        if seam == 'session':
            outputs[seam] = {
                locale: _render(seam, msgspec.structs.replace(result, locale=locale))
                for locale in available_locales()
            }
        else:
            outputs[seam] = _render(seam, result)
    return {**outputs, 'telemetry': _telemetry(result)}


def _call_id(outcome: ToolOutcome[ToolError]) -> str | int:
    call_id = None if outcome.call is None else outcome.call.id
    return f'call-{outcome.place}' if call_id is None else call_id


def _call(outcome: ToolOutcome[ToolError]) -> Result[ToolCall, ParsingError]:
    if outcome.call is not None:
        return Success(outcome.call)
    # A call that could not be read has the error of the parser.
    if type(outcome.result) is Failure:
        error = outcome.result.failure()
        if isinstance(error, ParsingError):
            return Failure(error)
    return Failure(UnreadableCall('bare', '', '', 0))


def _call_outcome(outcome: ToolOutcome[ToolError]) -> CallOutcome:
    if type(outcome.result) is Success:
        return outcome.result
    error = outcome.result.failure()
    exception = tool_defect(error)
    if not isinstance(exception, Exception):
        return Failure(error)
    # The processor has reported it; its reference stays the same.
    return Defect(exception, report_defect(exception).ref)


def _render(seam: str, result: CallResult) -> object:
    try:
        return _json_value(OUTPUTS[seam](result))
    except Exception as error:  # noqa: BLE001 -- reported as a defect; the other seams are shown
        defect = Defect(error, report_defect(error).ref)
        return _json_value(OUTPUTS[seam](result.with_defect(defect)))


def _json_value(output: object) -> object:
    text = to_json(output)
    if len(text) > MAX_OUTPUT:
        excerpt = text.decode(errors='replace')[:MAX_EXCERPT]
        return msgspec.to_builtins(CutOutput(excerpt, len(text)))
    return msgspec.json.decode(text)


def _telemetry(result: CallResult) -> Mapping[str, object] | None:
    """Return the attributes of the metrics that a call changes, by instrument."""
    error = _counted_error(result)
    operation = result.tool or 'parse'
    attributes: dict[str, object] = {}
    if error is not None:
        category = error.category.value if isinstance(error, TaggedError) else 'defect'
        attributes['seamwise.errors'] = {
            'error.type': error_type(error),
            'seamwise.error.category': category,
            'seamwise.seam': 'session',
        }
        attributes['seamwise.error.paths'] = {
            'seamwise.operation': operation,
            'seamwise.error.fingerprint': fingerprint(error, operation),
        }
    retried = [
        item.event
        for item in (result.stats or CallStats()).events
        if isinstance(item.event, Retrying)
    ]
    if retried:
        attributes['seamwise.retry.attempts'] = {
            'seamwise.guard.name': retried[0].name,
            'error.type': error_type(retried[0].error),
            'value': len(retried),
        }
        outcome = 'recovered' if error is None else 'gave_up'
        attributes['seamwise.retry.outcomes'] = {
            'seamwise.guard.name': retried[0].name,
            'seamwise.guard.outcome': outcome,
        }
    return attributes or None


def _counted_error(result: CallResult) -> TaggedError | Exception | None:
    outcome = result.outcome
    if isinstance(outcome, Defect):
        return outcome.exception
    return outcome.failure() if type(outcome) is Failure else None
