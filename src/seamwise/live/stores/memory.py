"""Event log in the memory of the process."""

from collections import deque
from collections.abc import AsyncIterator, Callable
from time import monotonic, time

import msgspec
from msgspec import Struct
from typing_extensions import override

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.sessions import AckAhead, ReplayError, SessionNotFound, UnknownEpoch
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import StreamClosed
from seamwise.live.events import Event, Position, Record, Stored, decode_record, encode_state
from seamwise.live.log import DEFAULT_LIMITS, LogLimits
from seamwise.live.replay import Replay, StreamState, replay_range
from seamwise.live.stores.base import MAX_BATCH_IDS, StoreLog, new_epoch
from seamwise.live.stores.memory_leases import MemoryLeases


class _Entry(Struct, frozen=True):
    stored: Stored
    weight: int


class _Stream:
    """The events of one session."""

    def __init__(self) -> None:
        self.epoch = new_epoch()
        self.top = 0
        self.is_ended = False
        self.entries: deque[_Entry] = deque()
        self.size = 0
        self.state: object = None
        self.state_seq: int | None = None
        self.batches: dict[str, tuple[Position, float]] = {}
        """By batch id: the position and the time of the last event, without the event itself."""

    @property
    def position(self) -> Position:
        return Position(self.epoch, self.top)

    @property
    def first(self) -> int:
        """The lowest number from which all events are still stored."""
        return self.top + 1 - len(self.entries)

    @property
    def removable(self) -> int:
        """The number of events that limits can delete: the end is kept."""
        return len(self.entries) - self.is_ended

    def add(self, stored: Stored, weight: int) -> None:
        self.entries.append(_Entry(stored, weight))
        self.size += weight
        self.top = stored.position.seq

    def remember(self, batch_id: str, last: Stored) -> None:
        self.batches[batch_id] = (last.position, last.at)
        if len(self.batches) > MAX_BATCH_IDS:
            del self.batches[next(iter(self.batches))]

    def remove_oldest(self) -> None:
        self.size -= self.entries.popleft().weight


class MemoryLog(StoreLog):
    """Event log in the memory of one process, for tests and for services of one process.

    A new process has new epochs.

    >>> import asyncio
    >>> async def main():
    ...     async with MemoryLog() as log:
    ...         stored = (await log.append('s-1', Event('agent.thinking', 'Reading.'))).unwrap()
    ...         replay = (await log.replay('s-1', Position(stored.position.epoch, 0))).unwrap()
    ...         return [item.event.content for item in replay.events]
    >>> asyncio.run(main())
    ['Reading.']

    Args:
        limits: The limits of each session.
        clock: Returns the time in seconds since 1970.
    """

    def __init__(
        self, *, limits: LogLimits = DEFAULT_LIMITS, clock: Callable[[], float] = time
    ) -> None:
        super().__init__(limits=limits, clock=clock)
        self._streams: dict[str, _Stream] = {}
        self._leases = MemoryLeases(monotonic)

    @property
    @override
    def leases(self) -> MemoryLeases:
        return self._leases

    @override
    async def _begin(self, session: str) -> Result[Position, StoreUnavailable]:
        return Success(self._streams.setdefault(session, _Stream()).position)

    @override
    async def _append(
        self,
        session: str,
        records: list[tuple[Event, Record]],
        *,
        batch_id: str | None,
        is_end: bool,
    ) -> Result[Stored, StreamClosed | StoreUnavailable]:
        stream = self._streams.setdefault(session, _Stream())
        if batch_id is not None and batch_id in stream.batches:
            return Success(decode_record(records[-1][1].body, *stream.batches[batch_id]))
        if stream.is_ended:
            return Failure(StreamClosed(session))
        now = self._now()
        items: list[Stored] = []
        for _, record in records:
            position = Position(stream.epoch, stream.top + 1)
            # The decoded record is a copy: the application can change its own metadata later.
            items.append(decode_record(record.body, position, now))
            stream.add(items[-1], record.weight)
        stream.is_ended = is_end
        if batch_id is not None:
            stream.remember(batch_id, items[-1])
        self._trim(stream, now)
        self._hub.deliver(session, items, is_ended=is_end)
        return Success(items[-1])

    @override
    async def replay(
        self, session: str, since: Position | None
    ) -> Result[Replay, ReplayError | SessionNotFound | StoreUnavailable]:
        stream = self._streams.get(session)
        if stream is None:
            return Failure(SessionNotFound(session))
        self._trim(stream, self._now())
        state = StreamState(
            stream.epoch, stream.top, stream.first, stream.state_seq, is_ended=stream.is_ended
        )
        events = replay_range(state, since)
        if type(events) is Failure:
            return events
        range_ = events.unwrap()
        # From the end, so that the cost depends on the missed events only.
        missed = [stream.entries[index].stored for index in range(range_.after - stream.top, 0)]
        return Success(
            Replay(
                stream.epoch,
                tuple(missed),
                stream.position,
                is_whole=range_.is_whole,
                state=stream.state if range_.has_state else None,
                is_ended=stream.is_ended,
            )
        )

    @override
    async def acknowledge(
        self, session: str, position: Position
    ) -> Result[None, AckAhead | UnknownEpoch | SessionNotFound | StoreUnavailable]:
        stream = self._check(session, position)
        if type(stream) is Failure:
            return stream
        entries = stream.unwrap()
        while entries.removable and entries.first <= position.seq:
            entries.remove_oldest()
        return Success(None)

    @override
    async def snapshot(
        self, session: str, position: Position, state: object
    ) -> Result[None, AckAhead | UnknownEpoch | SessionNotFound | StoreUnavailable]:
        copy: object = msgspec.json.decode(encode_state(state))
        stream = self._check(session, position)
        if type(stream) is Failure:
            return stream
        target = stream.unwrap()
        if target.state_seq is None or position.seq >= target.state_seq:
            target.state, target.state_seq = copy, position.seq
        return Success(None)

    @override
    async def delete(self, session: str) -> Result[None, StoreUnavailable]:
        self._streams.pop(session, None)
        self._hub.interrupt(session, StoreUnavailable(session, 'the session was deleted'))
        return Success(None)

    @override
    async def sessions(self) -> AsyncIterator[str]:
        for session in [*self._streams]:
            yield session

    def _check(
        self, session: str, position: Position
    ) -> Result[_Stream, AckAhead | UnknownEpoch | SessionNotFound]:
        stream = self._streams.get(session)
        if stream is None:
            return Failure(SessionNotFound(session))
        if position.epoch != stream.epoch:
            return Failure(UnknownEpoch(position.epoch, stream.epoch))
        if position.seq > stream.top:
            return Failure(AckAhead(position.seq, stream.top))
        return Success(stream)

    def _trim(self, stream: _Stream, now: float) -> None:
        """Delete the oldest events until the limits hold."""
        limits, entries = self._limits, stream.entries
        while stream.removable and (
            len(entries) > limits.max_events
            or stream.size > limits.max_bytes
            or entries[0].stored.at < now - limits.max_age
        ):
            stream.remove_oldest()
