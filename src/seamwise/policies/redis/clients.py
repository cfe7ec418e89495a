"""Redis clients of a guard: one for tasks, one for threads, or both."""

from typing import TypeAlias

import redis.asyncio
from msgspec import Struct

AsyncClient: TypeAlias = redis.asyncio.Redis | redis.asyncio.RedisCluster
"""Client for tasks."""

SyncClient: TypeAlias = redis.Redis | redis.RedisCluster
"""Client for threads."""


class Clients(Struct, frozen=True, kw_only=True):
    """Redis clients of one guard: `asyncio` is used by `run`, `sync` by `run_sync`.

    >>> clients = Clients(asyncio=redis.asyncio.Redis(), sync=redis.Redis())
    """

    asyncio: AsyncClient | None = None
    sync: SyncClient | None = None


Client: TypeAlias = AsyncClient | SyncClient | Clients
"""Type of the `redis` parameter of a guard."""


def check_clients(value: Client) -> Clients:
    """Return the clients of a guard, or raise a TypeError; its message contains no address."""
    if isinstance(value, AsyncClient):
        return Clients(asyncio=value)
    if isinstance(value, SyncClient):
        return Clients(sync=value)
    if not isinstance(value, Clients):
        raise TypeError(
            'redis must be a client of redis-py (redis.asyncio.Redis, redis.Redis or a '
            f'RedisCluster) or Clients(asyncio=…, sync=…), not {type(value).__name__}.'
        )
    if value.asyncio is None and value.sync is None:
        raise TypeError(
            'Clients() has no client: pass asyncio=redis.asyncio.Redis(…) for run, '
            'sync=redis.Redis(…) for run_sync, or both.'
        )
    if not isinstance(value.asyncio, AsyncClient | None):
        raise TypeError(
            'Clients(asyncio=…) must be a redis.asyncio.Redis or RedisCluster, '
            f'not {type(value.asyncio).__name__}.'
        )
    if not isinstance(value.sync, SyncClient | None):
        raise TypeError(
            'Clients(sync=…) must be a redis.Redis or redis.RedisCluster, '
            f'not {type(value.sync).__name__}.'
        )
    return value
