"""Events of the user in a session, read from its log by one task."""

import logging
from asyncio import Event, Task, create_task, sleep, wait
from collections import deque
from typing import Final, Self, final

from seamwise._defects.defects import report_defect
from seamwise._results.containers import Failure, Success
from seamwise.catalog.sessions import AckAhead, SessionNotFound
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live.events import Event as LiveEvent
from seamwise.live.events import Position
from seamwise.live.log import EventLog
from seamwise.live.subscriptions import Subscription

RECEIVED: Final = 'user.'
"""The names of the events of the user begin with this."""

MAX_UNREAD: Final = 200
"""The maximum number of events that wait for the application; further ones stay in the log."""

_RETRY_SECONDS: Final = (0.05, 0.1, 0.2, 0.5, 1.0)
_LOGGER: Final = logging.getLogger('seamwise')


class Inbox:
    """Reads the events of the user, also while the application is busy with an earlier one.

    Only events of the user wait here. The many events of the application itself do not displace
    them, whatever the limits of the log are.

    Args:
        log: The log.
        session: The id of the session.
        since: The position after which events are read.
    """

    def __init__(self, log: EventLog, session: str, since: Position) -> None:
        self._log = log
        self._session = session
        self._since: Position | None = since
        self._unread: deque[LiveEvent] = deque()
        self._arrival = Event()
        self._room = Event()
        self._task: Task[None] | None = None
        self._defect: Exception | None = None

    async def next(self) -> LiveEvent | None:
        """Return the next event, or None after the end of the session.

        If the caller is cancelled, no event is lost.
        """
        if self._task is None:
            self._task = create_task(self._read(), name=f'inbox of {self._session}')
            self._task.add_done_callback(lambda _: self._arrival.set())
        while not self._unread:
            if self._task.done():
                if self._defect is None:
                    return None
                raise self._defect
            self._arrival.clear()
            await self._arrival.wait()
        self._room.set()
        return self._unread.popleft()

    async def close(self) -> None:
        """End the task. Readers that wait receive None."""
        if self._task is not None:
            self._task.cancel()
            await wait([self._task])

    async def _read(self) -> None:
        try:
            await self._read_until_end()
        except Exception as error:  # noqa: BLE001 -- the reader raises it
            report_defect(error, session=self._session)
            self._defect = error

    async def _read_until_end(self) -> None:
        failures = 0
        while True:
            async with self._log.subscribe(self._session, self._since) as subscribed:
                if type(subscribed) is Success:
                    subscription = subscribed.unwrap()
                    self._warn_of_gap(subscription)
                    async for result in subscription:
                        if type(result) is Failure:
                            break
                        failures = 0
                        stored = result.unwrap()
                        if stored.event.event.startswith(RECEIVED):
                            await self._keep(stored.event)
                        self._since = stored.position
                    else:
                        return
                elif isinstance(error := subscribed.failure(), SessionNotFound):
                    return
                elif isinstance(error, AckAhead) and self._since is not None:
                    # The store was restored from an older copy, whose events are known here.
                    self._since = Position(self._since.epoch, error.last)
                elif not isinstance(error, StoreUnavailable):
                    self._warn(str(error))
                    self._since = None
            await sleep(_RETRY_SECONDS[min(failures, len(_RETRY_SECONDS) - 1)])
            failures += 1

    async def _keep(self, event: LiveEvent) -> None:
        while len(self._unread) >= MAX_UNREAD:
            self._room.clear()
            await self._room.wait()
        self._unread.append(event)
        self._arrival.set()

    def _warn_of_gap(self, subscription: Subscription) -> None:
        """Warn if a snapshot has replaced events."""
        if self._since is not None and self._since != subscription.position:
            self._warn(f'Events from {self._since.seq + 1} on are replaced by a snapshot.')

    def _warn(self, reason: str) -> None:
        _LOGGER.warning(
            'Events of the user in session %r may be missing: %s', self._session, reason
        )


@final
class Received:
    """Asynchronous iterator over the events of the user. A cancelled `anext` can be repeated."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._is_closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> LiveEvent:
        """Wait for the next event.

        Raises:
            StopAsyncIteration: The session has ended.
        """
        event = None if self._is_closed else await self._inbox.next()
        if event is None:
            raise StopAsyncIteration
        return event

    async def aclose(self) -> None:
        """End this iteration. Events that were not read remain for a further one."""
        self._is_closed = True
