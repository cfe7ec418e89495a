"""Connections for threads, made as the caller's client makes its own, and bounded otherwise.

redis-py bounds each step in a thread by itself (look up the name, connect, greet, send, read), and by the client's settings. Here
one bound holds for all of it: who connects does so in a thread of its own, which may be left behind.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from os import getpid
from threading import Thread
from typing import Final, Protocol

import redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

_KEPT: Final = 64


class Line(Protocol):
    """A connection, as redis-py makes it, as far as it is used here."""

    def connect(self) -> None:
        """Connect and greet."""
        ...

    def disconnect(self) -> None:
        """Hang up."""
        ...

    def can_read(self, timeout: float = 0) -> bool:
        """Say whether something is there that nobody asked for; raises where the other side has hung up."""
        ...

    def send_command(self, *args: str) -> None:
        """Send a command."""
        ...

    def read_response(self, disable_decoding: bool = False, *, timeout: float) -> object:  # noqa: FBT001, FBT002 -- as redis-py has it
        """Read one whole reply."""
        ...


class Lines:
    """The connections of one guard, for as many threads as ask at once."""

    def __init__(self, client: redis.Redis, *, bound: float) -> None:
        pool = client.connection_pool
        self._kind: Callable[..., Line] = pool.connection_class
        self._settings = {
            **pool.connection_kwargs,
            # A question that has been sent twice may have been counted twice.
            'retry': Retry(NoBackoff(), 0),
            # Each step of who connects and is left behind ends; and no question of redis-py's own is waited for as the client says.
            'socket_timeout': bound,
            'health_check_interval': 0,
        }
        self._free: deque[Line] = deque(maxlen=_KEPT)
        self._process = getpid()

    def take(self, seconds: float) -> Line:
        """Give one that is connected, or raise a TimeoutError when it takes longer than so many seconds."""
        if self._process != getpid():
            # After a fork they are the parent's.
            self._free, self._process = deque(maxlen=_KEPT), getpid()
        while self._free:
            try:
                line = self._free.pop()
            except IndexError:
                break
            if _is_good(line):
                return line
            line.disconnect()
        return self._connected(seconds)

    def give(self, line: Line) -> None:
        """Take one back whose last reply has been read."""
        self._free.append(line)

    def forget(self) -> None:
        """Hang up all that lie here: where a name leads to another server by now, they lead to the old one."""
        with suppress(IndexError):
            while True:
                self._free.pop().disconnect()

    def _connected(self, seconds: float) -> Line:
        made: Future[Line] = Future()
        Thread(target=self._connect, args=(made,), name='seamwise-redis', daemon=True).start()
        try:
            return made.result(seconds)
        except BaseException:
            made.add_done_callback(_hang_up)
            raise

    def _connect(self, made: Future[Line]) -> None:
        try:
            line = self._kind(**self._settings)
            line.connect()
        # seamwise: allow[SW103] it is raised again in the thread that waits for it
        except BaseException as raised:  # noqa: BLE001
            made.set_exception(raised)
        else:
            made.set_result(line)


def _is_good(line: Line) -> bool:
    try:
        return not line.can_read()
    except (RedisError, OSError):
        return False


def _hang_up(made: Future[Line]) -> None:
    if made.exception() is None:
        made.result().disconnect()
