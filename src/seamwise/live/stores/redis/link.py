"""A connection to Redis that any number of tasks share."""

import asyncio
from abc import ABC, abstractmethod
from asyncio import Future, StreamWriter, Task, TimerHandle
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from contextvars import Context
from typing import Final, TypeAlias

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError
from typing_extensions import override

from seamwise._defects.defects import report_defect
from seamwise.live.stores.redis.connections import RedisConnection

Reply: TypeAlias = object
"""A reply of Redis, or the RedisError of the command."""

TASK_NAME: Final = 'seamwise-redis-log'

_STEPS: Final = 5
"""Number of steps in which a timeout is counted, so that a busy event loop stops it."""


def pack(command: Sequence[bytes]) -> bytes:
    r"""Return a command in the protocol of Redis.

    >>> pack([b'GET', b'key'])
    b'*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n'
    """
    parts = [b'*%d\r\n' % len(command)]
    # A loop: twice as fast as a generator.
    for part in command:
        parts.append(b'$%d\r\n%b\r\n' % (len(part), part))  # noqa: PERF401
    return b''.join(parts)


class Link(ABC):
    """One connection, from the first attempt to its loss. A task of its own reads.

    No caller touches the connection, so that a caller that is cancelled leaves no reply unread.

    Args:
        connection: A connection that is not established yet.
        timeout: The maximum time without progress, in seconds.
        tasks: Contains the task of the connection until it has ended.
    """

    def __init__(
        self, connection: RedisConnection, *, timeout: float, tasks: set[Task[None]]
    ) -> None:
        self._connection = connection
        self._step = timeout / _STEPS
        self._unsent: list[bytes] = []
        self._is_flush_planned = False
        self._stream: StreamWriter | None = None
        self._loop = asyncio.get_running_loop()
        self._timer: TimerHandle | None = None
        self._steps = 0
        self._error: RedisError | None = None
        # An empty context: the connection has no deadline, and no trace, of its first caller.
        self._task = self._loop.create_task(self._run(), name=TASK_NAME, context=Context())
        tasks.add(self._task)
        self._task.add_done_callback(tasks.discard)

    @property
    def error(self) -> RedisError | None:
        """The reason why the connection is lost, or None."""
        return self._error

    def close(self) -> None:
        """Close the connection; its task ends soon."""
        self._lose(RedisConnectionError('The connection was closed.'))

    def _send(self, data: bytes) -> None:
        self._unsent.append(data)
        if self._stream is not None and not self._is_flush_planned:
            # The commands of all tasks that run in this iteration of the loop are sent together.
            self._is_flush_planned = True
            self._loop.call_soon(self._flush)
        if self._timer is None:
            self._timer = self._loop.call_later(self._step, self._count)

    async def _run(self) -> None:
        try:
            await self._connection.connect()
            self._stream = _stream_of(self._connection)
            self._on_connected()
            self._flush()
            await self._read()
        except (RedisError, OSError) as error:
            self._fail(_redis_error(error))
        except asyncio.CancelledError:
            self._fail(RedisConnectionError('The event loop stops.'))
            raise
        except Exception as defect:  # noqa: BLE001
            report_defect(defect)
            self._fail(RedisConnectionError('The connection failed.'))
        finally:
            await self._disconnect()

    async def _disconnect(self) -> None:
        stream, self._stream = _stream_of(self._connection), None
        if stream is not None:
            # Without waiting until a server that does not respond has read everything.
            stream.transport.abort()
        with suppress(RedisError, OSError):
            await self._connection.disconnect(nowait=True)
        # The transport closes the socket in the next iteration of the event loop.
        await asyncio.sleep(0)

    def _flush(self) -> None:
        self._is_flush_planned = False
        if self._unsent and self._stream is not None and self._error is None:
            data, self._unsent = b''.join(self._unsent), []
            # Without waiting for room: a command that cannot be sent is in memory anyway, and its
            # caller waits for the reply.
            self._stream.write(data)

    async def _read(self) -> None:
        while True:
            try:
                reply = await self._connection.read_response(disable_decoding=True)
            except ResponseError as error:
                reply = error
            self._on_reply(reply)

    def _count(self) -> None:
        self._steps += 1
        # Before `_has_progress`, which sends a PING, and `_send` starts a timer if there is none.
        self._timer = self._loop.call_later(self._step, self._count)
        if self._error is not None or not self._has_progress():
            self._timer.cancel()
            self._timer = None

    def _lose(self, error: RedisError) -> None:
        if self._error is None:
            self._fail(error)
            self._task.cancel()

    def _fail(self, error: RedisError) -> None:
        if self._error is None:
            self._error = error
            if self._timer is not None:
                self._timer.cancel()
            self._on_lost(error)

    def _is_overdue(self, since: int) -> bool:
        """Lose the connection if a step is a whole timeout ago."""
        if self._steps - since < _STEPS:
            return False
        self._lose(RedisTimeoutError('Redis does not respond.'))
        return True

    @abstractmethod
    def _has_progress(self) -> bool:
        """Lose the connection if it is overdue; return whether to count further steps."""

    def _on_connected(self) -> None:  # noqa: B027 -- a link for commands needs none
        """Handle the end of the handshake."""

    @abstractmethod
    def _on_reply(self, reply: Reply) -> None: ...

    @abstractmethod
    def _on_lost(self, error: RedisError) -> None: ...


def _stream_of(connection: RedisConnection) -> StreamWriter | None:
    # `send_packed_command` of redis-py needs a task that waits for it.
    stream: StreamWriter | None = getattr(connection, '_writer', None)
    return stream


def _redis_error(error: BaseException) -> RedisError:
    return error if isinstance(error, RedisError) else RedisConnectionError(str(error))


class CommandLink(Link):
    """A connection for commands: the replies come in the order of the commands."""

    def __init__(
        self, connection: RedisConnection, *, timeout: float, tasks: set[Task[None]]
    ) -> None:
        super().__init__(connection, timeout=timeout, tasks=tasks)
        self._waiting: deque[tuple[Future[Reply], int]] = deque()

    def request(self, command: bytes) -> Future[Reply]:
        """Send a packed command. The future never has an exception: a RedisError is its result."""
        reply: Future[Reply] = self._loop.create_future()
        if self._error is not None:
            reply.set_result(self._error)
            return reply
        self._waiting.append((reply, self._steps))
        self._send(command)
        return reply

    @override
    def _has_progress(self) -> bool:
        return bool(self._waiting) and not self._is_overdue(self._waiting[0][1])

    @override
    def _on_reply(self, reply: Reply) -> None:
        future, _ = self._waiting.popleft()
        if not future.done():
            future.set_result(reply)

    @override
    def _on_lost(self, error: RedisError) -> None:
        while self._waiting:
            future, _ = self._waiting.popleft()
            if not future.done():
                future.set_result(error)


class SignalLink(Link):
    """A connection that receives the messages of pub/sub channels.

    Args:
        connection: A connection that is not established yet.
        timeout: The maximum time without a message or a reply to PING, in seconds.
        tasks: Contains the task of the connection until it has ended.
        handler: Receives what happens.
    """

    def __init__(
        self,
        connection: RedisConnection,
        *,
        timeout: float,
        tasks: set[Task[None]],
        handler: 'SignalHandler',
    ) -> None:
        super().__init__(connection, timeout=timeout, tasks=tasks)
        self._handler = handler
        self._heard_at = 0
        self._ping()

    def subscribe(self, channels: Sequence[bytes]) -> None:
        """Subscribe to channels; the handler receives a confirmation for each."""
        self._send(pack([b'SUBSCRIBE', *channels]))

    def unsubscribe(self, channel: bytes) -> None:
        """Unsubscribe from a channel."""
        self._send(pack([b'UNSUBSCRIBE', channel]))

    def _ping(self) -> None:
        self._send(pack([b'PING']))

    @override
    def _has_progress(self) -> bool:
        if self._is_overdue(self._heard_at):
            return False
        self._ping()
        return True

    @override
    def _on_connected(self) -> None:
        self._heard_at = self._steps
        self._handler.on_connected()

    @override
    def _on_reply(self, reply: Reply) -> None:
        self._heard_at = self._steps
        match reply:
            case [b'message', bytes(channel), bytes(text)]:
                self._handler.on_signal(channel, text)
            case [b'subscribe', bytes(channel), int()]:
                self._handler.on_subscribed(channel)
            case RedisError() as error:
                # For example, the user has no permission for the channel.
                self._lose(error)
            case _:
                pass

    @override
    def _on_lost(self, error: RedisError) -> None:
        self._handler.on_lost(error)


class SignalHandler(ABC):
    """Receives the signals of a connection."""

    @abstractmethod
    def on_connected(self) -> None:
        """Handle a connection that has been established."""

    @abstractmethod
    def on_subscribed(self, channel: bytes) -> None:
        """Handle the confirmation of a subscription."""

    @abstractmethod
    def on_signal(self, channel: bytes, text: bytes) -> None:
        """Handle a message."""

    @abstractmethod
    def on_lost(self, error: RedisError) -> None:
        """Handle the loss of the connection."""
