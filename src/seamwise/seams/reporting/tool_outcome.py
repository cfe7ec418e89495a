"""Protocols of tool calls and their outcomes, and the defect that a failed tool can have."""

from collections.abc import Mapping
from typing import Final, Protocol, TypeVar, runtime_checkable

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success, expect_result

TOOL_FAILED: Final = 'ToolFailed'
"""The tag of the error of a tool that raised an exception."""

E = TypeVar('E')
E_co = TypeVar('E_co', covariant=True)


class Call(Protocol):
    """A call of a tool, with the arguments that the model has written."""

    @property
    def tool(self) -> str:
        """The name of the tool."""
        ...

    @property
    def arguments(self) -> Mapping[str, object]:
        """The arguments by name."""
        ...


@runtime_checkable
class ToolOutcome(Protocol[E_co]):
    """The outcome of a call; `seamwise.toolhost.outcome.ToolOutcome` is one."""

    @property
    def call(self) -> Call | None:
        """The call, or None if it could not be read."""
        ...

    @property
    def result(self) -> Result[object, E_co]:
        """The value or the error."""
        ...

    @property
    def attempts(self) -> int:
        """The number of times the tool ran, 0 if it did not run."""
        ...

    @property
    def duration(self) -> float:
        """The seconds of the whole call."""
        ...

    @property
    def may_have_taken_effect(self) -> bool:
        """Whether the call failed, may have taken effect, and must not run twice."""
        ...


def result_and_effect(
    value: Result[object, E] | ToolOutcome[E], caller: str
) -> tuple[Result[object, E], bool]:
    """Return a result, and whether it is that of a call that may have taken effect.

    Args:
        value: A result, or the outcome of a call.
        caller: The name of the function for the TypeError that any other value raises.

    >>> from seamwise import Success
    >>> result_and_effect(Success(3), 'publish')
    (Success(3), False)
    """
    # Checking a protocol takes long, and most values are results.
    is_result = type(value) is Success or type(value) is Failure
    if not is_result and isinstance(value, ToolOutcome):
        return value.result, value.may_have_taken_effect
    return expect_result(value, caller), False


def tool_defect(error: object) -> BaseException | None:
    """Return the exception of a `ToolFailed` that is a bug of the tool; None for other errors.

    >>> from seamwise.catalog.tools import ToolFailed
    >>> tool_defect(ToolFailed('search', KeyError('a'))), tool_defect(KeyError('a'))
    (KeyError('a'), None)
    """
    # By the tag, because importing the class would load its module for each failure of any kind.
    if not isinstance(error, TaggedError) or error.tag != TOOL_FAILED:
        return None
    defect: object = getattr(error, 'defect', None)
    return defect if isinstance(defect, BaseException) else None
