"""The calls of one output: their deadlines and their outcomes."""

from asyncio import Future, get_running_loop
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, Self

from typing_extensions import TypeVar

from seamwise._errors.errors import TaggedError
from seamwise._runtime.world import REAL, Alarm
from seamwise.toolhost.outcome import ToolOutcome
from seamwise.toolhost.running.call import CallRun
from seamwise.toolhost.running.ending import log_remains, wait_for_end

E = TypeVar('E', bound=TaggedError)


class Batch(Generic[E]):
    """The calls of one output, which run in parallel.

    Args:
        grace: The maximum time for a cancelled call to end, in seconds.
        on_outcome: Receives each outcome before the caller does.

    Attributes:
        calls: The calls, set before `start`: each one delivers its outcome to the batch.
    """

    def __init__(self, *, grace: float, on_outcome: Callable[[ToolOutcome[E]], None]) -> None:
        self._grace = grace
        self._observe = on_outcome
        self.calls: Sequence[CallRun[E]] = ()
        self._alarms: list[Alarm] = []
        self._ready: deque[ToolOutcome[E]] = deque()
        self._pending = 0
        self._crash: BaseException | None = None
        self._waiter: Future[None] | None = None
        self._wanted = 0
        """The number of outcomes that the waiter waits for."""

    def start(self) -> None:
        """Submit the calls in their order."""
        self._pending = len(self.calls)
        groups: dict[float, list[CallRun[E]]] = {}
        for call in self.calls:
            if call.timeout is not None:
                groups.setdefault(call.timeout, []).append(call)
        for timeout, group in groups.items():
            self._alarms.append(REAL.alarm(timeout, partial(self._expire, group)))
        for call in self.calls:
            call.submit()

    def deliver(self, outcome: ToolOutcome[E]) -> None:
        """Accept the outcome of a call."""
        self._pending -= 1
        self._observe(outcome)
        self._ready.append(outcome)
        if not self._pending:
            self._stop_alarms()
        self._notify()

    def crash(self, error: BaseException) -> None:
        """Make the caller raise an exception that is no failure of a tool."""
        self._crash = error
        self._notify()

    async def all(self) -> list[ToolOutcome[E]]:
        """Return the outcomes in the order of the calls, when all are there."""
        await self._wait_for(len(self.calls))
        return sorted(self._ready, key=lambda outcome: outcome.place)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ToolOutcome[E]:
        """Return the next outcome as soon as it is there.

        Raises:
            RuntimeError: Another task waits for the next outcome.
        """
        if self._waiter is not None and not self._waiter.done():
            raise RuntimeError('The outcomes of an output can be read by one task at a time.')
        if not self._ready and not self._pending:
            raise StopAsyncIteration
        await self._wait_for(1)
        return self._ready.popleft()

    async def close(self) -> None:
        """Cancel the calls that have not ended, and wait for their end."""
        self._stop_alarms()
        unsettled = [call for call in self.calls if not call.is_settled]
        for call in unsettled:
            call.drop()
        if unsettled:
            await wait_for_end(unsettled, grace=self._grace)

    async def _wait_for(self, count: int) -> None:
        while len(self._ready) < count:
            if self._crash is not None:
                raise self._crash
            self._wanted = count
            self._waiter = get_running_loop().create_future()
            await self._waiter

    def _notify(self) -> None:
        waiter = self._waiter
        if waiter is None or waiter.done():
            return
        if self._crash is not None or len(self._ready) >= self._wanted:
            waiter.set_result(None)

    def _expire(self, calls: Sequence[CallRun[E]]) -> None:
        for call in calls:
            if not call.is_settled:
                call.expire()
        if any(not call.is_settled for call in calls):
            self._alarms.append(REAL.alarm(self._grace, partial(self._abandon, calls)))

    def _abandon(self, calls: Sequence[CallRun[E]]) -> None:
        """Settle the calls whose tasks ignore their cancellation."""
        for call in calls:
            if not call.is_settled:
                log_remains(call.tool, self._grace)
                call.abandon()

    def _stop_alarms(self) -> None:
        for alarm in self._alarms:
            alarm.cancel()
        self._alarms.clear()
