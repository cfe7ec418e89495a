"""Sessions in Redis: the scripts as functions."""

from collections.abc import Sequence
from secrets import token_hex
from typing import Final

import msgspec
from msgspec import Struct
from redis.exceptions import RedisError

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.sessions import AckAhead, SessionNotFound, UnknownEpoch
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live.events import Position, Record, Stored, decode_record
from seamwise.live.log import LogLimits
from seamwise.live.replay import StreamState
from seamwise.live.stores.base import MAX_BATCH_IDS, new_epoch
from seamwise.live.stores.redis.commands import Commands
from seamwise.live.stores.redis.history import History, Known
from seamwise.live.stores.redis.keys import Keys, SessionKeys
from seamwise.live.stores.redis.link import Reply
from seamwise.live.stores.redis.reasons import Reasons
from seamwise.live.stores.redis.scripts import (
    ACKNOWLEDGE,
    APPEND,
    BEGIN,
    DELETE,
    READ,
    SNAPSHOT,
    Script,
)

_HEADER: Final = 4
"""Number of parts of the header of a stream entry."""

_FIELDS: Final = 2
"""Number of texts of a stream entry: the header, and the body."""

_APPEND_PARTS: Final = 5


class Item(Struct, frozen=True):
    """An event in the stream, with the marks that chain it to the one before it."""

    stored: Stored
    mark: bytes
    previous: bytes


class View(Struct, frozen=True):
    """A session as a script has read it.

    Attributes:
        state: The numbers of the session.
        end: The number of the end of the session, or None.
        top: The last event.
        items: Events, in order and without holes; not necessarily up to the last one.
    """

    state: StreamState
    end: int | None
    top: Known
    items: Sequence[Item]


class AppendReply(Struct, frozen=True):
    """The reply to an append.

    Attributes:
        outcome: `ok`, `again` for a batch that is stored already, or `closed`.
        epoch: The epoch.
        seq: The number of the last event.
        at: The time of the last event.
    """

    outcome: str
    epoch: str
    seq: int
    at: float


class DamagedError(Exception):
    """The store contains something that this library has not written."""


_READ_DECODER: Final = msgspec.msgpack.Decoder(
    tuple[str, int, str, int, int, int, list[tuple[str, list[str]]]]
)
_POSITION_REPLY: Final = tuple[bytes, int, bytes]


class Sessions:
    """The sessions of one log.

    Args:
        commands: Sends the scripts.
        writes: Sends the appends; another connection if they wait for replicas.
        keys: Names of the keys.
        limits: The limits of each session.
        replicas: The number of replicas that must have an event, or 0.
        wait: The maximum time to wait for them, in seconds.
        reasons: Describes errors.
    """

    def __init__(  # noqa: PLR0913 -- keyword-only parts of the log
        self,
        commands: Commands,
        writes: Commands,
        *,
        keys: Keys,
        limits: LogLimits,
        replicas: int,
        wait: float,
        reasons: Reasons,
    ) -> None:
        self.history = History()
        self._commands = commands
        self._writes = writes
        self._keys = keys
        self._limits = limits
        self._replicas = replicas
        self._wait = wait
        self._reasons = reasons

    async def begin(self, session: str, now: float) -> Result[Position, StoreUnavailable]:
        """Create a session, if necessary."""
        try:
            reply = await self._run(BEGIN, session, now)
            epoch, top, mark = msgspec.convert(reply, _POSITION_REPLY)
        except (RedisError, msgspec.ValidationError) as error:
            return Failure(self._failure(error, session))
        self.history.note(session, Known(epoch, top, mark))
        return Success(Position(epoch.decode(), top))

    async def append(
        self,
        session: str,
        records: Sequence[Record],
        now: float,
        *,
        batch_id: str | None,
        is_end: bool,
    ) -> Result[AppendReply, StoreUnavailable]:
        """Append events."""
        arguments = [
            repr(now).encode(),
            token_hex(6).encode(),
            b'1' if is_end else b'',
            b'' if batch_id is None else b'=' + batch_id.encode(errors='surrogatepass'),
            b'%d' % MAX_BATCH_IDS,
            b'1' if self._replicas else b'',
        ]
        for record in records:
            arguments += (b'%d' % record.weight, record.body)
        following: list[Sequence[bytes]] = []
        if self._replicas:
            following.append((b'WAIT', b'%d' % self._replicas, b'%d' % (self._wait * 1000)))
        keys = self._keys.of(session)
        common = self._common_arguments(keys, self.history.of(session), now)
        try:
            replies = await self._writes.run_with(
                APPEND, keys.script_keys, [*common, *arguments], *following
            )
            outcome, epoch, seq, mark, at = _append_reply(replies[0])
        except (RedisError, DamagedError) as error:
            return Failure(self._failure(error, session))
        if outcome != b'again':
            self.history.note(session, Known(epoch, seq, mark))
        if self._replicas and outcome != b'closed':
            confirmed = msgspec.convert(replies[1], int)
            if confirmed < self._replicas:
                return Failure(
                    StoreUnavailable(
                        session,
                        f'{confirmed} of {self._replicas} replicas have confirmed the events',
                    )
                )
        return Success(AppendReply(outcome.decode(), epoch.decode(), seq, float(at)))

    async def read(
        self,
        session: str,
        since: Position | None,
        now: float,
        *,
        count: int,
    ) -> Result[View, SessionNotFound | StoreUnavailable]:
        """Read a session, and events after a position if it has this epoch.

        Args:
            session: The id of the session.
            since: The position; None: the first event that is stored.
            now: The time.
            count: The maximum number of events.
        """
        epoch, seq = ('', 0) if since is None else (since.epoch, since.seq)
        position = [epoch.encode(errors='replace'), b'%d' % seq, b'%d' % count]
        try:
            for has_to_scan in (b'', b'1'):
                reply = await self._run(READ, session, now, *position, has_to_scan)
                if reply is None:
                    return Failure(SessionNotFound(session))
                view = self._view(reply)
                if view is not None:
                    self.history.note(session, view.top)
                    return Success(view)
        except (RedisError, msgspec.ValidationError, DamagedError) as error:
            return Failure(self._failure(error, session))
        return Failure(StoreUnavailable(session, 'the stream of the session is damaged'))

    async def read_state(self, session: str) -> Result[tuple[int, object] | None, StoreUnavailable]:
        """Return the number and the state of the newest snapshot, or None."""
        keys = self._keys.of(session)
        try:
            command = (b'HMGET', keys.session, b'snapshot', b'state')
            reply = (await self._commands.execute(keys.session, command))[0]
            seq, state = msgspec.convert(reply, tuple[bytes | None, bytes | None])
            if seq is None or state is None:
                return Success(None)
            value: object = msgspec.json.decode(state)
        except (RedisError, msgspec.MsgspecError) as error:
            return Failure(self._failure(error, session))
        return Success((int(seq), value))

    async def acknowledge(
        self, session: str, position: Position, now: float
    ) -> Result[None, AckAhead | UnknownEpoch | SessionNotFound | StoreUnavailable]:
        """Delete the events up to a position."""
        return await self._change(ACKNOWLEDGE, session, position, now)

    async def snapshot(
        self, session: str, position: Position, state: bytes, now: float
    ) -> Result[None, AckAhead | UnknownEpoch | SessionNotFound | StoreUnavailable]:
        """Store a state."""
        return await self._change(SNAPSHOT, session, position, now, state)

    async def delete(self, session: str) -> Result[None, StoreUnavailable]:
        """Delete a session."""
        keys = self._keys.of(session)
        try:
            await self._commands.run(DELETE, keys.script_keys, [keys.channel])
        except RedisError as error:
            return Failure(self._failure(error, session))
        self.history.forget(session)
        return Success(None)

    async def _change(
        self, script: Script, session: str, position: Position, now: float, *arguments: bytes
    ) -> Result[None, AckAhead | UnknownEpoch | SessionNotFound | StoreUnavailable]:
        epoch, seq = position.epoch.encode(errors='replace'), b'%d' % position.seq
        try:
            reply = await self._run(script, session, now, epoch, seq, *arguments)
        except RedisError as error:
            return Failure(self._failure(error, session))
        match reply:
            case [b'ok']:
                return Success(None)
            case [b'missing']:
                return Failure(SessionNotFound(session))
            case [b'epoch', bytes(current)]:
                return Failure(UnknownEpoch(position.epoch, current.decode()))
            case [b'ahead', int(top)]:
                return Failure(AckAhead(position.seq, top))
            case _:
                return Failure(StoreUnavailable(session, 'a script has an unknown reply'))

    async def _run(self, script: Script, session: str, now: float, *arguments: bytes) -> Reply:
        keys = self._keys.of(session)
        common = self._common_arguments(keys, self.history.of(session), now)
        return await self._commands.run(script, keys.script_keys, [*common, *arguments])

    def _common_arguments(self, keys: SessionKeys, known: Known, now: float) -> list[bytes]:
        limits = self._limits
        return [
            keys.channel,
            new_epoch().encode(),
            known.epoch,
            b'%d' % known.seq,
            known.mark,
            b'%d' % limits.max_events,
            b'%d' % limits.max_bytes,
            repr(now - limits.max_age).encode(),
        ]

    def _view(self, reply: Reply) -> View | None:
        if not isinstance(reply, bytes):
            raise DamagedError('a script has an unknown reply')
        try:
            epoch, top, mark, first, snapshot, end, entries = _READ_DECODER.decode(reply)
        except (msgspec.DecodeError, UnicodeDecodeError):
            # An entry of another client is not UTF-8.
            return None
        items: list[Item] = []
        for entry_id, fields in entries:
            item = _item(entry_id, fields, epoch)
            if item is None or (
                items and item.stored.position.seq != items[-1].stored.position.seq + 1
            ):
                return None
            items.append(item)
        state = StreamState(
            epoch,
            top,
            first,
            snapshot if snapshot >= 0 else None,
            is_ended=end >= 0,
        )
        known = Known(epoch.encode(), top, mark.encode())
        return View(state, end if end >= 0 else None, known, items)

    def _failure(self, error: Exception, session: str) -> StoreUnavailable:
        if isinstance(error, RedisError):
            return self._reasons.unavailable(error, session)
        return StoreUnavailable(session, f'the store is damaged: {error}')


def _append_reply(reply: Reply) -> tuple[bytes, bytes, int, bytes, bytes]:
    """Return the parts of the reply of `APPEND`.

    Raises:
        DamagedError: It is no reply of the script.
    """
    if isinstance(reply, bytes):
        parts = reply.split(b' ')
        if len(parts) == _APPEND_PARTS:
            outcome, epoch, seq, mark, at = parts
            return outcome, epoch, int(seq), mark, at
    raise DamagedError('a script has an unknown reply')


def _item(entry_id: str, fields: list[str], epoch: str) -> Item | None:
    """Return an event, or None for an entry of another client.

    Raises:
        DamagedError: The body is no event.
    """
    number, _, part = entry_id.partition('-')
    if part != '0' or len(fields) != _FIELDS:
        return None
    header, body = fields
    parts = header.split(' ')
    if len(parts) != _HEADER:
        return None
    seq = int(number)
    try:
        stored = decode_record(body, Position(epoch, seq), float(parts[0]))
    except (msgspec.DecodeError, ValueError) as error:
        raise DamagedError(f'event {seq} cannot be read') from error
    return Item(stored, parts[2].encode(), parts[3].encode())
