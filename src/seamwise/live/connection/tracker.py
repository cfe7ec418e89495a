"""Place of a client in the events of a session, computed from the frames that it receives."""

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.sessions import ReplayGap, UnknownEpoch
from seamwise.catalog.streaming import InvalidStream
from seamwise.live.events import MAX_SEQ, Event, Position, Stored, encode_state
from seamwise.live.wire import WireEvent, decode_wire_event, stored_event

Message: TypeAlias = Result[Stored, ReplayGap | UnknownEpoch]
"""An event, or a loss of events."""

MAX_HEARTBEAT: Final = 3600.0
"""The maximum interval of heartbeats that a gateway can announce, in seconds."""

MAX_RETRY_AFTER: Final = 120.0
"""The maximum delay that a gateway can request, in seconds."""

NOTICE: Final = 'system.notice'
CONNECT: Final = 'user.connect'
RECONNECT: Final = 'user.reconnect_with_state'
ACKNOWLEDGE: Final = 'user.ack'

_Seq: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_SEQ)]
_Answer: TypeAlias = Literal[
    'complete', 'nothing_missed', 'gap', 'unknown_epoch', 'ack_ahead', 'new'
]


class _Notice(Struct, frozen=True):
    replay: _Answer
    epoch: Annotated[str, Meta(min_length=1)]
    top: _Seq
    requested: _Seq | None = None
    first_available: _Seq | None = None
    heartbeat: object = None
    state: object = UNSET
    state_seq: _Seq | None = None


class Received(Struct, frozen=True):
    """The content of a frame.

    Attributes:
        messages: The events and the losses of events, in order.
        reply: The frame that the client has to send, or None.
        state: The snapshot that replaces the events of a reported gap, if there is one.
    """

    messages: tuple[Message, ...] = ()
    reply: str | None = None
    state: object = UNSET


class Tracker:
    """Computes from frames the events that are new, the losses, and the frames to send.

    An event whose number is not above the last one is dropped. A number that is not the next one is
    a gap.

    >>> tracker = Tracker(Position('e1', 2))
    >>> tracker.begin()
    '{"event":"user.reconnect_with_state","metadata":{"epoch":"e1","last_seq":2}}'
    >>> tracker.receive('''{"event": "system.notice",
    ...     "metadata": {"replay": "complete", "epoch": "e1", "top": 3}}''')
    Success(Received(messages=(), reply=None, state=UNSET))
    >>> received = tracker.receive('{"event": "agent.thinking", "seq": 3, "at": 0.5}').unwrap()
    >>> [message.unwrap().position for message in received.messages]
    [Position(epoch='e1', seq=3)]

    Attributes:
        position: The position behind the last event that was received, or None without an answer.
        heartbeat: The interval of heartbeats that the gateway has announced, in seconds, or None.
        retry_after: The delay that the last error event of the connection requests, in seconds.
        reason: The text of the last error event of the connection.
    """

    def __init__(self, since: Position | None) -> None:
        self.position = since
        self.heartbeat: float | None = None
        self.retry_after: float | None = None
        self.reason = ''
        self._top: int | None = None
        self._has_position = False

    @property
    def is_answered(self) -> bool:
        """Whether the gateway has answered the first frame, and its events follow."""
        return self._top is not None

    @property
    def is_whole(self) -> bool:
        """Whether every event has arrived that the answer of the gateway promised."""
        return (
            self._top is not None and self.position is not None and self.position.seq >= self._top
        )

    def begin(self) -> str:
        """Return the first frame of a new connection."""
        self._top = None
        self._has_position = self.position is not None
        self.retry_after, self.reason = None, ''
        if self.position is None:
            return frame(CONNECT)
        return frame(RECONNECT, epoch=self.position.epoch, last_seq=self.position.seq)

    def receive(self, text: str | bytes) -> Result[Received, InvalidStream]:
        """Return the content of a frame.

        A failure means that frames were damaged: the client connects again, so that the gateway
        repeats the events.
        """
        if not isinstance(text, str):
            return Failure(InvalidStream('a frame is binary'))
        decoded = decode_wire_event(text)
        if type(decoded) is Failure:
            error = decoded.failure()
            return Failure(InvalidStream(f'a frame is no event: {error.problem}', cause=error))
        event = decoded.unwrap()
        # Only an error event directly before the close frame explains it.
        self.retry_after, self.reason = None, ''
        if event.seq is UNSET:
            return self._receive_unnumbered(event)
        return self._receive_event(event)

    def _receive_event(self, event: WireEvent) -> Result[Received, InvalidStream]:
        last = self.position
        if last is None or self._top is None:
            return Failure(InvalidStream('an event came before the answer of the gateway'))
        stored = stored_event(event, last.epoch)
        if stored is None:
            return Failure(InvalidStream(f'an event has the number {event.seq}'))
        seq = stored.position.seq
        if seq <= last.seq:
            return Success(Received())
        self.position = stored.position
        if seq == last.seq + 1:
            return Success(Received((Success(stored),)))
        return Success(Received((Failure(ReplayGap(last.seq + 1, seq)), Success(stored))))

    def _receive_unnumbered(self, event: WireEvent) -> Result[Received, InvalidStream]:
        metadata = event.metadata
        if event.event.startswith('error.'):
            self.reason = event.content
            delay = metadata.get('retry_after_ms')
            if isinstance(delay, int | float) and not isinstance(delay, bool) and delay >= 0:
                self.retry_after = min(delay / 1000, MAX_RETRY_AFTER)
        if event.event != NOTICE or 'replay' not in metadata or self._top is not None:
            return Success(Received())
        try:
            notice = msgspec.convert(metadata, _Notice)
        except msgspec.ValidationError as error:
            return Failure(InvalidStream(f'the answer of the gateway is invalid: {error}'))
        if (
            isinstance(notice.heartbeat, int | float)
            and not isinstance(notice.heartbeat, bool)
            and 0 < notice.heartbeat <= MAX_HEARTBEAT
        ):
            self.heartbeat = float(notice.heartbeat)
        last = self.position or Position(notice.epoch, 0)
        if not self._is_consistent(notice, last):
            return Failure(InvalidStream(f'the answer {notice.replay} contradicts the request'))
        return Success(self._answer(notice, last))

    def _is_consistent(self, notice: _Notice, last: Position) -> bool:
        """Return whether an answer fits the request: a wrong one could repeat or skip events."""
        is_other_epoch = notice.epoch != last.epoch
        match notice.replay:
            case 'new':
                return is_other_epoch or notice.top >= last.seq
            case 'complete' | 'nothing_missed':
                return not is_other_epoch and notice.top >= last.seq
            case 'unknown_epoch':
                return self._has_position and is_other_epoch
            case 'ack_ahead':
                return self._has_position and not is_other_epoch and notice.top < last.seq
            case 'gap':
                first = notice.first_available or 0
                return (
                    self._has_position
                    and not is_other_epoch
                    and last.seq + 1 < first <= notice.top + 1
                )

    def _answer(self, notice: _Notice, last: Position) -> Received:
        match notice.replay:
            case 'unknown_epoch':
                error = UnknownEpoch(last.epoch, notice.epoch)
                return self._restart(error, Position(notice.epoch, 0))
            case 'gap':
                first = notice.first_available or 0
                return self._restart(
                    ReplayGap(last.seq + 1, first), Position(last.epoch, first - 1)
                )
            case 'ack_ahead':
                # The gateway has lost events that the client has: it will use their numbers again.
                gap = ReplayGap(last.seq + 1, notice.top + 1)
                return self._restart(gap, Position(last.epoch, notice.top))
            case _:
                return self._continue(notice, last)

    def _continue(self, notice: _Notice, last: Position) -> Received:
        """Expect the events, or a snapshot and the events after it."""
        messages: list[Message] = []
        if notice.epoch != last.epoch:
            messages.append(Failure(UnknownEpoch(last.epoch, notice.epoch)))
            last = Position(notice.epoch, 0)
        self._top = notice.top
        state: object = UNSET
        if notice.state_seq is not None and last.seq < notice.state_seq <= notice.top:
            messages.append(Failure(ReplayGap(last.seq + 1, notice.state_seq + 1)))
            last = Position(last.epoch, notice.state_seq)
            state = notice.state
        self.position = last
        return Received(tuple(messages), state=state)

    def _restart(self, error: ReplayGap | UnknownEpoch, position: Position) -> Received:
        """Continue at another position: the gateway waits for a new `user.connect`."""
        self.position, self._has_position = position, False
        return Received((Failure(error),), frame(CONNECT))


def frame(event: str, **metadata: object) -> str:
    """Return a frame of the protocol.

    >>> frame('user.connect')
    '{"event":"user.connect"}'
    """
    return frame_of(Event(event, metadata=metadata))


def frame_of(event: Event) -> str:
    """Return the frame of an event.

    Raises:
        TypeError: JSON cannot represent its metadata.
    """
    return encode_state(event).decode()
