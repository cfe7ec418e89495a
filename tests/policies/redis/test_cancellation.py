"""Cancellation during a call to Redis: permits, tasks and connections stay intact."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
import redis
import redis.asyncio

from seamwise import Success
from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.redis import Clients, shared_circuit, shared_rate_limit
from seamwise.policies.redis.batches import SENDER_TASK
from seamwise.policies.redis.shared_circuit import ScriptCall
from seamwise.policies.redis.timeouts import InsistentTimeout
from seamwise.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.redis.circuit_calls import DOWN, OK, enter, fields, leave
from tests.policies.redis.redis_clock import RedisClock
from tests.policies.redis.servers import Server


async def succeed() -> Success[str]:
    await asyncio.sleep(0)
    return OK


async def assert_in_sync(client: Any) -> None:
    """Assert that no connection contains a reply to an earlier command."""
    assert [await client.ping() for _ in range(3)] == [True] * 3


def all_connections_released(client: redis.asyncio.Redis) -> bool:
    pool: Any = client.connection_pool
    return not pool._in_use_connections


def test_rate_limit_is_unchanged_after_a_cancellation_at_any_await(server: Server) -> None:
    async def main(*, is_connected: bool) -> int:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = shared_rate_limit(1000, redis=client, name='search', bound=5.0)

            async def call() -> object:
                if not is_connected:
                    await client.connection_pool.disconnect()
                return await guard.run(succeed)

            async def assert_unchanged() -> None:
                assert all_connections_released(client)
                await assert_in_sync(client)
                assert await guard.run(succeed) is OK

            await guard.run(succeed)
            return await cancel_at_each_await(call, assert_unchanged, background=SENDER_TASK)

    assert asyncio.run(main(is_connected=True)) >= 2
    assert asyncio.run(main(is_connected=False)) >= 3


def test_waiting_rate_limit_is_unchanged_after_a_cancellation_at_any_await(server: Server) -> None:
    async def main() -> int:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = shared_rate_limit(50, redis=client, name='search', burst=1, wait=5.0, bound=5.0)

            async def assert_unchanged() -> None:
                assert all_connections_released(client)
                assert await guard.run(succeed) is OK
                assert guard.__dict__['queues'].get('seamwise:{search}:rate').waiting_weight() == 0

            await guard.run(succeed)
            return await cancel_at_each_await(
                lambda: guard.run(succeed), assert_unchanged, background=SENDER_TASK
            )

    assert asyncio.run(main()) >= 4


def test_closed_circuit_is_unchanged_after_a_cancellation_at_any_await(server: Server) -> None:
    async def main() -> int:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = shared_circuit(redis=client, name='mail', trip=consecutive(1), bound=5.0)

            async def assert_unchanged() -> None:
                assert all_connections_released(client)
                assert await guard.run(succeed) is OK

            await guard.run(succeed)
            return await cancel_at_each_await(
                lambda: guard.run(succeed), assert_unchanged, background=SENDER_TASK
            )

    assert asyncio.run(main()) >= 3


def test_probe_is_released_after_a_cancellation_at_any_await(server: Server) -> None:
    clock = RedisClock(server)
    sync_guard = shared_circuit(
        redis=server.client(), name='mail', trip=consecutive(1), open_for=10.0, bound=5.0
    )
    clock.control(sync_guard)

    def half_open() -> None:
        server.client().delete('seamwise:{mail}:circuit')
        clock.advance(1)
        leave(enter(sync_guard), DOWN)
        clock.advance(10_000_000)

    async def main() -> int:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = shared_circuit(
                redis=client, name='mail', trip=consecutive(1), open_for=10.0, bound=5.0
            )
            clock.control(guard)

            async def assert_unchanged() -> None:
                assert all_connections_released(client)
                # Whether or not Redis applied the call, the next one releases its lease.
                await guard.send(ScriptCall('release', 0, 'unknown'))
                assert not [field for field in fields(server) if field.startswith('probe:')]
                half_open()

            half_open()
            return await cancel_at_each_await(
                lambda: guard.run(succeed), assert_unchanged, background=SENDER_TASK
            )

    assert asyncio.run(main()) >= 3


@pytest.mark.slow
@pytest.mark.parametrize('is_cancelled', [True, False])
def test_probe_is_released_if_its_reply_is_lost(own_server: Server, is_cancelled: bool) -> None:
    world = FakeWorld()

    async def main() -> None:
        async with redis.asyncio.Redis(port=own_server.port) as client:
            clients = Clients(asyncio=client, sync=own_server.client())
            guard = shared_circuit(
                redis=clients,
                name='mail',
                trip=consecutive(1),
                open_for=0.05,
                probe_timeout=60.0,
                bound=0.15,
                world=world,
            )
            leave(enter(guard), DOWN)
            await guard.run(succeed)
            await asyncio.sleep(0.06)
            own_server.pause()
            task = asyncio.create_task(guard.run(succeed))
            await asyncio.sleep(0.1 if is_cancelled else 2.0)
            assert task.cancel() is is_cancelled
            await asyncio.wait([task])
            own_server.resume()
            world.advance(1.0)
            while not [field for field in fields(own_server) if field.startswith('probe:')]:  # noqa: ASYNC110 -- the server sends no notification
                await asyncio.sleep(0.01)
            assert await guard.run(succeed) is OK
            assert fields(own_server)['state'] == 'closed'

    asyncio.run(asyncio.wait_for(main(), 10.0))


@pytest.mark.parametrize('has_result', [True, False])
def test_timeout_cancels_again_if_a_cancellation_is_swallowed(has_result: bool) -> None:
    async def swallow_cancellations() -> str:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + 0.05
        while loop.time() < deadline:
            try:
                await asyncio.sleep(1.0)
            except asyncio.CancelledError:
                continue
        if has_result:
            return 'late'
        await asyncio.sleep(10.0)
        return 'too late'

    async def run_with_timeout() -> str:
        async with InsistentTimeout(0.01):
            return await swallow_cancellations()

    async def call() -> str:
        task = asyncio.current_task()
        assert task is not None
        try:
            return await run_with_timeout()
        except TimeoutError:
            return 'timeout'
        finally:
            assert task.cancelling() == 0

    assert asyncio.run(call()) == ('late' if has_result else 'timeout')


def test_timeout_restores_an_outer_cancellation_that_was_swallowed() -> None:
    async def swallow_cancellation() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(1.0)

    async def run_with_timeout() -> None:
        async with InsistentTimeout(5.0):
            await swallow_cancellation()

    async def call() -> bool:
        task = asyncio.create_task(run_with_timeout())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(call())
