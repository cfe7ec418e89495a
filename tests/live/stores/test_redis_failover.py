"""Tests of the event log in Redis with replicas that take over, and lack events."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import redis

from seamwise import Failure, Success
from seamwise.catalog.sessions import UnknownEpoch
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live import Position, RedisLog
from tests.live.stores.contents import SESSION, numbered, within
from tests.live.stores.redis_laboratory import RedisLaboratory, append_until_stored
from tests.live.stores.redis_proxy import Proxy
from tests.policies.redis.servers import Server

pytestmark = pytest.mark.anyio


class StaleCopy:
    """A copy of the keys, which replaces them as a replica without the newest events does."""

    def __init__(self, laboratory: RedisLaboratory) -> None:
        self._laboratory = laboratory
        self._values: dict[bytes, bytes] = {}

    def take(self) -> None:
        with self._client() as client:
            keys = client.keys(f'{self._laboratory.prefix}*')
            self._values = {key: client.dump(key) for key in keys}

    def take_over(self) -> None:
        with self._client() as client:
            for key in client.keys(f'{self._laboratory.prefix}*'):
                client.delete(key)
            for key, value in self._values.items():
                client.restore(key, 0, value)

    def _client(self) -> Any:
        return redis.Redis(port=self._laboratory.server.port)


@pytest.mark.usefixtures('frequent_checks')
@pytest.mark.parametrize('reused', range(5))
@pytest.mark.parametrize('process', ['writer', 'reader', 'subscriber'])
async def test_numbers_that_are_used_twice_are_a_new_epoch(
    process: str, reused: int, forgetful_server: Server
) -> None:
    laboratory = RedisLaboratory(forgetful_server)
    copy = StaleCopy(laboratory)
    async with laboratory.log() as writer, laboratory.log() as reader, laboratory.log() as other:
        await writer.append(SESSION, numbered(1))
        copy.take()
        position = (await writer.append(SESSION, numbered(2), numbered(3))).unwrap().position
        log = writer if process == 'writer' else reader
        async with AsyncExitStack() as stack:
            subscription = None
            if process == 'subscriber':
                start = Position(position.epoch, 0)
                subscribed = await stack.enter_async_context(reader.subscribe(SESSION, start))
                subscription = subscribed.unwrap()
                for _ in range(3):
                    await within(5.0, anext(subscription))
            else:
                await log.replay(SESSION, None)
            copy.take_over()
            for number in range(reused):
                await other.append(SESSION, numbered(12 + number))
            if subscription is not None:
                error = (await within(5.0, anext(subscription))).failure()
                assert type(error) is StoreUnavailable
            result = await log.replay(SESSION, position)
            assert type(result.failure()) is UnknownEpoch
            stored = (await other.append(SESSION, numbered(20))).unwrap()
            assert stored.position == Position(stored.position.epoch, reused + 2)
            assert stored.position.epoch != position.epoch


def replicate(primary: Server, replica: Server) -> None:
    replica.execute('REPLICAOF', '127.0.0.1', str(primary.port))
    deadline = time.monotonic() + 10.0
    while replica.execute('ROLE')[:4:3] != ['slave', 'connected']:
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Failover:
    """A primary server, a replica, and a proxy that leads to one of them."""

    def __init__(self, primary: Server, replica: Server) -> None:
        self.primary, self.replica = primary, replica

    def promote(self) -> None:
        self.primary.kill()
        self.replica.execute('REPLICAOF', 'NO', 'ONE')


@pytest.fixture
def failover(tmp_path: Path) -> Iterator[Failover]:
    (tmp_path / 'a').mkdir()
    (tmp_path / 'b').mkdir()
    options = ('--repl-diskless-sync-delay', '0')
    with Server(tmp_path / 'a', *options) as primary, Server(tmp_path / 'b', *options) as replica:
        replicate(primary, replica)
        yield Failover(primary, replica)


async def append_unreplicated(failover: Failover, log: RedisLog) -> Position:
    """Store three events, of which the replica gets the first one."""
    await append_until_stored(log, 1)
    await asyncio.to_thread(_wait_for_stream, failover.replica)
    failover.replica.execute('REPLICAOF', 'NO', 'ONE')
    await append_until_stored(log, 2)
    return (await append_until_stored(log, 3)).position


def take_over(failover: Failover, proxy: Proxy) -> None:
    failover.primary.kill()
    proxy.lead_to(failover.replica.port)


def _wait_for_stream(replica: Server) -> None:
    deadline = time.monotonic() + 5.0
    while not replica.execute('KEYS', '*events'):
        assert time.monotonic() < deadline
        time.sleep(0.01)


async def test_a_failover_that_loses_events_is_a_new_epoch_for_the_writer(
    failover: Failover,
) -> None:
    async with Proxy(failover.primary.port) as proxy, RedisLog(proxy.url, timeout=1.0) as log:
        position = await append_unreplicated(failover, log)
        take_over(failover, proxy)
        stored = await append_until_stored(log, 4)
        assert stored.position.epoch != position.epoch
        assert await log.replay(SESSION, position) == Failure(
            UnknownEpoch(position.epoch, stored.position.epoch)
        )
        replay = (await log.replay(SESSION, None)).unwrap()
        assert [item.event.content for item in replay.events] == ['1', '4']


async def test_a_failover_that_loses_events_is_a_new_epoch_for_a_reader(
    failover: Failover,
) -> None:
    async with (
        Proxy(failover.primary.port) as proxy,
        RedisLog(proxy.url, timeout=1.0) as log,
        RedisLog(proxy.url, timeout=1.0) as reader,
    ):
        await append_until_stored(log, 0)
        async with reader.subscribe(SESSION, None) as subscribed:
            subscription = subscribed.unwrap()
            position = await append_unreplicated(failover, log)
            items = [(await within(5.0, anext(subscription))).unwrap() for _ in range(4)]
            assert items[-1].position == position
            take_over(failover, proxy)
            # Another writer, which knows nothing of the lost events, uses their numbers again.
            async with RedisLog(proxy.url, timeout=1.0) as stranger:
                for number in (14, 15, 16):
                    await append_until_stored(stranger, number)
            error = (await within(5.0, anext(subscription))).failure()
            assert type(error) is StoreUnavailable
        result = await reader.replay(SESSION, position)
        assert type(result.failure()) is UnknownEpoch


@pytest.mark.slow
async def test_a_failover_that_loses_nothing_keeps_the_epoch(failover: Failover) -> None:
    async with Proxy(failover.primary.port) as proxy, RedisLog(proxy.url, replicas=1) as log:
        first = await append_until_stored(log, 1)
        async with log.subscribe(SESSION, None) as subscribed:
            subscription = subscribed.unwrap()
            await append_until_stored(log, 2)
            failover.promote()
            proxy.lead_to(failover.replica.port)
            async with RedisLog(proxy.url) as other:
                last = await append_until_stored(other, 3)
            assert last.position == Position(first.position.epoch, 3)
            items = [(await within(5.0, anext(subscription))).unwrap() for _ in range(3)]
            assert [item.position.seq for item in items] == [1, 2, 3]


@pytest.mark.slow
async def test_an_append_that_too_few_replicas_confirm_is_a_failure(failover: Failover) -> None:
    laboratory = RedisLaboratory(failover.primary)
    async with laboratory.log(replicas=1) as log, laboratory.log(replicas=2, timeout=0.3) as strict:
        assert type(await log.append(SESSION, numbered(1))) is Success
        result = await within(5.0, strict.append(SESSION, numbered(2), batch_id='b-2'))
        assert result == Failure(
            StoreUnavailable(SESSION, '1 of 2 replicas have confirmed the events')
        )
        repeated = (await log.append(SESSION, numbered(2), batch_id='b-2')).unwrap()
        assert repeated.position.seq == 2


@pytest.mark.slow
async def test_a_repeated_batch_waits_for_the_replicas_too(failover: Failover) -> None:
    laboratory = RedisLaboratory(failover.primary)
    async with (
        laboratory.log(replicas=1, timeout=0.3) as log,
        laboratory.log(replicas=1, timeout=0.3) as other,
    ):
        assert type(await other.begin(SESSION)) is Success
        failover.replica.pause()
        for writer in (log, other):
            result = await within(5.0, writer.append(SESSION, numbered(1), batch_id='b-1'))
            assert type(result.failure()) is StoreUnavailable
        failover.replica.resume()
        assert (await append_until_stored(log, 1)).position.seq == 1


async def test_a_replica_refuses_appends_with_a_failure(failover: Failover) -> None:
    async with RedisLaboratory(failover.replica).log() as log:
        error = (await log.append(SESSION, numbered(1))).failure()
        assert isinstance(error, StoreUnavailable)
