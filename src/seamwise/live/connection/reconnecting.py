"""Iterator over the events of a session that connects again after each loss."""

from asyncio import CancelledError, ensure_future, wait
from asyncio import Event as Flag
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from re import compile as pattern
from time import time
from types import TracebackType
from typing import Final, Self, TypeAlias, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.access import AccessError
from seamwise.catalog.sessions import ConnectionLost, ReplayGap, UnknownEpoch
from seamwise.catalog.streaming import StreamClosed
from seamwise.live.connection.delays import ReconnectDelays
from seamwise.live.connection.line import Line, LineSettings, open_line
from seamwise.live.connection.losses import TOO_MANY_DELAY, Closed, access_error, connection_lost
from seamwise.live.connection.tracker import (
    ACKNOWLEDGE,
    CONNECT,
    RECONNECT,
    Tracker,
    frame,
    frame_of,
)
from seamwise.live.events import Event, Position, Stored
from seamwise.live.wire import INVALID_DATA, NORMAL, REPLACED, RESTART, TOO_MANY
from seamwise.policies import World

ClientError: TypeAlias = ReplayGap | UnknownEpoch | ConnectionLost | AccessError
"""An error in the events of a client: events are lost, the connection is, or the caller refused."""

HEARTBEAT: Final = 15.0
"""The interval of the heartbeats of a gateway that announces none, in seconds."""

_RESERVED: Final = {CONNECT, RECONNECT, ACKNOWLEDGE}

# The gateway stores no other events of a client.
_is_name: Final = pattern(r'user\.[A-Za-z0-9_.-]{1,100}').fullmatch

T = TypeVar('T')


class Connection:
    """Client of a session: `async for result in connection`.

    The iterator connects again by itself, and continues behind the last event. It returns each
    event once, in order, and reports every loss:

    - `ConnectionLost`: The connection was lost, or an attempt to connect failed (`uptime` is then
      0). The next step of the iterator waits for the delay, and connects.
    - `ReplayGap`, `UnknownEpoch`: Events are lost. The iterator continues with those that there
      are. A client without a position reports the events before the first one, too.
    - `Unauthenticated`, `AccessDenied`: The gateway refuses the caller. The iterator ends. So it
      does after a `ConnectionLost` with the code 4409: a newer connection has taken over.

    It also ends after the last event of the session, when the delays of the backoff are used up,
    and when the connection is closed.

    The client runs no task: it receives while the caller iterates. A caller that pauses for long is
    disconnected by the gateway, and continues behind the last event.

    Attributes:
        session: The id of the session.
        position: The position behind the last result of the iterator, for `since` of a later
            client. None before the first event.
        state: The snapshot that replaces the events of the last reported gap, or None.
    """

    def __init__(  # noqa: PLR0913 -- the parts of a client
        self,
        session: str,
        settings: LineSettings,
        *,
        tracker: Tracker,
        delays: ReconnectDelays,
        heartbeat: float | None,
        is_watching: bool,
        world: World,
    ) -> None:
        self.session = session
        self.position = tracker.position
        self.state: object = None
        self._is_watching = is_watching
        self._settings = settings
        self._tracker = tracker
        self._delays = delays
        self._heartbeat = heartbeat
        self._world = world
        self._line: Line | None = None
        self._attempt = 0
        self._opened_at = 0.0
        self._results: deque[Result[Stored, ClientError]] = deque()
        self._reply: str | None = None
        # The delay that the gateway requests, while there is no connection.
        self._retry_after: float | None = None
        self._lost: ConnectionLost | None = None
        self._answer_by = 0.0
        # Cancels the attempt to connect, or the delay before it.
        self._cancel_attempt: Callable[[], object] | None = None
        self._is_entered = self._is_ended = self._is_complete = self._is_reading = False
        self._is_settled = Flag()

    async def __aenter__(self) -> Self:
        """Connect. A failure is the first result of the iterator."""
        if self._is_entered:
            raise RuntimeError('A connection can be opened once; call connect() again.')
        self._is_entered = True
        await self._connect()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connection. An iteration of another task ends."""
        self._is_ended = True
        self._results.clear()
        if self._cancel_attempt is not None:
            self._cancel_attempt()
        line, self._line = self._line, None
        if line is not None:
            await line.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Result[Stored, ClientError]:
        """Wait for the next event or loss.

        Raises:
            StopAsyncIteration: The session, or the client, has ended.
        """
        if not self._is_entered:
            # seamwise: allow[SW102] a wrong call
            raise RuntimeError('Open the connection first: async with connect(…) as connection.')
        if self._is_reading:
            # seamwise: allow[SW102] a wrong call
            raise RuntimeError('Only one task can iterate over a connection at a time.')
        self._is_reading = True
        try:
            while not self._results:
                if self._is_ended:
                    raise StopAsyncIteration
                if self._line is None:
                    await self._reconnect()
                else:
                    await self._receive(self._line)
            return self._take()
        finally:
            self._is_reading = False

    async def send(self, event: Event) -> Result[None, ConnectionLost | StreamClosed]:
        """Send an event to the application, such as `user.message`.

        A success means that the event was written to the connection. The gateway stores it, so that
        the iterator returns it as an event of the session: this is the proof that it has arrived.

        An event is never kept for later. While there is no connection, the result is a failure; the
        caller decides whether the event is still worth sending. During an attempt to connect, the
        method waits for its end.

        Returns:
            `ConnectionLost` without a connection, and `StreamClosed` after the last event of the
            session.

        Raises:
            TypeError: It is no event, or JSON cannot represent it.
            ValueError: The name does not begin with `user.`, or belongs to the protocol, such as
                `user.ack`; or the connection only watches.
        """
        if not isinstance(event, Event):
            raise TypeError(f'send takes an Event, not {type(event).__name__}.')
        if event.event in _RESERVED:
            # seamwise: allow[SW102] a wrong call
            raise ValueError(
                f'{event.event!r} belongs to the protocol; the client sends it itself.'
            )
        if not _is_name(event.event):
            # seamwise: allow[SW102] a wrong call
            raise ValueError(
                f'An event of a client is user.… with letters, digits, and _ . -, '
                f'not {event.event!r}.'
            )
        if self._is_watching:
            # seamwise: allow[SW102] a wrong call
            raise ValueError('This connection only watches: connect without watch=True to send.')
        return await self._send(frame_of(event))

    async def acknowledge(
        self, position: Position | None = None
    ) -> Result[None, ConnectionLost | StreamClosed]:
        """Let the gateway delete the events up to a position.

        The client never does so by itself: the events are then gone for every reader.

        Args:
            position: None: the position of the client, behind the last result of the iterator.
        """
        target = self.position if position is None else position
        if target is None:
            return Success(None)
        return await self._send(frame(ACKNOWLEDGE, epoch=target.epoch, seq=target.seq))

    async def _send(self, text: str) -> Result[None, ConnectionLost | StreamClosed]:
        if not self._is_entered:
            # seamwise: allow[SW102] a wrong call
            raise RuntimeError('Open the connection first: async with connect(…) as connection.')
        await self._is_settled.wait()
        if self._is_complete:
            return Failure(StreamClosed(self.session))
        if self._line is None:
            return Failure(self._lost or self._connection_lost(Closed(NORMAL, 'closed here')))
        sent = await self._line.send(text, silence=self._silence)
        if type(sent) is Failure:
            return Failure(self._connection_lost(sent.failure()))
        return Success(None)

    def _take(self) -> Result[Stored, ClientError]:
        result = self._results.popleft()
        if type(result) is not Failure:
            self.position = result.unwrap().position
            return result
        error = result.failure()
        if isinstance(error, UnknownEpoch):
            self.position = Position(error.current, 0)
        elif isinstance(error, ReplayGap) and self._tracker.position is not None:
            self.position = Position(self._tracker.position.epoch, error.first_available - 1)
        return result

    @property
    def _silence(self) -> float:
        return 2 * (self._heartbeat or self._tracker.heartbeat or HEARTBEAT)

    @property
    def _uptime(self) -> float:
        return 0.0 if self._line is None else max(0.0, self._world.clock() - self._opened_at)

    async def _reconnect(self) -> None:
        if self._lost is not None and self._lost.close_code == RESTART:
            delay = self._delays.next_after_restart(self._retry_after)
        else:
            delay = self._delays.next(self._retry_after)
        if delay is None:
            self._is_ended = True
            return
        await self._until_closed(self._world.sleep(delay))
        if not self._is_ended:
            await self._connect()

    async def _until_closed(
        self, work: Awaitable[T], discard: Callable[[T], object] = lambda _: None
    ) -> T | None:
        """Wait for work; cancel it, and return None, when another task closes the connection.

        Args:
            work: The attempt to connect, or the delay before it.
            discard: Frees the result of work that ended just before it was cancelled.
        """
        attempt = ensure_future(work)
        self._cancel_attempt = attempt.cancel
        try:
            await wait([attempt])
        except CancelledError:
            attempt.cancel()
            with suppress(CancelledError):
                discard(await attempt)
            raise
        finally:
            self._cancel_attempt = None
        return None if attempt.cancelled() else attempt.result()

    async def _connect(self) -> None:
        self._is_settled.clear()
        try:
            first_frame = self._tracker.begin()
            self._attempt += 1
            opening = open_line(
                self._settings, attempt=self._attempt, silence=self._silence, now=time()
            )
            opened = await self._until_closed(opening, _abort)
            if opened is None:
                return
            if type(opened) is Failure:
                self._lose(opened.failure())
                return
            line = opened.unwrap()
            try:
                sent = await line.send(first_frame, silence=self._silence)
            except BaseException:
                line.abort()
                raise
            if self._is_ended:
                await line.close()
                return
            self._line, self._opened_at, self._reply = line, self._world.clock(), None
            self._answer_by = self._opened_at + self._silence
            if type(sent) is Failure:
                self._lose(sent.failure())
        finally:
            self._is_settled.set()

    async def _receive(self, line: Line) -> None:
        """Receive a frame, and queue its results."""
        if self._reply is not None:
            # The answer to it may never come; `receive` detects that.
            _ = await line.send(self._reply, silence=self._silence)
            self._reply = None
        silence = self._silence
        if not self._tracker.is_answered:
            # Other frames do not replace the answer.
            silence = min(silence, max(0.0, self._answer_by - self._world.clock()))
        arrived = await line.receive(silence=silence)
        if self._is_ended:
            return
        if type(arrived) is Failure:
            self._lose(arrived.failure())
            return
        content = self._tracker.receive(arrived.unwrap())
        if type(content) is Failure:
            error = content.failure()
            self._lose(Closed(INVALID_DATA, error.reason, cause=error))
            await line.refuse_data()
            return
        received = content.unwrap()
        self._results.extend(received.messages)
        self._reply = received.reply
        if received.state is not UNSET:
            self.state = received.state
        if any(type(message) is not Failure for message in received.messages):
            self._delays.reset()

    def _lose(self, closed: Closed) -> None:
        """Queue the loss of the connection, or end."""
        if self._is_ended:
            return
        uptime = self._uptime
        if self._line is not None and uptime >= self._silence / 2:
            self._delays.reset()
        if closed.code == NORMAL and self._tracker.is_whole:
            self._line, self._is_ended, self._is_complete = None, True, True
            return
        if not closed.reason:
            closed = replace(closed, reason=self._tracker.reason)
        self._lost = self._connection_lost(closed)
        self._line = None
        self._retry_after = closed.retry_after or self._tracker.retry_after
        if self._retry_after is None and closed.code == TOO_MANY:
            self._retry_after = TOO_MANY_DELAY
        refused = access_error(closed, self.session)
        self._is_ended = refused is not None or closed.code == REPLACED
        self._results.append(Failure(refused or self._lost))

    def _connection_lost(self, closed: Closed) -> ConnectionLost:
        last = self._tracker.position
        return connection_lost(closed, last_seq=last.seq if last else 0, uptime=self._uptime)


def _abort(opened: Result[Line, Closed]) -> None:
    if type(opened) is not Failure:
        opened.unwrap().abort()
