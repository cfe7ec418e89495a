"""Calls of a Lua script in Redis, with a time bound and a backoff after failures."""

import asyncio
from hashlib import sha1
from math import ceil
from time import monotonic
from typing import Final

import msgspec
from msgspec import Struct
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import MaxConnectionsError, NoScriptError, RedisError, ResponseError

from seamwise.policies._engine.world import World
from seamwise.policies.redis.availability import OutageBackoff, is_unavailable
from seamwise.policies.redis.clients import Clients
from seamwise.policies.redis.connections import (
    AsyncConnection,
    AsyncConnectionPool,
    Connection,
    ConnectionPool,
)
from seamwise.policies.redis.timeouts import InsistentTimeout

MAX_CONCURRENT_CALLS: Final = 16
"""Redis executes one command at a time. Further calls wait here, without using a connection."""

MAX_BOUND: Final = 60.0
"""Upper bound of `bound`, in seconds."""


def microseconds(seconds: float) -> str:
    """Convert seconds to the whole microseconds used by the Lua scripts, rounded up.

    >>> microseconds(0.25)
    '250000'
    """
    return str(ceil(round(seconds * 1e6, 3)))


class Script(Struct, frozen=True):
    """A Lua script with one key, and the SHA-1 digest by which a server caches it."""

    text: str
    sha: str


def new_script(text: str) -> Script:
    """Return a script with its digest."""
    return Script(text, sha1(text.encode(), usedforsecurity=False).hexdigest())


class Store:
    """State of one guard in Redis, accessed by its script.

    Args:
        name: Name of the guard, for error messages.
        clients: Redis clients.
        script: Script of the guard.
        bound: Maximum duration of a call, in seconds of real time, including all waiting.
        world: Clock of the backoff.
    """

    def __init__(
        self, name: str, clients: Clients, script: Script, *, bound: float, world: World
    ) -> None:
        # A function, because `replace_real` exchanges the clock of the world.
        self.backoff = OutageBackoff(lambda: world.clock(), bound=bound)  # noqa: PLW0108
        self._name = name
        self._script = script
        self._bound = bound
        self._async_pool: AsyncConnectionPool | None = (
            None if clients.asyncio is None else clients.asyncio.connection_pool
        )
        self._pool = None if clients.sync is None else ConnectionPool(clients.sync, bound=bound)
        max_calls = MAX_CONCURRENT_CALLS
        if self._async_pool is not None:
            max_calls = min(max_calls, self._async_pool.max_connections)
        self._max_calls = max_calls
        self._semaphore = asyncio.Semaphore(max_calls)

    def reset(self) -> None:
        """Forget outages and the event loop; calls in flight no longer count."""
        self.backoff.reset()
        self._semaphore = asyncio.Semaphore(self._max_calls)

    async def call(self, ticket: int, key: str, *args: str) -> list[int] | None:
        """Run the script and return its numbers, or None if Redis is unavailable.

        Args:
            ticket: Result of `backoff.try_acquire`.
            key: Key of the script.
            *args: Arguments of the script.

        Raises:
            RedisError: Redis rejected the call, e.g. because of a wrong password.
            TypeError: The guard has no client for tasks.
        """
        pool = self._async_pool
        if pool is None:
            raise TypeError(
                f'{self._name!r} has no client for tasks: '
                'pass redis=Clients(asyncio=redis.asyncio.Redis(…), sync=…).'
            )
        failed_ticket: int | None = None
        try:
            async with InsistentTimeout(self._bound), self._semaphore:
                # A timeout before this line is a delay of this process, not of Redis.
                failed_ticket = ticket
                reply = await _call_script(pool, self._script, key, args)
        except TimeoutError:
            self.backoff.on_failure(failed_ticket)
            return None
        except RedisError as error:
            self._handle_error(error, ticket)
            return None
        self.backoff.on_success(ticket)
        return msgspec.convert(reply, list[int])

    def call_sync(self, ticket: int, key: str, *args: str) -> list[int] | None:
        """Do the same as `call`, in a thread."""
        pool = self._pool
        if pool is None:
            raise TypeError(
                f'{self._name!r} has no client for threads: '
                'pass redis=Clients(sync=redis.Redis(…), asyncio=…).'
            )
        deadline = monotonic() + self._bound
        try:
            reply = _call_script_sync(pool, self._script, key, args, deadline=deadline)
        except TimeoutError:
            self.backoff.on_failure(ticket)
            return None
        except RedisError as error:
            self._handle_error(error, ticket)
            return None
        self.backoff.on_success(ticket)
        return msgspec.convert(reply, list[int])

    def _handle_error(self, error: RedisError, ticket: int) -> None:
        """Start a pause if Redis is unavailable, else raise the error."""
        if not is_unavailable(error):
            raise error
        # A pool without a free connection is no sign of an outage.
        if not isinstance(error, MaxConnectionsError):
            self.backoff.on_failure(ticket)


async def _call_script(
    pool: AsyncConnectionPool, script: Script, key: str, args: tuple[str, ...]
) -> object:
    try:
        return await _call_once(pool, script, key, args)
    except RedisConnectionError:
        # After a restart of the server, an idle connection fails on first use. The pool then
        # reconnects.
        return await _call_once(pool, script, key, args)


async def _call_once(
    pool: AsyncConnectionPool, script: Script, key: str, args: tuple[str, ...]
) -> object:
    # A connection, not the client: a client may be configured to retry, and could count a call
    # several times.
    connection = await pool.get_connection()
    try:
        return await _evaluate(connection, script, key, args)
    except ResponseError:
        # The server may have become a replica, and its host name may now lead to another server.
        await connection.disconnect()
        raise
    finally:
        await pool.release(connection)


async def _evaluate(
    connection: AsyncConnection, script: Script, key: str, args: tuple[str, ...]
) -> object:
    await connection.send_command('EVALSHA', script.sha, '1', key, *args)
    try:
        return await connection.read_response(disable_decoding=True)
    except NoScriptError:
        await connection.send_command('EVAL', script.text, '1', key, *args)
        return await connection.read_response(disable_decoding=True)


def _call_script_sync(
    pool: ConnectionPool, script: Script, key: str, args: tuple[str, ...], *, deadline: float
) -> object:
    connection = pool.acquire(deadline - monotonic())
    try:
        connection.send_command('EVALSHA', script.sha, '1', key, *args)
        try:
            reply = _read_reply(connection, deadline)
        except NoScriptError:
            connection.send_command('EVAL', script.text, '1', key, *args)
            reply = _read_reply(connection, deadline)
    except BaseException:
        connection.disconnect()
        pool.disconnect_idle()
        raise
    pool.release(connection)
    return reply


def _read_reply(connection: Connection, deadline: float) -> object:
    return connection.read_response(disable_decoding=True, timeout=max(deadline - monotonic(), 0.0))
