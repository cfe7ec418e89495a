"""Events on their way from a session to its log, written in their order by one task."""

import logging
from asyncio import Event, Future, Task, create_task, get_running_loop, sleep, wait
from collections import deque
from secrets import token_hex
from typing import Final, TypeAlias

from seamwise._defects.defects import report_defect
from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import StreamClosed
from seamwise.live.events import Event as LiveEvent
from seamwise.live.events import Stored
from seamwise.live.log import EventLog
from seamwise.seams.session.shape import ErrorEvent

Outcome: TypeAlias = Result[Stored, StreamClosed | StoreUnavailable]

MAX_WAITING: Final = 10_000
"""The maximum number of events that wait for the store."""

MAX_BATCH: Final = 200
"""The maximum number of events in one write."""

RETRY_DELAYS: Final = (0.05, 0.2, 0.5, 1.0)
"""The delays before a write is repeated, in seconds. Its id lets the store recognise it."""

SESSION_END: Final = 'agent.session_end'
"""The name of an event that is always the last one of its session."""

_LOGGER: Final = logging.getLogger('seamwise')


class _Item:
    __slots__ = ('event', 'future', 'is_end')

    def __init__(
        self,
        event: LiveEvent | ErrorEvent,
        future: 'Future[Outcome] | None' = None,
        *,
        is_end: bool = False,
    ) -> None:
        self.event = event
        self.future = future
        # The session seam sends its last event as any other one.
        self.is_end = is_end or event.event == SESSION_END


class Outbox:
    """Writes events to a log in their order; events that wait together become one write.

    Args:
        log: The log.
        session: The id of the session.
    """

    def __init__(self, log: EventLog, session: str) -> None:
        self._log = log
        self._session = session
        self._waiting: deque[_Item] = deque()
        self._work = Event()
        self._added = 0
        self._settled = 0
        # The numbers of events after which `drain` returns, in ascending order.
        self._drains: deque[tuple[int, Future[None]]] = deque()
        self._unreported: StreamClosed | StoreUnavailable | None = None
        self._task: Task[None] = create_task(self._write(), name=f'outbox of {session}')

    def put(self, event: LiveEvent | ErrorEvent) -> None:
        """Add an event without waiting for the store. `drain` returns the failure to write it."""
        if (error := self._full()) is not None:
            self.fail(error)
            return
        self._add(_Item(event))

    async def write(self, event: LiveEvent | ErrorEvent, *, is_end: bool = False) -> Outcome:
        """Add an event, and return the result of writing it.

        If the caller is cancelled, the event is still written.
        """
        if (error := self._full()) is not None:
            return Failure(error)
        future: Future[Outcome] = get_running_loop().create_future()
        self._add(_Item(event, future, is_end=is_end))
        return await future

    async def drain(self) -> Result[None, StreamClosed | StoreUnavailable]:
        """Wait for the events that wait now, and return the first failure of `put`.

        A failure is returned once.
        """
        if self._waiting:
            # Not until the outbox is empty: other tasks may add events all the time.
            future: Future[None] = get_running_loop().create_future()
            self._drains.append((self._added, future))
            await future
        return self.take_failure()

    def take_failure(self) -> Result[None, StreamClosed | StoreUnavailable]:
        """Return the first failure of `put` since the last call, without waiting."""
        error, self._unreported = self._unreported, None
        return Success(None) if error is None else Failure(error)

    def fail(self, error: StreamClosed | StoreUnavailable, count: int = 1) -> None:
        """Record the loss of sent events, and log the first one as a WARNING."""
        if self._unreported is None:
            self._unreported = error
            _LOGGER.warning(
                'Events of session %r are not stored (%d at first): %s', self._session, count, error
            )

    async def close(self) -> None:
        """End the task. Events that still wait are not written, and one WARNING counts them."""
        self._task.cancel()
        try:
            # `await self._task` would not tell its cancellation from that of the caller.
            await wait([self._task])
        finally:
            self._abandon()

    def _abandon(self) -> None:
        if self._waiting:
            error = StoreUnavailable(self._session, 'the session was closed')
            self._settle([*self._waiting], Failure(error))

    def _full(self) -> StoreUnavailable | None:
        if len(self._waiting) < MAX_WAITING:
            return None
        return StoreUnavailable(self._session, f'{MAX_WAITING} events wait for it already')

    def _add(self, item: _Item) -> None:
        self._waiting.append(item)
        self._added += 1
        self._work.set()
        if self._task.done():
            self._abandon()

    async def _write(self) -> None:
        try:
            await self._write_all()
        finally:
            # At its end, an event loop cancels this task and those that wait for it together.
            self._abandon()

    async def _write_all(self) -> None:
        while True:
            await self._work.wait()
            while self._waiting:
                await self._write_batch(self._next_batch())
            self._work.clear()

    def _next_batch(self) -> list[_Item]:
        """Return sent events, and the first awaited one: its result is that of the write."""
        batch: list[_Item] = []
        for item in self._waiting:
            if (item.is_end and batch) or len(batch) == MAX_BATCH:
                break
            batch.append(item)
            if item.is_end or item.future is not None:
                break
        return batch

    async def _write_batch(self, batch: list[_Item]) -> None:
        try:
            outcome = await self._append(batch)
        except (TypeError, ValueError) as error:
            if len(batch) == 1:
                self._raise(batch, error)
                return
            # One of the events is invalid, and the log has stored none.
            for item in batch:
                await self._write_batch([item])
        except Exception as error:  # noqa: BLE001 -- it belongs to the callers
            self._raise(batch, error)
        else:
            self._settle(batch, outcome)

    async def _append(self, batch: list[_Item]) -> Outcome:
        batch_id = token_hex(8)
        outcome = await self._append_once(batch, batch_id)
        for delay in RETRY_DELAYS:
            if type(outcome) is not Failure or type(outcome.failure()) is not StoreUnavailable:
                break
            await sleep(delay)
            outcome = await self._append_once(batch, batch_id)
        return outcome

    async def _append_once(self, batch: list[_Item], batch_id: str) -> Outcome:
        events = [item.event for item in batch]
        if batch[0].is_end:
            return await self._log.end(self._session, events[0], batch_id=batch_id)
        return await self._log.append(self._session, *events, batch_id=batch_id)

    def _settle(self, batch: list[_Item], outcome: Outcome) -> None:
        """Tell the callers of the oldest events the outcome, and remove the events."""
        unwatched = 0
        for item in batch:
            if item.future is None or item.future.done():
                # A future that is done was cancelled with its caller.
                unwatched += 1
            else:
                item.future.set_result(outcome)
        if unwatched and type(outcome) is Failure:
            self.fail(outcome.failure(), unwatched)
        self._remove(len(batch))

    def _raise(self, batch: list[_Item], error: Exception) -> None:
        if (future := batch[-1].future) is not None and not future.done():
            future.set_exception(error)
        else:
            report_defect(error, session=self._session)
        if len(batch) > 1:
            self.fail(StoreUnavailable(self._session, 'the log has a defect'), len(batch) - 1)
        self._remove(len(batch))

    def _remove(self, count: int) -> None:
        for _ in range(count):
            self._waiting.popleft()
        self._settled += count
        while self._drains and self._drains[0][0] <= self._settled:
            _, future = self._drains.popleft()
            if not future.done():
                future.set_result(None)
