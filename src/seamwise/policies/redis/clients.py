"""Redis clients of a guard: one for tasks, one for threads, or both."""

from typing import TypeAlias

import redis.asyncio
from msgspec import Struct


class Clients(Struct, frozen=True, kw_only=True):
    """Redis clients of one guard: `asyncio` is used by `run`, `sync` by `run_sync`.

    >>> clients = Clients(asyncio=redis.asyncio.Redis(), sync=redis.Redis())
    """

    asyncio: redis.asyncio.Redis | None = None
    sync: redis.Redis | None = None


Client: TypeAlias = redis.asyncio.Redis | redis.Redis | Clients
"""Type of the `redis` parameter of a guard."""


def check_clients(value: Client) -> Clients:
    """Return the clients of a guard, or raise a TypeError; its message contains no address."""
    if isinstance(value, redis.asyncio.Redis):
        return Clients(asyncio=value)
    if isinstance(value, redis.Redis):
        return Clients(sync=value)
    if not isinstance(value, Clients):
        raise TypeError(
            'redis must be a redis.asyncio.Redis, a redis.Redis, or Clients(asyncio=…, sync=…), '
            f'not {type(value).__name__}.'
        )
    if value.asyncio is None and value.sync is None:
        raise TypeError(
            'Clients() has no client: pass asyncio=redis.asyncio.Redis(…) for run, '
            'sync=redis.Redis(…) for run_sync, or both.'
        )
    if not isinstance(value.asyncio, redis.asyncio.Redis | None):
        raise TypeError(
            f'Clients(asyncio=…) must be a redis.asyncio.Redis, not {type(value.asyncio).__name__}.'
        )
    if not isinstance(value.sync, redis.Redis | None):
        raise TypeError(f'Clients(sync=…) must be a redis.Redis, not {type(value.sync).__name__}.')
    return value
