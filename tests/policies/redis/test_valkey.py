"""Clients of valkey-py: the guard connects to the same server with the same settings."""

import asyncio
from typing import Any

import pytest

from seamwise import Success
from seamwise.policies import RateLimited
from seamwise.policies.redis import Clients, shared_circuit, shared_rate_limit
from seamwise.testing import assert_failure
from tests.policies.redis.servers import Server

valkey: Any = pytest.importorskip('valkey')
valkey_asyncio: Any = pytest.importorskip('valkey.asyncio')

OK: Success[str] = Success('ok')


def test_client_for_threads_is_accepted(server: Server) -> None:
    client = valkey.Valkey(port=server.port, db=3, decode_responses=True)
    guard = shared_rate_limit(1, redis=client, name='x', period=60.0, away='closed', bound=5.0)
    assert guard.run_sync(lambda: OK) is OK
    assert_failure(guard.run_sync(lambda: OK), RateLimited)
    assert client.keys() == ['seamwise:{x}:rate']


def test_clients_of_both_kinds_share_a_limit(server: Server) -> None:
    clients = Clients(
        asyncio=valkey_asyncio.Valkey(port=server.port), sync=valkey.Valkey(port=server.port)
    )
    guard = shared_rate_limit(
        2, redis=clients, name='x', period=60.0, away='closed', bound=5.0
    ) >> shared_circuit(redis=clients, name='x', away='closed', bound=5.0)

    async def succeed() -> Success[str]:
        return OK

    assert asyncio.run(guard.run(succeed)) is OK
    assert guard.run_sync(lambda: OK) is OK
    assert_failure(guard.run_sync(lambda: OK), RateLimited)


def test_guards_with_the_same_client_share_its_connections(server: Server) -> None:
    client = valkey.Valkey(port=server.port)
    guards = [shared_rate_limit(1, redis=client, name=name) for name in 'ab']
    first, second = [vars(guard)['_store']._route.pool() for guard in guards]
    assert first is second


def test_client_of_a_cluster_is_refused_with_advice() -> None:
    class ValkeyCluster(valkey.cluster.ValkeyCluster):  # type: ignore[misc]  # it has no types
        def __init__(self) -> None:
            pass

        def __del__(self) -> None:
            pass

    client: Any = ValkeyCluster()
    with pytest.raises(TypeError, match='pass a client of redis-py'):
        shared_rate_limit(1, redis=client, name='x')
