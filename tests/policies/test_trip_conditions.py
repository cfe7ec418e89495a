"""Trip conditions of a circuit, compared with simple models of their counters."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seamwise.policies._parts.trip_conditions import (
    BUCKETS,
    MAX_CALLS,
    ConsecutiveFailures,
    Counter,
    RatioInTime,
    RatioOfCalls,
    Trip,
    consecutive,
    ratio,
)

outcomes = st.lists(st.booleans(), max_size=60)
shares = st.sampled_from([0.01, 0.1, 0.3, 0.5, 0.75, 1.0])


def count_all(counter: Counter, has_failed: list[bool]) -> list[bool]:
    return [count(counter, failed, now=0.0) for failed in has_failed]


def count(counter: Counter, has_failed: bool, *, now: float) -> bool:
    if has_failed:
        return counter.count_failure(now)
    counter.count_success(now)
    return False


# Consecutive failures


def test_circuit_trips_at_the_configured_number_of_consecutive_failures() -> None:
    assert count_all(consecutive(3).counter(), [True] * 4) == [False, False, True, True]


def test_circuit_can_trip_at_the_first_failure() -> None:
    assert consecutive(1).counter().count_failure(0.0)


def test_success_resets_the_count_of_consecutive_failures() -> None:
    counter = consecutive(2).counter()
    assert count_all(counter, [True, False, True, True]) == [False, False, False, True]
    assert counter.failures == 2


@given(outcomes, st.integers(1, 5))
def test_consecutive_failures_are_those_after_the_last_success(
    has_failed: list[bool], limit: int
) -> None:
    counter = consecutive(limit).counter()
    for length, failed in enumerate(has_failed, start=1):
        tripped = count(counter, failed, now=0.0)
        recent = enumerate(reversed(has_failed[:length]))
        consecutive_failures = next((n for n, outcome in recent if not outcome), length)
        assert counter.failures == consecutive_failures
        assert tripped == (consecutive_failures >= limit)
        assert counter.is_clean == (consecutive_failures == 0)


def test_consecutive_counter_is_clean_if_a_success_would_change_nothing() -> None:
    counter = consecutive(2).counter()
    is_clean = [counter.is_clean]
    counter.count_failure(0.0)
    is_clean.append(counter.is_clean)
    counter.count_success(0.0)
    assert [*is_clean, counter.is_clean] == [True, False, True]


# Ratio of the last calls


@given(outcomes, shares, st.integers(1, 8), st.integers(0, 12))
def test_count_window_matches_a_list_of_the_last_calls(
    has_failed: list[bool], share: float, minimum: int, extra: int
) -> None:
    calls = minimum + extra
    counter = ratio(share, minimum=minimum, calls=calls).counter()
    for length, failed in enumerate(has_failed, start=1):
        tripped = count(counter, failed, now=0.0)
        last = has_failed[:length][-calls:]
        assert counter.failures == sum(last)
        assert tripped == (failed and len(last) >= minimum and sum(last) / len(last) >= share)


def test_circuit_trips_at_exactly_the_ratio() -> None:
    assert count_all(ratio(0.5, minimum=2, calls=10).counter(), [False, True]) == [False, True]
    assert count_all(ratio(0.51, minimum=2, calls=10).counter(), [False, True]) == [False, False]


def test_ratio_in_percent_is_reached_without_rounding_error() -> None:
    for failures in range(1, 100):
        counter = ratio(failures / 100, minimum=100, calls=100).counter()
        assert count_all(counter, [False] * (100 - failures) + [True] * failures)[-1]


def test_circuit_does_not_trip_below_the_minimum_number_of_calls() -> None:
    assert count_all(ratio(0.5, minimum=3, calls=10).counter(), [True] * 3) == [False, False, True]
    assert [ratio(0.5, minimum=1, calls=1).counter().count_failure(0.0)] == [True]


def test_success_that_reaches_the_minimum_does_not_trip_the_circuit() -> None:
    counter = ratio(0.5, minimum=3, calls=3).counter()
    assert count_all(counter, [True, True, False]) == [False, False, False]
    assert counter.count_failure(0.0)


def test_calls_outside_the_count_window_do_not_count() -> None:
    counter = ratio(1.0, minimum=3, calls=3).counter()
    assert count_all(counter, [False, True, True, True]) == [False, False, False, True]


def test_counter_of_a_ratio_is_never_clean() -> None:
    assert not ratio(0.5, minimum=1, calls=1).counter().is_clean
    assert not ratio(0.5, minimum=1, window=1.0).counter().is_clean


# Ratio in a time window

timed_outcomes = st.lists(
    st.tuples(st.sampled_from([0, 1, 1, 2, 3, 25]), st.booleans()), max_size=60
)  # pauses are in eighths of a second


@given(timed_outcomes, shares, st.integers(1, 6), st.sampled_from([0.0, -1000.0, 123456.75]))
@example([(0, True), (9, True), (1, True)], 1.0, 3, 0.0)
@example([(0, False), (1, False), (1, True)], 0.5, 1, 0.0)
def test_time_window_matches_a_list_of_the_calls_in_it(
    steps: list[tuple[int, bool]], share: float, minimum: int, start: float
) -> None:
    window = 2.5  # Each bucket is a quarter of a second wide.
    counter = ratio(share, minimum=minimum, window=window).counter()
    now, calls = start, list[tuple[float, bool]]()
    for eighths, failed in steps:
        now += eighths / 8
        tripped = count(counter, failed, now=now)
        calls.append((now, failed))
        in_window = [failed for time, failed in calls if time // 0.25 > now // 0.25 - BUCKETS]
        assert counter.failures == sum(in_window)
        assert tripped == (
            failed and len(in_window) >= minimum and sum(in_window) / len(in_window) >= share
        )


@given(st.floats(0, 1e6), st.floats(0, 1000), st.floats(0.001, 1000))
def test_call_expires_between_nine_tenths_of_the_window_and_the_whole_window(
    start: float, gap: float, window: float
) -> None:
    counter = ratio(1.0, minimum=2, window=window).counter()
    counter.count_failure(start)
    tripped = counter.count_failure(start + gap)
    if gap < window * 0.899:
        assert tripped
    if gap > window * 1.001:
        assert not tripped


def test_call_is_not_counted_after_the_whole_window() -> None:
    counter = ratio(0.5, minimum=1, window=10.0).counter()
    counter.count_failure(0.0)
    counter.count_success(9.75)
    assert counter.failures == 1
    counter.count_success(10.0)
    assert counter.failures == 0


def test_calls_at_the_same_time_share_a_bucket() -> None:
    counter = ratio(1.0, minimum=3, window=10.0).counter()
    assert [counter.count_failure(5.0) for _ in range(3)] == [False, False, True]


def test_calls_are_counted_in_the_latest_bucket_if_the_clock_goes_back() -> None:
    counter = ratio(1.0, minimum=3, window=10.0).counter()
    assert [counter.count_failure(now) for now in (100.0, 50.0, 101.0)] == [False, False, True]


def test_time_window_has_a_fixed_number_of_buckets() -> None:
    counter = RatioInTime(1.0, 1, 1.0).counter()
    for milliseconds in range(10_000):
        counter.count_success(milliseconds / 1000)
    assert len(counter._buckets) == BUCKETS
    assert all(a.number < b.number for a, b in pairwise(counter._buckets))


# Constructors


def test_trip_condition_creates_independent_counters() -> None:
    for trip in (consecutive(2), ratio(1.0, minimum=1, calls=2), ratio(1.0, minimum=1, window=2.0)):
        first = trip.counter()
        first.count_failure(0.0)
        assert trip.counter() is not first
        assert (first.failures, trip.counter().failures) == (1, 0)


def test_trip_condition_is_an_immutable_hashable_value() -> None:
    assert consecutive(5) == ConsecutiveFailures(5)
    assert ratio(0.5, minimum=20, window=30) == RatioInTime(0.5, 20, 30.0)
    assert ratio(1, minimum=20, calls=100) == RatioOfCalls(1.0, 20, 100)
    assert len({consecutive(5), consecutive(5), consecutive(6)}) == 2
    with pytest.raises(AttributeError):
        consecutive(5).failures = 6  # type: ignore[union-attr, misc]  # pyright: ignore[reportAttributeAccessIssue]  # invalid on purpose: it is frozen


@pytest.mark.parametrize(
    ('trip', 'expected'),
    [
        (consecutive(1), 'one failure'),
        (consecutive(2), '2 failures in a row'),
        (ratio(0.07, minimum=20, calls=100), '7 % failures in the last 100 calls, of 20 at least'),
        (ratio(0.5, minimum=20, window=0.5), '50 % failures in the calls of 0.5 s, of 20 at least'),
    ],
)
def test_str_describes_the_trip_condition(trip: Trip, expected: str) -> None:
    assert str(trip) == expected


def test_options_at_their_bounds_are_accepted() -> None:
    assert ratio(1.0, minimum=MAX_CALLS, calls=MAX_CALLS) == RatioOfCalls(1.0, 1_000_000, 1_000_000)
    assert ratio(1e-9, minimum=1, calls=1) == RatioOfCalls(1e-9, 1, 1)
    assert ratio(0.5, minimum=1, window=0.001) == RatioInTime(0.5, 1, 0.001)
    assert ratio(0.5, minimum=1, window=1e9) == RatioInTime(0.5, 1, 1e9)


def test_number_of_consecutive_failures_must_be_a_positive_integer() -> None:
    for failures in (0, -1):
        with pytest.raises(ValueError, match=r'^consecutive\(failures\) must be 1 or more'):
            consecutive(failures)
    for invalid in (True, 2.0, '5', None):
        with pytest.raises(TypeError, match=r'^consecutive\(failures\) must be a whole number'):
            consecutive(invalid)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # invalid on purpose


@pytest.mark.parametrize('share', [0.0, -0.5, 1.01, 50, float('nan'), float('inf')])
def test_ratio_must_be_above_zero_and_at_most_one(share: float) -> None:
    with pytest.raises(
        ValueError, match=r'^ratio\(share\) must be a finite number, more than 0, 1 at most'
    ):
        ratio(share, minimum=20, window=30.0)


@pytest.mark.parametrize('window', [0.0, 0.0009, -1.0, 1e9 + 1, float('nan'), float('inf')])
def test_window_must_be_a_positive_finite_number(window: float) -> None:
    with pytest.raises(
        ValueError, match=r'^window must be a finite number, 0\.001 or more, 1e\+09 at most'
    ):
        ratio(0.5, minimum=20, window=window)


def test_minimum_must_be_a_positive_integer() -> None:
    with pytest.raises(ValueError, match=r'^minimum must be 1 or more, not 0'):
        ratio(0.5, minimum=0, window=30.0)
    with pytest.raises(TypeError, match=r'^minimum must be a whole number'):
        ratio(0.5, minimum=2.5, window=30.0)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]  # invalid on purpose


def test_calls_must_be_at_least_the_minimum() -> None:
    with pytest.raises(ValueError, match=r'^calls must be 20 or more, not 19'):
        ratio(0.5, minimum=20, calls=19)
    with pytest.raises(ValueError, match=r'^calls must be 1 or more, not 0'):
        ratio(0.5, minimum=1, calls=0)
    with pytest.raises(TypeError, match=r'^calls must be a whole number, not False'):
        ratio(0.5, minimum=1, calls=False)


def test_calls_must_not_exceed_a_million() -> None:
    with pytest.raises(ValueError, match=r'^calls must be at most 1000000, not 1000001'):
        ratio(0.5, minimum=20, calls=MAX_CALLS + 1)


def test_ratio_requires_exactly_one_of_calls_and_window() -> None:
    with pytest.raises(TypeError, match=r'^ratio\(\) requires either window=seconds or calls=n'):
        ratio(0.5, minimum=20)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]  # invalid on purpose
    with pytest.raises(TypeError, match=r'^ratio\(\) requires either window=seconds or calls=n'):
        ratio(0.5, minimum=20, calls=100, window=30.0)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]  # invalid on purpose
