"""A task that is cancelled while Redis is asked: no permit is lost, no task is left, no connection is in a bad state."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
import redis
import redis.asyncio

from seamwise import Success
from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.redis import Clients, circuit, rate_limit
from seamwise.policies.redis.circuit import ScriptCall
from seamwise.policies.redis.timeouts import InsistentTimeout
from seamwise.policies.testing import FakeWorld
from tests.policies.cancelling import cancelled_everywhere
from tests.policies.redis.clocks import Clock
from tests.policies.redis.servers import Server
from tests.policies.redis.ways import DOWN, OK, come, fields, go


async def ok() -> Success[str]:
    await asyncio.sleep(0)
    return OK


async def pings(client: Any) -> None:
    """Ask something that has one answer, as a connection with an old reply in it does not give it."""
    assert [await client.ping() for _ in range(3)] == [True] * 3


def is_whole(client: redis.asyncio.Redis) -> bool:
    pool: Any = client.connection_pool
    return not pool._in_use_connections


def test_a_rate_limit_that_is_asked(server: Server) -> None:
    async def cancelled(*, is_warm: bool) -> int:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = rate_limit(1000, redis=client, name='search', bound=5.0)

            async def call() -> object:
                if not is_warm:
                    await client.connection_pool.disconnect()
                return await guard.run(ok)

            async def after() -> None:
                assert is_whole(client)
                await pings(client)
                assert await guard.run(ok) is OK

            await guard.run(ok)
            return await cancelled_everywhere(call, after)

    assert asyncio.run(cancelled(is_warm=True)) >= 2
    assert asyncio.run(cancelled(is_warm=False)) >= 4


def test_a_rate_limit_that_is_waited_for(server: Server) -> None:
    async def cancelled() -> int:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = rate_limit(50, redis=client, name='search', burst=1, wait=5.0, bound=5.0)

            async def after() -> None:
                assert is_whole(client)
                assert await guard.run(ok) is OK
                assert guard.__dict__['queues'].get('seamwise:{search}:rate').waiting_weight() == 0

            await guard.run(ok)
            return await cancelled_everywhere(lambda: guard.run(ok), after)

    assert asyncio.run(cancelled()) >= 4


def test_a_closed_circuit(server: Server) -> None:
    async def cancelled() -> int:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = circuit(redis=client, name='mail', trip=consecutive(1), bound=5.0)

            async def after() -> None:
                assert is_whole(client)
                assert await guard.run(ok) is OK

            await guard.run(ok)
            return await cancelled_everywhere(lambda: guard.run(ok), after)

    assert asyncio.run(cancelled()) >= 3


def test_a_probe_comes_back_wherever_it_is_cancelled(server: Server) -> None:
    clock = Clock(server)
    setter = circuit(
        redis=server.client(), name='mail', trip=consecutive(1), open_for=10.0, bound=5.0
    )
    clock.rule(setter)

    def half_open() -> None:
        server.client().delete('seamwise:{mail}:circuit')
        clock.advance(1)
        go(come(setter), DOWN)
        clock.advance(10_000_000)

    async def cancelled() -> int:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = circuit(
                redis=client, name='mail', trip=consecutive(1), open_for=10.0, bound=5.0
            )
            clock.rule(guard)

            async def after() -> None:
                assert is_whole(client)
                # Whatever Redis has heard, no lease is left once the next question has been asked.
                await guard.send(ScriptCall('release', 0, 'nobody'))
                assert not [field for field in fields(server) if field.startswith('probe:')]
                half_open()

            half_open()
            return await cancelled_everywhere(lambda: guard.run(ok), after)

    assert asyncio.run(cancelled()) >= 3


@pytest.mark.parametrize('is_cancelled', [True, False])
def test_a_probe_that_redis_grants_to_nobody_comes_back(mortal: Server, is_cancelled: bool) -> None:
    world = FakeWorld()

    async def granted() -> None:
        async with redis.asyncio.Redis(port=mortal.port) as client:
            clients = Clients(asyncio=client, sync=mortal.client())
            guard = circuit(
                redis=clients,
                name='mail',
                trip=consecutive(1),
                open_for=0.05,
                probe_timeout=60.0,
                bound=0.3,
                world=world,
            )
            go(come(guard), DOWN)
            await guard.run(ok)
            await asyncio.sleep(0.06)
            mortal.pause()
            task = asyncio.create_task(guard.run(ok))
            await asyncio.sleep(0.1 if is_cancelled else 0.5)
            assert task.cancel() is is_cancelled
            await asyncio.wait([task])
            mortal.go_on()
            world.advance(1.0)
            while not [field for field in fields(mortal) if field.startswith('probe:')]:  # noqa: ASYNC110 -- the server tells nobody
                await asyncio.sleep(0.01)
            assert await guard.run(ok) is OK
            assert fields(mortal)['state'] == 'closed'

    asyncio.run(asyncio.wait_for(granted(), 10.0))


@pytest.mark.parametrize('is_answered', [True, False])
def test_a_timeout_that_is_not_heard_is_said_again(is_answered: bool) -> None:
    async def deaf() -> str:
        loop = asyncio.get_running_loop()
        until = loop.time() + 0.05
        while loop.time() < until:
            try:
                await asyncio.sleep(1.0)
            except asyncio.CancelledError:
                continue
        if is_answered:
            return 'late'
        await asyncio.sleep(10.0)
        return 'too late'

    async def within() -> str:
        async with InsistentTimeout(0.01):
            return await deaf()

    async def call() -> str:
        task = asyncio.current_task()
        assert task is not None
        try:
            return await within()
        except TimeoutError:
            return 'timeout'
        finally:
            assert task.cancelling() == 0

    assert asyncio.run(call()) == ('late' if is_answered else 'timeout')


def test_a_cancellation_that_is_swallowed_on_the_way_comes_out() -> None:
    async def deaf() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(1.0)

    async def within() -> None:
        async with InsistentTimeout(5.0):
            await deaf()

    async def call() -> bool:
        task = asyncio.create_task(within())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(call())
