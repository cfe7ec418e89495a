"""Tables of an event log in SQLite."""

from sqlite3 import Connection, DatabaseError
from typing import Final

APPLICATION_ID: Final = 0x5365_614D
"""Marks a SQLite file as an event log; `file` and `sqlite3` show it."""

VERSION: Final = 2
"""The version of the tables."""

_TABLES: Final = (
    # `version` grows with each commit that adds events, so that other processes find them.
    # `first` is the lowest number that is kept, `lowest` the lowest one that is not yet deleted.
    # `total` and `dropped` are the bytes of all events, and of those before `first`. `crc` is the
    # checksum of all bodies, one after the other, and `checksum` that of the row.
    """
    CREATE TABLE streams (
        id INTEGER PRIMARY KEY,
        session TEXT NOT NULL UNIQUE,
        epoch TEXT NOT NULL,
        version INTEGER NOT NULL,
        top INTEGER NOT NULL,
        first INTEGER NOT NULL,
        lowest INTEGER NOT NULL,
        total INTEGER NOT NULL,
        dropped INTEGER NOT NULL,
        crc INTEGER NOT NULL,
        is_ended INTEGER NOT NULL,
        state_seq INTEGER,
        batches INTEGER NOT NULL,
        checksum INTEGER NOT NULL
    )
    """,
    'CREATE INDEX streams_by_version ON streams (version)',
    'CREATE INDEX streams_with_garbage ON streams (id) WHERE lowest < first',
    # `total` and `crc` are those of the stream before the event.
    """
    CREATE TABLE events (
        stream INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        at REAL NOT NULL,
        total INTEGER NOT NULL,
        crc INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (stream, seq)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE snapshots (
        stream INTEGER PRIMARY KEY,
        state BLOB NOT NULL,
        checksum INTEGER NOT NULL
    )
    """,
    # The last event of each batch, without its body: the limits do not delete these rows.
    """
    CREATE TABLE batches (
        stream INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        batch_id TEXT NOT NULL,
        at REAL NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (stream, seq)
    ) WITHOUT ROWID
    """,
    'CREATE UNIQUE INDEX batches_by_id ON batches (stream, batch_id)',
    """
    CREATE TABLE leases (
        key TEXT PRIMARY KEY,
        holder TEXT NOT NULL,
        expires_at REAL NOT NULL,
        seconds REAL NOT NULL,
        client TEXT,
        attempt INTEGER
    ) WITHOUT ROWID
    """,
    # The version of the last deletion of a session, and an identifier of the file: the versions of
    # two files cannot be compared.
    'CREATE TABLE deletions (version INTEGER NOT NULL, store TEXT NOT NULL)',
    'INSERT INTO deletions VALUES (0, lower(hex(randomblob(8))))',
    f'PRAGMA application_id = {APPLICATION_ID}',
    f'PRAGMA user_version = {VERSION}',
)

_NAMES: Final = {'streams', 'events', 'snapshots', 'batches', 'leases', 'deletions'}


def create_tables(connection: Connection) -> None:
    """Create the tables in an empty file, all or none."""
    _ = connection.execute('BEGIN IMMEDIATE')
    try:
        if is_empty(connection):
            for statement in _TABLES:
                _ = connection.execute(statement)
        _ = connection.execute('COMMIT')
    finally:
        if connection.in_transaction:
            connection.rollback()


def is_empty(connection: Connection) -> bool:
    """Return whether a file has no tables, and no owner."""
    return number(connection, 'PRAGMA application_id') == 0 and not _table_names(connection)


def has_tables(connection: Connection) -> bool:
    """Return whether a file has the tables of an event log."""
    return _table_names(connection) >= _NAMES


def number(connection: Connection, query: str) -> int:
    """Return the number in the first row of an answer.

    Raises:
        DatabaseError: There is none.
    """
    row: tuple[object] | None = connection.execute(query).fetchone()
    if row is None or not isinstance(row[0], int):
        raise DatabaseError(f'the file has no number for {query!r}')
    return row[0]


def _table_names(connection: Connection) -> set[str]:
    rows: list[tuple[str]] = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'"
    ).fetchall()
    return {name for (name,) in rows}
