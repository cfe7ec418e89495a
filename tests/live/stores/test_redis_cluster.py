"""Tests of the event log in a Redis Cluster, and with the client of a Sentinel's primary server."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio
from redis.asyncio.cluster import ClusterNode
from redis.crc import key_slot

from seamwise import Failure, Result, Success
from seamwise._errors.causes import Raised
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live import RedisLog, Stored
from tests.live.stores.contents import numbered, within
from tests.live.stores.redis_laboratory import append_until_stored
from tests.policies.redis.clusters import Cluster, running_cluster, wait_for_owner

# Their slots are on three servers.
NAMES = tuple(f's-{number}' for number in range(12))

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope='module')
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp('cluster'), primaries=3) as cluster:
        yield cluster


@asynccontextmanager
async def opened(cluster: Cluster, prefix: str, **settings: float) -> AsyncGenerator[RedisLog]:
    """Yield a log whose client was created with one node of the cluster."""
    settings.setdefault('timeout', 1.0)
    client: Any = redis.asyncio.RedisCluster(
        startup_nodes=[ClusterNode('127.0.0.1', cluster.servers[0].port)]
    )
    async with client, RedisLog(client, prefix, timeout=settings['timeout']) as log:
        yield log


def key(prefix: str, name: str) -> str:
    return f'{prefix}{{{name}}}:events'


async def test_sessions_on_all_nodes_are_written_read_and_listed(cluster: Cluster) -> None:
    owners = {cluster.owner(key('a:', name)).port for name in NAMES}
    assert owners == {server.port for server in cluster.servers}
    async with opened(cluster, 'a:') as log:
        await asyncio.gather(*(log.append(name, numbered(1)) for name in NAMES))
        assert sorted([name async for name in log.sessions()]) == sorted(NAMES)
        for name in NAMES:
            replay = (await log.replay(name, None)).unwrap()
            assert [item.event for item in replay.events] == [numbered(1)]
            assert await log.delete(name) == Success(None)
        assert [name async for name in log.sessions()] == []


async def test_readers_of_all_nodes_receive_the_events_of_another_process(
    cluster: Cluster,
) -> None:
    async with opened(cluster, 'b:') as log, opened(cluster, 'b:') as other:
        await asyncio.gather(*(log.begin(name) for name in NAMES))

        async def read(name: str) -> list[int]:
            async with log.subscribe(name, None) as subscribed:
                return [result.unwrap().position.seq async for result in subscribed.unwrap()]

        readers = [asyncio.create_task(read(name)) for name in NAMES]
        for number in range(20):
            await asyncio.gather(*(other.append(name, numbered(number)) for name in NAMES))
        await asyncio.gather(*(other.end(name, numbered(20)) for name in NAMES))
        received = await within(10.0, asyncio.gather(*readers))
        assert received == [[*range(1, 22)]] * len(NAMES)


async def test_a_session_follows_its_slot_to_another_node(cluster: Cluster) -> None:
    name = NAMES[0]
    async with opened(cluster, 'c:') as log:
        assert (await append_until_stored(log, 1, session=name)).position.seq == 1
        async with log.subscribe(name, None) as subscribed:
            subscription = subscribed.unwrap()
            owner = cluster.owner(key('c:', name))
            target = next(server for server in cluster.servers if server is not owner)
            await asyncio.to_thread(cluster.move, key('c:', name), target)
            assert (await append_until_stored(log, 2, session=name)).position.seq == 2
            seqs = [(await within(5.0, anext(subscription))).unwrap() for _ in range(2)]
            assert [item.position.seq for item in seqs] == [1, 2]


async def test_a_slot_without_a_node_is_no_list_of_all_sessions(cluster: Cluster) -> None:
    async with opened(cluster, 'f:') as log:
        await append_until_stored(log, 1, session=NAMES[0])
        slot = next(slot for slot in range(16384) if slot != key_slot(b's-0'))
        owner = cluster.servers[0]
        owner.execute('CLUSTER', 'DELSLOTS', str(slot))
        with pytest.raises(Raised):
            _ = [name async for name in log.sessions()]
        owner.execute('CLUSTER', 'ADDSLOTS', str(slot))
        assert [name async for name in log.sessions()] == [NAMES[0]]


@pytest.mark.parametrize('fault', ['killed', pytest.param('paused', marks=pytest.mark.nightly)])
async def test_a_log_follows_a_failover_of_the_only_node_that_its_client_knows(
    fault: str, tmp_path: Path
) -> None:
    with running_cluster(tmp_path, primaries=3, replicas=1) as cluster:
        first, replica = cluster.servers[0], cluster.servers[3]
        name = next(name for name in NAMES if cluster.owner(key('d:', name)) is first)
        async with opened(cluster, 'd:') as log, opened(cluster, 'd:') as other:
            for item in NAMES:
                await append_until_stored(log, 1, session=item)
                await other.replay(item, None)
            async with other.subscribe(name, None) as subscribed:
                subscription = subscribed.unwrap()
                assert (await anext(subscription)).unwrap().position.seq == 1
                first.execute('WAIT', '1', '5000')
                if fault == 'killed':
                    first.kill()
                else:
                    first.pause()
                await asyncio.to_thread(wait_for_owner, cluster_without(cluster, first), replica)
                assert (await append_until_stored(log, 2, session=name)).position.seq == 2
                result: Result[Stored, object] = await within(20.0, anext(subscription))
                # An outage that is longer than the patience is said, and a short one is not seen.
                if type(result) is Failure:
                    assert type(result.failure()) is StoreUnavailable
            replay = (await other.replay(name, None)).unwrap()
            assert [item.position.seq for item in replay.events] == [1, 2]
            assert sorted([item async for item in log.sessions()]) == sorted(NAMES)


def cluster_without(cluster: Cluster, gone: object) -> Cluster:
    return Cluster([server for server in cluster.servers if server is not gone])


async def test_a_cluster_that_is_gone_is_a_failure(tmp_path: Path) -> None:
    with running_cluster(tmp_path, primaries=2) as cluster:
        async with opened(cluster, 'e:', timeout=0.5) as log:
            await append_until_stored(log, 1, session=NAMES[0])
            for server in cluster.servers:
                server.kill()
            for name in NAMES[:4]:
                result = await within(10.0, log.append(name, numbered(2)))
                assert type(result.failure()) is StoreUnavailable
            with pytest.raises(Raised):
                _ = [name async for name in log.sessions()]
