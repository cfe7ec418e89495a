"""Budgets bound what retries cost, whoever shares them."""

import asyncio
import json
import math
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Result
from seamwise.policies._engine.world import World
from seamwise.policies._parts.budget import Budget
from seamwise.policies.retry import retry
from seamwise.policies.testing import FakeWorld
from tests.policies.errors import Busy, Down, Slow

JUST_TOO_MUCH = math.nextafter(1e9, math.inf)
VECTORS = Path(__file__).parent.parent / 'vectors' / 'retry_timelines.json'
CASES: dict[str, dict[str, Any]] = {
    one['model']: one
    for one in json.loads(VECTORS.read_text(encoding='utf-8'))['cases']
    if one['kind'] == 'budget'
}


# Quota


def test_the_documented_quota() -> None:
    case = CASES['quota']
    budget = Budget.quota(case['capacity'])
    for operation, amount, granted, left in case['steps']:
        said = getattr(budget, operation)(amount)
        assert (said, budget.left) == (granted, left)


def test_a_retry_after_a_timeout_costs_more() -> None:
    budget = Budget.quota(50)
    assert (budget.charge(Down()), budget.left) == (5.0, 45.0)
    assert (budget.charge(Slow()), budget.left) == (10.0, 35.0)
    assert (budget.charge(Busy()), budget.left) == (5.0, 30.0)
    other = Budget.quota(8, cost=1, timeout_cost=7)
    assert (other.charge(Down()), other.charge(Slow()), other.charge(Down()), other.left) == (
        1.0,
        7.0,
        None,
        0.0,
    )


def test_a_success_gives_back_what_its_last_retry_took_or_one() -> None:
    budget = Budget.quota(50)
    assert budget.acquire(30)
    budget.on_success(None)
    assert budget.left == 21.0
    budget.on_success(10.0)
    assert budget.left == 31.0
    budget.on_success(40.0)
    assert budget.left == 50.0
    budget.on_success(None)
    assert budget.left == 50.0


def test_a_quota_hears_nothing_of_calls_and_of_failures_that_are_not_retried() -> None:
    budget = Budget.quota(50)
    assert budget.acquire(1)
    budget.on_call()
    budget.on_give_up()
    assert budget.left == 49.0


def test_a_retry_that_is_not_made_is_given_back_to_the_quota() -> None:
    budget = Budget.quota(50)
    receipt = budget.charge(Slow())
    assert receipt is not None
    budget.refund(receipt)
    assert budget.left == 50.0


@pytest.mark.parametrize(('left', 'granted'), [(5.0, True), (4.999, False)])
def test_a_quota_may_be_used_up_exactly(left: float, granted: bool) -> None:
    budget = Budget.quota(50)
    assert budget.acquire(50 - left)
    assert (budget.charge(Down()) is not None) is granted


# Tokens


def test_the_documented_tokens() -> None:
    case = CASES['tokens']
    budget = Budget.tokens(case['max_tokens'], ratio=case['ratio'])
    for event, left, may_retry in case['steps']:
        if event == 'failure':
            assert (budget.acquire(1), budget.left) == (may_retry, left)
        else:
            budget.release(1)
            assert budget.left == left
        # To ask for nothing only looks.
        assert budget.acquire(0) is may_retry


def test_tokens_hear_of_successes_and_of_every_failure_that_could_be_retried() -> None:
    budget = Budget.tokens(10, ratio=0.5)
    budget.on_call()
    assert budget.charge(Slow()) == 1.0
    assert budget.left == 9.0
    budget.on_give_up()
    assert budget.left == 8.0
    budget.on_success(None)
    assert budget.left == 8.5
    budget.on_success(1.0)
    assert budget.left == 9.0
    # The failure was one, whether or not its retry was made.
    budget.refund(1.0)
    assert budget.left == 9.0


def test_half_of_the_tokens_is_too_little() -> None:
    assert [Budget.tokens(4, ratio=1).acquire(n) for n in (1.999, 2.0)] == [True, False]
    budget = Budget.tokens(2, ratio=1)
    assert budget.charge(Slow()) is None
    assert budget.left == 1.0


@given(st.lists(st.tuples(st.sampled_from(['acquire', 'release']), st.integers(0, 40))))
def test_quota_and_tokens_stay_between_nothing_and_all(steps: list[tuple[str, int]]) -> None:
    for budget, most in ((Budget.quota(50), 50), (Budget.tokens(30, ratio=0.3), 30)):
        for operation, n in steps:
            getattr(budget, operation)(n)
            assert 0 <= budget.left <= most


# Share


def test_retries_are_a_share_of_the_calls() -> None:
    budget = Budget.share(0.2, minimum_per_second=0, world=FakeWorld())
    assert (budget.left, budget.acquire(1)) == (0.0, False)
    for _ in range(14):
        budget.on_call()
    assert budget.left == pytest.approx(2.8)
    assert [budget.acquire(1) for _ in range(3)] == [True, True, False]
    budget.release(1)
    assert budget.acquire(1)
    assert not budget.acquire(1)


def test_the_default_floor_is_a_retry_a_second_and_not_on_top_of_the_share() -> None:
    budget = Budget.share(0.2, world=FakeWorld())
    assert budget.left == 10.0
    budget.release(49)
    assert budget.left == 10.0
    budget.release(2)
    assert budget.left == pytest.approx(10.2)


def test_what_is_older_than_ten_seconds_is_forgotten() -> None:
    world = FakeWorld()
    budget = Budget.share(0.5, minimum_per_second=0, world=world)
    budget.release(4)
    world.advance(9.999)
    assert budget.left == 2.0
    assert budget.acquire(2)
    world.advance(0.001)
    assert budget.left == 0.0
    budget.release(6)
    assert budget.left == 1.0
    # The two retries were nine seconds later than the first calls.
    world.advance(8.999)
    assert budget.left == 1.0
    world.advance(0.001)
    assert budget.left == 3.0
    world.advance(1)
    assert budget.left == 0.0


@pytest.mark.parametrize('far', [10, 11, 19, 20, 25, 1e6, 1e15])
def test_after_a_long_time_nothing_is_left_of_what_was(far: float) -> None:
    world = FakeWorld()
    world.advance(3)
    budget = Budget.share(0.5, minimum_per_second=0.1, world=world)
    for _ in range(10):
        budget.release(4)
        assert budget.acquire(1)
        world.advance(1)
    world.advance(far)
    assert budget.left == 1.0


def test_a_clock_that_goes_back_stands_still_for_the_budget() -> None:
    now = 100.0
    budget = Budget.share(0.5, minimum_per_second=0, world=World(clock=lambda: now))
    budget.release(4)
    assert budget.acquire(1)
    now = -50.0
    assert budget.left == 1.0
    now = 101.0
    assert budget.left == 1.0
    now = 99.0
    budget.release(2)
    assert budget.acquire(2)
    assert not budget.acquire(1)
    now = 109.0
    assert budget.left == 0.0
    budget.release(2)
    now = 110.0
    assert budget.left == 0.0
    # What came in at 99 was of the second 101, where the clock had been.
    now = 111.0
    assert budget.left == 1.0


def test_a_retry_that_is_not_made_is_given_back_to_its_own_second() -> None:
    world = FakeWorld()
    budget = Budget.share(0.0, minimum_per_second=0.3, world=world)
    receipts = list[float | None]()
    for _ in range(2):
        receipts.append(budget.charge(Slow()))
        world.advance(4)
    assert budget.left == 1.0
    early, late = receipts
    assert early is not None
    assert late is not None
    budget.refund(early)
    assert budget.left == 2.0
    world.advance(2)
    # The early one would be forgotten now, had it been made.
    assert budget.left == 2.0
    world.advance(4)
    assert budget.left == 3.0
    budget.refund(late)
    assert budget.left == 3.0


@pytest.mark.parametrize(('later', 'taken_back'), [(9.999, True), (10.0, False), (11.0, False)])
def test_a_receipt_is_worth_something_for_ten_seconds(later: float, taken_back: bool) -> None:
    world = FakeWorld()
    budget = Budget.share(0.0, minimum_per_second=0.1, world=world)
    receipt = budget.charge(Slow())
    assert receipt is not None
    world.advance(later)
    # What is older is forgotten, and somebody else may have taken it.
    assert budget.acquire(1) is not taken_back
    budget.refund(receipt)
    assert budget.left == (1.0 if taken_back else 0.0)


def test_a_share_hears_nothing_of_successes_and_of_failures_that_are_not_retried() -> None:
    budget = Budget.share(0.5, minimum_per_second=0, world=FakeWorld())
    budget.on_success(None)
    budget.on_give_up()
    assert budget.left == 0.0
    budget.on_call()
    budget.on_call()
    assert (budget.left, budget.charge(Slow()), budget.charge(Slow())) == (1.0, 0.0, None)
    budget.on_success(0.0)
    assert budget.left == 0.0


def test_binary_fractions_take_no_retry_away() -> None:
    for calls in range(1, 300):
        budget = Budget.share(0.29, minimum_per_second=0, world=FakeWorld())
        budget.release(calls)
        assert budget.acquire(29 * calls // 100)
        assert not budget.acquire(1)


@given(
    st.lists(st.tuples(st.floats(0, 5), st.integers(0, 8), st.integers(0, 4)), max_size=60),
    st.sampled_from([0.0, 0.1, 1.0]),
)
def test_in_no_ten_seconds_more_is_retried_than_the_share_or_the_floor(
    steps: list[tuple[float, int, int]], floor: float
) -> None:
    world = FakeWorld()
    budget = Budget.share(0.2, minimum_per_second=floor, world=world)
    calls = list[float]()
    retries = list[float]()
    for pause, begun, failed in steps:
        world.advance(pause)
        for _ in range(begun):
            budget.on_call()
            calls.append(world.now)
        for _ in range(failed):
            if budget.acquire(1):
                retries.append(world.now)
                # Seconds are counted whole: the ten of which this is the last.
                since = world.now // 1 - 9
                allowed = max(0.2 * len([one for one in calls if one >= since]), floor * 10)
                assert len([one for one in retries if one >= since]) <= allowed + 1e-6


# All of them


def all_budgets() -> list[Budget]:
    return [
        Budget.quota(1000, cost=1),
        Budget.tokens(2000, ratio=0.001),
        Budget.share(0.0, minimum_per_second=100, world=FakeWorld()),
    ]


@pytest.mark.parametrize('budget', all_budgets(), ids=lambda budget: budget.limits())
def test_threads_never_get_more_than_there_is(budget: Budget) -> None:
    granted = list[bool]()
    start = threading.Barrier(8)

    def take() -> None:
        start.wait()
        granted.extend([budget.acquire(1) for _ in range(400)])

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Tokens: a thousand, less the one that makes it half.
    assert granted.count(True) in {999, 1000}
    assert len(granted) == 3200


def test_what_is_allowed_can_be_said() -> None:
    assert Budget.quota(50).limits() == 'a quota of 50 for retries, 5 each, 10 after a timeout'
    assert (
        Budget.tokens(4, ratio=0.8).limits()
        == 'retries while more than half of 4 tokens are left, 0.8 back for a success'
    )
    assert Budget.share(0.2).limits() == 'retries for 20 % of the calls, or 1 a second'


def test_one_is_acquired_and_released_unless_said_otherwise() -> None:
    budget = Budget.quota(50)
    assert budget.acquire()
    assert budget.acquire()
    assert budget.left == 48.0
    budget.release()
    assert budget.left == 49.0


@pytest.mark.parametrize(
    ('said', 'make'),
    [
        ('capacity must be', lambda: Budget.quota(0)),
        ('capacity must be', lambda: Budget.quota(-1)),
        ('capacity must be', lambda: Budget.quota(float('nan'))),
        ('capacity must be', lambda: Budget.quota(JUST_TOO_MUCH)),
        ('cost must be', lambda: Budget.quota(50, cost=0)),
        ('timeout_cost must be', lambda: Budget.quota(50, timeout_cost=0)),
        ('cost must be', lambda: Budget.quota(50, cost=float('inf'))),
        (r'cost must be 4 \(the capacity\) or less', lambda: Budget.quota(4)),
        ('maximum must be', lambda: Budget.tokens(0, ratio=0.1)),
        ('maximum must be', lambda: Budget.tokens(0.0009, ratio=0.1)),
        ('ratio must be', lambda: Budget.tokens(4, ratio=0)),
        ('ratio must be', lambda: Budget.tokens(4, ratio=0.0009)),
        ('maximum must be', lambda: Budget.tokens(JUST_TOO_MUCH, ratio=1)),
        ('ratio must be', lambda: Budget.tokens(4, ratio=JUST_TOO_MUCH)),
        ('ratio must be', lambda: Budget.share(-0.1)),
        ('ratio must be', lambda: Budget.share(1.1)),
        ('ratio must be', lambda: Budget.share(20)),
        ('minimum_per_second must be', lambda: Budget.share(0.2, minimum_per_second=-1)),
        ('minimum_per_second must be', lambda: Budget.share(0.2, minimum_per_second=JUST_TOO_MUCH)),
        ('ratio or minimum_per_second must be', lambda: Budget.share(0.0, minimum_per_second=0)),
        ('n must be', lambda: Budget.quota(50).acquire(-1)),
        ('n must be', lambda: Budget.quota(50).release(float('nan'))),
        ('n must be', lambda: Budget.tokens(4, ratio=0.8).acquire(1e306)),
        ('n must be', lambda: Budget.tokens(4, ratio=0.8).release(1e306)),
    ],
)
def test_what_cannot_be_meant_is_a_value_error(said: str, make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=rf'^{said}\b'):
        make()


def test_the_least_and_the_most_that_can_be_meant() -> None:
    assert Budget.quota(5).left == 5.0
    assert Budget.quota(0.01, cost=0.01, timeout_cost=0.01).left == 0.01
    assert Budget.tokens(0.001, ratio=0.001).left == 0.001
    assert Budget.share(1.0, minimum_per_second=0).left == 0.0
    assert Budget.share(0.0, minimum_per_second=1e9).left == 1e10
    assert [Budget.quota(1e9).left, Budget.tokens(1e9, ratio=1e9).left] == [1e9, 1e9]


TAKES_A_NUMBER: list[Callable[[Any], object]] = [
    Budget.quota,
    Budget.share,
    lambda wrong: Budget.quota(50, cost=wrong),
    lambda wrong: Budget.quota(50, timeout_cost=wrong),
    lambda wrong: Budget.tokens(wrong, ratio=1),
    lambda wrong: Budget.tokens(4, ratio=wrong),
    lambda wrong: Budget.share(0.2, minimum_per_second=wrong),
    lambda wrong: Budget.quota(50).acquire(wrong),
    lambda wrong: Budget.quota(50).release(wrong),
]


@pytest.mark.parametrize('wrong', ['50', True, None])
@pytest.mark.parametrize('make', TAKES_A_NUMBER)
def test_what_is_no_number_is_a_type_error(make: Callable[[Any], object], wrong: object) -> None:
    with pytest.raises(TypeError, match='must be a number'):
        make(wrong)


def test_a_lost_call_may_pay_back_while_its_own_thread_has_the_lock() -> None:
    async def fails() -> Result[object, Down]:
        return Failure(Down())

    async def asleep(_seconds: float) -> None:
        await asyncio.sleep(0)

    budget = Budget.share(0.0, minimum_per_second=0.1)
    call = retry(budget=budget, world=World(sleep=asleep)).run(fails)
    call.send(None)
    assert budget.left == 0.0

    def trace(frame: FrameType, _event: str, _arg: object) -> None:
        # As if the garbage collector ran there.
        if frame.f_code.co_name == '_advance':
            call.close()

    def acquire() -> None:
        sys.settrace(trace)
        taken.append(budget.acquire())
        sys.settrace(None)

    taken: list[bool] = []
    thread = threading.Thread(target=acquire, daemon=True)
    thread.start()
    thread.join(10)
    assert taken == [True]
