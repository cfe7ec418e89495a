"""Tests of the event log in Redis: clients, keys, connections and leases."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest
import redis
import redis.asyncio
from redis.crc import key_slot

from seamwise._errors.causes import Raised
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live import Event, EventLog, RedisLog
from seamwise.live.stores.redis.keys import Keys
from seamwise.live.stores.redis.reasons import Reasons
from tests.live.stores.contents import SESSION, contents, numbered, within
from tests.live.stores.redis_laboratory import RedisLaboratory

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize('settings', [{}, {'decode_responses': True}, {'protocol': 3}])
async def test_a_client_of_the_caller_is_used_and_stays_open(
    settings: dict[str, Any], redis_laboratory: RedisLaboratory
) -> None:
    client: Any = redis.asyncio.Redis(port=redis_laboratory.server.port, **settings)
    async with client:
        async with RedisLog(client, redis_laboratory.prefix) as log:
            await log.append(SESSION, numbered(1), numbered(2))
            assert await contents(log) == ['1', '2']
        assert await client.ping()


def test_a_wrong_client_is_a_type_error_that_names_the_right_ones(
    redis_laboratory: RedisLaboratory,
) -> None:
    wrong: Any
    for wrong in (redis.Redis(port=redis_laboratory.server.port), None, 6379, b'redis://host'):
        with pytest.raises(TypeError, match=r'needs a redis\.asyncio\.Redis, .* or a URL, not'):
            RedisLog(wrong)
    not_text: Any = b'seamwise:'
    with pytest.raises(TypeError, match='prefix must be a text, not bytes'):
        RedisLog(redis_laboratory.url, not_text)


@pytest.mark.parametrize(
    'url', ['localhost', 'http://:s3cret@host', 'redis://:s3cret@host:port', '']
)
def test_a_wrong_url_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(ValueError, match='needs a URL such as') as caught:
        RedisLog(url)
    assert 's3cret' not in str(caught.value)


@pytest.mark.parametrize(
    'arguments', [{'timeout': 0.0}, {'timeout': float('nan')}, {'replicas': -1}]
)
def test_an_impossible_argument_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match='must be'):
        RedisLog('redis://localhost', **arguments)


WITHOUT_REDIS = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == 'redis':
            raise ModuleNotFoundError("No module named 'redis'", name='redis')

sys.meta_path.insert(0, Finder())
import seamwise.live
assert seamwise.live.MemoryLog
try:
    seamwise.live.RedisLog
except ModuleNotFoundError as error:
    print(error)
"""


def test_a_missing_redis_py_is_named_and_other_stores_work_without_it() -> None:
    process = subprocess.run(
        [sys.executable, '-c', WITHOUT_REDIS], capture_output=True, text=True, check=True
    )
    assert process.stdout == (
        "seamwise.live.RedisLog needs redis-py: pip install 'seamwise[redis]'\n"
    )


def test_a_password_is_masked_in_a_reason() -> None:
    reasons = Reasons(['s3cret'])
    error = reasons.unavailable(redis.RedisError('no user s3cret'), SESSION)
    assert 's3cret' not in str(error)
    assert 'no user' in str(error)


NAMES = ['s-1', 'a{b}c', '{', '}', '{}', '%7B', '*', 'a b\n', 'ä/ß', 'x' * 200]


@pytest.mark.parametrize('name', NAMES)
def test_all_keys_of_a_session_are_in_one_slot(name: str) -> None:
    keys = Keys('shop:').of(name)
    slots = {key_slot(key) for key in (*keys.script_keys, keys.channel)}
    assert len(slots) == 1


async def test_a_session_can_have_any_name_and_a_prefix_any_character(
    redis_laboratory: RedisLaboratory,
) -> None:
    prefix = redis_laboratory.prefix + '[a-z]*?\\^{x}:'
    async with RedisLog(redis_laboratory.url, prefix) as log:
        for name in NAMES:
            await log.append(name, Event('agent.partial', name.encode('utf-8', 'replace').decode()))
        assert sorted([name async for name in log.sessions()]) == sorted(NAMES)
        assert await contents(log, session='a{b}c') == ['a{b}c']
    async with redis_laboratory.log() as other:
        await other.append(SESSION, numbered(1))
        assert SESSION in [name async for name in other.sessions()]


async def test_sessions_are_listed_once_each_and_those_of_other_prefixes_are_not(
    redis_laboratory: RedisLaboratory,
) -> None:
    names = [f's-{number}' for number in range(1500)]
    async with redis_laboratory.log() as log:
        await asyncio.gather(*(log.begin(name) for name in names))
        assert sorted([name async for name in log.sessions()]) == sorted(names)
    async with RedisLog(redis_laboratory.url, f'{redis_laboratory.prefix}2:') as other:
        assert [name async for name in other.sessions()] == []


@pytest.mark.usefixtures('signals_only')
async def test_two_connections_serve_any_number_of_sessions_and_readers(
    redis_laboratory: RedisLaboratory,
) -> None:
    names = [f's-{number}' for number in range(50)]

    async def read(log: EventLog, name: str) -> int:
        async with log.subscribe(name, None) as subscribed:
            results = [result.unwrap() async for result in subscribed.unwrap()]
        return len(results)

    def ports() -> set[str]:
        reply: str = redis_laboratory.server.execute('CLIENT', 'LIST')
        return {line.split(' addr=')[1].split(' ')[0] for line in reply.splitlines()}

    async with redis_laboratory.log() as log:
        before = await asyncio.to_thread(ports)
        await asyncio.gather(*(log.begin(name) for name in names))
        readers = [asyncio.create_task(read(log, name)) for name in names for _ in range(4)]
        await asyncio.gather(*(log.append(name, numbered(1)) for name in names for _ in range(4)))
        await asyncio.gather(*(log.replay(name, None) for name in names))
        # The client of the test is in both lists, with a port of its own.
        opened = len(await asyncio.to_thread(ports) - before) - 1
        await asyncio.gather(*(log.end(name, numbered(2)) for name in names))
        assert await within(10.0, asyncio.gather(*readers)) == [5] * 200
    assert opened == 2
    assert not [task for task in asyncio.all_tasks() if task.get_name() == 'seamwise-redis-log']


async def test_an_idle_log_has_no_connection(redis_laboratory: RedisLaboratory) -> None:
    async with redis_laboratory.log():
        assert not [task for task in asyncio.all_tasks() if task.get_name() == 'seamwise-redis-log']


async def test_a_closed_log_is_a_failure_and_can_be_opened_again(
    redis_laboratory: RedisLaboratory,
) -> None:
    log = redis_laboratory.log()
    async with log:
        await log.append(SESSION, numbered(1))
        async with log.subscribe(SESSION, None) as subscribed:
            subscription = subscribed.unwrap()
            assert (await anext(subscription)).unwrap().position.seq == 1
            await log.__aexit__(None, None, None)
            assert type((await anext(subscription)).failure()) is StoreUnavailable
        assert type((await log.append(SESSION, numbered(2))).failure()) is StoreUnavailable
        assert type((await log.replay(SESSION, None)).failure()) is StoreUnavailable
        async with log.subscribe(SESSION, None) as subscribed:
            assert type(subscribed.failure()) is StoreUnavailable
        with pytest.raises(Raised):
            _ = [name async for name in log.sessions()]
    async with log:
        await log.append(SESSION, numbered(2))
        assert await contents(log) == ['1', '2']


async def test_leases_belong_to_the_last_holder_until_they_expire(
    redis_laboratory: RedisLaboratory,
) -> None:
    async with redis_laboratory.log() as log, redis_laboratory.log() as other:
        await log.leases.acquire('open:s-1', 'a', seconds=30.0)
        await log.leases.acquire('open:s-2', 'a', seconds=0.001)
        await other.leases.acquire('writer:s-1', 'b', seconds=0.001)
        held = await log.leases.renew(['open:s-1', 'writer:s-1', 'open:none'], 'a', seconds=30.0)
        assert held.unwrap() == {'open:s-1'}
        await asyncio.sleep(0.01)
        takes = await asyncio.gather(
            *(
                leases.take_expired('open:', 'c', seconds=30.0)
                for leases in (log.leases, other.leases)
            )
        )
        assert sorted(take.unwrap() for take in takes) == [(), ('open:s-2',)]
        await other.leases.acquire('open:s-1', 'b', seconds=30.0)
        assert not (await log.leases.renew(['open:s-1'], 'a', seconds=30.0)).unwrap()
        await log.leases.release('open:s-1', 'a')
        assert (await other.leases.renew(['open:s-1'], 'b', seconds=30.0)).unwrap()
        await other.leases.release('open:s-1', 'b')
        assert not (await other.leases.renew(['open:s-1'], 'b', seconds=30.0)).unwrap()
