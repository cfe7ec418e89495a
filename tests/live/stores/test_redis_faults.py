"""Tests of the event log in Redis while Redis is killed, paused or unreachable."""

import asyncio
import time
from asyncio import Task
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from seamwise import Failure, Result, Success
from seamwise.catalog.sessions import SessionNotFound, UnknownEpoch
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live import Position, RedisLog
from tests.live.stores.contents import SESSION, numbered, within
from tests.live.stores.redis_laboratory import RedisLaboratory, append_until_stored
from tests.live.stores.redis_proxy import Proxy
from tests.policies.redis.servers import Server

pytestmark = pytest.mark.anyio


TIMEOUT = 0.2


async def restart(server: Server) -> None:
    server.kill()
    await asyncio.to_thread(server.start)


async def test_a_killed_redis_is_a_failure_within_a_bounded_time(
    forgetful_server: Server,
) -> None:
    async with RedisLaboratory(forgetful_server).log(timeout=TIMEOUT) as log:
        await log.append(SESSION, numbered(1))
        forgetful_server.kill()
        start = Position('e1', 0)
        calls: dict[str, Callable[[], Awaitable[Result[Any, Any]]]] = {
            'append': lambda: log.append(SESSION, numbered(2)),
            'end': lambda: log.end(SESSION, numbered(2)),
            'begin': lambda: log.begin(SESSION),
            'replay': lambda: log.replay(SESSION, None),
            'acknowledge': lambda: log.acknowledge(SESSION, start),
            'snapshot': lambda: log.snapshot(SESSION, start, 1),
            'delete': lambda: log.delete(SESSION),
            'acquire': lambda: log.leases.acquire('open:s-1', 'a', seconds=1.0),
            'renew': lambda: log.leases.renew(['open:s-1'], 'a', seconds=1.0),
            'release': lambda: log.leases.release('open:s-1', 'a'),
            'take_expired': lambda: log.leases.take_expired('open:', 'a', seconds=1.0),
        }
        for name, call in calls.items():
            result = await within(5.0, call())
            assert type(result.failure()) is StoreUnavailable, name
        async with log.subscribe(SESSION, None) as subscribed:
            assert type(subscribed.failure()) is StoreUnavailable


async def test_a_paused_redis_is_a_failure_and_the_batch_is_stored_once(
    forgetful_server: Server,
) -> None:
    async with RedisLaboratory(forgetful_server).log(timeout=TIMEOUT) as log:
        await log.append(SESSION, numbered(1))
        forgetful_server.pause()
        error = (await within(5.0, log.append(SESSION, numbered(2), batch_id='b-2'))).failure()
        assert type(error) is StoreUnavailable
        forgetful_server.resume()
        stored = await append_until_stored(log, 2)
        assert stored.position.seq == 2
        replay = (await log.replay(SESSION, None)).unwrap()
        assert [item.event.content for item in replay.events] == ['1', '2']


async def test_a_busy_event_loop_is_no_timeout(forgetful_server: Server) -> None:
    async with RedisLaboratory(forgetful_server).log(timeout=TIMEOUT) as log:
        await log.begin(SESSION)
        task = asyncio.create_task(log.append(SESSION, numbered(1)))
        await asyncio.sleep(0)
        time.sleep(3 * TIMEOUT)  # noqa: ASYNC251 -- the loop is busy on purpose
        assert type(await task) is Success


async def test_a_restarted_redis_with_a_file_has_the_same_epoch_and_all_events(
    durable_server: Server,
) -> None:
    async with RedisLaboratory(durable_server).log(timeout=TIMEOUT) as log:
        stored = (await log.append(SESSION, numbered(1), numbered(2), batch_id='b-1')).unwrap()
        await log.snapshot(SESSION, Position(stored.position.epoch, 1), {'text': 'one'})
        await restart(durable_server)
        last = await append_until_stored(log, 3)
        assert last.position == Position(stored.position.epoch, 3)
        repeated = await log.append(SESSION, numbered(1), numbered(2), batch_id='b-1')
        assert repeated.unwrap() == stored
        replay = (await log.replay(SESSION, Position(stored.position.epoch, 0))).unwrap()
        assert [item.event.content for item in replay.events] == ['1', '2', '3']
        state = (await log.replay(SESSION, None)).unwrap()
        assert state.state == {'text': 'one'}


async def test_a_subscription_continues_after_a_restart_of_redis(durable_server: Server) -> None:
    laboratory = RedisLaboratory(durable_server)
    async with laboratory.log() as log, laboratory.log() as other:
        await log.append(SESSION, numbered(1))
        async with log.subscribe(SESSION, None) as subscribed:
            subscription = subscribed.unwrap()
            assert (await anext(subscription)).unwrap().position.seq == 1
            for number in (2, 3):
                await restart(durable_server)
                await append_until_stored(other, number)
                assert (await within(5.0, anext(subscription))).unwrap().position.seq == number


async def test_a_redis_that_has_forgotten_everything_begins_a_new_epoch(
    forgetful_server: Server,
) -> None:
    laboratory = RedisLaboratory(forgetful_server)
    async with laboratory.log() as log, laboratory.log() as other:
        position = (await log.append(SESSION, numbered(1), numbered(2))).unwrap().position
        async with other.subscribe(SESSION, position) as subscribed:
            await restart(forgetful_server)
            stored = await append_until_stored(log, 3)
            assert stored.position.seq == 1
            assert stored.position.epoch != position.epoch
            error = (await within(5.0, anext(subscribed.unwrap()))).failure()
            assert type(error) is StoreUnavailable
        assert await log.replay(SESSION, position) == Failure(
            UnknownEpoch(position.epoch, stored.position.epoch)
        )


@pytest.mark.usefixtures('frequent_checks')
@pytest.mark.parametrize('command', ['FLUSHALL', 'FLUSHDB'])
async def test_a_flushed_redis_is_a_new_epoch(command: str, forgetful_server: Server) -> None:
    laboratory = RedisLaboratory(forgetful_server)
    async with laboratory.log() as log, laboratory.log() as other:
        position = (await log.append(SESSION, numbered(1), batch_id='b-1')).unwrap().position
        async with other.subscribe(SESSION, position) as subscribed:
            forgetful_server.execute(command)
            assert await log.replay(SESSION, position) == Failure(SessionNotFound(SESSION))
            error = (await within(5.0, anext(subscribed.unwrap()))).failure()
            assert error == StoreUnavailable(SESSION, 'the session was deleted')
        forgetful_server.execute('SCRIPT', 'FLUSH')
        current = (await log.append(SESSION, numbered(1), batch_id='b-1')).unwrap().position
        assert current.seq == 1
        assert current.epoch != position.epoch


@pytest.mark.slow
async def test_subscriptions_end_in_a_long_outage_and_not_in_a_short_one(
    durable_server: Server,
) -> None:
    async with RedisLaboratory(durable_server).log(timeout=TIMEOUT) as log:
        stored = (await log.append(SESSION, numbered(1))).unwrap()
        async with log.subscribe(SESSION, stored.position) as subscribed:
            durable_server.kill()
            error = (await within(10.0, anext(subscribed.unwrap()))).failure()
            assert type(error) is StoreUnavailable
        await asyncio.to_thread(durable_server.start)
        await append_until_stored(log, 2)
        async with log.subscribe(SESSION, stored.position) as subscribed:
            assert (await within(5.0, anext(subscribed.unwrap()))).unwrap().position.seq == 2


async def test_a_lost_answer_is_a_failure_and_the_batch_is_there_once(
    forgetful_server: Server,
) -> None:
    async with Proxy(forgetful_server.port) as proxy, RedisLog(proxy.url, timeout=1.0) as log:
        await log.append(SESSION, numbered(1))
        proxy.is_losing_replies = True
        outcome = await within(5.0, log.append(SESSION, numbered(2), numbered(3), batch_id='b-2'))
        assert type(outcome.failure()) is StoreUnavailable
        proxy.is_losing_replies = False
        # Redis has executed the command, although its answer was lost.
        replay = (await log.replay(SESSION, None)).unwrap()
        assert [item.event.content for item in replay.events] == ['1', '2', '3']
        again = (await log.append(SESSION, numbered(2), numbered(3), batch_id='b-2')).unwrap()
        assert again == replay.events[-1]


@pytest.mark.parametrize('retries', ['of the client', 'of the URL'])
async def test_an_append_without_an_id_is_never_sent_twice(
    retries: str, forgetful_server: Server
) -> None:
    async with Proxy(forgetful_server.port) as proxy:
        source: Any = proxy.url
        if retries == 'of the client':
            source = redis.asyncio.Redis(
                port=proxy.port,
                retry=Retry(NoBackoff(), 10),
                retry_on_error=[RedisError],
            )
        async with RedisLog(source, timeout=1.0) as log:
            await log.append(SESSION, numbered(0))
            failures = 0
            for number in range(1, 21):
                proxy.is_losing_replies = number % 2 == 1
                result = await within(5.0, log.append(SESSION, numbered(number)))
                failures += type(result) is Failure
            replay = (await log.replay(SESSION, None)).unwrap()
            contents = [item.event.content for item in replay.events]
            assert failures == 10
            assert len(contents) == len(set(contents))


@pytest.mark.usefixtures('signals_only')
async def test_readers_behind_cut_connections_miss_nothing(forgetful_server: Server) -> None:
    laboratory = RedisLaboratory(forgetful_server)
    async with (
        Proxy(forgetful_server.port) as proxy,
        RedisLog(proxy.url, laboratory.prefix) as log,
        laboratory.log() as writer,
    ):
        await writer.begin(SESSION)

        async def read(count: int) -> list[int]:
            async with log.subscribe(SESSION, None) as subscribed:
                subscription = subscribed.unwrap()
                items = [(await anext(subscription)).unwrap() for _ in range(count)]
            return [item.position.seq for item in items]

        readers: list[Task[list[int]]] = [asyncio.create_task(read(200)) for _ in range(3)]
        await asyncio.sleep(0.05)
        for number in range(200):
            await writer.append(SESSION, numbered(number))
            if number % 20 == 10:
                proxy.cut()
                await asyncio.sleep(0.02)
        assert await within(20.0, asyncio.gather(*readers)) == [[*range(1, 201)]] * 3
        assert proxy.accepted >= 5


@pytest.mark.usefixtures('signals_only')
async def test_an_event_that_is_stored_while_there_is_no_connection_arrives_after_it(
    forgetful_server: Server,
) -> None:
    laboratory = RedisLaboratory(forgetful_server)
    async with (
        Proxy(forgetful_server.port) as proxy,
        RedisLog(proxy.url, laboratory.prefix) as log,
        laboratory.log() as writer,
    ):
        await writer.append(SESSION, numbered(1))
        async with log.subscribe(SESSION, None) as subscribed:
            subscription = subscribed.unwrap()
            await anext(subscription)
            # All reads have ended.
            await asyncio.sleep(0.1)
            proxy.cut()
            await writer.append(SESSION, numbered(2))
            assert (await within(5.0, anext(subscription))).unwrap().position.seq == 2


async def test_idle_connections_stay_open(forgetful_server: Server) -> None:
    async with Proxy(forgetful_server.port) as proxy, RedisLog(proxy.url, timeout=0.05) as log:
        await log.append(SESSION, numbered(1))
        async with log.subscribe(SESSION, None) as subscribed:
            subscription = subscribed.unwrap()
            await anext(subscription)
            await asyncio.sleep(0.5)
            await log.append(SESSION, numbered(2))
            assert (await within(5.0, anext(subscription))).unwrap().position.seq == 2
        assert proxy.accepted == 2


async def test_a_redis_that_is_down_at_first_is_used_when_it_is_up(
    forgetful_server: Server,
) -> None:
    forgetful_server.kill()
    async with RedisLaboratory(forgetful_server).log(timeout=TIMEOUT) as log:
        assert type((await log.append(SESSION, numbered(1))).failure()) is StoreUnavailable
        await asyncio.to_thread(forgetful_server.start)
        assert (await append_until_stored(log, 1)).position.seq == 1
