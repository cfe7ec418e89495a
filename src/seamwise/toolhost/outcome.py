"""Outcome of one tool call of a model's output."""

from typing import TYPE_CHECKING, Any, Generic, Never

from msgspec import Struct
from typing_extensions import TypeVar

from seamwise._errors.errors import TaggedError, retry_after
from seamwise._results.containers import Result, Success
from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import InvalidResult, ToolCancelled, ToolError, ToolFailed
from seamwise.policies import GuardError
from seamwise.seams.rendering.values import milliseconds_or_none
from seamwise.toolhost.calls import ToolCall

if TYPE_CHECKING:
    from seamwise.seams.planner import ErrorInfo

E_co = TypeVar('E_co', bound=TaggedError, covariant=True, default=Never)


class ToolOutcome(Struct, Generic[E_co], frozen=True):
    """The result of one call, or the reason why a call could not be read.

    `ToolOutcome` without an argument is that of tools without errors of their own.

    Attributes:
        place: The number of the call in the output, from 1.
        call: The call, or None if it could not be read.
        result: The value of the tool or the error: one of the tool's own, or of the tool host, the
            parser or a guard.
        attempts: The number of times the tool ran, 0 if it did not run.
        waited: The seconds in queues and between attempts.
        duration: The seconds of the whole call.
        may_have_taken_effect: Whether the call failed after its tool began, the tool must not run
            twice, and has not refused the call by an error of its own that is not retryable. No
            seam then advises a retry.
    """

    place: int
    call: ToolCall | None
    result: Result[object, E_co | ToolError | ParsingError | GuardError]
    attempts: int
    waited: float
    duration: float
    may_have_taken_effect: bool = False

    @property
    def error_info(self) -> 'ErrorInfo | None':
        """The classified error, as `planner.classify` returns it; None if the call succeeded.

        A tool with errors of its own needs `planner.classify(outcome, adapter=…)`.

        Raises:
            TypeError: The error is none of tools, the parser, guards and MCP servers.
        """
        # Few programs have a planner, and its tables take a while to load.
        from seamwise.seams.planner import PLANNER, classify  # noqa: PLC0415

        # Errors of an application are not in this table, and refused at run time.
        outcome: Any = self
        return classify(outcome, adapter=PLANNER)

    @property
    def retryable(self) -> bool:
        """Whether the call failed, may succeed if it is repeated, and may be repeated."""
        if type(self.result) is Success or self.may_have_taken_effect:
            return False
        return self.result.failure().retryable

    @property
    def retry_after_ms(self) -> int | None:
        """The delay in milliseconds that the error asks for, rounded up."""
        if type(self.result) is Success:
            return None
        return milliseconds_or_none(retry_after(self.result.failure()))


def leaves_effect_open(error: TaggedError) -> bool:
    """Return whether a tool that began and failed with this error may have taken effect.

    It has not if it refused the call: with an error of its own that is not retryable.

    >>> leaves_effect_open(ToolCancelled('pay', 'shutdown'))
    True
    """
    if isinstance(error, ToolFailed):
        return error.retryable or not isinstance(error.cause, TaggedError)
    return error.retryable or isinstance(error, ToolCancelled | InvalidResult)
