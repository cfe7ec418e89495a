"""Event log in Redis Streams."""

import asyncio
from asyncio import Task
from collections.abc import AsyncIterator, Callable
from time import time
from types import TracebackType
from typing import Final, Self

import redis.asyncio
from redis.exceptions import RedisError
from typing_extensions import override

from seamwise._errors.causes import Raised
from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.validation import check_float, check_int
from seamwise.catalog.sessions import AckAhead, ReplayError, SessionNotFound, UnknownEpoch
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import StreamClosed
from seamwise.live.events import Event, Position, Record, Stored, decode_record, encode_state
from seamwise.live.log import DEFAULT_LIMITS, LogLimits
from seamwise.live.replay import Replay, ReplayRange, replay_range
from seamwise.live.stores.base import StoreLog
from seamwise.live.stores.redis.commands import Commands
from seamwise.live.stores.redis.connections import Client, Connections, client_of_url
from seamwise.live.stores.redis.keys import Keys
from seamwise.live.stores.redis.leases import RedisLeases
from seamwise.live.stores.redis.link import SignalHandler, SignalLink
from seamwise.live.stores.redis.reasons import Reasons
from seamwise.live.stores.redis.sessions import Sessions, View
from seamwise.live.stores.redis.watcher import PAGE, Settings, Watcher

_MAX_READS: Final = 10
"""Number of times that a replay begins anew because the session has changed while it was read."""

_WAIT_SHARE: Final = 0.5
"""Part of the timeout that an append waits for replicas."""


class RedisLog(StoreLog):
    """Event log in Redis Streams, for any number of processes and machines.

    A process has two connections, whatever the number of sessions and readers: one for commands and
    one for signals (one for commands to each node of a Redis Cluster). The settings of a client
    are used, but not its connections and not its retries. Needs Redis 6.2 or later.

    Events survive a crash of Redis with `appendonly yes` and `appendfsync always`. After a failover
    to a replica that lacks events that this process has stored or read, the session gets a new
    epoch, so that this process never replays other events under the same numbers. With `replicas`,
    an append succeeds only if so many replicas have the events.

    Args:
        client_or_url: A client of redis-py (`redis.asyncio.Redis` or `RedisCluster`), or a URL.
        prefix: The beginning of all keys; logs with different prefixes are independent.
        limits: The limits of each session.
        clock: Returns the time in seconds since 1970.
        replicas: The number of replicas that confirm an append.
        timeout: The maximum time of each command, in seconds. Subscriptions end with
            `StoreUnavailable` if Redis is away for five times as long.

    Raises:
        TypeError: `client_or_url` is neither.
        ValueError: An argument has an impossible value.

    >>> RedisLog('localhost')
    Traceback (most recent call last):
    ValueError: RedisLog needs a URL such as redis://localhost:6379/0, rediss://… or unix://….
    """

    def __init__(
        self,
        client_or_url: Client | str,
        prefix: str = 'seamwise:',
        *,
        limits: LogLimits = DEFAULT_LIMITS,
        clock: Callable[[], float] = time,
        replicas: int = 0,
        timeout: float = 2.0,
    ) -> None:
        super().__init__(limits=limits, clock=clock)
        client = _check_client(client_or_url)
        if not isinstance(prefix, str):
            raise TypeError(f'prefix must be a text, not {type(prefix).__name__}.')
        check_int('replicas', replicas, minimum=0)
        self._timeout = check_float('timeout', timeout, above=0.0)
        connections = Connections(client, timeout=timeout)
        reasons = Reasons(connections.secrets())
        self._connections = connections
        self._keys = keys = Keys(prefix)
        self._reasons = reasons
        self._tasks: set[Task[None]] = set()
        self._commands = Commands(connections, timeout=timeout, tasks=self._tasks)
        # WAIT stops a connection until the replicas have confirmed the events.
        self._writes = self._commands
        if replicas:
            self._writes = Commands(connections, timeout=timeout, tasks=self._tasks)
        self._sessions = Sessions(
            self._commands,
            self._writes,
            keys=keys,
            limits=limits,
            replicas=replicas,
            wait=_WAIT_SHARE * timeout,
            reasons=reasons,
        )
        self._leases = RedisLeases(self._commands, keys=keys, reasons=reasons)
        self._watcher: Watcher | None = None

    @property
    @override
    def leases(self) -> RedisLeases:
        return self._leases

    @override
    async def __aenter__(self) -> Self:
        self._commands.open()
        self._writes.open()
        self._watcher = Watcher(
            self._hub,
            self._read,
            self._new_signal_link,
            Settings(
                timeout=self._timeout,
                channel_of=lambda session: self._keys.of(session).channel,
                unavailable=self._reasons.unavailable,
            ),
            self._tasks,
        )
        return self

    @override
    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await super().__aexit__(exc_type, exc, traceback)
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.close()
        self._commands.close()
        self._writes.close()
        if self._tasks:
            await asyncio.wait([*self._tasks])

    @override
    async def replay(
        self, session: str, since: Position | None
    ) -> Result[Replay, ReplayError | SessionNotFound | StoreUnavailable]:
        for _ in range(_MAX_READS):
            reply = await self._read(session, since, count=PAGE)
            if type(reply) is Failure:
                return reply
            view = reply.unwrap()
            events = replay_range(view.state, since)
            if type(events) is Failure:
                return events
            replay = await self._replay_of(session, view, events.unwrap())
            if type(replay) is Failure:
                return replay
            if (complete := replay.unwrap()) is not None:
                return Success(complete)
        return Failure(StoreUnavailable(session, 'the session changes all the time'))

    @override
    async def acknowledge(
        self, session: str, position: Position
    ) -> Result[None, AckAhead | UnknownEpoch | SessionNotFound | StoreUnavailable]:
        return await self._sessions.acknowledge(session, position, self._now())

    @override
    async def snapshot(
        self, session: str, position: Position, state: object
    ) -> Result[None, AckAhead | UnknownEpoch | SessionNotFound | StoreUnavailable]:
        return await self._sessions.snapshot(session, position, encode_state(state), self._now())

    @override
    async def delete(self, session: str) -> Result[None, StoreUnavailable]:
        return await self._sessions.delete(session)

    @override
    async def sessions(self) -> AsyncIterator[str]:
        keys, seen = self._keys, set[bytes]()
        try:
            async for key in self._commands.scan(keys.pattern):
                # SCAN can return a key twice.
                if key not in seen:
                    seen.add(key)
                    yield keys.session_of(key)
        except RedisError as error:
            raise Raised(self._reasons.unavailable(error)) from None

    @override
    async def _watch(self, session: str) -> None:
        if self._watcher is not None:
            await self._watcher.watch(session)

    @override
    def _unwatch(self, session: str) -> None:
        if self._watcher is not None:
            self._watcher.unwatch(session)

    @override
    async def _begin(self, session: str) -> Result[Position, StoreUnavailable]:
        return await self._sessions.begin(session, self._now())

    @override
    async def _append(
        self,
        session: str,
        records: list[tuple[Event, Record]],
        *,
        batch_id: str | None,
        is_end: bool,
    ) -> Result[Stored, StreamClosed | StoreUnavailable]:
        bodies = [record for _, record in records]
        result = await self._sessions.append(
            session, bodies, self._now(), batch_id=batch_id, is_end=is_end
        )
        if type(result) is Failure:
            return result
        reply = result.unwrap()
        if reply.outcome == 'closed':
            return Failure(StreamClosed(session))
        return Success(decode_record(bodies[-1].body, Position(reply.epoch, reply.seq), reply.at))

    async def _read(
        self, session: str, since: Position | None, *, count: int
    ) -> Result[View, SessionNotFound | StoreUnavailable]:
        return await self._sessions.read(session, since, self._now(), count=count)

    async def _replay_of(
        self, session: str, view: View, events: ReplayRange
    ) -> Result[Replay | None, SessionNotFound | StoreUnavailable]:
        """Return the replay, or None if the session has changed while it was read."""
        state, value = view.state, None
        if events.has_state:
            snapshot = await self._sessions.read_state(session)
            if type(snapshot) is Failure:
                return snapshot
            newest = snapshot.unwrap()
            if newest is None or newest[0] != state.snapshot:
                return Success(None)
            value = newest[1]
        missed = [item.stored for item in view.items]
        last = missed[-1].position.seq if missed else events.after
        while last < state.top:
            page = await self._read(session, Position(state.epoch, last), count=PAGE)
            if type(page) is Failure:
                return page
            items = page.unwrap().items
            if page.unwrap().state.epoch != state.epoch or not items:
                return Success(None)
            missed.extend(item.stored for item in items)
            last = missed[-1].position.seq
        # Later pages can contain events that are newer than the first one.
        del missed[state.top - events.after :]
        numbers = [stored.position.seq for stored in missed]
        if numbers != [*range(events.after + 1, state.top + 1)]:
            return Success(None)
        return Success(
            Replay(
                state.epoch,
                tuple(missed),
                Position(state.epoch, state.top),
                is_whole=events.is_whole,
                state=value,
                is_ended=state.is_ended,
            )
        )

    def _new_signal_link(self, handler: SignalHandler) -> SignalLink:
        return SignalLink(
            self._connections.new(), timeout=self._timeout, tasks=self._tasks, handler=handler
        )


def _check_client(value: Client | str) -> Client:
    if isinstance(value, str):
        return client_of_url(value)
    if not isinstance(value, (redis.asyncio.Redis, redis.asyncio.RedisCluster)):
        raise TypeError(
            'RedisLog needs a redis.asyncio.Redis, a redis.asyncio.RedisCluster or a URL, '
            f'not {type(value).__name__}.'
        )
    return value
