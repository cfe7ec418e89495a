"""Batches of script calls: the tasks of one event loop share a connection to Redis.

Ten thousand tasks that each take a connection of their own spend their time waiting for each other,
and a healthy Redis looks slow. One pipeline instead answers all calls of an iteration of the event
loop in a few milliseconds.

Twin of `thread_sender.ThreadSender`, for tasks; `tests/policies/redis/test_threads.py` compares
them.
"""

import asyncio
from asyncio import AbstractEventLoop, Future, Task
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary, ref

from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError, ResponseError

from seamwise._runtime.module_lock import ModuleLock
from seamwise.policies.redis.clients import UnownedPool
from seamwise.policies.redis.connections import (
    AsyncConnection,
    AsyncConnectionPool,
    get_connection,
    is_pool_exhausted,
)
from seamwise.policies.redis.routes import Route
from seamwise.policies.redis.scripts import MAX_BATCH, MAX_WAITS, Reply, Script, ScriptRequest
from seamwise.policies.redis.timeouts import InsistentTimeout

SENDER_TASK: Final = 'seamwise-redis'
"""Name of the task that sends the batches of an event loop. It ends with the last batch."""


class TaskRequest(ScriptRequest):
    """One script call of a task, and the future of its reply."""

    __slots__ = ('reply',)

    def __init__(
        self, script: Script, arguments: tuple[str, ...], is_wanted: Callable[[], bool]
    ) -> None:
        super().__init__(script, arguments, is_wanted)
        self.reply: Future[Reply] = asyncio.get_running_loop().create_future()

    def settle(self, reply: Reply) -> None:
        """Set the reply, unless the caller no longer waits."""
        if not self.reply.done():
            self.reply.set_result(reply)


class BatchSender:
    """Sends the script calls of one event loop in batches, one after the other.

    Args:
        bound: Seconds after which the replies to a batch are late.
        is_pooled: Whether connections come from the pool of the client. Otherwise each burst of
            batches has a connection of its own: a connection belongs to an event loop, and the pool
            to the first one.
    """

    def __init__(self, *, bound: float, is_pooled: bool) -> None:
        self._bound = bound
        self._patience = MAX_WAITS * bound
        self._is_pooled = is_pooled
        self._has_failed = False
        self._waiting: deque[TaskRequest] = deque()
        self._task: Task[None] | None = None

    async def send(self, pool: AsyncConnectionPool, request: TaskRequest) -> Reply:
        """Send a script call with the next batch, and return its reply."""
        self._waiting.append(request)
        if self._task is None or self._task.done():
            # An empty context: a batch has no deadline, and no trace, of one of its callers.
            self._task = asyncio.get_running_loop().create_task(
                self._send_all(pool), name=SENDER_TASK, context=Context()
            )
        return await request.reply

    async def _send_all(self, pool: AsyncConnectionPool) -> None:
        batch: list[TaskRequest] = []
        try:
            while self._waiting:
                batch = self._next_batch()
                if batch:
                    await self._send_batch(pool, batch)
        # seamwise: allow[SW103] the callers raise it
        except Exception as defect:  # noqa: BLE001
            self._settle_all(batch, defect)
        except BaseException:
            # The event loop is shutting down. The callers must not wait for ever.
            self._settle_all(batch, RedisConnectionError('The event loop stops.'))
            raise
        finally:
            self._task = None

    def _settle_all(self, batch: list[TaskRequest], reply: Reply) -> None:
        for request in (*batch, *self._waiting):
            request.settle(reply)
        self._waiting.clear()

    def _next_batch(self) -> list[TaskRequest]:
        batch: list[TaskRequest] = []
        while self._waiting and len(batch) < MAX_BATCH:
            request = self._waiting.popleft()
            if request.reply.done():
                # Its caller was cancelled before it was sent.
                continue
            if request.is_wanted():
                batch.append(request)
            else:
                request.settle(None)
        return batch

    async def _send_batch(self, pool: AsyncConnectionPool, batch: list[TaskRequest]) -> None:
        replies: dict[TaskRequest, Reply] = {}
        error: Exception
        try:
            async with InsistentTimeout(self._bound if self._has_failed else self._patience):
                try:
                    await self._exchange(pool, batch, replies)
                except RedisConnectionError:
                    # After a restart of the server, an idle connection fails on first use. The pool
                    # then reconnects.
                    unanswered = [request for request in batch if request not in replies]
                    await self._exchange(pool, unanswered, replies)
        except (TimeoutError, RedisError) as batch_error:
            error = batch_error
            self._has_failed = isinstance(error, TimeoutError) or not is_pool_exhausted(error)
        else:
            error = RedisConnectionError('There was no reply.')
            self._has_failed = False
        for request in batch:
            request.settle(replies.get(request, error))

    async def _exchange(
        self,
        pool: AsyncConnectionPool,
        batch: list[TaskRequest],
        replies: dict[TaskRequest, Reply],
    ) -> None:
        """Send a batch, and add its replies to `replies`."""
        # A connection of the pool repeats failed attempts, by default for seconds.
        # After a failure, one without repetitions tells the reason, such as a wrong password.
        is_pooled = self._is_pooled and not self._has_failed
        connection = await (get_connection(pool) if is_pooled else _connect(pool))
        has_error = False
        try:
            missing = await _exchange_commands(connection, batch, None, replies)
            if missing:
                await _exchange_commands(connection, missing, set(), replies)
            has_error = any(isinstance(reply, ResponseError) for reply in replies.values())
        finally:
            if has_error or not is_pooled:
                # The server may have become a replica, and its host name may now lead to another
                # server.
                await connection.disconnect()
            if is_pooled:
                await pool.release(connection)


async def _connect(pool: AsyncConnectionPool) -> AbstractConnection:
    """Return a connection outside of the pool."""
    settings = {**pool.connection_kwargs, 'retry': Retry(NoBackoff(), 0)}
    connection = pool.connection_class(**settings)
    typed_connection: AsyncConnection = connection
    await typed_connection.connect()
    return connection


async def _exchange_commands(
    connection: AsyncConnection,
    batch: list[TaskRequest],
    sent_scripts: set[str] | None,
    replies: dict[TaskRequest, Reply],
) -> list[TaskRequest]:
    """Send commands in one pipeline, and return those whose script the server does not know.

    A connection, not the client: a client may be configured to retry, and could count a call
    several times.
    """
    commands = [request.command(sent_scripts) for request in batch]
    await connection.send_packed_command(connection.pack_commands(commands))
    missing: list[TaskRequest] = []
    for request in batch:
        try:
            replies[request] = await connection.read_response(disable_decoding=True)
        except NoScriptError:
            missing.append(request)
        except ResponseError as error:
            replies[request] = error
    return missing


_PoolSenders: TypeAlias = WeakKeyDictionary[AbstractEventLoop, dict[float, BatchSender]]
"""Batch senders of one connection pool, by event loop and bound."""

_lock: Final = ModuleLock()
_pools: Final[WeakKeyDictionary[AsyncConnectionPool, _PoolSenders]] = WeakKeyDictionary()
_first_loops: Final[WeakKeyDictionary[object, ref[AbstractEventLoop]]] = WeakKeyDictionary()


def batch_sender(route: Route[AsyncConnectionPool], *, bound: float) -> BatchSender:
    """Return the sender of the running event loop for the connection pool of a route.

    All guards with the same pool and bound share it.
    """
    loop, pool = asyncio.get_running_loop(), route.pool()
    with _lock:
        first_loop = _first_loops.setdefault(route.owner, ref(loop))
        senders = _pools.setdefault(pool, WeakKeyDictionary())
        by_bound = senders.setdefault(loop, {})
        if bound not in by_bound:
            is_pooled = first_loop() is loop and not isinstance(pool, UnownedPool)
            by_bound[bound] = BatchSender(bound=bound, is_pooled=is_pooled)
        return by_bound[bound]
