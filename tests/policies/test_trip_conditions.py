"""When a circuit opens: each counter against a list of all that happened."""

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

happenings = st.lists(st.booleans(), max_size=60)
shares = st.sampled_from([0.01, 0.1, 0.3, 0.5, 0.75, 1.0])


def count_all(counter: Counter, has_failed: list[bool]) -> list[bool]:
    return [counted(counter, failed, now=0.0) for failed in has_failed]


def counted(counter: Counter, has_failed: bool, *, now: float) -> bool:
    if has_failed:
        return counter.count_failure(now)
    counter.count_success(now)
    return False


# In a row


def test_the_last_of_so_many_failures_in_a_row_trips() -> None:
    assert count_all(consecutive(3).counter(), [True] * 4) == [False, False, True, True]


def test_one_failure_may_be_enough() -> None:
    assert consecutive(1).counter().count_failure(0.0)


def test_a_success_starts_the_count_again() -> None:
    counter = consecutive(2).counter()
    assert count_all(counter, [True, False, True, True]) == [False, False, False, True]
    assert counter.failures == 2


@given(happenings, st.integers(1, 5))
def test_failures_in_a_row_are_counted_from_the_last_success_on(
    has_failed: list[bool], limit: int
) -> None:
    counter = consecutive(limit).counter()
    for at, failed in enumerate(has_failed, start=1):
        tripped = counted(counter, failed, now=0.0)
        row = next((n for n, earlier in enumerate(reversed(has_failed[:at])) if not earlier), at)
        assert counter.failures == row
        assert tripped == (row >= limit)
        assert counter.is_clean == (row == 0)


def test_a_row_counter_is_clean_where_a_success_would_change_nothing() -> None:
    counter = consecutive(2).counter()
    seen = [counter.is_clean]
    counter.count_failure(0.0)
    seen.append(counter.is_clean)
    counter.count_success(0.0)
    assert [*seen, counter.is_clean] == [True, False, True]


# A share of the last calls


@given(happenings, shares, st.integers(1, 8), st.integers(0, 12))
def test_a_share_of_the_last_calls_is_that_of_a_list_of_them(
    has_failed: list[bool], share: float, minimum: int, more: int
) -> None:
    calls = minimum + more
    counter = ratio(share, minimum=minimum, calls=calls).counter()
    for at, failed in enumerate(has_failed, start=1):
        tripped = counted(counter, failed, now=0.0)
        last = has_failed[:at][-calls:]
        assert counter.failures == sum(last)
        assert tripped == (failed and len(last) >= minimum and sum(last) / len(last) >= share)


def test_a_share_that_is_just_reached_trips() -> None:
    assert count_all(ratio(0.5, minimum=2, calls=10).counter(), [False, True]) == [False, True]
    assert count_all(ratio(0.51, minimum=2, calls=10).counter(), [False, True]) == [False, False]


def test_a_share_as_it_is_written_is_reached_by_that_share() -> None:
    for failures in range(1, 100):
        counter = ratio(failures / 100, minimum=100, calls=100).counter()
        assert count_all(counter, [False] * (100 - failures) + [True] * failures)[-1]


def test_below_the_minimum_nothing_trips() -> None:
    assert count_all(ratio(0.5, minimum=3, calls=10).counter(), [True] * 3) == [False, False, True]
    assert [ratio(0.5, minimum=1, calls=1).counter().count_failure(0.0)] == [True]


def test_a_success_does_not_trip_even_where_it_makes_the_minimum_full() -> None:
    counter = ratio(0.5, minimum=3, calls=3).counter()
    assert count_all(counter, [True, True, False]) == [False, False, False]
    assert counter.count_failure(0.0)


def test_what_has_left_the_ring_counts_no_more() -> None:
    counter = ratio(1.0, minimum=3, calls=3).counter()
    assert count_all(counter, [False, True, True, True]) == [False, False, False, True]


def test_a_counter_of_shares_wants_to_know_of_every_success() -> None:
    assert not ratio(0.5, minimum=1, calls=1).counter().is_clean
    assert not ratio(0.5, minimum=1, window=1.0).counter().is_clean


# A share of the calls of a time

ticks = st.lists(
    st.tuples(st.sampled_from([0, 1, 1, 2, 3, 25]), st.booleans()), max_size=60
)  # eighths of a second


@given(ticks, shares, st.integers(1, 6), st.sampled_from([0.0, -1000.0, 123456.75]))
@example([(0, True), (9, True), (1, True)], 1.0, 3, 0.0)
@example([(0, False), (1, False), (1, True)], 0.5, 1, 0.0)
def test_a_share_in_time_is_that_of_a_list_of_the_calls(
    steps: list[tuple[int, bool]], share: float, minimum: int, begin: float
) -> None:
    window = 2.5  # a bucket is a quarter of a second wide
    counter = ratio(share, minimum=minimum, window=window).counter()
    now, happened = begin, list[tuple[float, bool]]()
    for eighths, failed in steps:
        now += eighths / 8
        tripped = counted(counter, failed, now=now)
        happened.append((now, failed))
        inside = [earlier for at, earlier in happened if at // 0.25 > now // 0.25 - BUCKETS]
        assert counter.failures == sum(inside)
        assert tripped == (failed and len(inside) >= minimum and sum(inside) / len(inside) >= share)


@given(st.floats(0, 1e6), st.floats(0, 1000), st.floats(0.001, 1000))
def test_a_call_counts_for_nine_tenths_of_the_window_at_least_and_never_longer_than_it(
    begin: float, gap: float, window: float
) -> None:
    counter = ratio(1.0, minimum=2, window=window).counter()
    counter.count_failure(begin)
    tripped = counter.count_failure(begin + gap)
    if gap < window * 0.899:
        assert tripped
    if gap > window * 1.001:
        assert not tripped


def test_what_is_a_whole_window_old_is_forgotten() -> None:
    counter = ratio(0.5, minimum=1, window=10.0).counter()
    counter.count_failure(0.0)
    counter.count_success(9.75)
    assert counter.failures == 1
    counter.count_success(10.0)
    assert counter.failures == 0


def test_calls_at_one_moment_share_a_bucket() -> None:
    counter = ratio(1.0, minimum=3, window=10.0).counter()
    assert [counter.count_failure(5.0) for _ in range(3)] == [False, False, True]


def test_a_clock_that_goes_back_counts_on_where_it_was() -> None:
    counter = ratio(1.0, minimum=3, window=10.0).counter()
    assert [counter.count_failure(at) for at in (100.0, 50.0, 101.0)] == [False, False, True]


def test_a_window_holds_few_buckets_however_many_calls_there_are() -> None:
    counter = RatioInTime(1.0, 1, 1.0).counter()
    for at in range(10_000):
        counter.count_success(at / 1000)
    assert len(counter._buckets) == BUCKETS
    assert all(one.number < other.number for one, other in pairwise(counter._buckets))


# As they are made


def test_trips_are_descriptions_and_each_counter_is_a_fresh_one() -> None:
    for trip in (consecutive(2), ratio(1.0, minimum=1, calls=2), ratio(1.0, minimum=1, window=2.0)):
        first = trip.counter()
        first.count_failure(0.0)
        assert trip.counter() is not first
        assert (first.failures, trip.counter().failures) == (1, 0)


def test_a_description_is_a_value() -> None:
    assert consecutive(5) == ConsecutiveFailures(5)
    assert ratio(0.5, minimum=20, window=30) == RatioInTime(0.5, 20, 30.0)
    assert ratio(1, minimum=20, calls=100) == RatioOfCalls(1.0, 20, 100)
    assert len({consecutive(5), consecutive(5), consecutive(6)}) == 2
    with pytest.raises(AttributeError):
        consecutive(5).failures = 6  # type: ignore[union-attr, misc]  # pyright: ignore[reportAttributeAccessIssue]  # it is frozen


@pytest.mark.parametrize(
    ('trip', 'said'),
    [
        (consecutive(1), 'one failure'),
        (consecutive(2), '2 failures in a row'),
        (ratio(0.07, minimum=20, calls=100), '7 % failures in the last 100 calls, of 20 at least'),
        (ratio(0.5, minimum=20, window=0.5), '50 % failures in the calls of 0.5 s, of 20 at least'),
    ],
)
def test_a_trip_says_what_it_is(trip: Trip, said: str) -> None:
    assert str(trip) == said


def test_the_ends_of_what_is_allowed() -> None:
    assert ratio(1.0, minimum=MAX_CALLS, calls=MAX_CALLS) == RatioOfCalls(1.0, 1_000_000, 1_000_000)
    assert ratio(1e-9, minimum=1, calls=1) == RatioOfCalls(1e-9, 1, 1)
    assert ratio(0.5, minimum=1, window=0.001) == RatioInTime(0.5, 1, 0.001)
    assert ratio(0.5, minimum=1, window=1e9) == RatioInTime(0.5, 1, 1e9)


def test_no_failures_in_a_row_is_a_mistake() -> None:
    for none in (0, -1):
        with pytest.raises(ValueError, match=r'^consecutive\(failures\) must be 1 or more'):
            consecutive(none)
    for wrong in (True, 2.0, '5', None):
        with pytest.raises(TypeError, match=r'^consecutive\(failures\) must be a whole number'):
            consecutive(wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # on purpose


@pytest.mark.parametrize('share', [0.0, -0.5, 1.01, 50, float('nan'), float('inf')])
def test_a_share_is_above_nothing_and_at_most_all(share: float) -> None:
    with pytest.raises(
        ValueError, match=r'^ratio\(share\) must be a finite number, more than 0, 1 at most'
    ):
        ratio(share, minimum=20, window=30.0)


@pytest.mark.parametrize('window', [0.0, 0.0009, -1.0, 1e9 + 1, float('nan'), float('inf')])
def test_a_window_has_a_length(window: float) -> None:
    with pytest.raises(
        ValueError, match=r'^window must be a finite number, 0\.001 or more, 1e\+09 at most'
    ):
        ratio(0.5, minimum=20, window=window)


def test_a_minimum_is_a_number_of_calls() -> None:
    with pytest.raises(ValueError, match=r'^minimum must be 1 or more, not 0'):
        ratio(0.5, minimum=0, window=30.0)
    with pytest.raises(TypeError, match=r'^minimum must be a whole number'):
        ratio(0.5, minimum=2.5, window=30.0)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]  # on purpose


def test_a_window_that_never_holds_the_minimum_is_a_mistake() -> None:
    with pytest.raises(ValueError, match=r'^calls must be 20 or more, not 19'):
        ratio(0.5, minimum=20, calls=19)
    with pytest.raises(ValueError, match=r'^calls must be 1 or more, not 0'):
        ratio(0.5, minimum=1, calls=0)
    with pytest.raises(TypeError, match=r'^calls must be a whole number, not False'):
        ratio(0.5, minimum=1, calls=False)


def test_a_window_of_too_many_calls_is_a_mistake() -> None:
    with pytest.raises(ValueError, match=r'^calls must be at most 1000000, not 1000001'):
        ratio(0.5, minimum=20, calls=MAX_CALLS + 1)


def test_a_ratio_is_of_calls_or_of_a_time() -> None:
    with pytest.raises(TypeError, match=r'^ratio\(\) requires either window=seconds or calls=n'):
        ratio(0.5, minimum=20)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]  # on purpose
    with pytest.raises(TypeError, match=r'^ratio\(\) requires either window=seconds or calls=n'):
        ratio(0.5, minimum=20, calls=100, window=30.0)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]  # on purpose
