"""Guards with the clients of a Sentinel, which follow the primary server."""

import asyncio
import subprocess
import time
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio.sentinel
import redis.sentinel
from redis import Redis
from redis.exceptions import RedisError

from seamwise import Failure, Result, Success
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies.errors import RateLimited
from seamwise.policies.redis import Clients, shared_rate_limit
from tests.policies.redis.servers import Server
from tests.ports import free_port
from tests.programs import program

Outcome = Result[str, RateLimited | StoreUnavailable]


class Sentinel:
    """A Sentinel that watches one primary server and its replica."""

    def __init__(self, folder: Path, primary: Server) -> None:
        self.port = free_port()
        file = folder / 'sentinel.conf'
        file.write_text(
            f'port {self.port}\nbind 127.0.0.1\ndir {folder}\n'
            f'sentinel monitor shop 127.0.0.1 {primary.port} 1\n'
            'sentinel down-after-milliseconds shop 300\n'
            'sentinel failover-timeout shop 2000\n'
        )
        self.process = subprocess.Popen(
            [program('redis-server'), str(file), '--sentinel'],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def primary_port(self) -> int | None:
        try:
            with Redis(port=self.port, decode_responses=True, socket_timeout=1.0) as client:
                untyped_client: Any = client
                return int(untyped_client.sentinel_get_master_addr_by_name('shop')[1])
        except RedisError:
            return None

    def wait_for_primary(self, port: int) -> None:
        deadline = time.monotonic() + 20.0
        while self.primary_port() != port:
            assert time.monotonic() < deadline, 'the Sentinel does not know the primary server'
            time.sleep(0.05)

    def replicas(self) -> int:
        with Redis(port=self.port, decode_responses=True) as client:
            untyped_client: Any = client
            return len(untyped_client.sentinel_slaves('shop'))

    @contextmanager
    def sync_client(self) -> Generator[Redis]:
        sentinel: Any = redis.sentinel.Sentinel
        watcher = sentinel([('127.0.0.1', self.port)])
        with watcher.master_for('shop') as client:
            yield client
        for connection in watcher.sentinels:
            connection.close()

    @asynccontextmanager
    async def async_client(self) -> AsyncGenerator[redis.asyncio.Redis]:
        sentinel: Any = redis.asyncio.sentinel.Sentinel
        watcher = sentinel([('127.0.0.1', self.port)])
        async with watcher.master_for('shop') as client:
            yield client
        for connection in watcher.sentinels:
            await connection.aclose()


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[Server, Server, Sentinel]]:
    folders = [tmp_path / name for name in ('primary', 'replica', 'sentinel')]
    for folder in folders:
        folder.mkdir()
    with Server(folders[0]) as primary, Server(folders[1]) as replica:
        replica.execute('REPLICAOF', '127.0.0.1', str(primary.port))
        sentinel = Sentinel(folders[2], primary)
        try:
            sentinel.wait_for_primary(primary.port)
            yield primary, replica, sentinel
        finally:
            sentinel.process.kill()
            sentinel.process.wait()


def ok() -> Result[str, RateLimited]:
    return Success('ok')


async def ok_async() -> Result[str, RateLimited]:
    return Success('ok')


def test_threads_and_tasks_reach_the_primary_through_a_sentinel(
    servers: tuple[Server, Server, Sentinel],
) -> None:
    async def main() -> list[Outcome]:
        async with sentinel.async_client() as client:
            guard = shared_rate_limit(
                3,
                period=3600.0,
                redis=Clients(asyncio=client, sync=sync_client),
                name='search',
                bound=2.0,
                away='closed',
            )
            return [
                await guard.run(ok_async),
                await asyncio.to_thread(guard.run_sync, ok),
                await guard.run(ok_async),
                await asyncio.to_thread(guard.run_sync, ok),
            ]

    primary, _, sentinel = servers
    with sentinel.sync_client() as sync_client:
        outcomes = asyncio.run(main())
    assert [type(outcome) for outcome in outcomes] == [Success, Success, Success, Failure]
    assert primary.client().exists('seamwise:{search}:rate') == 1


@pytest.mark.slow
def test_guard_follows_a_failover(servers: tuple[Server, Server, Sentinel]) -> None:
    primary, replica, sentinel = servers
    deadline = time.monotonic() + 30.0
    while sentinel.replicas() < 1:
        assert time.monotonic() < deadline, 'the Sentinel does not know the replica'
        time.sleep(0.1)
    with sentinel.sync_client() as client:
        guard = shared_rate_limit(
            1000, period=3600.0, redis=client, name='search', bound=0.5, away='closed'
        )
        assert guard.run_sync(ok) == Success('ok')
        primary.kill()
        sentinel.wait_for_primary(replica.port)
        outcome = guard.run_sync(ok)
        while type(outcome) is Failure:
            assert time.monotonic() < deadline, outcome
            time.sleep(0.1)
            outcome = guard.run_sync(ok)
    assert replica.client().exists('seamwise:{search}:rate') == 1
