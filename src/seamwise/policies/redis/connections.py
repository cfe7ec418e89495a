"""Connections to Redis: protocols of redis-py's classes."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import Parameter, signature
from socket import socket
from typing import Any, Final, Protocol

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import MaxConnectionsError, RedisError


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

    def pack_commands(self, commands: Iterable[Iterable[str]]) -> list[bytes]:
        """Return the bytes of several commands."""
        ...

    def send_packed_command(self, command: Iterable[bytes]) -> None:
        """Send commands."""
        ...

    def read_response(self, disable_decoding: bool = False) -> object:  # noqa: FBT001, FBT002 -- signature of redis-py
        """Read a complete reply."""
        ...


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
