"""The attempts of one call: run its tool, and turn whatever happens into a result."""

from asyncio import CancelledError, Future, current_task
from collections.abc import Awaitable
from typing import Generic

from typing_extensions import TypeVar

from seamwise._defects.defects import report_defect
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

    async def run(
        self, guard: Guard[GuardError], *, is_repeatable: bool
    ) -> Result[object, E_co | ToolError | GuardError]:
        """Run the tool inside a guard.

        A tool that is not repeatable runs once. A retry inside the guard then repeats only what
        failed before the tool was reached.
        """
        if is_repeatable:
            return await guard.run(self._attempt)
        SINGLE_ATTEMPT.set(call := SingleAttempt())

        async def attempt() -> Result[object, E_co | ToolError]:
            call.has_begun = True
            # The guards that the tool itself uses may retry.
            SINGLE_ATTEMPT.set(None)
            try:
                return await self._attempt()
            finally:
                SINGLE_ATTEMPT.set(call)

        return await guard.run(attempt)

    async def _attempt(self) -> Result[object, E_co | ToolError]:
        self.count += 1
        started_at = REAL.clock()
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
        except CancelledError as error:
            task = current_task()
            if task is not None and task.cancelling():
                raise
            # Nobody has cancelled the call: the tool awaited something that was cancelled.
            return self._failed(error)
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- it is the cause of the failure
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
