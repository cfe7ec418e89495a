"""How Redis is asked: by a script, within a bound, and not at all for a while after it failed."""

import asyncio
from hashlib import sha1
from time import monotonic
from typing import Final

import msgspec
from msgspec import Struct
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import MaxConnectionsError, NoScriptError, RedisError, ResponseError

from seamwise.policies._engine.world import World
from seamwise.policies.redis.availability import OutageBackoff, is_unavailable
from seamwise.policies.redis.clients import AsyncLine, AsyncLines, Clients
from seamwise.policies.redis.connections import Line, Lines
from seamwise.policies.redis.timeouts import InsistentTimeout

AT_ONCE: Final = 16
"""Redis does one thing at a time: more questions than these wait here, where they hold no connection."""

LONGEST_BOUND: Final = 60.0


class Script(Struct, frozen=True):
    """A script in Lua over one key, and the name by which a server knows it."""

    text: str
    sha: str


def script(text: str) -> Script:
    """Make a script of its text."""
    return Script(text, sha1(text.encode(), usedforsecurity=False).hexdigest())


class Store:
    """Redis, as one guard asks it by its script. Nobody waits longer than `bound` seconds of real time, whatever is to be done."""

    def __init__(
        self, name: str, clients: Clients, script: Script, *, bound: float, world: World
    ) -> None:
        self.away = OutageBackoff(world.clock, bound=bound)
        self._name = name
        self._script = script
        self._bound = bound
        self._pool: AsyncLines | None = (
            None if clients.asyncio is None else clients.asyncio.connection_pool
        )
        self._lines = None if clients.sync is None else Lines(clients.sync, bound=bound)
        self._places = asyncio.Semaphore(
            AT_ONCE if self._pool is None else min(AT_ONCE, self._pool.max_connections)
        )

    async def ask(self, asked: int, key: str, *args: str) -> list[int] | None:
        """Give the numbers that the script answers, or None where Redis is away. What is wrong with the script is raised.

        `asked` is what `away.may_ask` gave.
        """
        pool = self._pool
        if pool is None:
            raise TypeError(
                f'{self._name!r} has no client for tasks: redis=Clients(asyncio=redis.asyncio.Redis(…), sync=…) gives it one.'
            )
        failed: int | None = None
        try:
            async with InsistentTimeout(self._bound), self._places:
                # Until here it was this process that was slow.
                failed = asked
                reply = await _asked(pool, self._script, key, args)
        except TimeoutError:
            self.away.failed(failed)
            return None
        except RedisError as error:
            self._note(error, asked)
            return None
        self.away.answered(asked)
        return msgspec.convert(reply, list[int])

    def ask_sync(self, asked: int, key: str, *args: str) -> list[int] | None:
        """Likewise, in a thread."""
        lines = self._lines
        if lines is None:
            raise TypeError(
                f'{self._name!r} has no client for threads: redis=Clients(sync=redis.Redis(…), asyncio=…) gives it one.'
            )
        try:
            reply = _asked_sync(lines, self._script, key, args, until=monotonic() + self._bound)
        except TimeoutError:
            self.away.failed(asked)
            return None
        except RedisError as error:
            self._note(error, asked)
            return None
        self.away.answered(asked)
        return msgspec.convert(reply, list[int])

    def _note(self, error: RedisError, asked: int) -> None:
        if not is_unavailable(error):
            raise error
        if not isinstance(error, MaxConnectionsError):
            self.away.failed(asked)


async def _asked(pool: AsyncLines, script: Script, key: str, args: tuple[str, ...]) -> object:
    try:
        return await _once(pool, script, key, args)
    except NoConnection:
        # One that lay in the pool while the server was started anew is known for broken when it is used; it then connects again.
        return await _once(pool, script, key, args)


async def _once(pool: AsyncLines, script: Script, key: str, args: tuple[str, ...]) -> object:
    # A connection, not the client, whose settings may say to try ten times: each may be counted.
    connection = await pool.get_connection()
    try:
        return await _exchange(connection, script, key, args)
    except ResponseError:
        # It may be a replica now, and its name lead to another server.
        await connection.disconnect()
        raise
    finally:
        await pool.release(connection)


async def _exchange(line: AsyncLine, script: Script, key: str, args: tuple[str, ...]) -> object:
    await line.send_command('EVALSHA', script.sha, '1', key, *args)
    try:
        return await line.read_response(disable_decoding=True)
    except NoScriptError:
        await line.send_command('EVAL', script.text, '1', key, *args)
        return await line.read_response(disable_decoding=True)


def _asked_sync(
    lines: Lines, script: Script, key: str, args: tuple[str, ...], *, until: float
) -> object:
    line = lines.take(until - monotonic())
    try:
        line.send_command('EVALSHA', script.sha, '1', key, *args)
        try:
            reply = _read(line, until)
        except NoScriptError:
            line.send_command('EVAL', script.text, '1', key, *args)
            reply = _read(line, until)
    except BaseException:
        line.disconnect()
        lines.forget()
        raise
    lines.give(line)
    return reply


def _read(line: Line, until: float) -> object:
    return line.read_response(disable_decoding=True, timeout=max(until - monotonic(), 0.0))
