"""Calls of a Lua script in Redis, with a time bound and a backoff after failures."""

from typing import Any, Final

import msgspec
import redis.asyncio
from redis.exceptions import MovedError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from seamwise._results.containers import Failure
from seamwise._runtime.world import World
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies._engine.observers import Observers
from seamwise.policies.classify.exception_text import exception_reason
from seamwise.policies.events import Refused, StoreAway, StoreBack
from seamwise.policies.redis.availability import OutageBackoff, is_unavailable
from seamwise.policies.redis.batches import TaskRequest, batch_sender
from seamwise.policies.redis.clients import Clients
from seamwise.policies.redis.clusters import async_cluster_route, cluster_route
from seamwise.policies.redis.connections import AsyncConnectionPool, is_pool_exhausted
from seamwise.policies.redis.routes import Address, Pool, Route
from seamwise.policies.redis.scripts import Reply, Script
from seamwise.policies.redis.thread_sender import ThreadRequest, ThreadSender, thread_sender

MAX_TRIES: Final = 3
"""Number of nodes of a Redis Cluster that a call tries if they redirect it."""

NO_REPLY: Final = 'Redis does not respond'
"""Reason of a refusal whose request has timed out."""

MAX_BOUND: Final = 60.0
"""Upper bound of `bound`, in seconds."""


class Store:
    """State of one guard in Redis, accessed by its script.

    Args:
        name: Name of the guard, for error messages.
        clients: Redis clients.
        script: Script of the guard.
        observer: Receives `StoreAway` and `StoreBack` events.
        bound: Seconds of real time after which a reply is late. They count from the time at which
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
        self._reason = NO_REPLY
        self._async_route = _async_route(clients)
        self._route = _route(clients, bound=bound)

    def refuse(self) -> Failure[StoreUnavailable]:
        """Return the failure of a call that is refused because Redis is unavailable."""
        error = StoreUnavailable(self._name, self._reason, retry_after=self.backoff.seconds_left())
        if self.observer.is_used:
            self.observer(Refused(self._name, error))
        return Failure(error)

    def reset(self) -> None:
        """Forget outages; calls in flight no longer count."""
        self.backoff.reset()
        self._reason = NO_REPLY

    def after_fork(self) -> None:
        """Forget the threads of the parent process, in a forked one."""
        self.backoff.after_fork()

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
        route = self._async_route
        if route is None:
            raise TypeError(
                f'{self._name!r} has no client for tasks: '
                'pass redis=Clients(asyncio=redis.asyncio.Redis(…), sync=…).'
            )
        backoff = self.backoff
        pool, reply = route.pool(), None
        for _ in range(MAX_TRIES):
            pool = route.pool()
            request = TaskRequest(self._script, (key, *args), lambda: backoff.is_current(ticket))
            reply = await batch_sender(route, bound=self._bound).send(pool, request)
            if not (isinstance(reply, MovedError) and route.follow(_address(reply))):
                break
        return self._numbers(reply, ticket, route, pool)

    def call_sync(self, ticket: int, key: str, *args: str) -> list[int] | None:
        """Do the same as `call`, in a thread."""
        route = self._route
        if route is None:
            raise TypeError(
                f'{self._name!r} has no client for threads: '
                'pass redis=Clients(sync=redis.Redis(…), asyncio=…).'
            )
        backoff = self.backoff
        sender, reply = route.pool(), None
        for _ in range(MAX_TRIES):
            sender = route.pool()
            reply = sender.send(
                ThreadRequest(self._script, (key, *args), lambda: backoff.is_current(ticket))
            )
            if not (isinstance(reply, MovedError) and route.follow(_address(reply))):
                break
        return self._numbers(reply, ticket, route, sender)

    def _numbers(
        self, reply: Reply, ticket: int, route: Route[Pool], pool: Pool
    ) -> list[int] | None:
        """Return the numbers of a reply, or None if it is not one because Redis is unavailable."""
        if isinstance(reply, (TimeoutError, RedisError)):
            self._handle_error(reply, ticket, route, pool)
            return None
        if isinstance(reply, Exception):
            raise reply
        if reply is None:
            return None
        self.backoff.on_success(ticket)
        return msgspec.convert(reply, list[int])

    def _handle_error(
        self, error: TimeoutError | RedisError, ticket: int, route: Route[Pool], pool: Pool
    ) -> None:
        """Count a failure if Redis is unavailable, else raise the error."""
        self._reason = NO_REPLY
        if isinstance(error, RedisError):
            if not is_unavailable(error):
                raise error
            is_late = isinstance(error, RedisTimeoutError)
            self._reason = NO_REPLY if is_late else exception_reason(error)
            if is_pool_exhausted(error):
                return
        route.leave(pool)
        self.backoff.on_failure(ticket)


def _address(redirection: MovedError) -> Address:
    untyped_redirection: Any = redirection
    return untyped_redirection.host, untyped_redirection.port


def _async_route(clients: Clients) -> Route[AsyncConnectionPool] | None:
    client = clients.asyncio
    if client is None:
        return None
    if isinstance(client, redis.asyncio.RedisCluster):
        return async_cluster_route(client)
    return Route(client.connection_pool)


def _route(clients: Clients, *, bound: float) -> Route[ThreadSender] | None:
    client = clients.sync
    if client is None:
        return None
    if isinstance(client, redis.RedisCluster):
        return cluster_route(client, bound=bound)
    return Route(thread_sender(client, bound=bound))
