"""Script calls of the threads of a process, which share a pipelined connection to Redis.

Twin of `batches.BatchSender`, for threads: `tests/policies/redis/test_threads.py` compares them.

There is no thread that sends. A caller that finds no sender leads: it sends the waiting calls in
one pipeline, distributes the replies, and passes the lead to the first caller that still waits. The
bound is the timeout of the socket for each read. It runs in the kernel, from the time at which the
calls were written, so that a busy process spends nothing of it.

`policies/_engine/__init__.py` lists what rests on the interpreter's lock.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from os import getpid
from threading import Lock, Thread
from time import monotonic, process_time
from typing import Final
from weakref import WeakKeyDictionary

import redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from seamwise._runtime.module_lock import ModuleLock
from seamwise.policies.redis.connections import Connection, read_reply
from seamwise.policies.redis.scripts import MAX_BATCH, MAX_WAITS, Reply, Script, ScriptRequest

CONNECT_SECONDS: Final = 1.5
"""Additional time for a new connection, which needs the interpreter many times. Each of its steps
has the bound of a read; the name lookup has none of its own.
"""

_BUSY_SHARE: Final = 0.1
"""Share of a wait in which a busy process computes."""

_PAUSE_FACTOR: Final = 1.5
"""A wait that took so many times its timeout shows that the process was suspended."""


class ThreadRequest(ScriptRequest):
    """One script call of a thread, and a lock that is released when its reply has arrived."""

    __slots__ = ('ready', 'reply')

    def __init__(
        self, script: Script, arguments: tuple[str, ...], is_wanted: Callable[[], bool]
    ) -> None:
        super().__init__(script, arguments, is_wanted)
        self.reply: Reply = None
        self.ready = Lock()
        self.ready.acquire()


class ThreadSender:
    """Sends the script calls of all threads of this process over one connection.

    Args:
        pool: Pool of a client, for the class and the settings of the connection.
        bound: Seconds after which a reply is late.
    """

    def __init__(self, pool: redis.ConnectionPool, *, bound: float) -> None:
        self._bound = bound
        self._connection_class: Callable[..., Connection] = pool.connection_class
        self._settings = {
            **pool.connection_kwargs,
            # A command that is sent twice could count a call twice.
            'retry': Retry(NoBackoff(), 0),
            'health_check_interval': 0,
        }
        self._start_anew()

    def _start_anew(self) -> None:
        self._process_id = getpid()
        self._lock = Lock()
        self._waiting: deque[ThreadRequest] = deque()
        self._batch: list[ThreadRequest] = []
        """Requests that the leader has taken and not settled yet."""
        self._leader: ThreadRequest | None = None
        """Request whose thread has to send the next batch."""
        self._has_failed = False
        """Whether the last batch got no replies."""
        self._connection: Connection | None = None
        self._connecting: Future[Connection] | None = None

    def send(self, request: ThreadRequest) -> Reply:
        """Send a script call with the next batch, and return its reply."""
        if self._process_id != getpid():
            with _lock:
                if self._process_id != getpid():
                    # After a fork, the connection and the leader belong to the parent process.
                    self._start_anew()
        try:
            with self._lock:
                self._waiting.append(request)
                if self._leader is None:
                    self._leader = request
            if self._leader is not request:
                request.ready.acquire()
            if self._leader is request:
                self._lead(request)
        except BaseException:
            self._abandon_in_any_case(request)
            raise
        return request.reply

    def _lead(self, leader: ThreadRequest) -> None:
        """Send one batch, which begins with the leader's own request."""
        with self._lock:
            while self._waiting and len(self._batch) < MAX_BATCH:
                # In this order, an interrupt in between loses no request.
                self._batch.append(self._waiting[0])
                self._waiting.popleft()
        try:
            self._send_batch([request for request in self._batch if request.is_wanted()])
        # The callers raise it.
        except Exception as error:  # noqa: BLE001
            self._disconnect()
            self._has_failed = True
            with self._lock:
                # Those who wait would pay the same bound for the same answer.
                self._batch += self._waiting
                self._waiting.clear()
            for request in self._batch:
                if request.reply is None:
                    request.reply = error
        self._settle_batch()
        self._pass_lead(leader)

    def _abandon_in_any_case(self, request: ThreadRequest) -> None:
        """Do the same as `_abandon`, again if another interrupt ends it: the others wait for it."""
        while True:
            try:
                self._abandon(request)
            except BaseException as error:
                if isinstance(error, Exception):
                    raise
            else:
                return

    def _abandon(self, request: ThreadRequest) -> None:
        """Remove a request whose thread was interrupted, and pass the lead on if it had it.

        An interrupt of the leader is none of the others: the next leader sends their requests.
        """
        with self._lock:
            with suppress(ValueError):
                self._waiting.remove(request)
            if self._leader is not request:
                # An interrupt may have come before the next leader was woken.
                self._wake_leader()
                return
            unanswered = [
                item
                for item in self._batch
                if item.reply is None and item is not request and item not in self._waiting
            ]
            self._waiting.extendleft(reversed(unanswered))
            self._batch = [item for item in self._batch if item.reply is not None]
        self._disconnect()
        self._settle_batch()
        self._pass_lead(request)

    def _settle_batch(self) -> None:
        while self._batch:
            _release(self._batch[-1].ready)
            self._batch.pop()

    def _pass_lead(self, leader: ThreadRequest) -> None:
        with self._lock:
            if self._leader is leader:
                # One assignment: an interrupt comes before or after it.
                self._leader = self._waiting[0] if self._waiting else None
            self._wake_leader()

    def _wake_leader(self) -> None:
        if self._leader is not None:
            _release(self._leader.ready)

    def _send_batch(self, batch: list[ThreadRequest]) -> None:
        if not batch:
            return
        try:
            self._exchange(batch)
        except RedisConnectionError:
            if self._connection is None:
                raise
            # After a restart of the server, an idle connection fails on first use.
            self._disconnect()
            self._exchange([request for request in batch if request.reply is None])

    def _exchange(self, batch: list[ThreadRequest]) -> None:
        connection = self._usable_connection()
        missing = self._exchange_commands(connection, batch, None)
        self._has_failed = False
        if missing:
            self._exchange_commands(connection, missing, set())
        if any(isinstance(request.reply, ResponseError) for request in batch):
            # The server may have become a replica, and its host name may now lead to another
            # server.
            self._disconnect()

    def _exchange_commands(
        self, connection: Connection, batch: list[ThreadRequest], sent_scripts: set[str] | None
    ) -> list[ThreadRequest]:
        """Send commands in one pipeline, and return those whose script the server does not know."""
        commands = [request.command(sent_scripts) for request in batch]
        connection.send_packed_command(connection.pack_commands(commands))
        self._await_reply(connection)
        missing: list[ThreadRequest] = []
        for request in batch:
            try:
                request.reply = read_reply(connection, self._patience())
            except NoScriptError:
                missing.append(request)
            except ResponseError as error:
                request.reply = error
        return missing

    def _await_reply(self, connection: Connection) -> None:
        """Wait for the first reply, and wait again if that may be the fault of this machine."""
        for _ in range(MAX_WAITS):
            started_at = monotonic()
            if connection.can_read(self._bound):
                return
            was_suspended = monotonic() - started_at > _PAUSE_FACTOR * self._bound
            if self._has_failed and not was_suspended:
                break
        # It may have arrived while this thread waited for the interpreter.
        if not connection.can_read(0):
            raise RedisTimeoutError('Redis does not respond.')

    def _patience(self) -> float:
        """Return the maximum duration of a step, in seconds."""
        return self._bound if self._has_failed else MAX_WAITS * self._bound

    def _usable_connection(self) -> Connection:
        connection = self._connection
        if connection is not None:
            if _is_usable(connection):
                return connection
            self._disconnect()
        future = self._connecting
        if future is None or (future.done() and future.exception() is not None):
            future = Future[Connection]()
            # The name lookup has no timeout, so a thread of its own can outlive its caller. There
            # is one at a time: the next leader waits for the same one.
            Thread(target=self._connect, args=(future,), name='seamwise-redis', daemon=True).start()
            # Only now: after an interrupt before the start, nobody would complete the future.
            self._connecting = future
        seconds, used = CONNECT_SECONDS + self._bound, process_time()
        wait([future], seconds)
        if process_time() - used > _BUSY_SHARE * seconds:
            # The other threads of this process kept the one that connects from the interpreter.
            wait([future], seconds)
        try:
            connection = future.result(0)
        except FutureTimeoutError:
            if not future.done():
                raise RedisTimeoutError('The connection was not established in time.') from None
            self._connecting = None
            raise
        except Exception:
            self._connecting = None
            raise
        self._connecting = None
        self._connection = connection
        return connection

    def _connect(self, future: Future[Connection]) -> None:
        try:
            # Each step has this bound, also redis-py's own commands, such as the handshake.
            seconds = self._patience()
            settings = {**self._settings, 'socket_timeout': seconds}
            if 'path' not in settings:
                # A Unix socket connects with `socket_timeout`.
                limit: float = settings.get('socket_connect_timeout') or seconds  # pyright: ignore[reportAssignmentType]  # redis-py types it too widely
                settings['socket_connect_timeout'] = min(limit, seconds)
            connection = self._connection_class(**settings)
            connection.connect()
        except BaseException as error:  # noqa: BLE001
            future.set_exception(error)
        else:
            future.set_result(connection)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.disconnect()


def thread_sender(client: redis.Redis, *, bound: float) -> ThreadSender:
    """Return the sender of a client, which all its guards with the same bound share."""
    with _lock:
        senders = _senders.setdefault(client.connection_pool, {})
        if bound not in senders:
            senders[bound] = ThreadSender(client.connection_pool, bound=bound)
        return senders[bound]


def _release(ready: Lock) -> None:
    # An interrupted leader may have released it already.
    with suppress(RuntimeError):
        ready.release()


def _is_usable(connection: Connection) -> bool:
    try:
        return not connection.can_read()
    except (RedisError, OSError):
        return False


_lock: Final = ModuleLock()
_senders: Final[WeakKeyDictionary[redis.ConnectionPool, dict[float, ThreadSender]]] = (
    WeakKeyDictionary()
)
