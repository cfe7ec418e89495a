"""Guidance for a model about the outcome of a call."""

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.jsonable import json_form_problem
from seamwise.catalog.problem import Problem
from seamwise.catalog.tools import InvalidResult
from seamwise.policies import DeadlineExceeded
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.suggestions import advise_check
from seamwise.toolhost.outcome import ToolOutcome

UNNAMED: Final = 'deadline'
"""The name of a deadline without a name of its own."""


def guide(outcome: ToolOutcome[Any], error: Any, model: Callable[[Any], Guidance]) -> Guidance:
    """Return the guidance for the error of an outcome.

    A call that may have taken effect is not repeated without a check.

    Args:
        outcome: The outcome of the call.
        error: Its error.
        model: The table of the errors.
    """
    if isinstance(error, DeadlineExceeded) and error.name == UNNAMED and outcome.call is not None:
        # A model does not know the guards, but the tool.
        error = replace(error, name=outcome.call.tool)
    guidance = model(error)
    return advise_check(guidance, error) if outcome.may_have_taken_effect else guidance


# seamwise: allow[SW106] the errors of a tool are known at run time only
def sendable_result(outcome: ToolOutcome[Any]) -> Result[object, Any]:
    """Return the result of an outcome, or `InvalidResult` if its value has no JSON form.

    A tool with `validate=False` can return such a value.
    """
    result = outcome.result
    if type(result) is Success and (reason := json_form_problem(result.unwrap())):
        tool = outcome.call.tool if outcome.call else ''
        return Failure(InvalidResult(tool, (Problem('', reason),)))
    return result
