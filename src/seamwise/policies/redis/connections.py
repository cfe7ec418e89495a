"""Connections to Redis: protocols of redis-py's classes, and a pool for threads with a time bound.

In a thread, redis-py applies the timeouts of the client to each step on its own: DNS lookup,
connect, handshake, send, read. Here one bound covers all steps. A thread of its own establishes a
connection, and may outlive the caller that started it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from inspect import Parameter, signature
from os import getpid
from socket import socket
from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

import redis
from redis.asyncio.connection import AbstractConnection
from redis.backoff import NoBackoff
from redis.exceptions import MaxConnectionsError, RedisError
from redis.retry import Retry

from seamwise._runtime.module_lock import ModuleLock

MAX_CONNECTIONS: Final = 64
"""Maximum number of connections of the threads of a process to one Redis."""


class AsyncConnection(Protocol):
    """The methods of an asyncio connection of redis-py that are used here."""

    async def connect(self) -> None:
        """Connect and perform the handshake."""
        ...

    async def disconnect(self) -> None:
        """Close the connection."""
        ...

    def pack_commands(self, commands: Iterable[Iterable[str]]) -> list[bytes]:
        """Return the bytes of several commands."""
        ...

    async def send_packed_command(self, command: Iterable[bytes]) -> None:
        """Send commands. An interruption closes the connection."""
        ...

    async def read_response(self, disable_decoding: bool = False) -> object:  # noqa: FBT001, FBT002 -- signature of redis-py
        """Read a complete reply.

        An interruption closes the connection, so that no later command reads the rest of the reply.
        """
        ...


class AsyncConnectionPool(Protocol):
    """The methods of an asyncio connection pool of redis-py that are used here."""

    @property
    def connection_class(self) -> Callable[..., AbstractConnection]:
        """Class of the connections."""
        ...

    @property
    def connection_kwargs(self) -> Mapping[str, Any]:
        """Arguments of the class."""
        ...

    async def get_connection(self, *args: str) -> AbstractConnection:
        """Return an established connection."""
        ...

    async def release(self, connection: AbstractConnection) -> None:
        """Return a connection to the pool."""
        ...


class Connection(Protocol):
    """The methods of a synchronous connection of redis-py that are used here."""

    def connect(self) -> None:
        """Connect and perform the handshake."""
        ...

    def disconnect(self) -> None:
        """Close the connection."""
        ...

    def can_read(self, timeout: float = 0) -> bool:
        """Return whether unexpected data arrived; raise if the server closed the connection."""
        ...

    def send_command(self, *args: str) -> None:
        """Send a command."""
        ...

    def read_response(self, disable_decoding: bool = False) -> object:  # noqa: FBT001, FBT002 -- signature of redis-py
        """Read a complete reply."""
        ...


class ConnectionPool:
    """Connections for any number of threads, of all guards with the same client and bound.

    At most `MAX_CONNECTIONS` exist at a time, or `max_connections` of the client if it is less.
    """

    def __init__(self, pool: redis.ConnectionPool, *, bound: float) -> None:
        self._limit = min(pool.max_connections, MAX_CONNECTIONS)
        self._slots = BoundedSemaphore(self._limit)
        self._connection_class: Callable[..., Connection] = pool.connection_class
        self._settings = {
            **pool.connection_kwargs,
            # A command that is sent twice could count a call twice.
            'retry': Retry(NoBackoff(), 0),
            # Limits each step in a thread that its caller has abandoned. It also limits redis-py's
            # own commands, such as the handshake, which would use the timeout of the client.
            'socket_timeout': bound,
            'health_check_interval': 0,
        }
        self._idle: deque[Connection] = deque()
        self._process_id = getpid()

    def acquire(self, seconds: float) -> Connection:
        """Return an established connection.

        Raises:
            TimeoutError: No connection could be established within `seconds`.
            MaxConnectionsError: All connections were in use for `seconds`.
        """
        if self._process_id != getpid():
            # After a fork, the connections belong to the parent process.
            self._idle, self._process_id = deque(), getpid()
            self._slots = BoundedSemaphore(self._limit)
        started_at = monotonic()
        slots = self._slots
        if not slots.acquire(timeout=max(seconds, 0.0)):
            raise MaxConnectionsError('All connections are in use.')
        try:
            return self._acquire(seconds - (monotonic() - started_at))
        except BaseException:
            slots.release()
            raise

    def _acquire(self, seconds: float) -> Connection:
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:
                break
            if _is_usable(connection):
                return connection
            connection.disconnect()
        return self._connect(seconds)

    def release(self, connection: Connection) -> None:
        """Return a connection to the pool; its last reply must have been read."""
        self._idle.append(connection)
        self._slots.release()

    def discard(self, connection: Connection) -> None:
        """Close a connection whose reply was not read."""
        try:
            connection.disconnect()
        finally:
            self._slots.release()

    def disconnect_idle(self) -> None:
        """Close all idle connections: after a failover, they lead to the previous server."""
        with suppress(IndexError):
            while True:
                self._idle.pop().disconnect()

    def _connect(self, seconds: float) -> Connection:
        future: Future[Connection] = Future()
        thread = Thread(
            target=self._connect_in_thread, args=(future,), name='seamwise-redis', daemon=True
        )
        thread.start()
        try:
            return future.result(seconds)
        except BaseException:
            future.add_done_callback(_disconnect_result)
            raise

    def _connect_in_thread(self, future: Future[Connection]) -> None:
        try:
            connection = self._connection_class(**self._settings)
            connection.connect()
        except BaseException as error:  # noqa: BLE001
            future.set_exception(error)
        else:
            future.set_result(connection)


async def get_connection(pool: AsyncConnectionPool) -> AbstractConnection:
    """Return an established connection of a pool."""
    # redis-py 5 requires the name of a command, and later versions warn about it.
    arguments = ('EVALSHA',) if _needs_command_name(type(pool)) else ()
    return await pool.get_connection(*arguments)


@cache
def _needs_command_name(pool_class: type[AsyncConnectionPool]) -> bool:
    command_name = signature(pool_class.get_connection).parameters.get('command_name')
    return command_name is not None and command_name.default is Parameter.empty


def is_pool_exhausted(error: RedisError) -> bool:
    """Return whether a pool had no free connection, which is no sign of an outage."""
    # The class of this message is MaxConnectionsError since redis-py 8.
    return isinstance(error, MaxConnectionsError) or str(error) == 'Too many connections'


def connection_pool(client: redis.Redis, *, bound: float) -> ConnectionPool:
    """Return the pool of a client, which all its guards with the same bound share."""
    with _lock:
        pools = _pools.setdefault(client.connection_pool, {})
        if bound not in pools:
            pools[bound] = ConnectionPool(client.connection_pool, bound=bound)
        return pools[bound]


def read_reply(connection: Connection, seconds: float) -> object:
    """Read a complete reply, or raise a TimeoutError of redis-py after about `seconds`."""
    read: Callable[..., object] = connection.read_response
    if _has_timeout(type(connection)):
        return read(disable_decoding=True, timeout=seconds)
    # redis-py before version 8 reads with the timeout of the socket.
    sock: socket | None = getattr(connection, '_sock', None)
    if sock is not None:
        sock.settimeout(seconds or _SMALLEST_TIMEOUT)
    return read(disable_decoding=True)


@cache
def _has_timeout(connection_class: type[Connection]) -> bool:
    return 'timeout' in signature(connection_class.read_response).parameters


_SMALLEST_TIMEOUT: Final = 1e-6
"""Seconds; a socket with the timeout 0 does not block."""

_lock: Final = ModuleLock()
_pools: Final[WeakKeyDictionary[redis.ConnectionPool, dict[float, ConnectionPool]]] = (
    WeakKeyDictionary()
)


def _is_usable(connection: Connection) -> bool:
    try:
        return not connection.can_read()
    except (RedisError, OSError):
        return False


def _disconnect_result(future: Future[Connection]) -> None:
    if future.exception() is None:
        future.result().disconnect()
