"""A rate limit over Redis as its callers meet it, in threads and in tasks."""

import asyncio
import gc
import threading
import time
from typing import Any

import pytest
import redis
import redis.asyncio

from seamwise import Failure, Result, Success
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.deadline import deadline
from seamwise.policies.events import GuardEvent, Refused
from seamwise.policies.rate_limit import RateLimited
from seamwise.policies.redis import Clients, rate_limit
from seamwise.policies.testing import FakeWorld
from tests.policies.redis.servers import Server


async def found() -> Success[str]:
    return Success('found')


def refusal(outcome: Result[object, object]) -> RateLimited:
    assert type(outcome) is Failure
    error = outcome.failure()
    assert isinstance(error, RateLimited)
    return error


def test_a_burst_passes_and_the_next_is_refused_and_told(server: Server) -> None:
    told: list[GuardEvent] = []
    guard = rate_limit(
        60,
        redis=server.client(),
        period=60.0,
        burst=2,
        name='search',
        bound=5.0,
        observer=told.append,
    )
    said = [guard.run_sync(lambda: Success('found')) for _ in range(3)]
    assert said[:2] == [Success('found')] * 2
    error = refusal(said[2])
    assert (error.name, error.limit, error.period) == ('search', 60, 60.0)
    assert 0.9 < error.retry_after <= 1.0
    assert told == [Refused('search', error)]


def test_a_burst_is_the_limit_where_nothing_else_is_said(server: Server) -> None:
    guard = rate_limit(3, redis=server.client(), period=60.0, name='search', bound=5.0)
    said = [type(guard.run_sync(lambda: Success('found'))) for _ in range(4)]
    assert said == [Success, Success, Success, Failure]


def test_each_key_has_a_bucket_of_its_own(server: Server) -> None:
    client = server.client()
    keys = iter(['ada', 'ada', 'bob'])
    guard = rate_limit(
        1, redis=client, period=60.0, name='search', bound=5.0, key=lambda: next(keys)
    )
    said = [type(guard.run_sync(lambda: Success('found'))) for _ in range(3)]
    assert said == [Success, Failure, Success]
    assert sorted(server.tell('KEYS', '*')) == [
        'seamwise:{search}:rate:ada',
        'seamwise:{search}:rate:bob',
    ]


def test_a_key_that_is_no_string_is_a_defect(server: Server) -> None:
    key: Any = lambda: 7  # noqa: E731 -- what a type checker would refuse
    guard = rate_limit(1, redis=server.client(), name='search', bound=5.0, key=key)
    with pytest.raises(TypeError, match='key must give a string, not 7'):
        guard.run_sync(lambda: Success('found'))


def test_a_call_may_cost_more_than_another(server: Server) -> None:
    costs = iter([2.0, 2.0, 1.0])
    guard = rate_limit(
        3, redis=server.client(), period=60.0, name='search', bound=5.0, cost=lambda: next(costs)
    )
    said = [type(guard.run_sync(lambda: Success('found'))) for _ in range(3)]
    assert said == [Success, Failure, Success]


@pytest.mark.parametrize('cost', [-1.0, 3.5, float('nan')])
def test_a_cost_that_never_passes_is_a_defect(server: Server, cost: float) -> None:
    guard = rate_limit(3, redis=server.client(), name='search', bound=5.0, cost=lambda: cost)
    with pytest.raises(ValueError, match='cost must be'):
        guard.run_sync(lambda: Success('found'))


def test_a_fixed_cost_counts(server: Server) -> None:
    guard = rate_limit(4, redis=server.client(), period=60.0, name='search', bound=5.0, cost=2.0)
    assert [type(guard.run_sync(lambda: Success('found'))) for _ in range(3)] == [
        Success,
        Success,
        Failure,
    ]


def test_who_may_wait_waits_for_its_slot(server: Server) -> None:
    async def waits() -> float:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = rate_limit(20, redis=client, burst=1, name='search', wait=1.0, bound=1.0)
            began = time.monotonic()
            assert [await guard.run(found) for _ in range(3)] == [Success('found')] * 3
            return time.monotonic() - began

    assert asyncio.run(waits()) >= 0.0999


def test_a_thread_waits_likewise(server: Server) -> None:
    guard = rate_limit(20, redis=server.client(), burst=1, name='search', wait=1.0, bound=1.0)
    began = time.monotonic()
    assert [guard.run_sync(lambda: Success('found')) for _ in range(3)] == [Success('found')] * 3
    assert time.monotonic() - began >= 0.0999


def test_those_who_wait_are_served_in_the_order_of_their_coming(server: Server) -> None:
    async def served() -> list[int]:
        order: list[int] = []

        async def call(number: int) -> None:
            async def note() -> Success[None]:
                order.append(number)
                return Success(None)

            assert type(await guard.run(note)) is Success

        async with redis.asyncio.Redis(port=server.port) as client:
            guard = rate_limit(20, redis=client, burst=1, name='search', wait=5.0, bound=1.0)
            await guard.run(found)
            tasks: list[asyncio.Task[None]] = []
            for number in range(8):
                tasks.append(asyncio.create_task(call(number)))
                await asyncio.sleep(0.01)
            await asyncio.gather(*tasks)
        return order

    assert asyncio.run(served()) == list(range(8))


def test_who_would_wait_too_long_behind_the_others_is_refused_at_once(server: Server) -> None:
    async def refused() -> tuple[float, RateLimited]:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = rate_limit(2, redis=client, burst=1, name='search', wait=0.8, bound=1.0)
            await guard.run(found)
            waiting = asyncio.create_task(guard.run(found))
            await asyncio.sleep(0.05)
            began = time.monotonic()
            error = refusal(await guard.run(found))
            took = time.monotonic() - began
            assert type(await waiting) is Success
            return took, error

    took, error = asyncio.run(refused())
    assert took < 0.3
    assert 0.9 < error.retry_after <= 1.0


def test_a_cancelled_wait_takes_no_slot_and_those_behind_move_up(server: Server) -> None:
    async def moves_up() -> tuple[float, Guard[RateLimited]]:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = rate_limit(5, redis=client, burst=1, name='search', wait=5.0, bound=1.0)
            await guard.run(found)
            began = time.monotonic()
            first = asyncio.create_task(guard.run(found))
            await asyncio.sleep(0.02)
            second = asyncio.create_task(guard.run(found))
            await asyncio.sleep(0.02)
            first.cancel()
            assert type(await second) is Success
            return time.monotonic() - began, guard

    took, guard = asyncio.run(moves_up())
    assert 0.15 < took < 0.35
    gc.collect()
    assert len(guard.__dict__['queues']._queues) == 0


def test_a_deadline_around_it_shortens_the_wait(server: Server) -> None:
    async def shortened() -> Result[object, object]:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = deadline(0.3) >> rate_limit(
                1, redis=client, name='search', wait=60.0, bound=1.0
            )
            await guard.run(found)
            return await guard.run(found)

    assert refusal(asyncio.run(shortened())).retry_after > 0.3


def test_a_wait_that_ends_by_its_own_clock_is_refused(server: Server) -> None:
    world = FakeWorld()
    guard = rate_limit(
        1, redis=server.client(), name='search', bound=5.0, period=60.0, wait=100.0, world=world
    )
    guard.run_sync(lambda: Success('found'))
    error = refusal(guard.run_sync(lambda: Success('found')))
    assert 50.0 < error.retry_after <= 60.0
    assert len(world.slept) == 1


def test_threads_together_get_no_more_than_the_limit(server: Server) -> None:
    guard = rate_limit(25, redis=server.client(), period=3600.0, name='search', bound=5.0)
    passed: list[object] = []

    def hammer() -> None:
        for _ in range(20):
            passed.extend([1] * (type(guard.run_sync(lambda: Success('found'))) is Success))

    threads = [threading.Thread(target=hammer) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 25


def test_many_tasks_at_once_get_no_more_than_the_limit(server: Server) -> None:
    async def at_once() -> list[Result[object, object]]:
        async with redis.asyncio.Redis(port=server.port, max_connections=3) as client:
            guard = rate_limit(40, redis=client, period=3600.0, name='search', bound=10.0)
            return await asyncio.gather(*(guard.run(found) for _ in range(200)))

    said = asyncio.run(at_once())
    assert [type(one) for one in said].count(Success) == 40


def test_a_server_that_has_forgotten_the_script_is_told_it_again(server: Server) -> None:
    client = server.client()
    guard = rate_limit(2, redis=client, period=60.0, name='search', bound=5.0)
    guard.run_sync(lambda: Success('found'))
    client.script_flush()
    assert type(guard.run_sync(lambda: Success('found'))) is Success
    assert type(guard.run_sync(lambda: Success('found'))) is Failure


def test_a_task_tells_it_again_likewise(server: Server) -> None:
    async def told() -> list[type]:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = rate_limit(2, redis=client, period=60.0, name='search', bound=5.0)
            await guard.run(found)
            server.tell('SCRIPT', 'FLUSH')
            return [type(await guard.run(found)) for _ in range(2)]

    assert asyncio.run(told()) == [Success, Failure]


def test_a_call_without_a_client_for_its_way_says_so(server: Server) -> None:
    guard = rate_limit(2, redis=server.client(), name='search', bound=5.0)
    with pytest.raises(
        TypeError, match=r"'search' has no client for tasks: pass redis=Clients\(asyncio="
    ):
        asyncio.run(guard.run(found))
    other = rate_limit(2, redis=redis.asyncio.Redis(port=server.port), name='search', bound=5.0)
    with pytest.raises(
        TypeError, match=r"'search' has no client for threads: pass redis=Clients\(sync="
    ):
        other.run_sync(lambda: Success('found'))


def test_a_second_loop_is_refused(server: Server) -> None:
    client = redis.asyncio.Redis(port=server.port)
    guard = rate_limit(2, redis=client, name='search', bound=5.0)

    async def once() -> None:
        await guard.run(found)
        await client.aclose()

    asyncio.run(once())
    with pytest.raises(RuntimeError, match='another event loop'):
        asyncio.run(once())


@pytest.mark.parametrize(
    ('given', 'match'),
    [
        ('redis://user:hunter2@localhost', 'not str'),
        (Clients(), 'has no client'),
        (Clients(asyncio=redis.Redis()), r'Clients\(asyncio=…\) must be'),  # type: ignore[arg-type]  # on purpose
        (Clients(sync=redis.asyncio.Redis()), r'Clients\(sync=…\) must be'),  # type: ignore[arg-type]  # on purpose
    ],
)
def test_what_is_no_client_is_refused_and_not_shown(given: Any, match: str) -> None:
    with pytest.raises(TypeError, match=match) as caught:
        rate_limit(1, redis=given, name='search')
    assert 'hunter2' not in str(caught.value)


@pytest.mark.parametrize(
    ('more', 'match'),
    [
        ({'limit': 0}, 'limit must be'),
        ({'bound': 0.0}, 'bound must be'),
        ({'bound': float('nan')}, 'bound must be'),
        ({'away': 'maybe'}, 'away must be one of'),
        ({'wait': -1.0}, 'wait must be'),
        ({'name': ' '}, 'name must say'),
    ],
)
def test_what_makes_no_sense_is_refused_when_it_is_made(
    server: Server, more: dict[str, Any], match: str
) -> None:
    settings: dict[str, Any] = {'limit': 1, 'redis': server.client(), 'name': 'search'}
    settings |= more
    with pytest.raises(ValueError, match=match):
        rate_limit(**settings)


def test_it_describes_itself(server: Server) -> None:
    guard = rate_limit(
        5, redis=server.client(), period=2.0, burst=3, name='search', wait=1.5, away='open'
    )
    assert (
        guard.describe()
        == 'search: 5 in 2 s, 3 at once, waits up to 1.5 s; shared over Redis, timeout 0.05 s, during an outage all calls pass'
    )
