"""Percentile of the most recent latencies."""

import math
import re
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.policies._parts.percentile import Percentile, percentile

SECONDS = st.floats(0, 1e6)


def percentile_of(
    rank: float, latencies: list[float], *, least: float = 0.0, calls: int = 1_000, minimum: int = 1
) -> Percentile:
    result = percentile(rank, least=least, calls=calls, minimum=minimum)
    for latency in latencies:
        result.record(latency)
    return result


@given(st.lists(SECONDS, min_size=1, max_size=60), st.integers(1, 100), st.integers(1, 40))
def test_percentile_is_the_nearest_rank_of_the_last_calls(
    latencies: list[float], percent: int, calls: int
) -> None:
    last = sorted(latencies[-calls:])
    # The ceiling of an exact fraction: `percent` % of the calls are not above the result.
    expected = last[-(-percent * len(last) // 100) - 1]
    assert percentile_of(percent / 100, latencies, calls=calls).seconds() == expected


def test_rounding_error_does_not_raise_the_rank() -> None:
    # 0.07 * 100 is 7.000000000000001.
    assert percentile_of(0.07, [float(n) for n in range(1, 101)]).seconds() == 7.0


def test_percentile_is_none_below_the_minimum_number_of_calls() -> None:
    latency = percentile_of(0.5, [1.0, 2.0], minimum=3)
    assert latency.seconds() is None
    latency.record(3.0)
    assert latency.seconds() == 2.0


def test_defaults_are_twenty_calls_and_a_minimum_of_ten_milliseconds() -> None:
    latency = percentile(0.95)
    for _ in range(19):
        latency.record(0.001)
    assert latency.seconds() is None
    latency.record(0.001)
    assert latency.seconds() == 0.01


def test_thousand_latencies_are_kept_by_default() -> None:
    latency = percentile(1.0)
    latency.record(9.0)
    for _ in range(999):
        latency.record(1.0)
    assert latency.seconds() == 9.0
    latency.record(1.0)
    assert latency.seconds() == 1.0


@pytest.mark.parametrize('latency', [-0.001, -math.inf, math.nan])
def test_latency_that_is_negative_or_not_a_number_is_ignored(latency: float) -> None:
    result = percentile_of(1.0, [latency])
    assert result.seconds() is None
    result.record(0.0)
    assert result.seconds() == 0.0


def test_str_describes_the_percentile() -> None:
    assert str(percentile(0.95)) == '0.95 of the latencies seen (0.01 s at least)'


def test_percentile_is_thread_safe() -> None:
    latency = percentile_of(0.5, [], calls=50)

    def record() -> None:
        for n in range(500):
            latency.record(n / 7)

    threads = [Thread(target=record) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(latency._sorted) == len(latency._latencies) == 50
    assert latency._sorted == sorted(latency._latencies)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'rank': 0.0}, 'rank must be a finite number, more than 0, 1 at most'),
        ({'rank': 1.01}, 'rank must be a finite number, more than 0, 1 at most'),
        ({'rank': math.nan}, 'rank must be'),
        ({'least': -1.0}, 'least must be a finite number, 0 or more'),
        ({'least': math.inf}, 'least must be'),
        ({'calls': 0}, 'calls must be 1 or more'),
        ({'minimum': 0}, 'minimum must be 1 or more'),
        ({'calls': 10, 'minimum': 11}, 'minimum must be at most calls (10), not 11.'),
    ],
)
def test_option_out_of_range_is_a_value_error(options: dict[str, float], message: str) -> None:
    numbers = {'rank': 0.5, 'least': 0.0, 'calls': 10, 'minimum': 10} | options
    with pytest.raises(ValueError, match='^' + re.escape(message)):
        percentile(
            numbers['rank'],
            least=numbers['least'],
            calls=int(numbers['calls']),
            minimum=int(numbers['minimum']),
        )


def test_rank_that_is_not_a_number_is_a_type_error() -> None:
    with pytest.raises(TypeError, match='rank must be a number'):
        percentile('0.95')  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  -- invalid on purpose
