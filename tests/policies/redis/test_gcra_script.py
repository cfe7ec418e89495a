"""Lua scripts of the rate limit, compared with a local rate limit to the microsecond."""

import asyncio
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from seamwise import Failure, Result, Success
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.errors import RateLimited
from seamwise.policies.rate_limit import KINDS, Kind
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
    burst=st.sampled_from([None, 1, 2, 3, 10]),
    kind=st.sampled_from(KINDS),
    calls=st.lists(
        st.tuples(
            st.sampled_from([0, 1, 50_000, 333_333, 500_000]) | st.integers(0, 700_000),
            st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 1.0]),
        ),
        max_size=25,
    ),
)
def test_rate_limit_over_redis_behaves_like_a_local_one(
    shared_server: Server,
    limit: int,
    period: float,
    burst: int | None,
    kind: Kind,
    calls: list[tuple[int, float]],
) -> None:
    burst = None if kind == 'window' else burst
    shared_server.flush()
    clock, world, costs = RedisClock(shared_server), FakeWorld(), [0.0]
    with shared_server.client() as client:
        shared = shared_rate_limit(
            limit,
            redis=client,
            period=period,
            kind=kind,
            burst=burst,
            name='x',
            cost=lambda: costs[0],
            bound=5.0,
        )
        local = local_rate_limit(
            limit,
            period=period,
            kind=kind,
            burst=burst,
            name='x',
            cost=lambda: costs[0],
            world=world,
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


@pytest.mark.parametrize('kind', KINDS)
def test_ten_calls_that_cost_a_tenth_are_one_call(server: Server, kind: Kind) -> None:
    clock = RedisClock(server)
    guard = shared_rate_limit(1, redis=server.client(), kind=kind, name='x', cost=0.1, bound=5.0)
    clock.control(guard)
    for _ in range(3):
        assert [call(guard) for _ in range(10)] == [None] * 10
        assert call(guard) is not None
        clock.advance(1_000_000)


@pytest.mark.slow
@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('limit', [7_000, 30_000])
def test_large_burst_is_exact(server: Server, limit: int, kind: Kind) -> None:
    clock = RedisClock(server)
    guard = shared_rate_limit(limit, redis=server.client(), kind=kind, name='x', bound=5.0)
    clock.control(guard)
    assert sum(call(guard) is None for _ in range(limit + 10)) == limit


@pytest.mark.parametrize(('kind', 'delay'), [('bucket', 0.5), ('window', 1.0)])
def test_retry_after_does_not_change_if_the_clock_goes_back(
    server: Server, kind: Kind, delay: float
) -> None:
    clock = RedisClock(server)
    guard = shared_rate_limit(2, redis=server.client(), kind=kind, name='x', bound=5.0)
    clock.control(guard)
    assert [call(guard) for _ in range(3)] == [None, None, delay]
    clock.advance(-HOUR)
    assert call(guard) == delay
    clock.advance(round(delay * 1e6) - 1)
    assert call(guard) == 1e-6
    clock.advance(1)
    assert call(guard) is None
    clock.advance(-HOUR)
    assert [call(guard) for _ in range(2)] == ([delay] * 2 if kind == 'bucket' else [None, delay])


def test_window_admits_its_limit_in_any_period(server: Server) -> None:
    clock = RedisClock(server)
    guard = shared_rate_limit(3, redis=server.client(), kind='window', name='x', bound=5.0)
    clock.control(guard)
    times: list[int] = []
    for _ in range(400):
        if call(guard) is None:
            times.append(clock.now)
        clock.advance(17_171)
    gaps = [later - earlier for earlier, later in zip(times, times[3:], strict=False)]
    assert len(times) > 15
    assert min(gaps) >= 1_000_000


def test_window_expires_with_its_last_call(server: Server) -> None:
    client = server.client()
    guard = shared_rate_limit(4, redis=client, kind='window', name='x', bound=5.0)
    assert [call(guard) for _ in range(2)] == [None, None]
    assert client.llen('seamwise:{x}:window') == 2
    ttl: object = client.pttl('seamwise:{x}:window')
    assert isinstance(ttl, int)
    assert 900 <= ttl <= 1_000


def test_window_deletes_the_calls_that_no_longer_count(server: Server) -> None:
    clock, client = RedisClock(server), server.client()
    guard = shared_rate_limit(300, redis=client, kind='window', name='x', bound=5.0)
    clock.control(guard)
    for _ in range(300):
        assert call(guard) is None
        clock.advance(10)
    assert call(guard) == 0.997
    clock.advance(998_990)
    assert call(guard) is None
    assert client.llen('seamwise:{x}:window') == 101


def test_key_expires_when_its_bucket_is_full(server: Server) -> None:
    client = server.client()
    guard = shared_rate_limit(4, redis=client, name='x', bound=5.0)
    call(guard)
    ttl: object = client.pttl('seamwise:{x}:rate')
    assert isinstance(ttl, int)
    assert 150 <= ttl <= 250


@pytest.mark.parametrize('kind', KINDS)
def test_call_without_cost_stores_nothing(server: Server, kind: Kind) -> None:
    guard = shared_rate_limit(
        4, redis=server.client(), kind=kind, name='x', bound=5.0, cost=lambda: 0.0
    )
    assert call(guard) is None
    assert server.execute('KEYS', '*') == []


def test_call_behind_waiters_takes_nothing(server: Server) -> None:
    clock = RedisClock(server)
    guard = shared_rate_limit(10, redis=server.client(), name='x', bound=5.0)
    clock.control(guard)
    store = guard.__dict__['_store']
    key, burst = 'seamwise:{x}:rate', '10000000'
    assert store.call_sync(0, key, '1000000', '3000000', burst, burst, '1e6') == [1]
    assert store.call_sync(0, key, '1000000', '10000000', burst, burst, '1e6') == [100_000]
    assert server.client().get(key) is None


def test_call_behind_waiters_takes_nothing_from_a_window(server: Server) -> None:
    clock = RedisClock(server)
    guard = shared_rate_limit(2, redis=server.client(), kind='window', name='x', bound=5.0)
    clock.control(guard)
    call_script = partial(guard.__dict__['_store'].call_sync, 0, 'seamwise:{x}:window')
    one, three, limit = '1000000', '3000000', '2000000'
    assert call_script(one, one, limit, limit, '1e6') == [1]
    assert call(guard) is None
    clock.advance(400_000)
    assert call(guard) is None
    assert call_script(one, '0', limit, limit, '1e6') == [600_000]
    assert call_script(one, one, limit, limit, '1e6') == [1_000_000]
    assert call_script(one, three, limit, limit, '1e6') == [2_000_000]


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
