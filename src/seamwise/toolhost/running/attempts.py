"""The attempts of one call: run its tool, and turn whatever happens into a result."""

from asyncio import CancelledError, Future, Task, current_task
from collections.abc import Awaitable
from typing import Any, Final, Generic

from typing_extensions import TypeVar

from seamwise._defects.defects import report_defect
from seamwise._errors.causes import iter_leaves, members
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result
from seamwise._runtime.single_attempt import SINGLE_ATTEMPT, SingleAttempt
from seamwise._runtime.world import REAL
from seamwise.catalog.tools import ResourceExhausted, ToolError, ToolFailed
from seamwise.policies import Guard, GuardError
from seamwise.toolhost.running.isolated import run_isolated
from seamwise.toolhost.running.threads import ThreadPool, ThreadsExhausted
from seamwise.toolhost.tools import Invocation

E_co = TypeVar('E_co', bound=TaggedError, covariant=True)

_CONTAINED: Final = (Exception, CancelledError, GeneratorExit, SystemExit)
"""The exceptions that are a failure of the tool. Others, such as KeyboardInterrupt, end the run."""


class Attempts(Generic[E_co]):
    """Runs the tool of one call, once for each attempt of the guards, and counts.

    Args:
        tool: The name of the tool.
        invocation: The call with its checked arguments.
        threads: The threads for a tool that blocks.

    Attributes:
        count: The number of attempts.
        seconds: The time that they took.
        abandoned: Done when the thread of a cancelled attempt has ended; None if there is none.
    """

    def __init__(self, tool: str, invocation: Invocation[E_co], threads: ThreadPool) -> None:
        self._tool = tool
        self._invocation = invocation
        self._threads = threads
        self.count = 0
        self.seconds = 0.0
        self.abandoned: Future[None] | None = None

    def run(
        self, guard: Guard[GuardError], *, is_repeatable: bool
    ) -> Awaitable[Result[object, E_co | ToolError | GuardError]]:
        """Run the tool inside a guard.

        A tool that is not repeatable runs once. A retry inside the guard then repeats only what
        failed before the tool was reached.
        """
        if is_repeatable:
            return guard.run(self._attempt)
        SINGLE_ATTEMPT.set(call := SingleAttempt())

        async def attempt() -> Result[object, E_co | ToolError]:
            call.has_begun = True
            # The guards that the tool itself uses may retry.
            SINGLE_ATTEMPT.set(None)
            try:
                return await self._attempt()
            finally:
                SINGLE_ATTEMPT.set(call)

        return guard.run(attempt)

    async def _attempt(self) -> Result[object, E_co | ToolError]:
        self.count += 1
        started_at = REAL.clock()
        task = current_task()
        if task is None:
            raise AssertionError('an attempt runs in a task')
        try:
            if self._invocation.isolated is not None:
                return await run_isolated(
                    self._invocation,
                    self._invocation.isolated,
                    tool=self._tool,
                    attempts=self.count,
                )
            return self._invocation.check(await self._value())
        except ThreadsExhausted:
            # The tool has not begun.
            self.count -= 1
            return Failure(ResourceExhausted('threads'))
        except GeneratorExit as error:
            if _current_task() is not task:
                # The event loop has ended, and the coroutine of the call is closed.
                raise
            return self._failed(error)
        except BaseException as error:
            if not _is_of_the_tool(error):
                raise
            is_cancellation = isinstance(error, CancelledError) or bool(members(error))
            if is_cancellation and task.cancelling():
                # Otherwise the tool awaited something that was cancelled.
                raise CancelledError from error
            return self._failed(error)
        finally:
            self.seconds += REAL.clock() - started_at

    async def _value(self) -> object:
        invocation = self._invocation
        if not invocation.is_async:
            return await self._threads.run(invocation.run, on_abandon=self._keep)
        value = invocation.run()
        if not isinstance(value, Awaitable):
            return value
        awaitable: Awaitable[object] = value  # pyright: ignore[reportUnknownVariableType]  # `check` checks it
        return await awaitable

    def _keep(self, ended: Future[None]) -> None:
        self.abandoned = ended

    def _failed(self, error: BaseException) -> Failure[ToolFailed]:
        failure = ToolFailed(self._tool, error)
        if failure.defect is not None:
            report_defect(error, tool=self._tool)
        return Failure(failure)


def _is_of_the_tool(error: BaseException) -> bool:
    """Return whether an exception, or each one of a group, is a failure of the tool."""
    return all(isinstance(leaf, _CONTAINED) for leaf in iter_leaves(error))


def _current_task() -> Task[Any] | None:
    try:
        return current_task()
    except RuntimeError:
        # No event loop runs.
        return None
