"""Lua script of the rate limit, compared with a local rate limit to the microsecond."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from seamwise import Failure, Result, Success
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.errors import RateLimited
from seamwise.policies.rate_limit import rate_limit as local_rate_limit
from seamwise.policies.redis import Clients, shared_rate_limit
from seamwise.testing import FakeWorld
from tests.policies.redis.redis_clock import RedisClock
from tests.policies.redis.servers import Server

HOUR = 3_600_000_000


def retry_after(outcome: Result[object, object]) -> float | None:
    if type(outcome) is not Failure:
        return None
    error = outcome.failure()
    assert isinstance(error, RateLimited)
    return error.retry_after


def call(guard: Guard[object]) -> float | None:
    return retry_after(guard.run_sync(lambda: Success(1)))


@settings(max_examples=60)
@given(
    limit=st.sampled_from([1, 2, 3, 7, 10, 1000]),
    period=st.sampled_from([0.5, 1.0, 60.0]),
    burst=st.sampled_from([1, 2, 3, 10]),
    calls=st.lists(st.tuples(st.integers(0, 700_000), st.sampled_from([0.5, 1.0])), max_size=25),
)
def test_rate_limit_over_redis_behaves_like_a_local_one(
    shared_server: Server, limit: int, period: float, burst: int, calls: list[tuple[int, float]]
) -> None:
    shared_server.flush()
    clock, world, costs = RedisClock(shared_server), FakeWorld(), [0.0]
    with shared_server.client() as client:
        shared = shared_rate_limit(
            limit,
            redis=client,
            period=period,
            burst=burst,
            name='x',
            cost=lambda: costs[0],
            bound=5.0,
        )
        local = local_rate_limit(
            limit, period=period, burst=burst, name='x', cost=lambda: costs[0], world=world
        )
        clock.control(shared)
        for pause, cost in calls:
            clock.advance(pause)
            world.advance(clock.now / 1e6 - world.now)
            costs[0] = cost
            actual, expected = call(shared), call(local)
            assert (actual is None) == (expected is None)
            if actual is not None and expected is not None:
                assert abs(actual - expected) <= 2e-6


def test_call_passes_exactly_after_retry_after(server: Server) -> None:
    clock = RedisClock(server)
    guard = shared_rate_limit(10, redis=server.client(), burst=1, name='x', bound=5.0)
    clock.control(guard)
    assert call(guard) is None
    assert call(guard) == 0.1
    clock.advance(99_999)
    assert call(guard) == 1e-6
    clock.advance(1)
    assert call(guard) is None


def test_rate_of_three_per_second_has_no_rounding_error(server: Server) -> None:
    clock = RedisClock(server)
    guard = shared_rate_limit(3, redis=server.client(), name='x', bound=5.0)
    clock.control(guard)
    for _ in range(50):
        assert [call(guard) for _ in range(3)] == [None] * 3
        assert call(guard) == 0.333333
        clock.advance(1_000_000)


def test_retry_after_does_not_change_if_the_clock_goes_back(server: Server) -> None:
    clock = RedisClock(server)
    guard = shared_rate_limit(2, redis=server.client(), name='x', bound=5.0)
    clock.control(guard)
    assert [call(guard) for _ in range(3)] == [None, None, 0.5]
    clock.advance(-HOUR)
    assert call(guard) == 0.5
    clock.advance(499_999)
    assert call(guard) == 1e-6
    clock.advance(1)
    assert [call(guard) for _ in range(2)] == [None, 0.5]


def test_key_expires_when_its_bucket_is_full(server: Server) -> None:
    client = server.client()
    guard = shared_rate_limit(4, redis=client, name='x', bound=5.0)
    call(guard)
    ttl: object = client.pttl('seamwise:{x}:rate')
    assert isinstance(ttl, int)
    assert 150 <= ttl <= 250


def test_call_without_cost_stores_nothing(server: Server) -> None:
    guard = shared_rate_limit(4, redis=server.client(), name='x', bound=5.0, cost=lambda: 0.0)
    assert call(guard) is None
    assert server.execute('KEYS', '*') == []


def test_call_behind_waiters_takes_nothing(server: Server) -> None:
    clock = RedisClock(server)
    guard = shared_rate_limit(10, redis=server.client(), name='x', bound=5.0)
    clock.control(guard)
    store = guard.__dict__['_store']
    burst = repr(1_000_000.0)
    key = 'seamwise:{x}:rate'
    assert store.call_sync(0, key, repr(100_000.0), burst, '300000') == [1]
    assert store.call_sync(0, key, repr(100_000.0), burst, '1000000') == [100_000]
    assert server.client().get(key) is None


def test_refused_call_takes_nothing(server: Server) -> None:
    clock = RedisClock(server)
    guard = shared_rate_limit(1, redis=server.client(), name='x', bound=5.0)
    clock.control(guard)
    assert call(guard) is None
    assert [call(guard) for _ in range(5)] == [1.0] * 5


def test_task_and_thread_share_one_bucket(server: Server) -> None:
    async def succeed() -> Success[int]:
        return Success(1)

    async def main() -> tuple[object, float | None]:
        async with Redis(port=server.port) as client:
            guard = shared_rate_limit(
                1,
                redis=Clients(asyncio=client, sync=server.client()),
                name='x',
                bound=5.0,
                period=60.0,
            )
            return await guard.run(succeed), call(guard)

    outcome, delay = asyncio.run(main())
    assert outcome == Success(1)
    assert delay is not None
