"""The arithmetic of the rate limit in Redis is that of the one in a process, to the microsecond."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from seamwise import Failure, Success
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.rate_limit import RateLimited
from seamwise.policies.rate_limit import rate_limit as local_rate_limit
from seamwise.policies.redis import Clients, rate_limit
from seamwise.policies.testing import FakeWorld
from tests.policies.redis.clocks import Clock
from tests.policies.redis.servers import Server

HOUR = 3_600_000_000


def retry_after(outcome: object) -> float | None:
    if type(outcome) is not Failure:
        return None
    error = outcome.failure()
    assert isinstance(error, RateLimited)
    return error.retry_after


def ask(guard: Guard[object]) -> float | None:
    return retry_after(guard.run_sync(lambda: Success(1)))


@settings(max_examples=60)
@given(
    limit=st.sampled_from([1, 2, 3, 7, 10, 1000]),
    period=st.sampled_from([0.5, 1.0, 60.0]),
    burst=st.sampled_from([1, 2, 3, 10]),
    calls=st.lists(st.tuples(st.integers(0, 700_000), st.sampled_from([0.5, 1.0])), max_size=25),
)
def test_it_says_what_the_local_one_says(
    running: Server, limit: int, period: float, burst: int, calls: list[tuple[int, float]]
) -> None:
    running.flush()
    clock, world, costs = Clock(running), FakeWorld(), [0.0]
    with running.client() as client:
        shared = rate_limit(
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
        clock.rule(shared)
        for pause, cost in calls:
            clock.advance(pause)
            world.advance(clock.now / 1e6 - world.now)
            costs[0] = cost
            said, expected = ask(shared), ask(local)
            assert (said is None) == (expected is None)
            if said is not None and expected is not None:
                assert abs(said - expected) <= 2e-6


def test_who_comes_when_it_was_told_passes_and_not_a_microsecond_before(server: Server) -> None:
    clock = Clock(server)
    guard = rate_limit(10, redis=server.client(), burst=1, name='x', bound=5.0)
    clock.rule(guard)
    assert ask(guard) is None
    assert ask(guard) == 0.1
    clock.advance(99_999)
    assert ask(guard) == 1e-6
    clock.advance(1)
    assert ask(guard) is None


def test_a_third_of_a_second_adds_up_to_a_burst_of_three(server: Server) -> None:
    clock = Clock(server)
    guard = rate_limit(3, redis=server.client(), name='x', bound=5.0)
    clock.rule(guard)
    for _ in range(50):
        assert [ask(guard) for _ in range(3)] == [None] * 3
        assert ask(guard) == 0.333333
        clock.advance(1_000_000)


def test_a_clock_that_goes_back_an_hour_leaves_as_much_to_wait_as_there_was(server: Server) -> None:
    clock = Clock(server)
    guard = rate_limit(2, redis=server.client(), name='x', bound=5.0)
    clock.rule(guard)
    assert [ask(guard) for _ in range(3)] == [None, None, 0.5]
    clock.advance(-HOUR)
    assert ask(guard) == 0.5
    clock.advance(499_999)
    assert ask(guard) == 1e-6
    clock.advance(1)
    assert [ask(guard) for _ in range(2)] == [None, 0.5]


def test_a_bucket_that_is_full_again_is_forgotten(server: Server) -> None:
    client = server.client()
    guard = rate_limit(4, redis=client, name='x', bound=5.0)
    ask(guard)
    left: object = client.pttl('seamwise:{x}:rate')
    assert isinstance(left, int)
    assert 150 <= left <= 250


def test_a_call_that_costs_nothing_leaves_nothing(server: Server) -> None:
    guard = rate_limit(4, redis=server.client(), name='x', bound=5.0, cost=lambda: 0.0)
    assert ask(guard) is None
    assert server.tell('KEYS', '*') == []


def test_who_stands_behind_others_takes_nothing(server: Server) -> None:
    clock = Clock(server)
    guard = rate_limit(10, redis=server.client(), name='x', bound=5.0)
    clock.rule(guard)
    store = guard.__dict__['_store']
    burst = repr(1_000_000.0)
    key = 'seamwise:{x}:rate'
    assert store.call_sync(0, key, repr(100_000.0), burst, '300000') == [1]
    assert store.call_sync(0, key, repr(100_000.0), burst, '1000000') == [100_000]
    assert server.client().get(key) is None


def test_a_refusal_takes_nothing(server: Server) -> None:
    clock = Clock(server)
    guard = rate_limit(1, redis=server.client(), name='x', bound=5.0)
    clock.rule(guard)
    assert ask(guard) is None
    assert [ask(guard) for _ in range(5)] == [1.0] * 5


def test_two_ways_take_from_one_bucket(server: Server) -> None:
    async def ok() -> Success[int]:
        return Success(1)

    async def both_ways() -> tuple[object, float | None]:
        async with Redis(port=server.port) as client:
            guard = rate_limit(
                1,
                redis=Clients(asyncio=client, sync=server.client()),
                name='x',
                bound=5.0,
                period=60.0,
            )
            return await guard.run(ok), ask(guard)

    said, refused = asyncio.run(both_ways())
    assert said == Success(1)
    assert refused is not None
