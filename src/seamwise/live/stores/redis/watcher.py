"""Delivery of the events of a Redis to the subscriptions of one process.

A signal on a pub/sub channel says that a session has changed; the events themselves are read from
the stream, after the last one that was delivered. A lost signal delays events, and loses none: each
session is also read after each reconnect, and from time to time. One task delivers, so that the
order is that of the stream.

XREAD BLOCK on all streams would need no channels, but each call sends and checks all keys: with
10,000 watched sessions, 34 ms for each new event.
"""

import asyncio
from asyncio import Event, Future, Task, TimerHandle
from collections.abc import Awaitable, Callable
from contextvars import Context
from math import ceil
from random import uniform
from typing import Final, Protocol

from msgspec import Struct
from redis.exceptions import RedisError, ResponseError
from typing_extensions import override

from seamwise._defects.defects import report_defect
from seamwise._results.containers import Failure, Result
from seamwise.catalog.sessions import SessionNotFound
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live.events import Position
from seamwise.live.stores.redis.history import Known
from seamwise.live.stores.redis.link import TASK_NAME, SignalHandler, SignalLink
from seamwise.live.stores.redis.sessions import View
from seamwise.live.subscriptions import Hub

CHECK_INTERVAL: Final = 1.0
"""Seconds between two checks of watched sessions whose signals could have been lost."""

_CHECKS: Final = 100
"""Number of sessions in one check, or a thirtieth of all if this is more."""

_ROUNDS: Final = 30

PATIENCE: Final = 5.0
"""Number of timeouts of an outage after which subscriptions end with `StoreUnavailable`."""

PAGE: Final = 1000
"""Maximum number of events in one reply."""

_CONCURRENT_READS: Final = 64
_CHANNELS: Final = 500
"""Number of channels in one SUBSCRIBE."""

_FIRST_DELAY: Final = 0.05
_MAX_DELAY: Final = 1.0


class Read(Protocol):
    """Function that reads a session."""

    def __call__(
        self, session: str, since: Position | None, *, count: int
    ) -> Awaitable[Result[View, SessionNotFound | StoreUnavailable]]:
        """Return a session, and events after a position."""
        ...


class _Watched:
    """A session with subscriptions in this process."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.count = 0
        self.cursor: Known | None = None
        """The last event that was delivered; None before the first one of a session is read."""
        self.subscribed: Future[None] = asyncio.get_running_loop().create_future()
        self.is_changed = False
        """Whether a signal came before the session was ready."""
        self.ready = Event()

    def confirm(self) -> None:
        """End the wait for signals."""
        if not self.subscribed.done():
            self.subscribed.set_result(None)


class Settings(Struct, frozen=True):
    """Settings of a watcher.

    Attributes:
        timeout: Maximum time of a command, in seconds.
        channel_of: Returns the channel of a session.
        unavailable: Returns the failure for an error.
    """

    timeout: float
    channel_of: Callable[[str], bytes]
    unavailable: Callable[[RedisError], StoreUnavailable]


class Watcher(SignalHandler):
    """Reads the events of watched sessions, and delivers them.

    Args:
        hub: The subscriptions of the process.
        read: Reads a session.
        new_link: Creates the connection for signals; called again after each loss.
        settings: Settings.
        tasks: Contains the task of the watcher until it has ended.
    """

    def __init__(
        self,
        hub: Hub,
        read: Read,
        new_link: Callable[[SignalHandler], SignalLink],
        settings: Settings,
        tasks: set[Task[None]],
    ) -> None:
        self._hub = hub
        self._read = read
        self._new_link = new_link
        self._settings = settings
        self._tasks = tasks
        self._sessions: dict[bytes, _Watched] = {}
        self._link: SignalLink | None = None
        self._unconfirmed: set[bytes] = set()
        self._delay = 0.0
        self._reconnect: TimerHandle | None = None
        self._changed: dict[bytes, None] = {}
        self._has_changed = Event()
        self._reader: Task[None] | None = None
        self._outage: TimerHandle | None = None
        self._outage_error: StoreUnavailable | None = None
        self._check: TimerHandle | None = None
        self._checked: list[bytes] = []

    async def watch(self, session: str) -> None:
        """Begin to deliver the new events of a session.

        Returns when signals arrive, or after the timeout: then they are delivered later.
        """
        channel = self._settings.channel_of(session)
        watched = self._sessions.get(channel)
        is_first = watched is None
        if watched is None:
            watched = self._sessions[channel] = _Watched(session)
        watched.count += 1
        self._start()
        if is_first and self._link is not None and self._link.error is None:
            self._unconfirmed.add(channel)
            self._link.subscribe([channel])
        try:
            async with asyncio.timeout(self._settings.timeout):
                if is_first:
                    await asyncio.wait([watched.subscribed])
                    await self._set_cursor(watched)
                else:
                    await watched.ready.wait()
        except TimeoutError:
            pass
        finally:
            # Also for those that wait for a first subscription that was cancelled.
            watched.ready.set()
            if watched.is_changed:
                watched.is_changed = False
                self._read_soon(channel)

    def unwatch(self, session: str) -> None:
        """End the delivery for one subscription."""
        channel = self._settings.channel_of(session)
        watched = self._sessions.get(channel)
        if watched is None:
            return
        watched.count -= 1
        if watched.count == 0:
            del self._sessions[channel]
            self._unconfirmed.discard(channel)
            if self._link is not None and self._link.error is None:
                self._link.unsubscribe(channel)

    def close(self) -> None:
        """Close the connection and end the task, which ends soon."""
        link, self._link = self._link, None
        if link is not None:
            link.close()
        if self._reader is not None:
            self._reader.cancel()
        for timer in (self._reconnect, self._outage, self._check):
            if timer is not None:
                timer.cancel()
        self._sessions.clear()

    @override
    def on_connected(self) -> None:
        channels = [*self._sessions]
        self._unconfirmed = {*channels}
        if not channels:
            self._end_outage()
        for start in range(0, len(channels), _CHANNELS):
            if self._link is not None:
                self._link.subscribe(channels[start : start + _CHANNELS])

    @override
    def on_subscribed(self, channel: bytes) -> None:
        watched = self._sessions.get(channel)
        if watched is not None:
            watched.confirm()
            # Events that were stored while there was no connection.
            if watched.ready.is_set():
                self._read_soon(channel)
        self._unconfirmed.discard(channel)
        if not self._unconfirmed:
            self._end_outage()

    @override
    def on_signal(self, channel: bytes, text: bytes) -> None:
        watched = self._sessions.get(channel)
        if watched is None:
            return
        epoch, _, seq = text.partition(b' ')
        cursor = watched.cursor
        if (
            cursor is not None
            and cursor.epoch == epoch
            and seq.isdigit()
            and int(seq) <= cursor.seq
        ):
            return
        if watched.ready.is_set():
            self._read_soon(channel)
        else:
            watched.is_changed = True

    @override
    def on_lost(self, error: RedisError) -> None:
        failure = self._settings.unavailable(error)
        if isinstance(error, ResponseError):
            # For example, no permission for the channel: a repetition does not help.
            self._interrupt_all(failure)
            for watched in self._sessions.values():
                watched.confirm()
        if self._link is not None:
            self._begin_outage(failure)
            self._delay = min(max(2.0 * self._delay, _FIRST_DELAY), _MAX_DELAY)
            self._reconnect = asyncio.get_running_loop().call_later(
                self._delay * uniform(0.5, 1.0),  # noqa: S311 -- no secret
                self._connect,
            )

    def _start(self) -> None:
        if self._reader is None:
            loop = asyncio.get_running_loop()
            self._reader = loop.create_task(self._read_all(), name=TASK_NAME, context=Context())
            self._tasks.add(self._reader)
            self._reader.add_done_callback(self._tasks.discard)
            self._check = loop.call_later(CHECK_INTERVAL, self._check_some)
            self._connect()

    def _connect(self) -> None:
        self._link = self._new_link(self)

    def _begin_outage(self, error: StoreUnavailable) -> None:
        self._outage_error = error
        if self._outage is None:
            self._outage = asyncio.get_running_loop().call_later(
                PATIENCE * self._settings.timeout, self._give_up
            )

    def _end_outage(self) -> None:
        self._delay = 0.0
        if self._outage is not None:
            self._outage.cancel()
            self._outage = None

    def _give_up(self) -> None:
        self._outage = None
        if self._outage_error is not None:
            self._interrupt_all(self._outage_error)
            self._begin_outage(self._outage_error)

    def _interrupt_all(self, error: StoreUnavailable) -> None:
        for watched in self._sessions.values():
            self._hub.interrupt(watched.session, error)

    def _check_some(self) -> None:
        """Read some sessions: another client can have deleted them, and a signal can be lost."""
        self._check = asyncio.get_running_loop().call_later(CHECK_INTERVAL, self._check_some)
        if not self._checked:
            self._checked = [*self._sessions]
        for _ in range(max(_CHECKS, ceil(len(self._sessions) / _ROUNDS))):
            if not self._checked:
                break
            channel = self._checked.pop()
            watched = self._sessions.get(channel)
            if watched is not None and watched.ready.is_set():
                self._read_soon(channel)

    def _read_soon(self, channel: bytes) -> None:
        self._changed[channel] = None
        self._has_changed.set()

    async def _read_all(self) -> None:
        delay = 0.0
        while True:
            await self._has_changed.wait()
            channels = [*self._changed][:_CONCURRENT_READS]
            for channel in channels:
                del self._changed[channel]
            if not self._changed:
                self._has_changed.clear()
            try:
                is_available = await self._read_some(channels)
            except Exception as defect:  # noqa: BLE001
                report_defect(defect)
                is_available = False
            if is_available:
                delay = 0.0
                continue
            delay = min(max(2.0 * delay, _FIRST_DELAY), _MAX_DELAY)
            await asyncio.sleep(delay)

    async def _read_some(self, channels: list[bytes]) -> bool:
        """Read sessions at the same time, and deliver their events; return False in an outage."""
        watched = [self._sessions[channel] for channel in channels if channel in self._sessions]
        views = await asyncio.gather(*(self._view(item) for item in watched))
        is_available = True
        for item, view in zip(watched, views, strict=True):
            channel = self._settings.channel_of(item.session)
            if self._sessions.get(channel) is not item:
                continue
            if type(view) is not Failure:
                self._deliver(item, channel, view.unwrap())
                continue
            error = view.failure()
            if isinstance(error, StoreUnavailable):
                if error.store == item.session:
                    # Only this session is damaged.
                    self._hub.interrupt(item.session, error)
                    continue
                is_available = False
                self._begin_outage(error)
                self._read_soon(channel)
            elif item.cursor is not None:
                item.cursor = None
                reason = 'the session was deleted'
                self._hub.interrupt(item.session, StoreUnavailable(item.session, reason))
        if is_available and not self._unconfirmed and self._delay == 0.0:
            self._end_outage()
        return is_available

    async def _view(self, watched: _Watched) -> Result[View, SessionNotFound | StoreUnavailable]:
        cursor = watched.cursor
        if cursor is None:
            # The numbers only; the events follow when the epoch is known.
            return await self._read(watched.session, None, count=0)
        since = Position(cursor.epoch.decode(), cursor.seq)
        return await self._read(watched.session, since, count=PAGE)

    def _deliver(self, watched: _Watched, channel: bytes, view: View) -> None:
        session, state, cursor = watched.session, view.state, watched.cursor
        if cursor is None:
            watched.cursor = Known(view.top.epoch, state.first - 1, b'')
            if state.top >= state.first:
                self._read_soon(channel)
            return
        if cursor.epoch != view.top.epoch:
            watched.cursor = Known(view.top.epoch, state.first - 1, b'')
            self._interrupt(session, 'the session has a new epoch')
            self._read_soon(channel)
            return
        if state.top <= cursor.seq:
            return
        items = view.items
        is_chained = bool(items) and items[0].stored.position.seq == cursor.seq + 1
        if is_chained and cursor.mark not in {b'', items[0].previous}:
            is_chained = False
        if not is_chained:
            watched.cursor = view.top
            self._interrupt(session, 'events are missing in the store')
            return
        last = items[-1]
        seq = last.stored.position.seq
        watched.cursor = Known(cursor.epoch, seq, last.mark)
        self._hub.deliver(session, [item.stored for item in items], is_ended=seq == view.end)
        if seq < state.top:
            self._read_soon(channel)

    def _interrupt(self, session: str, reason: str) -> None:
        self._hub.interrupt(session, StoreUnavailable(session, reason))

    async def _set_cursor(self, watched: _Watched) -> None:
        view = await self._read(watched.session, None, count=0)
        if type(view) is not Failure and watched.cursor is None:
            watched.cursor = view.unwrap().top
