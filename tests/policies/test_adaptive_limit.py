"""Adaptive concurrency limits, alone and in a bulkhead."""

from collections.abc import Callable
from contextlib import suppress
from math import inf, nan
from typing import Any

import pytest
from typing_extensions import override

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.policies._parts.adaptive_limit import AdaptiveLimit, adaptive
from seamwise.policies.bulkhead import bulkhead
from seamwise.policies.errors import BulkheadFull
from seamwise.testing import FakeWorld
from tests.policies.errors import Down, Wrong


class Calls:
    """Sequential calls that are reported to an adaptive limit."""

    def __init__(self, adaptive_limit: AdaptiveLimit) -> None:
        self.adaptive_limit = adaptive_limit
        self.now = 0.0

    def succeed(self, *seconds: float, in_flight: int = 1000) -> int:
        for duration in seconds:
            started_at, self.now = self.now, self.now + duration
            self.adaptive_limit.on_success(started_at, self.now, in_flight)
        return self.adaptive_limit.limit

    def fail(self, seconds: float = 1.0) -> int:
        started_at, self.now = self.now, self.now + seconds
        self.adaptive_limit.on_failure(started_at, self.now)
        return self.adaptive_limit.limit


def aimd_calls(minimum: int = 1, maximum: int = 100, **options: Any) -> Calls:
    return Calls(adaptive(minimum, maximum, **options).new_limit())


def gradient_calls(minimum: int = 1, maximum: int = 100, **options: Any) -> Calls:
    return Calls(adaptive(minimum, maximum, by='gradient', **options).new_limit())


def test_limit_starts_at_the_minimum_by_default() -> None:
    assert adaptive(3, 9).new_limit().limit == 3
    assert adaptive(3, 9, start=7).new_limit().limit == 7


def test_aimd_limit_rises_by_one_after_a_fast_round() -> None:
    calls = aimd_calls(start=12)
    assert calls.succeed(*[1.0] * 11) == 12
    assert calls.succeed(1.0) == 13
    assert calls.succeed(*[1.0] * 12) == 13
    assert calls.succeed(1.0) == 14


def test_round_has_at_least_ten_calls() -> None:
    calls = aimd_calls(start=2)
    assert calls.succeed(*[1.0] * 9) == 2
    assert calls.succeed(1.0) == 3


def test_aimd_limit_rises_only_if_half_of_it_is_in_use() -> None:
    calls = aimd_calls(start=10)
    assert calls.succeed(*[1.0] * 50, in_flight=4) == 10
    assert calls.succeed(*[1.0] * 9, in_flight=4) == 10
    assert calls.succeed(1.0, in_flight=5) == 11


def test_use_of_the_limit_in_the_previous_round_does_not_count() -> None:
    calls = aimd_calls(start=10)
    assert calls.succeed(*[1.0] * 10, in_flight=10) == 11
    assert calls.succeed(*[1.0] * 11, in_flight=5) == 11


def test_limit_stays_between_minimum_and_maximum() -> None:
    calls = aimd_calls(4, 6)
    assert calls.succeed(*[1.0] * 100) == 6
    for _ in range(100):
        assert calls.fail() >= 4
    assert calls.adaptive_limit.limit == 4


def test_aimd_limit_falls_by_a_tenth_after_a_round_of_more_than_twice_the_usual_latency() -> None:
    calls = aimd_calls(start=50, maximum=50)
    calls.succeed(*[1.0] * 50)
    assert calls.succeed(*[2.0] * 50) == 50
    assert calls.succeed(*[2.0] * 49) == 50
    assert calls.succeed(2.1) == 45


def test_single_slow_call_does_not_cut_the_limit() -> None:
    calls = aimd_calls(start=50, maximum=50)
    assert calls.succeed(*[1.0] * 50, 40.0, *[1.0] * 49) == 50


def test_option_slow_sets_the_latency_of_a_slow_round() -> None:
    calls = aimd_calls(start=50, maximum=50, slow=0.5)
    assert calls.succeed(*[0.5] * 50) == 50
    assert calls.succeed(*[0.51] * 50) == 45


def test_failure_of_a_call_from_before_a_cut_does_not_cut_the_limit_again() -> None:
    limit = adaptive(1, 100, start=100).new_limit()
    for _ in range(20):
        limit.on_failure(started_at=0.0, ended_at=5.0)
    assert limit.limit == 90
    limit.on_failure(started_at=4.999, ended_at=6.0)
    assert limit.limit == 90
    limit.on_failure(started_at=5.0, ended_at=6.0)
    assert limit.limit == 81


def test_call_from_before_a_round_is_not_counted_in_it() -> None:
    limit = adaptive(1, 100, start=20).new_limit()
    limit.on_failure(started_at=0.0, ended_at=5.0)
    for _ in range(100):
        limit.on_success(4.0, 6.0, 20)
    assert limit.limit == 18
    for _ in range(18):
        limit.on_success(5.0, 6.0, 20)
    assert limit.limit == 19


def test_failure_cuts_the_limit_after_the_clock_went_back() -> None:
    limit = adaptive(1, 100, start=100).new_limit()
    limit.on_failure(started_at=5000.0, ended_at=5001.0)
    limit.on_failure(started_at=1.0, ended_at=2.0)
    assert limit.limit == 81


@pytest.mark.parametrize('new_calls', [aimd_calls, gradient_calls])
def test_latency_of_a_clock_that_stands_still_or_goes_back_is_ignored(
    new_calls: Callable[..., Calls],
) -> None:
    calls = new_calls(start=20)
    assert calls.succeed(*[0.0] * 100, *[-1.0] * 100) == 20
    calls.now = 1000.0
    assert calls.succeed(*[1.0] * 19) == 20
    calls.succeed(1.0)
    assert calls.adaptive_limit._unrounded > 20


def test_probe_round_halves_the_limit_after_every_fiftieth_round_and_then_restores_it() -> None:
    calls = aimd_calls(40, 400)
    limits = [calls.adaptive_limit.limit]
    while len(limits) < 103:
        round_started_at = calls.adaptive_limit._round_started_at
        while calls.adaptive_limit._round_started_at == round_started_at:
            calls.succeed(1.0)
        limits.append(calls.adaptive_limit.limit)
    assert limits[:50] == list(range(40, 90))
    assert limits[50:53] == [45, 90, 91]
    assert limits[101:103] == [70, 140]


def test_limit_that_is_hardly_used_is_not_halved_and_measures_the_usual_latency() -> None:
    calls = aimd_calls(start=100, maximum=100)
    limits = {calls.succeed(*[1.0] * 100, in_flight=5) for _ in range(49)}
    limits.add(calls.succeed(*[3.0] * 100, in_flight=5))
    assert calls.adaptive_limit._usual_latency == 3.0
    limits |= {calls.succeed(*[3.0] * 100, in_flight=5) for _ in range(49)}
    assert max(limits) == 100
    assert min(limits) >= 90, 'one slow round, before it was measured, cuts the limit'


def test_probe_round_measures_a_higher_usual_latency() -> None:
    calls = aimd_calls(1, 1)
    calls.succeed(*[1.0] * 10 * 49)
    calls.succeed(*[5.0] * 20)
    assert calls.adaptive_limit._usual_latency == 5.0


def test_failed_probe_round_does_not_restore_the_limit() -> None:
    calls = aimd_calls(start=100, maximum=100)
    calls.succeed(*[1.0] * 100 * 50)
    assert calls.adaptive_limit.limit == 50
    assert calls.fail() == 45
    calls.succeed(*[1.0] * 45)
    assert calls.adaptive_limit.limit == 46


def test_gradient_limit_adds_its_square_root_for_a_queue() -> None:
    calls = gradient_calls(start=16)
    calls.succeed(*[1.0] * 16)
    assert calls.adaptive_limit._unrounded == pytest.approx(16 + 4 * 0.2)


def test_gradient_limit_falls_with_the_ratio_of_usual_latency_to_latency() -> None:
    calls = gradient_calls(start=100, maximum=100)
    calls.succeed(*[1.0] * 100)
    calls.succeed(*[2.0] * 100)
    assert calls.adaptive_limit._unrounded == pytest.approx(80 + 0.2 * (100 * 1.5 / 2 + 10))


def test_gradient_limit_falls_by_at_most_half_in_one_round_before_smoothing() -> None:
    calls = gradient_calls(start=100, maximum=100)
    calls.succeed(*[1.0] * 100)
    calls.succeed(*[1000.0] * 100)
    assert calls.adaptive_limit._unrounded == pytest.approx(80 + 0.2 * (50 + 10))


def test_gradient_limit_changes_only_if_half_of_it_is_in_use() -> None:
    calls = gradient_calls(start=10)
    calls.succeed(*[1.0] * 10, in_flight=4)
    assert calls.adaptive_limit._unrounded == 10.0
    calls.succeed(*[1.0] * 10, in_flight=5)
    assert calls.adaptive_limit._unrounded > 10.0


@pytest.mark.parametrize('by', ['aimd', 'gradient'])
def test_limit_converges_to_the_capacity_of_a_service(by: Any) -> None:
    # Up to 20 concurrent calls take 0.1 s each; beyond that, the latency is proportional to them.
    calls = Calls(adaptive(1, 200, by=by).new_limit())
    limits: list[int] = []
    for _ in range(600):
        in_flight = calls.adaptive_limit.limit
        started_at, calls.now = calls.now, calls.now + 0.1 * max(1.0, in_flight / 20)
        for _ in range(in_flight):
            calls.adaptive_limit.on_success(started_at, calls.now, in_flight)
        limits.append(calls.adaptive_limit.limit)
    assert min(limits[300:]) >= 15
    assert max(limits[300:]) <= 45


class AdaptiveBulkhead:
    """A bulkhead with an adaptive limit for each user, and calls of a given duration."""

    def __init__(self, **options: Any) -> None:
        self.world = FakeWorld()
        self.user = ''
        self.guard = bulkhead(
            adaptive(1, 100, start=10), name='x', key=lambda: self.user, world=self.world, **options
        )

    def call(self, outcome: Any, seconds: float = 1.0) -> None:
        def op() -> Any:
            self.world.advance(seconds)
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        with suppress(ZeroDivisionError, KeyboardInterrupt):
            self.guard.run_sync(op)

    def limit(self) -> int:
        """Return the current limit, found by calls that are nested until one is refused."""
        errors: list[BulkheadFull] = []

        def op(depth: int) -> Result[int, BulkheadFull]:
            result: Result[int, BulkheadFull] = self.guard.run_sync(lambda: op(depth + 1))
            if isinstance(result, Failure) and not errors:
                errors.append(result.swap().unwrap())
            return Success(depth)

        op(0)
        return errors[0].limit


def test_bulkhead_admits_as_many_calls_as_its_adaptive_limit() -> None:
    guarded = AdaptiveBulkhead()
    assert guarded.limit() == 10
    guarded.call(Failure(Down()))
    assert guarded.limit() == 9


@pytest.mark.parametrize(
    'outcome',
    [
        Failure(Wrong()),
        Failure('text'),
        Failure(('a', 1)),
        ZeroDivisionError(),
        KeyboardInterrupt(),
        Success(1),
    ],
)
def test_outcome_that_does_not_count_against_the_service_does_not_cut_the_limit(
    outcome: object,
) -> None:
    guarded = AdaptiveBulkhead()
    guarded.call(outcome, seconds=1000.0)
    assert guarded.limit() == 10


def test_round_of_successes_raises_the_limit_of_a_bulkhead() -> None:
    guarded = AdaptiveBulkhead()
    for _ in range(9):
        guarded.call(Success(1))
    assert guarded.limit() == 10
    # One call at a time uses less than half of a limit of ten.
    guarded.call(Success(1))
    assert guarded.limit() == 10
    world = FakeWorld()
    guard = bulkhead(adaptive(1, 2), name='x', world=world)

    def op() -> Success[int]:
        world.advance(1.0)
        return Success(1)

    for _ in range(10):
        assert guard.run_sync(lambda: guard.run_sync(op)) == Failure(
            BulkheadFull('x', 'tool', '', 1, 0.0)
        )
    for _ in range(10):
        assert guard.run_sync(op) == Success(1)
    assert guard.run_sync(lambda: guard.run_sync(op)) == Success(1)


class Faulty(TaggedError, category=Category.TIMEOUT):
    """An error with a property that raises."""

    @property
    @override
    def category(self) -> Category:
        raise LookupError


def test_permit_is_released_if_a_property_of_the_error_raises() -> None:
    guard = bulkhead(adaptive(1, 1), name='x')
    for _ in range(2):
        with pytest.raises(LookupError):
            guard.run_sync(lambda: Failure(Faulty()))
    assert guard.run_sync(lambda: Success(1)) == Success(1)


def test_each_key_has_a_limit_that_survives_while_the_key_is_idle() -> None:
    guarded = AdaptiveBulkhead()
    guarded.user = 'a'
    guarded.call(Failure(Down()))
    guarded.user = 'b'
    assert guarded.limit() == 10
    guarded.user = 'a'
    assert guarded.limit() == 9
    (layer,) = guarded.guard._layers
    assert vars(layer)['_compartments'] == {}


def test_limit_of_the_key_that_is_idle_longest_is_evicted() -> None:
    guarded = AdaptiveBulkhead()
    for number in range(10_001):
        guarded.user = f'{number}'
        guarded.call(Failure(Down()))
    (layer,) = guarded.guard._layers
    assert len(vars(layer)['_stored_limits']) == 10_000
    guarded.user = '0'
    assert guarded.limit() == 10
    guarded.user = '2'
    assert guarded.limit() == 9


@pytest.mark.parametrize(
    ('options', 'error_type', 'message'),
    [
        ({'minimum': 0}, ValueError, 'minimum must be 1 or more'),
        ({'minimum': 1.5}, TypeError, 'minimum must be a whole number'),
        ({'maximum': 2}, ValueError, 'maximum must be 3 or more'),
        ({'by': 'guess'}, ValueError, "by must be one of 'aimd', 'gradient', not 'guess'"),
        ({'start': 2}, ValueError, r'start must be between minimum and maximum \(3 to 9\), not 2'),
        ({'start': 10}, ValueError, 'start must be'),
        ({'start': 4.5}, TypeError, 'start must be a whole number'),
        ({'slow': 0}, ValueError, 'slow must be a finite number, more than 0'),
        ({'slow': nan}, ValueError, 'slow must be'),
        ({'slow': inf}, ValueError, 'slow must be'),
        ({'slow': 1.1e9}, ValueError, 'slow must be'),
        ({'slow': 1, 'by': 'gradient'}, ValueError, "slow requires by='aimd'"),
    ],
)
def test_option_out_of_range_is_an_error(
    options: dict[str, Any], error_type: type[Exception], message: str
) -> None:
    bounds: dict[str, Any] = {'minimum': 3, 'maximum': 9}
    with pytest.raises(error_type, match=f'^{message}'):
        adaptive(**bounds | options)


def test_options_at_their_bounds_are_accepted() -> None:
    assert str(adaptive(1, 1, start=1)) == '1 to 1 (aimd)'
    assert str(adaptive(3, 9, start=9, by='gradient')) == '3 to 9 (gradient)'
    assert adaptive(3, 9, start=3, slow=1e9).slow == 1e9
