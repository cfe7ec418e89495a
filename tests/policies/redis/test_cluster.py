"""Guards with the clients of a Redis Cluster: they find the node with their keys, and follow it."""

import asyncio
import gc
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from weakref import ref

import pytest
import redis
import redis.asyncio
from redis.asyncio.cluster import ClusterNode as AsyncNode
from redis.cluster import ClusterNode as SyncNode

from seamwise import Failure, Result, Success
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies import GuardEvent, StoreAway, StoreBack, consecutive
from seamwise.policies.errors import CircuitOpen, RateLimited
from seamwise.policies.rate_limit import KINDS, Kind
from seamwise.policies.redis import Clients, shared_circuit, shared_rate_limit
from tests.policies.errors import Down
from tests.policies.redis.clusters import Cluster, running_cluster, wait_for_owner
from tests.policies.redis.servers import Server

Outcome = Result[str, Down | RateLimited | StoreUnavailable]

# Their slots are 1627, 8190 and 15363, each on another server.
NAMES = ('search', 'mail', 'bank')


@pytest.fixture(scope='module')
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp('cluster'), primaries=3) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Cluster:
    for server in shared_cluster.servers:
        server.flush()
    return shared_cluster


def sync_client(*servers: Server) -> redis.RedisCluster:
    sync_node: Any = SyncNode  # its methods have no types
    return redis.RedisCluster(
        startup_nodes=[sync_node('127.0.0.1', server.port) for server in servers]
    )


def async_client(*servers: Server) -> redis.asyncio.RedisCluster:
    return redis.asyncio.RedisCluster(
        startup_nodes=[AsyncNode('127.0.0.1', server.port) for server in servers]
    )


def ok() -> Result[str, Down]:
    return Success('ok')


async def ok_async() -> Result[str, Down]:
    return Success('ok')


def key(name: str) -> str:
    return f'seamwise:{{{name}}}:rate'


@pytest.mark.slow
def test_names_of_the_tests_are_on_three_servers(cluster: Cluster) -> None:
    assert {cluster.owner(key(name)).port for name in NAMES} == {
        server.port for server in cluster.servers
    }


@pytest.mark.parametrize('name', NAMES)
def test_threads_find_the_node(cluster: Cluster, name: str) -> None:
    with sync_client(*cluster.servers) as client:
        guard = shared_rate_limit(
            2, period=3600.0, redis=client, name=name, bound=2.0, away='closed'
        )
        outcomes = [guard.run_sync(ok) for _ in range(3)]
    assert [type(outcome) for outcome in outcomes] == [Success, Success, Failure]
    assert cluster.owner(key(name)).execute('EXISTS', key(name)) == 1


@pytest.mark.parametrize('name', NAMES)
def test_tasks_find_the_node(cluster: Cluster, name: str) -> None:
    async def main() -> list[type]:
        async with async_client(cluster.servers[0]) as client:
            guard = shared_rate_limit(
                100, period=3600.0, redis=client, name=name, bound=2.0, away='closed'
            )
            outcomes = await asyncio.gather(*(guard.run(ok_async) for _ in range(300)))
        return [type(outcome) for outcome in outcomes]

    types = asyncio.run(main())
    assert (types.count(Success), types.count(Failure)) == (100, 200)
    assert cluster.owner(key(name)).execute('EXISTS', key(name)) == 1


@pytest.mark.parametrize('kind', KINDS)
def test_tasks_and_threads_share_the_limit_of_each_key(cluster: Cluster, kind: Kind) -> None:
    async def main() -> dict[str, list[bool]]:
        admitted: dict[str, list[bool]] = {}
        async with async_client(cluster.servers[0]) as asyncio_client:
            for tenant in ('acme', 'globex'):
                guard = shared_rate_limit(
                    3,
                    period=3600.0,
                    kind=kind,
                    key=partial(str, tenant),
                    redis=Clients(asyncio=asyncio_client, sync=client),
                    name='search',
                    bound=2.0,
                    away='closed',
                )
                outcomes = [
                    await guard.run(ok_async),
                    await asyncio.to_thread(guard.run_sync, ok),
                    await guard.run(ok_async),
                    await asyncio.to_thread(guard.run_sync, ok),
                ]
                admitted[tenant] = [type(outcome) is Success for outcome in outcomes]
        return admitted

    with sync_client(*cluster.servers) as client:
        admitted = asyncio.run(main())
    assert admitted == {tenant: [True, True, True, False] for tenant in ('acme', 'globex')}


def test_circuit_is_open_for_the_processes_of_both_clients(cluster: Cluster) -> None:
    async def main() -> Result[str, object]:
        async with async_client(cluster.servers[1]) as asyncio_client:
            guard = shared_circuit(
                redis=asyncio_client, name='bank', trip=consecutive(2), bound=2.0, away='closed'
            )
            return await guard.run(ok_async)

    with sync_client(*cluster.servers) as client:
        guard = shared_circuit(
            redis=client, name='bank', trip=consecutive(2), bound=2.0, away='closed'
        )
        for _ in range(2):
            assert guard.run_sync(lambda: Failure(Down())) == Failure(Down())
    refused = asyncio.run(main())
    assert type(refused) is Failure
    assert isinstance(refused.failure(), CircuitOpen)


def test_guards_follow_a_slot_to_another_node(cluster: Cluster) -> None:
    source = cluster.owner(key('search'))
    target = next(server for server in cluster.servers if server is not source)

    async def main(client: redis.RedisCluster) -> list[Outcome]:
        async with async_client(cluster.servers[0]) as asyncio_client:
            guard = shared_rate_limit(
                4,
                period=3600.0,
                redis=Clients(asyncio=asyncio_client, sync=client),
                name='search',
                bound=2.0,
                away='closed',
            )
            outcomes: list[Outcome] = [await guard.run(ok_async), guard.run_sync(ok)]
            await asyncio.to_thread(cluster.move, key('search'), target)
            outcomes += [await guard.run(ok_async), guard.run_sync(ok), await guard.run(ok_async)]
            return outcomes

    with sync_client(*cluster.servers) as client:
        try:
            outcomes = asyncio.run(main(client))
        finally:
            cluster.move(key('search'), source)
    assert [type(outcome) for outcome in outcomes] == [Success] * 4 + [Failure]


def test_guard_works_in_several_event_loops(cluster: Cluster) -> None:
    client = async_client(cluster.servers[0])
    guard = shared_rate_limit(3, period=3600.0, redis=client, name='mail', bound=2.0, away='closed')

    async def first() -> Outcome:
        async with client:
            return await guard.run(ok_async)

    async def again() -> tuple[Outcome, Outcome]:
        return await asyncio.gather(guard.run(ok_async), guard.run(ok_async))

    outcomes = [asyncio.run(first()), *asyncio.run(again()), *asyncio.run(again())]
    assert [type(outcome) for outcome in outcomes] == [Success] * 3 + [Failure] * 2


def test_closed_client_has_no_connections_of_its_guards(cluster: Cluster) -> None:
    async def main() -> None:
        before = count_connections()
        # Only the guard uses the client.
        client = async_client(cluster.servers[0])
        guard = shared_rate_limit(3, redis=client, name='mail', bound=2.0)
        assert await guard.run(ok_async) == Success('ok')
        assert count_connections() > before
        await client.aclose()
        deadline = time.monotonic() + 10.0
        while count_connections() > before:
            assert time.monotonic() < deadline

    def count_connections() -> int:
        replies = [server.execute('CLIENT', 'LIST', 'TYPE', 'normal') for server in cluster.servers]
        # Each reply contains the connection that asks.
        return sum(len(reply.splitlines()) - 1 for reply in replies)

    asyncio.run(main())


def test_client_is_freed_with_its_guards(cluster: Cluster) -> None:
    async def main() -> ref[redis.asyncio.RedisCluster]:
        client = async_client(cluster.servers[0])
        async with client:
            guard = shared_rate_limit(3, redis=client, name='mail', bound=2.0)
            assert await guard.run(ok_async) == Success('ok')
        return ref(client)

    freed = asyncio.run(main())
    gc.collect()
    assert freed() is None


@pytest.mark.slow
def test_guard_follows_a_failover(tmp_path: Path) -> None:
    events: list[GuardEvent] = []

    async def main(cluster: Cluster) -> None:
        primary, replica = cluster.servers[0], cluster.servers[-1]
        async with async_client(*cluster.servers) as asyncio_client:
            guard = shared_rate_limit(
                1000,
                period=3600.0,
                redis=Clients(asyncio=asyncio_client, sync=client),
                name=name,
                bound=0.5,
                away='closed',
                observer=events.append,
            )
            assert await guard.run(ok_async) == Success('ok')
            assert guard.run_sync(ok) == Success('ok')
            primary.kill()
            for _ in range(5):
                await guard.run(ok_async)
            await asyncio.to_thread(wait_for_owner, cluster, replica)
            deadline = time.monotonic() + 60.0
            while [await guard.run(ok_async), guard.run_sync(ok)] != [Success('ok')] * 2:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.1)
        assert int(replica.execute('EXISTS', key(name))) == 1

    with running_cluster(tmp_path, primaries=3, replicas=1) as cluster:
        # The first server has a replica.
        name = next(name for name in NAMES if cluster.owner(key(name)) is cluster.servers[0])
        with sync_client(*cluster.servers) as client:
            asyncio.run(main(cluster))
    assert any(isinstance(event, StoreAway) for event in events)
    assert any(isinstance(event, StoreBack) for event in events)


@pytest.mark.slow
def test_cluster_without_any_node_is_an_outage(tmp_path: Path) -> None:
    async def main(cluster: Cluster) -> list[Outcome]:
        async with async_client(*cluster.servers) as client:
            guard = shared_rate_limit(3, redis=client, name='mail', bound=0.5, away='closed')
            for server in cluster.servers:
                server.kill()
            return [await guard.run(ok_async) for _ in range(3)]

    with running_cluster(tmp_path, primaries=3) as cluster:
        outcomes: Any = asyncio.run(main(cluster))
    assert [outcome.failure().tag for outcome in outcomes] == ['StoreUnavailable'] * 3
