"""Outcomes of calls as JSON: the result in the members of the HTTP envelope, and the answer."""

import msgspec
from msgspec import UNSET, Struct, UnsetType

from seamwise._defects.defects import report_defect
from seamwise._results.containers import Failure, Success
from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import ToolError, ToolFailed
from seamwise.policies import GuardError
from seamwise.seams import http
from seamwise.seams.adapter import Adapter
from seamwise.seams.http import tables
from seamwise.seams.http.bodies import ErrorBody, encode, error_body
from seamwise.seams.reporting.tool_outcome import tool_defect
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.formats import answer
from seamwise.toolhost.outcome import ToolOutcome

HTTP: Adapter[ToolError | ParsingError | GuardError, http.HttpError] = Adapter(
    lambda: tables.TOOLS | tables.PARSING | tables.GUARDS
)
"""The HTTP errors of tools, of the parser and of guards."""


class ResultBody(Struct, frozen=True, kw_only=True):
    """A value or an error, as in the envelope of the HTTP seam."""

    success: bool
    data: object | UnsetType = UNSET
    error: ErrorBody | UnsetType = UNSET


class OutcomeBody(Struct, frozen=True, kw_only=True):
    """One outcome.

    Attributes:
        place: The number of the call in the output, from 1.
        call: The call, or None if it could not be read.
        result: The value or the error.
        attempts: The number of times the tool ran, 0 if it did not run.
        waited: The seconds in queues and between attempts.
        duration: The seconds of the whole call.
        answer: The answer for the model, in the format of the call.
    """

    place: int
    call: ToolCall | None
    result: ResultBody
    attempts: int
    waited: float
    duration: float
    answer: object


def encode_outcome(outcome: ToolOutcome[ToolError]) -> bytes:
    """Return an outcome as one line of JSON.

    A value that has no JSON form is a defect of its tool, and does not affect other outcomes.
    """
    try:
        return encode(_outcome_body(outcome))
    # seamwise: allow[SW103] the failure reports it
    except Exception as error:  # noqa: BLE001 -- the failure reports it as a defect
        tool = '' if outcome.call is None else outcome.call.tool
        failed = msgspec.structs.replace(outcome, result=Failure(ToolFailed(tool, error)))
        return encode(_outcome_body(failed))


def _outcome_body(outcome: ToolOutcome[ToolError]) -> OutcomeBody:
    result = outcome.result
    if type(result) is Success:
        body = ResultBody(success=True, data=result.unwrap())
    else:
        body = ResultBody(success=False, error=error_body(_http_error(result.failure())))
    return OutcomeBody(
        place=outcome.place,
        call=outcome.call,
        result=body,
        attempts=outcome.attempts,
        waited=outcome.waited,
        duration=outcome.duration,
        answer=answer(outcome),
    )


def _http_error(error: ToolError | ParsingError | GuardError) -> http.HttpError:
    defect = tool_defect(error)
    # The processor has reported the exception; its reference stays the same.
    return HTTP(error) if defect is None else http.defect(report_defect(defect).ref)
