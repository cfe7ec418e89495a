"""Redis clients of a guard: one for tasks, one for threads, or both."""

from inspect import signature
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

import redis
import redis.asyncio
from msgspec import Struct

from seamwise._runtime.module_lock import ModuleLock

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


_CONNECTION_CLASSES: Final = ('Connection', 'SSLConnection', 'UnixDomainSocketConnection')
_OWN_SETTINGS: Final = frozenset({
    'cache', 'cache_config', 'command_packer', 'connection_class', 'connection_pool',
    'encoder_class', 'lib_name', 'lib_version', 'parser_class', 'retry', 'retry_on_error',
})  # fmt: skip
"""Settings of a connection of valkey-py with objects of that library."""


_lock: Final = ModuleLock()
# The guards with the same client share the connections.
_converted: Final[WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()


class UnownedPool(redis.asyncio.ConnectionPool):
    """Settings of connections for tasks that nobody closes: none is kept after its last use."""


def _from_valkey(client: Any) -> Any:
    """Return a client of redis-py for the server of a client of valkey-py, else the argument.

    The protocol is the same, and so are the settings of the connections.
    """
    bases = type(client).__mro__
    if not any(base.__module__.partition('.')[0] == 'valkey' for base in bases):
        return client
    with _lock:
        if client not in _converted:
            _converted[client] = _convert(client)
        return _converted[client]


def _convert(client: Any) -> Any:
    pool: Any = getattr(client, 'connection_pool', None)
    names = () if pool is None else [base.__name__ for base in pool.connection_class.__mro__]
    name = next((name for name in names if name in _CONNECTION_CLASSES), None)
    is_managed = hasattr(pool, 'sentinel_manager')
    if pool is None or name is None or is_managed:
        raise TypeError(
            f'The {type(client).__name__} of valkey-py is not supported here: '
            'pass a client of redis-py, which works with a Valkey server too.'
        )
    is_async = '.asyncio' in type(pool).__module__
    library: Any = redis.asyncio if is_async else redis
    connection_class: Any = getattr(library, name)
    known = {
        parameter
        for base in connection_class.__mro__
        if '__init__' in vars(base)
        for parameter in signature(base.__init__).parameters
    }
    settings = {
        key: value
        for key, value in pool.connection_kwargs.items()
        if key in known and key not in _OWN_SETTINGS
    }
    pool_class = UnownedPool if is_async else library.ConnectionPool
    return library.Redis(
        connection_pool=pool_class(
            connection_class=connection_class, max_connections=pool.max_connections, **settings
        )
    )


def check_clients(value: Client) -> Clients:
    """Return the clients of a guard, or raise a TypeError; its message contains no address."""
    value = _from_valkey(value)
    if isinstance(value, Clients):
        value = Clients(asyncio=_from_valkey(value.asyncio), sync=_from_valkey(value.sync))
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
