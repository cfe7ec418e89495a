"""Retry budgets: share, quota and tokens."""

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
from seamwise._runtime.world import World
from seamwise.policies._parts.budget import Budget
from seamwise.policies.retry import retry
from seamwise.testing import FakeWorld
from tests.policies.errors import Busy, Down, Slow

JUST_TOO_MUCH = math.nextafter(1e9, math.inf)
VECTORS = Path(__file__).parent.parent / 'vectors' / 'retry_timelines.json'
CASES: dict[str, dict[str, Any]] = {
    case['model']: case
    for case in json.loads(VECTORS.read_text(encoding='utf-8'))['cases']
    if case['kind'] == 'budget'
}


# Quota


def test_quota_matches_the_vectors() -> None:
    case = CASES['quota']
    budget = Budget.quota(case['capacity'])
    for operation, amount, granted, remaining in case['steps']:
        result = getattr(budget, operation)(amount)
        assert (result, budget.left) == (granted, remaining)


def test_retry_after_a_timeout_costs_more() -> None:
    budget = Budget.quota(50)
    assert (budget.charge(Down()), budget.left) == (5.0, 45.0)
    assert (budget.charge(Slow()), budget.left) == (10.0, 35.0)
    assert (budget.charge(Busy()), budget.left) == (5.0, 30.0)
    small = Budget.quota(8, cost=1, timeout_cost=7)
    assert (small.charge(Down()), small.charge(Slow()), small.charge(Down()), small.left) == (
        1.0,
        7.0,
        None,
        0.0,
    )


def test_success_refunds_the_cost_of_its_last_retry_or_one() -> None:
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


def test_quota_ignores_calls_and_failures_without_retry() -> None:
    budget = Budget.quota(50)
    assert budget.acquire(1)
    budget.on_call()
    budget.on_give_up()
    assert budget.left == 49.0


def test_quota_refunds_a_retry_that_did_not_start() -> None:
    budget = Budget.quota(50)
    receipt = budget.charge(Slow())
    assert receipt is not None
    budget.refund(receipt)
    assert budget.left == 50.0


@pytest.mark.parametrize(('remaining', 'granted'), [(5.0, True), (4.999, False)])
def test_quota_can_be_used_up_exactly(remaining: float, granted: bool) -> None:
    budget = Budget.quota(50)
    assert budget.acquire(50 - remaining)
    assert (budget.charge(Down()) is not None) is granted


# Tokens


def test_tokens_match_the_vectors() -> None:
    case = CASES['tokens']
    budget = Budget.tokens(case['max_tokens'], ratio=case['ratio'])
    for event, remaining, may_retry in case['steps']:
        if event == 'failure':
            assert (budget.acquire(1), budget.left) == (may_retry, remaining)
        else:
            budget.release(1)
            assert budget.left == remaining
        # An amount of 0 only queries the state.
        assert budget.acquire(0) is may_retry


def test_tokens_count_successes_and_all_retryable_failures() -> None:
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
    # The failure still counts if its retry did not start.
    budget.refund(1.0)
    assert budget.left == 9.0


def test_retry_is_denied_at_half_of_the_tokens() -> None:
    assert [Budget.tokens(4, ratio=1).acquire(n) for n in (1.999, 2.0)] == [True, False]
    budget = Budget.tokens(2, ratio=1)
    assert budget.charge(Slow()) is None
    assert budget.left == 1.0


@given(st.lists(st.tuples(st.sampled_from(['acquire', 'release']), st.integers(0, 40))))
def test_quota_and_tokens_stay_between_zero_and_the_maximum(steps: list[tuple[str, int]]) -> None:
    for budget, maximum in ((Budget.quota(50), 50), (Budget.tokens(30, ratio=0.3), 30)):
        for operation, n in steps:
            getattr(budget, operation)(n)
            assert 0 <= budget.left <= maximum


# Share


def test_share_allows_a_ratio_of_the_calls() -> None:
    budget = Budget.share(0.2, minimum_per_second=0, world=FakeWorld())
    assert (budget.left, budget.acquire(1)) == (0.0, False)
    for _ in range(14):
        budget.on_call()
    assert budget.left == pytest.approx(2.8)
    assert [budget.acquire(1) for _ in range(3)] == [True, True, False]
    budget.release(1)
    assert budget.acquire(1)
    assert not budget.acquire(1)


def test_default_minimum_is_one_retry_per_second_and_not_added_to_the_share() -> None:
    budget = Budget.share(0.2, world=FakeWorld())
    assert budget.left == 10.0
    budget.release(49)
    assert budget.left == 10.0
    budget.release(2)
    assert budget.left == pytest.approx(10.2)


def test_share_forgets_calls_and_retries_after_ten_seconds() -> None:
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
    # The two retries happened nine seconds after the first calls.
    world.advance(8.999)
    assert budget.left == 1.0
    world.advance(0.001)
    assert budget.left == 3.0
    world.advance(1)
    assert budget.left == 0.0


@pytest.mark.parametrize('pause', [10, 11, 19, 20, 25, 1e6, 1e15])
def test_share_forgets_everything_after_a_long_pause(pause: float) -> None:
    world = FakeWorld()
    world.advance(3)
    budget = Budget.share(0.5, minimum_per_second=0.1, world=world)
    for _ in range(10):
        budget.release(4)
        assert budget.acquire(1)
        world.advance(1)
    world.advance(pause)
    assert budget.left == 1.0


def test_time_of_a_share_stands_still_while_the_clock_is_behind() -> None:
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
    # The calls at 99 were counted in second 101, the latest reading of the clock.
    now = 111.0
    assert budget.left == 1.0


def test_share_refunds_a_retry_in_the_second_of_its_receipt() -> None:
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
    # Without the refund, the early retry would expire now.
    assert budget.left == 2.0
    world.advance(4)
    assert budget.left == 3.0
    budget.refund(late)
    assert budget.left == 3.0


@pytest.mark.parametrize(('pause', 'is_refunded'), [(9.999, True), (10.0, False), (11.0, False)])
def test_receipt_of_a_share_is_valid_for_ten_seconds(pause: float, is_refunded: bool) -> None:
    world = FakeWorld()
    budget = Budget.share(0.0, minimum_per_second=0.1, world=world)
    receipt = budget.charge(Slow())
    assert receipt is not None
    world.advance(pause)
    # An older retry has expired, so that another caller can take its place.
    assert budget.acquire(1) is not is_refunded
    budget.refund(receipt)
    assert budget.left == (1.0 if is_refunded else 0.0)


def test_share_ignores_successes_and_failures_without_retry() -> None:
    budget = Budget.share(0.5, minimum_per_second=0, world=FakeWorld())
    budget.on_success(None)
    budget.on_give_up()
    assert budget.left == 0.0
    budget.on_call()
    budget.on_call()
    assert (budget.left, budget.charge(Slow()), budget.charge(Slow())) == (1.0, 0.0, None)
    budget.on_success(0.0)
    assert budget.left == 0.0


def test_rounding_error_does_not_deny_a_retry() -> None:
    for calls in range(1, 300):
        budget = Budget.share(0.29, minimum_per_second=0, world=FakeWorld())
        budget.release(calls)
        assert budget.acquire(29 * calls // 100)
        assert not budget.acquire(1)


@given(
    st.lists(st.tuples(st.floats(0, 5), st.integers(0, 8), st.integers(0, 4)), max_size=60),
    st.sampled_from([0.0, 0.1, 1.0]),
)
def test_retries_in_ten_seconds_never_exceed_the_share_or_the_minimum(
    steps: list[tuple[float, int, int]], minimum_per_second: float
) -> None:
    world = FakeWorld()
    budget = Budget.share(0.2, minimum_per_second=minimum_per_second, world=world)
    calls = list[float]()
    retries = list[float]()
    for pause, call_count, failure_count in steps:
        world.advance(pause)
        for _ in range(call_count):
            budget.on_call()
            calls.append(world.now)
        for _ in range(failure_count):
            if budget.acquire(1):
                retries.append(world.now)
                # The window consists of the current second and the nine before it.
                start = world.now // 1 - 9
                share = 0.2 * len([time for time in calls if time >= start])
                allowed = max(share, minimum_per_second * 10)
                assert len([time for time in retries if time >= start]) <= allowed + 1e-6


# All models


def all_budgets() -> list[Budget]:
    return [
        Budget.quota(1000, cost=1),
        Budget.tokens(2000, ratio=0.001),
        Budget.share(0.0, minimum_per_second=100, world=FakeWorld()),
    ]


@pytest.mark.parametrize('budget', all_budgets(), ids=lambda budget: budget.limits())
def test_threads_never_acquire_more_than_the_budget(budget: Budget) -> None:
    granted = list[bool]()
    start = threading.Barrier(8)

    def acquire() -> None:
        start.wait()
        granted.extend([budget.acquire(1) for _ in range(400)])

    threads = [threading.Thread(target=acquire) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Of 2,000 tokens, the retry that would leave only half of them is denied.
    assert granted.count(True) in {999, 1000}
    assert len(granted) == 3200


def test_limits_describe_the_budget() -> None:
    assert Budget.quota(50).limits() == 'a quota of 50 for retries, 5 each, 10 after a timeout'
    assert (
        Budget.tokens(4, ratio=0.8).limits()
        == 'retries while more than half of 4 tokens are left, a success returns 0.8'
    )
    assert Budget.share(0.2).limits() == 'retries for 20 % of the calls, or 1 per second'


def test_acquire_and_release_default_to_one() -> None:
    budget = Budget.quota(50)
    assert budget.acquire()
    assert budget.acquire()
    assert budget.left == 48.0
    budget.release()
    assert budget.left == 49.0


@pytest.mark.parametrize(
    ('message', 'action'),
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
def test_number_out_of_range_is_a_value_error(message: str, action: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=rf'^{message}\b'):
        action()


def test_numbers_at_their_bounds_are_accepted() -> None:
    assert Budget.quota(5).left == 5.0
    assert Budget.quota(0.01, cost=0.01, timeout_cost=0.01).left == 0.01
    assert Budget.tokens(0.001, ratio=0.001).left == 0.001
    assert Budget.share(1.0, minimum_per_second=0).left == 0.0
    assert Budget.share(0.0, minimum_per_second=1e9).left == 1e10
    assert [Budget.quota(1e9).left, Budget.tokens(1e9, ratio=1e9).left] == [1e9, 1e9]


ACTIONS_WITH_A_NUMBER: list[Callable[[Any], object]] = [
    Budget.quota,
    Budget.share,
    lambda value: Budget.quota(50, cost=value),
    lambda value: Budget.quota(50, timeout_cost=value),
    lambda value: Budget.tokens(value, ratio=1),
    lambda value: Budget.tokens(4, ratio=value),
    lambda value: Budget.share(0.2, minimum_per_second=value),
    lambda value: Budget.quota(50).acquire(value),
    lambda value: Budget.quota(50).release(value),
]


@pytest.mark.parametrize('value', ['50', True, None])
@pytest.mark.parametrize('action', ACTIONS_WITH_A_NUMBER)
def test_value_that_is_not_a_number_is_a_type_error(
    action: Callable[[Any], object], value: object
) -> None:
    with pytest.raises(TypeError, match='must be a number'):
        action(value)


def test_abandoned_call_can_refund_its_retry_while_its_own_thread_has_the_lock() -> None:
    async def fail() -> Result[object, Down]:
        return Failure(Down())

    async def sleep(_seconds: float) -> None:
        await asyncio.sleep(0)

    budget = Budget.share(0.0, minimum_per_second=0.1)
    call = retry(budget=budget, world=World(sleep=sleep)).run(fail)
    call.send(None)
    assert budget.left == 0.0

    def trace(frame: FrameType, _event: str, _arg: object) -> None:
        # Simulates the garbage collector.
        if frame.f_code.co_name == '_advance':
            call.close()

    def acquire() -> None:
        sys.settrace(trace)
        results.append(budget.acquire())
        sys.settrace(None)

    results: list[bool] = []
    thread = threading.Thread(target=acquire, daemon=True)
    thread.start()
    thread.join(10)
    assert results == [True]
