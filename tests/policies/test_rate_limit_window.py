"""Rate limits with an exact window, and several rates at once."""

import asyncio
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Success
from seamwise._runtime.world import World
from seamwise.policies import rate_limit
from seamwise.policies.errors import RateLimited
from seamwise.policies.rate_limit import Kind, RateLimit
from seamwise.testing import FakeWorld, assert_failure

MINUTE = 60.0


def ok() -> Success[int]:
    return Success(1)


def count_admitted(guard: RateLimit, calls: int) -> int:
    return sum(guard.run_sync(ok) == Success(1) for _ in range(calls))


def test_window_admits_the_limit_in_the_first_minute() -> None:
    world = FakeWorld()
    guard = rate_limit(100, period=MINUTE, name='mail', kind='window', world=world)
    admitted = 0
    for _ in range(600):
        admitted += count_admitted(guard, 1)
        world.advance(0.1)
    assert admitted == 100
    assert guard.run_sync(ok) == Success(1), 'the first call is a minute ago'


def test_bucket_admits_limit_plus_burst_in_the_first_minute() -> None:
    world = FakeWorld()
    guard = rate_limit(100, period=MINUTE, name='mail', world=world)
    admitted = 0
    for _ in range(600):
        admitted += count_admitted(guard, 1)
        world.advance(0.1)
    assert 198 <= admitted <= 200


def test_refusal_of_a_window_states_when_the_oldest_call_leaves_it() -> None:
    world = FakeWorld()
    guard = rate_limit(2, period=10.0, name='mail', kind='window', world=world)
    count_admitted(guard, 1)
    world.advance(4.0)
    count_admitted(guard, 1)
    assert guard.run_sync(ok) == Failure(RateLimited('mail', 2, 10.0, 6.0))
    world.advance(6.0)
    assert count_admitted(guard, 2) == 1


def test_waiting_calls_of_a_window_pass_in_order_at_their_time() -> None:
    world = FakeWorld()
    guard = rate_limit(2, period=10.0, name='mail', kind='window', wait=35.0, world=world)
    starts: list[tuple[int, float]] = []

    async def call(number: int) -> None:
        async def op() -> Success[int]:
            starts.append((number, world.now))
            return Success(number)

        await guard.run(op)

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(7):
                group.create_task(call(number))

    asyncio.run(main())
    first = starts[0][1]
    passed = [(number, round(time - first, 6)) for number, time in starts]
    assert passed == [(0, 0), (1, 0), (2, 10), (3, 10), (4, 20), (5, 20), (6, 30)]


@given(
    kind=st.just('window'),
    limit=st.integers(1, 5),
    steps=st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4), st.booleans()), max_size=80),
)
def test_window_never_admits_more_than_its_limit_and_never_refuses_without_reason(
    kind: Kind, limit: int, steps: list[tuple[int, int, bool]]
) -> None:
    period = Fraction(2)
    reading, time, cost = 1_700_000_000.0, Fraction(0), Fraction(1)
    guard = rate_limit(
        limit,
        period=float(period),
        name='x',
        kind=kind,
        cost=lambda: float(cost),
        world=World(clock=lambda: reading),
    )
    admitted: list[tuple[Fraction, Fraction]] = []
    for sixteenths, quarters, is_set_back in steps:
        cost = min(Fraction(quarters, 4), Fraction(limit))
        if is_set_back:
            # The time of the guard stops for one reading.
            reading -= 1000.0
            assert guard.available >= 0
        reading += sixteenths / 16
        time += Fraction(sixteenths, 16)
        used = sum((c for at, c in admitted if time - period < at <= time), Fraction(0))
        has_passed = guard.run_sync(ok) == Success(1)
        assert has_passed == (used + cost <= limit)
        if has_passed:
            admitted.append((time, cost))


@given(
    rates=st.lists(
        st.tuples(st.integers(1, 4), st.sampled_from([0.5, 1.0, 3.0])), min_size=1, max_size=3
    ),
    steps=st.lists(st.integers(0, 12), max_size=60),
    kind=st.sampled_from(['bucket', 'window']),
)
def test_several_rates_admit_what_each_of_them_would_admit(
    rates: list[tuple[int, float]], steps: list[int], kind: Kind
) -> None:
    world = FakeWorld()
    combined = rate_limit.all(*rates, name='x', kind=kind, world=world)
    singles = [
        rate_limit(limit, period=period, name='x', kind=kind, world=world)
        for limit, period in rates
    ]
    for sixteenths in steps:
        world.advance(sixteenths / 16)
        is_expected = all(single.available >= 1 for single in singles)
        assert combined.available == min(single.available for single in singles)
        assert (combined.run_sync(ok) == Success(1)) == is_expected
        if is_expected:
            assert all(single.run_sync(ok) == Success(1) for single in singles)


def test_refusal_of_several_rates_names_the_rate_that_admits_the_call_last() -> None:
    world = FakeWorld()
    guard = rate_limit.all((2, 1.0), (3, MINUTE), name='mail', kind='window', world=world)
    assert count_admitted(guard, 5) == 2
    assert assert_failure(guard.run_sync(ok), RateLimited) == RateLimited('mail', 2, 1.0, 1.0)
    world.advance(1.0)
    assert count_admitted(guard, 5) == 1
    assert assert_failure(guard.run_sync(ok), RateLimited) == RateLimited('mail', 3, MINUTE, 59.0)


def test_refused_call_takes_no_slot_in_any_rate() -> None:
    world = FakeWorld()
    guard = rate_limit.all((1, 1.0), (2, MINUTE), name='mail', world=world)
    assert count_admitted(guard, 100) == 1
    world.advance(1.0)
    assert count_admitted(guard, 1) == 1, 'the refusals took a slot of the minute'


@pytest.mark.parametrize('kind', ['bucket', 'window'])
def test_each_key_has_its_own_window(kind: Kind) -> None:
    key = 'a'
    guard = rate_limit(1, name='x', kind=kind, key=lambda: key, world=FakeWorld())
    assert count_admitted(guard, 2) == 1
    assert guard.available == 0
    key = 'b'
    assert guard.available == 1
    assert count_admitted(guard, 2) == 1


def test_available_counts_the_calls_that_pass_now() -> None:
    world = FakeWorld()
    guard = rate_limit(4, name='x', world=world)
    assert guard.available == 4
    count_admitted(guard, 3)
    assert guard.available == 1
    world.advance(0.25)
    assert guard.available == 2


def test_waiting_counts_the_calls_of_all_keys() -> None:
    async def main() -> None:
        current_key = ''
        guard = rate_limit(1, period=100.0, name='x', wait=1e6, key=lambda: current_key)
        tasks: list[asyncio.Task[object]] = []
        for key in ('a', 'a', 'b', 'b', 'b'):
            current_key = key
            tasks.append(asyncio.create_task(_await(guard)))
            await asyncio.sleep(0)
        assert guard.waiting == 3
        assert guard.available == 0
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert guard.waiting == 0

    asyncio.run(main())


async def _await(guard: RateLimit) -> object:
    async def op() -> Success[int]:
        return Success(1)

    return await guard.run(op)


def test_wrong_rates_are_refused() -> None:
    with pytest.raises(ValueError, match="burst is only for kind='bucket'"):
        rate_limit(1, name='x', kind='window', burst=2)
    with pytest.raises(ValueError, match="kind must be one of 'bucket', 'window', not 'log'"):
        rate_limit(1, name='x', kind='log')  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(TypeError, match='at least one rate'):
        rate_limit.all(name='x')
    with pytest.raises(ValueError, match='limit must be 1 or more'):
        rate_limit.all((10, 1.0), (0, 60.0), name='x')
    with pytest.raises(ValueError, match='cost must be'):
        rate_limit.all((10, 1.0), (2, 60.0), name='x', cost=3)


def test_descriptions_name_the_algorithm() -> None:
    assert rate_limit(1, name='x', kind='window').limits() == '1 call in any 1 s'
    combined = rate_limit.all((10, 1.0), (100, MINUTE), name='x', wait=2.0)
    assert combined.limits() == (
        '10 calls in 1 s, burst of 10 and 100 calls in 60 s, burst of 100, waits up to 2 s'
    )
