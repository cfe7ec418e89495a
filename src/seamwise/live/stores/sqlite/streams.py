"""Rows of sessions and of their events, with checksums: SQLite has none of its own.

A flipped bit in a page can leave valid JSON behind. The checksum of a session therefore covers the
bodies of all its events, one after the other, and each event has the checksum of those before it.
A replay of any length is then checked by one call.
"""

from sqlite3 import Connection
from typing import Final
from zlib import crc32

import msgspec
from msgspec import Struct

from seamwise.live.events import Position, Record, Stored
from seamwise.live.stores.base import is_encodable
from seamwise.live.stores.sqlite.files import StoreDamagedError

_COLUMNS: Final = (
    'id, epoch, version, top, first, lowest, total, dropped, crc, is_ended, state_seq, batches'
)
_SELECT: Final = f'SELECT {_COLUMNS}, checksum FROM streams WHERE session = ?'  # noqa: S608 -- constants
_UPDATE: Final = (
    'UPDATE streams SET version = ?, top = ?, first = ?, lowest = ?, total = ?, dropped = ?, '
    'crc = ?, is_ended = ?, state_seq = ?, batches = ?, checksum = ? WHERE id = ?'
)
_INSERT: Final = (
    f'INSERT INTO streams (session, {_COLUMNS}, checksum) '  # noqa: S608 -- constants
    'VALUES (?, NULL, ?, 0, 0, 1, 1, 0, 0, 0, 0, NULL, 0, 0)'
)

_ROWS: Final = 256
"""The number of events that are decoded by one call."""

_UNREADABLE: Final = (
    msgspec.DecodeError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Exceptions for values that the log did not write; a column can also have another type."""

_DECODER: Final = msgspec.json.Decoder(list[Stored])
_STORED_DECODER: Final = msgspec.json.Decoder(Stored)


class Stream(Struct):
    """The row of a session; see `schema.py`."""

    session: str
    id: int
    epoch: str
    version: int
    top: int
    first: int
    lowest: int
    total: int
    dropped: int
    crc: int
    is_ended: int
    state_seq: int | None
    batches: int

    @property
    def size(self) -> int:
        """The bytes of the events that are kept."""
        return self.total - self.dropped

    @property
    def last_removable(self) -> int:
        """The number of the last event that limits can delete: the end is kept."""
        return self.top - self.is_ended

    @property
    def position(self) -> Position:
        """The position behind the last event."""
        return Position(self.epoch, self.top)


def load_stream(connection: Connection, session: str) -> Stream | None:
    """Return the row of a session, or None.

    Raises:
        StoreDamagedError: The row is not what was written.
    """
    if not is_encodable(session):
        return None
    row = connection.execute(_SELECT, (session,)).fetchone()
    if row is None:
        return None
    stream = Stream(session, *row[:-1])
    if _checksum(stream) != row[-1]:
        raise StoreDamagedError('the row of a session is damaged')
    return stream


def create_stream(connection: Connection, session: str, epoch: str) -> Stream:
    """Insert the row of a session; it is valid after `save_stream`."""
    id_ = connection.execute(_INSERT, (session, epoch)).lastrowid
    if id_ is None:
        raise StoreDamagedError('SQLite returned no id for a new session')
    return Stream(session, id_, epoch, 0, 0, 1, 1, 0, 0, 0, 0, None, 0)


def save_stream(connection: Connection, stream: Stream) -> None:
    """Write the row of a session."""
    _ = connection.execute(
        _UPDATE,
        (
            stream.version,
            stream.top,
            stream.first,
            stream.lowest,
            stream.total,
            stream.dropped,
            stream.crc,
            stream.is_ended,
            stream.state_seq,
            stream.batches,
            _checksum(stream),
            stream.id,
        ),
    )


def encode_body(epoch: bytes, seq: int, at: bytes, record: Record) -> bytes:
    """Return the JSON of a `Stored`."""
    return b'{"position":{"epoch":"%b","seq":%d},"at":%b,%b' % (epoch, seq, at, record.body[1:])


def decode_body(body: bytes) -> Stored:
    """Return the event of a body.

    Raises:
        StoreDamagedError: It is none.
    """
    try:
        return _STORED_DECODER.decode(body)
    except _UNREADABLE as error:
        raise StoreDamagedError(f'an event cannot be decoded: {error}') from error


def extend_crc(crc: int, body: bytes) -> int:
    """Return the checksum of a session after one more event."""
    return crc32(b',', crc32(body, crc))


def read_events(connection: Connection, stream: Stream, after: int) -> list[Stored]:
    """Return the events after a number, up to the last one, as far as they are not deleted.

    Raises:
        StoreDamagedError: They are not what was written.
    """
    if after >= stream.top:
        return []
    events: list[Stored] = []
    place = (stream.id, after)
    row: tuple[int] | None = connection.execute(
        'SELECT crc FROM events WHERE stream = ? AND seq > ? ORDER BY seq LIMIT 1', place
    ).fetchone()
    crc = None if row is None else row[0]
    cursor = connection.execute(
        'SELECT body FROM events WHERE stream = ? AND seq > ? ORDER BY seq', place
    )
    try:
        while rows := cursor.fetchmany(_ROWS):
            bodies: list[bytes] = [body for (body,) in rows]
            # One copy of the bodies, with the brackets of a list around them.
            bodies[0] = b'[%b' % bodies[0]
            bodies[-1] = b'%b]' % bodies[-1]
            joined = b','.join(bodies)
            checked = memoryview(joined)[1:-1]
            crc = crc32(b',', crc32(checked, 0 if crc is None else crc))
            events += _DECODER.decode(joined)
    except _UNREADABLE as error:
        raise StoreDamagedError(f'an event cannot be decoded: {error}') from error
    finally:
        cursor.close()
    if crc != stream.crc or len(events) != stream.top + 1 - events[0].position.seq:
        raise StoreDamagedError('the checksum of the events is wrong')
    return events


def first_since(connection: Connection, stream: Stream, cutoff: float) -> int:
    """Return the lowest number that is kept if the events before a time are deleted.

    Raises:
        StoreDamagedError: The newest of those events is not what was written.
    """
    if stream.first > stream.last_removable:
        return stream.first
    row: tuple[int] | None = connection.execute(
        'SELECT seq FROM events WHERE stream = ? AND seq >= ? AND at >= ? ORDER BY seq LIMIT 1',
        (stream.id, stream.first, cutoff),
    ).fetchone()
    try:
        first = min(stream.top + 1 if row is None else row[0], stream.last_removable + 1)
        # Damaged times and numbers must not look like events that are too old.
        is_wrong = first > stream.first and _time_of(connection, stream, first - 1) >= cutoff
    except _UNREADABLE as error:
        raise StoreDamagedError(f'an event cannot be read: {error}') from error
    if is_wrong:
        raise StoreDamagedError('the time of an event is wrong')
    return first


def _time_of(connection: Connection, stream: Stream, seq: int) -> float:
    """Return the time of one event, from its body."""
    rows: list[tuple[int, int, bytes]] = connection.execute(
        'SELECT seq, crc, body FROM events WHERE stream = ? AND seq >= ? ORDER BY seq LIMIT 2',
        (stream.id, seq),
    ).fetchall()
    crc_after = rows[1][1] if len(rows) > 1 else stream.crc
    if not rows or rows[0][0] != seq or extend_crc(rows[0][1], rows[0][2]) != crc_after:
        raise StoreDamagedError('the checksum of an event is wrong')
    return decode_body(rows[0][2]).at


def state_checksum(stream: Stream, state: bytes) -> int:
    """Return the checksum of a snapshot."""
    return crc32(state, crc32(f'{stream.epoch}:{stream.state_seq}'.encode()))


def _checksum(stream: Stream) -> int:
    return crc32(repr(stream).encode())
