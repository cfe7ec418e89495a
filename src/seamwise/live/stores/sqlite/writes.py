"""Changes of sessions in one transaction, in which several calls can be committed together."""

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Final, TypeAlias
from zlib import crc32

from msgspec import Struct

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.sessions import AckAhead, SessionNotFound, UnknownEpoch
from seamwise.catalog.streaming import StreamClosed
from seamwise.live.events import Position, Record
from seamwise.live.log import LogLimits
from seamwise.live.stores.base import MAX_BATCH_IDS, is_encodable, new_epoch
from seamwise.live.stores.sqlite.files import StoreDamagedError
from seamwise.live.stores.sqlite.schema import number
from seamwise.live.stores.sqlite.streams import (
    Stream,
    create_stream,
    encode_body,
    extend_crc,
    first_since,
    load_stream,
    save_stream,
    state_checksum,
)

MAX_BODY: Final = 500_000_000
"""The maximum length of an event in bytes: SQLite stores no more than 1,000,000,000 in a row."""

_EventRow: TypeAlias = tuple[int, int, float, int, int, bytes]


class Batch(Struct, frozen=True):
    """The events of one call of `append` or `end`.

    Attributes:
        session: The id of the session.
        records: The events.
        at: The time of the call, in seconds since 1970.
        batch_id: The identifier of the call, or None.
        is_end: Whether it is the end of the session.
    """

    session: str
    records: Sequence[Record]
    at: float
    batch_id: str | None
    is_end: bool


class Appended(Struct, frozen=True):
    """The result of a call of `append`.

    Attributes:
        position: The position behind the last event.
        at: The time of the last event, in seconds since 1970.
        is_repetition: Whether an earlier call has stored the events.
    """

    position: Position
    at: float
    is_repetition: bool = False


class Writes:
    """The changes of one transaction. `flush` writes them; the caller commits.

    Args:
        connection: A connection in a transaction that writes.
        limits: The limits of each session.
    """

    def __init__(self, connection: Connection, limits: LogLimits) -> None:
        self.connection: Final = connection
        self._limits = limits
        self._streams: dict[str, Stream] = {}
        self._changed: dict[str, Stream] = {}
        self._extended: dict[str, Stream] = {}
        self._rows: list[_EventRow] = []

    def begin(self, session: str) -> Position:
        """Create a session, and return the position behind its last event."""
        return self._load_or_create(session).position

    def append(self, batch: Batch) -> Result[Appended, StreamClosed]:
        """Add the events of a call."""
        session = batch.session
        # seamwise: allow[SW102] it ends the transaction, and is `StoreUnavailable` for the caller
        stream = self._load_or_create(session)
        # seamwise: allow[SW102] it ends the transaction, and is `StoreUnavailable` for the caller
        if batch.batch_id is not None and (earlier := self._earlier(stream, batch.batch_id)):
            return Success(earlier)
        if stream.is_ended:
            return Failure(StreamClosed(session))
        epoch, at = stream.epoch.encode(), repr(batch.at).encode()
        seq, total, crc, body = stream.top, stream.total, stream.crc, b''
        for record in batch.records:
            seq += 1
            body = encode_body(epoch, seq, at, record)
            self._rows.append((stream.id, seq, batch.at, total, crc, body))
            total += record.weight
            crc = extend_crc(crc, body)
        stream.top, stream.total, stream.crc = seq, total, crc
        stream.is_ended = int(batch.is_end)
        self._changed[session] = self._extended[session] = stream
        if batch.batch_id is not None:
            self._remember(stream, batch.batch_id, batch.at)
        return Success(Appended(stream.position, batch.at))

    def acknowledge(
        self, session: str, position: Position
    ) -> Result[None, AckAhead | UnknownEpoch | SessionNotFound]:
        """Delete the events up to a position."""
        stream = self._check(session, position)
        if type(stream) is Failure:
            return stream
        # seamwise: allow[SW102] it ends the transaction, and is `StoreUnavailable` for the caller
        self.trim(stream.unwrap(), position.seq + 1)
        return Success(None)

    def snapshot(
        self, session: str, position: Position, state: bytes
    ) -> Result[None, AckAhead | UnknownEpoch | SessionNotFound]:
        """Store the state up to a position, unless a newer one is stored."""
        checked = self._check(session, position)
        if type(checked) is Failure:
            return checked
        stream = checked.unwrap()
        if stream.state_seq is None or position.seq >= stream.state_seq:
            stream.state_seq = position.seq
            self._changed[session] = stream
            _ = self.connection.execute(
                'INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)',
                (stream.id, state, state_checksum(stream, state)),
            )
        return Success(None)

    def delete(self, session: str) -> None:
        """Delete a session."""
        if not is_encodable(session):
            return
        self.flush()
        # Not `load`: a session whose row is damaged can be deleted.
        row: tuple[int] | None = self.connection.execute(
            'SELECT id FROM streams WHERE session = ?', (session,)
        ).fetchone()
        if row is None:
            return
        version = self._next_version()
        for table, column in (
            ('events', 'stream'),
            ('batches', 'stream'),
            ('snapshots', 'stream'),
            ('streams', 'id'),
        ):
            query = f'DELETE FROM {table} WHERE {column} = ?'  # noqa: S608 -- constants
            _ = self.connection.execute(query, row)
        _ = self.connection.execute('UPDATE deletions SET version = ?', (version,))
        _ = self._streams.pop(session, None)

    def expire(self, session: str, cutoff: float) -> None:
        """Delete the events of a session before a time."""
        self.flush()
        stream = self.load(session)
        if stream is not None:
            self.trim(stream, first_since(self.connection, stream, cutoff))

    def load(self, session: str) -> Stream | None:
        """Return the row of a session, or None."""
        stream = self._streams.get(session)
        if stream is None:
            stream = load_stream(self.connection, session)
            if stream is not None:
                self._streams[session] = stream
        return stream

    def trim(self, stream: Stream, first: int) -> None:
        """Delete the events before a number, except the end.

        Their rows are deleted later: other processes may not have read them yet.
        """
        first = min(first, stream.last_removable + 1)
        if first <= stream.first:
            return
        self._write_rows()
        stream.dropped = self._total_before(stream, first)
        stream.first = first
        self._changed[stream.session] = stream

    def mark(self, stream: Stream) -> None:
        """Write the row of a session with the next `flush`."""
        self._changed[stream.session] = stream

    def flush(self) -> None:
        """Write all changes."""
        self._write_rows()
        for stream in self._extended.values():
            self._apply_limits(stream)
        if self._extended:
            version = self._next_version()
            for stream in self._extended.values():
                stream.version = version
            self._extended.clear()
        for stream in self._changed.values():
            save_stream(self.connection, stream)
        self._changed.clear()

    def _load_or_create(self, session: str) -> Stream:
        stream = self.load(session)
        if stream is None:
            stream = create_stream(self.connection, session, new_epoch())
            self._streams[session] = self._changed[session] = stream
        return stream

    def _check(
        self, session: str, position: Position
    ) -> Result[Stream, AckAhead | UnknownEpoch | SessionNotFound]:
        # seamwise: allow[SW102] it ends the transaction, and is `StoreUnavailable` for the caller
        stream = self.load(session)
        if stream is None:
            return Failure(SessionNotFound(session))
        if position.epoch != stream.epoch:
            return Failure(UnknownEpoch(position.epoch, stream.epoch))
        if position.seq > stream.top:
            return Failure(AckAhead(position.seq, stream.top))
        return Success(stream)

    def _earlier(self, stream: Stream, batch_id: str) -> Appended | None:
        row = self.connection.execute(
            'SELECT seq, at, checksum FROM batches WHERE stream = ? AND batch_id = ?',
            (stream.id, batch_id),
        ).fetchone()
        if row is None:
            return None
        seq, at, checksum = row
        is_intact = type(at) is float and type(seq) is int
        if not is_intact or _batch_checksum(stream, seq, batch_id, at) != checksum:
            raise StoreDamagedError('the row of a batch is damaged')
        return Appended(Position(stream.epoch, seq), at, is_repetition=True)

    def _remember(self, stream: Stream, batch_id: str, at: float) -> None:
        checksum = _batch_checksum(stream, stream.top, batch_id, at)
        _ = self.connection.execute(
            'INSERT INTO batches VALUES (?, ?, ?, ?, ?)',
            (stream.id, stream.top, batch_id, at, checksum),
        )
        if stream.batches < MAX_BATCH_IDS:
            stream.batches += 1
            return
        _ = self.connection.execute(
            'DELETE FROM batches WHERE stream = ?1 AND '
            'seq = (SELECT min(seq) FROM batches WHERE stream = ?1)',
            (stream.id,),
        )

    def _write_rows(self) -> None:
        if self._rows:
            _ = self.connection.executemany(
                'INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)', self._rows
            )
            self._rows.clear()

    def _apply_limits(self, stream: Stream) -> None:
        """Delete the oldest events until the limits hold. Their age is checked by each replay."""
        self.trim(stream, stream.top + 1 - self._limits.max_events)
        if stream.size > self._limits.max_bytes:
            row: tuple[int] | None = self.connection.execute(
                'SELECT seq FROM events WHERE stream = ? AND seq >= ? AND total >= ? '
                'ORDER BY seq LIMIT 1',
                (stream.id, stream.first, stream.total - self._limits.max_bytes),
            ).fetchone()
            self.trim(stream, stream.top + 1 if row is None else row[0])

    def _total_before(self, stream: Stream, seq: int) -> int:
        if seq > stream.top:
            return stream.total
        row: tuple[object] | None = self.connection.execute(
            'SELECT total FROM events WHERE stream = ? AND seq = ?', (stream.id, seq)
        ).fetchone()
        total = None if row is None else row[0]
        if type(total) is not int:
            raise StoreDamagedError('an event is missing')
        return total

    def _next_version(self) -> int:
        return newest_version(self.connection) + 1


def newest_version(connection: Connection) -> int:
    """Return the version of the last change of any session."""
    return number(
        connection,
        'SELECT max((SELECT coalesce(max(version), 0) FROM streams), '
        '(SELECT version FROM deletions))',
    )


def _batch_checksum(stream: Stream, seq: int, batch_id: str, at: float) -> int:
    return crc32(f'{stream.epoch}:{seq}:{at!r}:{batch_id}'.encode())
