"""Deletion of the rows that a log does not need any more, in small steps."""

from enum import Enum
from typing import Final

from seamwise.live.stores.sqlite.files import StoreDamagedError
from seamwise.live.stores.sqlite.schema import number
from seamwise.live.stores.sqlite.streams import Stream
from seamwise.live.stores.sqlite.writes import Writes


class Remaining(Enum):
    """Work that is left after a step."""

    DELETION = 'deletion'
    LATER = 'later'
    NOTHING = 'nothing'


_SESSIONS: Final = 200
"""The number of sessions whose oldest events are checked by one step."""

_ROWS: Final = 10_000
"""The number of rows that one step deletes."""

_PAGES: Final = 1000
"""The number of free pages that a file keeps, and that one step returns to the file system."""


class Sweeper:
    """Deletes the rows of events that limits or acknowledgements have removed.

    A row stays for a second after that, so that other processes can deliver its event.
    """

    def __init__(self) -> None:
        # The numbers before which rows were removed at the time of the last inspection.
        self._removed: dict[int, int] = {}
        self._last_session = 0

    def inspect(self, writes: Writes, cutoff: float) -> Remaining:
        """Remove events that are too old, and delete the rows that were removed before.

        Call it at intervals of a second or more.

        Args:
            writes: A transaction.
            cutoff: The time before which events are too old.
        """
        writes.flush()
        has_more = self._expire(writes, cutoff)
        writes.flush()
        removed = self._removed
        self._removed = self._garbage(writes)
        if self._delete(writes, removed):
            # The next calls of `delete` finish it before the other rows may be deleted.
            self._removed = removed
            return Remaining.DELETION
        has_pages = self._shrink(writes)
        return Remaining.LATER if has_more or self._removed or has_pages else Remaining.NOTHING

    def delete(self, writes: Writes) -> Remaining:
        """Continue to delete rows, after `Remaining.DELETION`."""
        writes.flush()
        if self._delete(writes, self._removed):
            return Remaining.DELETION
        _ = self._shrink(writes)
        self._removed = {}
        return Remaining.LATER

    def _expire(self, writes: Writes, cutoff: float) -> bool:
        rows: list[tuple[int, str]] = writes.connection.execute(
            'SELECT id, session FROM streams WHERE id > ? ORDER BY id LIMIT ?',
            (self._last_session, _SESSIONS),
        ).fetchall()
        for _, session in rows:
            try:
                writes.expire(session, cutoff)
            except StoreDamagedError:
                # Its readers are told.
                continue
        self._last_session = rows[-1][0] if len(rows) == _SESSIONS else 0
        return self._last_session > 0

    @staticmethod
    def _garbage(writes: Writes) -> dict[int, int]:
        """Return the lowest number that is kept, by the sessions with rows before it."""
        rows: list[tuple[int, int]] = writes.connection.execute(
            'SELECT id, first FROM streams WHERE lowest < first'
        ).fetchall()
        return dict(rows)

    @staticmethod
    def _delete(writes: Writes, removed: dict[int, int]) -> bool:
        """Delete rows before numbers, and return whether the limit of one step was reached."""
        remaining = _ROWS
        for id_ in [*removed]:
            if remaining <= 0:
                return True
            stream = _load(writes, id_)
            # A deleted session has no rows. A damaged one keeps them.
            end = 0 if stream is None else min(removed[id_], stream.first)
            if stream is None or end <= stream.lowest:
                del removed[id_]
                continue
            end = min(end, stream.lowest + remaining)
            _ = writes.connection.execute(
                'DELETE FROM events WHERE stream = ? AND seq < ?', (id_, end)
            )
            remaining -= end - stream.lowest
            stream.lowest = end
            writes.mark(stream)
        return remaining <= 0

    @staticmethod
    def _shrink(writes: Writes) -> bool:
        """Return pages to the file system, and return whether there may be more of them."""
        free = number(writes.connection, 'PRAGMA freelist_count')
        has_many = free > _PAGES and 2 * free > number(writes.connection, 'PRAGMA page_count')
        if has_many:
            for _ in range(_PAGES):
                # `incremental_vacuum(1000)` returns one page as well: sqlite3 ends the statement
                # after its first row, which has no columns.
                _ = writes.connection.execute('PRAGMA incremental_vacuum(1)')
        return has_many


def _load(writes: Writes, stream_id: int) -> Stream | None:
    row: tuple[str] | None = writes.connection.execute(
        'SELECT session FROM streams WHERE id = ?', (stream_id,)
    ).fetchone()
    try:
        return None if row is None else writes.load(row[0])
    except StoreDamagedError:
        return None
