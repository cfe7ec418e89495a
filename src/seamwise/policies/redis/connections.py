"""Connections to Redis: protocols of redis-py's classes, and a pool for threads with a time bound.

In a thread, redis-py applies the timeouts of the client to each step on its own: DNS lookup,
connect, handshake, send, read. Here one bound covers all steps. A thread of its own establishes a
connection, and may outlive the caller that started it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from os import getpid
from threading import Thread
from typing import Any, Final, Protocol

import redis
from redis.asyncio.connection import AbstractConnection
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

_MAX_IDLE_CONNECTIONS: Final = 64


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

    async def get_connection(self) -> AbstractConnection:
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

    def read_response(self, disable_decoding: bool = False, *, timeout: float) -> object:  # noqa: FBT001, FBT002 -- signature of redis-py
        """Read a complete reply."""
        ...


class ConnectionPool:
    """Connections of one guard, for any number of threads."""

    def __init__(self, client: redis.Redis, *, bound: float) -> None:
        pool = client.connection_pool
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
        self._idle: deque[Connection] = deque(maxlen=_MAX_IDLE_CONNECTIONS)
        self._process_id = getpid()

    def acquire(self, seconds: float) -> Connection:
        """Return an established connection, or raise a TimeoutError after `seconds`."""
        if self._process_id != getpid():
            # After a fork, the idle connections belong to the parent process.
            self._idle, self._process_id = deque(maxlen=_MAX_IDLE_CONNECTIONS), getpid()
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
        # seamwise: allow[SW103] it is raised again in the thread that waits for it
        except BaseException as error:  # noqa: BLE001
            future.set_exception(error)
        else:
            future.set_result(connection)


def _is_usable(connection: Connection) -> bool:
    try:
        return not connection.can_read()
    except (RedisError, OSError):
        return False


def _disconnect_result(future: Future[Connection]) -> None:
    if future.exception() is None:
        future.result().disconnect()
