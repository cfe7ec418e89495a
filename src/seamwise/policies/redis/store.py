"""Calls of a Lua script in Redis, with a time bound and a backoff after failures."""

from time import monotonic
from typing import Final

import msgspec
from redis.exceptions import NoScriptError, RedisError

from seamwise.catalog.storage import StoreUnavailable
from seamwise.containers import Failure
from seamwise.policies._engine.observers import Observers
from seamwise.policies._engine.world import World
from seamwise.policies.events import Refused, StoreAway, StoreBack
from seamwise.policies.redis.availability import OutageBackoff, is_unavailable
from seamwise.policies.redis.batches import ScriptRequest, batch_sender
from seamwise.policies.redis.clients import Clients
from seamwise.policies.redis.connections import (
    AsyncConnectionPool,
    Connection,
    ConnectionPool,
    connection_pool,
    is_pool_exhausted,
    read_reply,
)
from seamwise.policies.redis.scripts import Script

MAX_BOUND: Final = 60.0
"""Upper bound of `bound`, in seconds."""


class Store:
    """State of one guard in Redis, accessed by its script.

    Args:
        name: Name of the guard, for error messages.
        clients: Redis clients.
        script: Script of the guard.
        observer: Receives `StoreAway` and `StoreBack` events.
        bound: Maximum duration of a call, in seconds of real time. It counts from the time at which
            the call is sent: a busy process is no outage of Redis.
        world: Clock of the backoff.
    """

    def __init__(
        self,
        name: str,
        clients: Clients,
        script: Script,
        *,
        observer: Observers,
        bound: float,
        world: World,
    ) -> None:
        self.backoff = OutageBackoff(
            # A function, because `replace_real` exchanges the clock of the world.
            lambda: world.clock(),  # noqa: PLW0108
            bound=bound,
            on_away=lambda delay: observer(StoreAway(name, delay)),
            on_back=lambda seconds: observer(StoreBack(name, seconds)),
        )
        self.observer = observer
        self._name = name
        self._script = script
        self._bound = bound
        self._async_pool: AsyncConnectionPool | None = (
            None if clients.asyncio is None else clients.asyncio.connection_pool
        )
        self._pool = None if clients.sync is None else connection_pool(clients.sync, bound=bound)

    def refuse(self) -> Failure[StoreUnavailable]:
        """Return the failure of a call that is refused because Redis is unavailable."""
        error = StoreUnavailable(
            self._name, 'Redis does not respond', retry_after=self.backoff.seconds_left()
        )
        if self.observer.is_used:
            self.observer(Refused(self._name, error))
        return Failure(error)

    def reset(self) -> None:
        """Forget outages; calls in flight no longer count."""
        self.backoff.reset()

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
        backoff = self.backoff
        request = ScriptRequest(self._script, (key, *args), lambda: backoff.is_current(ticket))
        reply = await batch_sender(pool, bound=self._bound).send(pool, request)
        if isinstance(reply, TimeoutError):
            backoff.on_failure(ticket)
            return None
        if isinstance(reply, RedisError):
            self._handle_error(reply, ticket)
            return None
        if isinstance(reply, Exception):
            raise reply
        if reply is None:
            return None
        backoff.on_success(ticket)
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
        if not is_pool_exhausted(error):
            self.backoff.on_failure(ticket)


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
        pool.discard(connection)
        pool.disconnect_idle()
        raise
    pool.release(connection)
    return reply


def _read_reply(connection: Connection, deadline: float) -> object:
    return read_reply(connection, max(deadline - monotonic(), 0.0))
