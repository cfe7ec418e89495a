"""Leases in a SQLite file."""

from collections.abc import Awaitable, Callable, Collection
from functools import partial
from time import monotonic
from typing import Protocol, TypeVar

from seamwise._results.containers import Result
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live.log import Attempt
from seamwise.live.stores.sqlite.writes import Writes

T = TypeVar('T')


class Write(Protocol):
    """Runs a function in a transaction."""

    def __call__(
        self, store: str, work: Callable[[Writes], T], /
    ) -> Awaitable[Result[T, StoreUnavailable]]:
        """Run a function, and wait for the commit."""
        ...


class SqliteLeases:
    """Leases of the processes of one machine.

    The times are those of the monotonic clock, which all processes of a machine share. It starts
    again with the machine, so a lease that would end later than its length from now has expired.

    Args:
        write: Runs a function in a transaction.
    """

    def __init__(self, write: Write) -> None:
        self._write = write

    async def acquire(
        self, key: str, holder: str, *, seconds: float, attempt: Attempt | None = None
    ) -> Result[bool, StoreUnavailable]:
        """Take a key, also from its holder, unless the attempt of the client arrives late."""
        work = partial(_acquire, key=key, holder=holder, seconds=seconds, attempt=attempt)
        return await self._write(key, work)

    async def renew(
        self, keys: Collection[str], holder: str, *, seconds: float
    ) -> Result[frozenset[str], StoreUnavailable]:
        """Extend the leases of a holder, and return the keys that it still holds."""
        work = partial(_renew, keys=frozenset(keys), holder=holder, seconds=seconds)
        return await self._write('leases', work)

    async def release(self, key: str, holder: str) -> Result[None, StoreUnavailable]:
        """End a lease, if the holder still has it."""
        return await self._write(key, partial(_release, key=key, holder=holder))

    async def take_expired(
        self, prefix: str, holder: str, *, seconds: float
    ) -> Result[tuple[str, ...], StoreUnavailable]:
        """Take the keys with a prefix whose leases have expired."""
        work = partial(_take_expired, prefix=prefix, holder=holder, seconds=seconds)
        return await self._write('leases', work)


def _acquire(
    writes: Writes, *, key: str, holder: str, seconds: float, attempt: Attempt | None = None
) -> bool:
    client, number = (None, None) if attempt is None else (attempt.client, attempt.number)
    cursor = writes.connection.execute(
        'INSERT INTO leases VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET '
        'holder = excluded.holder, expires_at = excluded.expires_at, seconds = excluded.seconds, '
        'client = excluded.client, attempt = excluded.attempt '
        'WHERE client IS NULL OR client IS NOT excluded.client OR attempt <= excluded.attempt',
        (key, holder, monotonic() + seconds, seconds, client, number),
    )
    return cursor.rowcount > 0


def _renew(writes: Writes, *, keys: frozenset[str], holder: str, seconds: float) -> frozenset[str]:
    update = 'UPDATE leases SET expires_at = ?, seconds = ? WHERE key = ? AND holder = ?'
    expires_at = monotonic() + seconds
    return frozenset(
        key
        for key in keys
        if writes.connection.execute(update, (expires_at, seconds, key, holder)).rowcount
    )


def _release(writes: Writes, *, key: str, holder: str) -> None:
    _ = writes.connection.execute('DELETE FROM leases WHERE key = ? AND holder = ?', (key, holder))


def _take_expired(writes: Writes, *, prefix: str, holder: str, seconds: float) -> tuple[str, ...]:
    now = monotonic()
    rows: list[tuple[str]] = writes.connection.execute(
        'SELECT key FROM leases WHERE substr(key, 1, ?) = ? '
        'AND (expires_at <= ? OR expires_at > ? + seconds) ORDER BY expires_at',
        (len(prefix), prefix, now, now),
    ).fetchall()
    keys = tuple(key for (key,) in rows)
    for key in keys:
        _ = _acquire(writes, key=key, holder=holder, seconds=seconds)
    return keys
