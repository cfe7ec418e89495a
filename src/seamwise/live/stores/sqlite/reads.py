"""Queries of an event log: replays, news for subscriptions, and the ids of the sessions."""

from collections.abc import Mapping
from sqlite3 import Connection
from typing import Final

import msgspec
from msgspec import Struct

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.sessions import ReplayError, SessionNotFound
from seamwise.live.events import Position, Stored
from seamwise.live.replay import Replay, StreamState, replay_range
from seamwise.live.stores.sqlite.files import StoreDamagedError
from seamwise.live.stores.sqlite.schema import number
from seamwise.live.stores.sqlite.streams import (
    Stream,
    first_since,
    load_stream,
    read_events,
    state_checksum,
)
from seamwise.live.stores.sqlite.writes import newest_version

_PAGE: Final = 500
"""The number of session ids that are read at a time."""


class ReplayAnswer(Struct, frozen=True):
    """The answer to a position.

    Attributes:
        result: The events, or the failure.
        is_overdue: Whether events that are too old wait to be deleted.
    """

    result: Result[Replay, ReplayError | SessionNotFound]
    is_overdue: bool = False


def read_replay(
    connection: Connection, session: str, since: Position | None, cutoff: float
) -> ReplayAnswer:
    """Return the events after a position. Those before the time `cutoff` count as deleted."""
    stream = load_stream(connection, session)
    if stream is None:
        return ReplayAnswer(Failure(SessionNotFound(session)))
    first = first_since(connection, stream, cutoff)
    state = StreamState(
        stream.epoch, stream.top, first, stream.state_seq, is_ended=bool(stream.is_ended)
    )
    events = replay_range(state, since)
    is_overdue = first > stream.first
    if type(events) is Failure:
        return ReplayAnswer(events, is_overdue)
    range_ = events.unwrap()
    missed = read_events(connection, stream, range_.after)
    if missed and missed[0].position.seq != range_.after + 1:
        raise StoreDamagedError('events are missing')
    replay = Replay(
        stream.epoch,
        tuple(missed),
        stream.position,
        is_whole=range_.is_whole,
        state=_read_state(connection, stream) if range_.has_state else None,
        is_ended=state.is_ended,
    )
    return ReplayAnswer(Success(replay), is_overdue)


class News(Struct, frozen=True):
    """What has happened in a session since a position.

    Attributes:
        session: The id of the session.
        events: The new events.
        is_ended: Whether the last one is the end of the session.
        is_gone: Whether the session was deleted; it may have begun again.
        are_missing: Whether events were deleted before they were read.
    """

    session: str
    events: list[Stored] = []
    is_ended: bool = False
    is_gone: bool = False
    are_missing: bool = False


class StoreVersion(Struct, frozen=True):
    """The version of a file.

    Attributes:
        store: The identifier of the file.
        number: The version of its last change.
    """

    store: str
    number: int


class Bulletin(Struct, frozen=True):
    """The news of all watched sessions since a version.

    Attributes:
        version: The current version of the file.
        news: The news of the sessions that have changed.
    """

    version: StoreVersion
    news: list[News]


def read_news(
    connection: Connection,
    since: StoreVersion | None,
    positions: Mapping[str, Position],
    stale: frozenset[str],
) -> Bulletin:
    """Return what has happened in sessions since the last version.

    The cost depends on the sessions that have changed, and not on those that are watched, except
    after a deletion.

    Args:
        connection: A connection in a transaction.
        since: The version of the last bulletin, or None.
        positions: The position of each watched session.
        stale: Sessions that are read whether they have changed or not.
    """
    row: tuple[str] | None = connection.execute('SELECT store FROM deletions').fetchone()
    if row is None:
        raise StoreDamagedError('the identifier of the file is missing')
    store = row[0]
    last_deletion = number(connection, 'SELECT version FROM deletions')
    version = StoreVersion(store, newest_version(connection))
    if since is None or since.store != store or last_deletion > since.number:
        # Sessions can be gone.
        sessions = {*positions}
    else:
        rows: list[tuple[str]] = connection.execute(
            'SELECT session FROM streams WHERE version > ?', (since.number,)
        ).fetchall()
        sessions = ({session for (session,) in rows} | stale) & positions.keys()
    news = [_news_of(connection, session, positions[session]) for session in sessions]
    return Bulletin(version, news)


def read_sessions(connection: Connection, after: int) -> list[tuple[int, str]]:
    """Return the next sessions by their ids in the file."""
    return connection.execute(
        'SELECT id, session FROM streams WHERE id > ? ORDER BY id LIMIT ?', (after, _PAGE)
    ).fetchall()


def _news_of(connection: Connection, session: str, position: Position) -> News:
    stream = load_stream(connection, session)
    if stream is None or stream.epoch != position.epoch:
        return News(session, is_gone=True)
    # Rows that limits or an acknowledgement have deleted are readable for another second.
    events = read_events(connection, stream, max(position.seq, stream.lowest - 1))
    return News(
        session,
        events,
        is_ended=bool(stream.is_ended),
        are_missing=position.seq < stream.lowest - 1,
    )


def _read_state(connection: Connection, stream: Stream) -> object:
    row: tuple[object, object] | None = connection.execute(
        'SELECT state, checksum FROM snapshots WHERE stream = ?', (stream.id,)
    ).fetchone()
    state = None if row is None else row[0]
    if row is None or type(state) is not bytes or state_checksum(stream, state) != row[1]:
        raise StoreDamagedError('a snapshot is damaged')
    return msgspec.json.decode(state)
