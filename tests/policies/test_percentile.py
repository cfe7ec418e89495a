"""The percentile of the latencies that were seen last."""

import math
import re
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.policies._parts.percentile import Percentile, percentile

SECONDS = st.floats(0, 1e6)


def seen(
    rank: float, latencies: list[float], *, least: float = 0.0, calls: int = 1_000, minimum: int = 1
) -> Percentile:
    late = percentile(rank, least=least, calls=calls, minimum=minimum)
    for latency in latencies:
        late.record(latency)
    return late


@given(st.lists(SECONDS, min_size=1, max_size=60), st.integers(1, 100), st.integers(1, 40))
def test_it_is_the_nearest_rank_of_the_last_calls(
    latencies: list[float], percent: int, calls: int
) -> None:
    last = sorted(latencies[-calls:])
    # ceil of an exact fraction: so many percent of the calls are at it or below.
    expected = last[-(-percent * len(last) // 100) - 1]
    assert seen(percent / 100, latencies, calls=calls).seconds() == expected


def test_a_rank_that_is_a_rounding_error_too_high_is_not_the_next_one() -> None:
    # 0.07 * 100 is 7.000000000000001.
    assert seen(0.07, [float(n) for n in range(1, 101)]).seconds() == 7.0


def test_there_is_none_before_enough_calls_were_seen() -> None:
    late = seen(0.5, [1.0, 2.0], minimum=3)
    assert late.seconds() is None
    late.record(3.0)
    assert late.seconds() == 2.0


def test_twenty_calls_are_enough_and_a_hundredth_of_a_second_is_the_least() -> None:
    late = percentile(0.95)
    for _ in range(19):
        late.record(0.001)
    assert late.seconds() is None
    late.record(0.001)
    assert late.seconds() == 0.01


def test_a_thousand_calls_are_kept() -> None:
    late = percentile(1.0)
    late.record(9.0)
    for _ in range(999):
        late.record(1.0)
    assert late.seconds() == 9.0
    late.record(1.0)
    assert late.seconds() == 1.0


@pytest.mark.parametrize('strange', [-0.001, -math.inf, math.nan])
def test_what_a_clock_that_went_backwards_says_is_left_out(strange: float) -> None:
    late = seen(1.0, [strange])
    assert late.seconds() is None
    late.record(0.0)
    assert late.seconds() == 0.0


def test_it_says_what_it_is() -> None:
    assert str(percentile(0.95)) == '0.95 of the latencies seen (0.01 s at least)'


def test_threads_may_share_it() -> None:
    late = seen(0.5, [], calls=50)

    def see() -> None:
        for n in range(500):
            late.record(n / 7)

    threads = [Thread(target=see) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(late._sorted) == len(late._latencies) == 50
    assert late._sorted == sorted(late._latencies)


@pytest.mark.parametrize(
    ('wrong', 'says'),
    [
        ({'rank': 0.0}, 'rank must be a finite number, more than 0, 1 at most'),
        ({'rank': 1.01}, 'rank must be a finite number, more than 0, 1 at most'),
        ({'rank': math.nan}, 'rank must be'),
        ({'least': -1.0}, 'least must be a finite number, 0 or more'),
        ({'least': math.inf}, 'least must be'),
        ({'calls': 0}, 'calls must be 1 or more'),
        ({'minimum': 0}, 'minimum must be 1 or more'),
        (
            {'calls': 10, 'minimum': 11},
            'minimum must not exceed calls (10), the number of latencies that are kept, but it is 11.',
        ),
    ],
)
def test_a_number_out_of_range_is_a_value_error(wrong: dict[str, float], says: str) -> None:
    numbers = {'rank': 0.5, 'least': 0.0, 'calls': 10, 'minimum': 10} | wrong
    with pytest.raises(ValueError, match='^' + re.escape(says)):
        percentile(
            numbers['rank'],
            least=numbers['least'],
            calls=int(numbers['calls']),
            minimum=int(numbers['minimum']),
        )


def test_what_is_no_number_is_a_type_error() -> None:
    with pytest.raises(TypeError, match='rank must be a number'):
        percentile('0.95')  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  -- on purpose
