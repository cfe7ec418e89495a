"""Delays of the backoff: growth, cap and jitter."""

import json
import random
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.policies._parts.backoff import Jitter, backoff
from seamwise.testing import FakeWorld

VECTORS = Path(__file__).parent.parent / 'vectors' / 'retry_timelines.json'
CASES: list[dict[str, Any]] = json.loads(VECTORS.read_text(encoding='utf-8'))['cases']
JITTERS: tuple[Jitter, ...] = get_args(Jitter)
DRAWS = 10_000
ALMOST_ONE = 1 - 2**-53

random_numbers = st.floats(0.0, ALMOST_ONE)
parameters = st.tuples(st.floats(0, 1e9), st.floats(0, 1e9), st.floats(1, 1e300)).map(
    lambda numbers: (*sorted(numbers[:2]), numbers[2])
)


def seeded_random(seed: int) -> Callable[[], float]:
    """Return a random function with the same results in each run."""
    return random.Random(seed).random  # noqa: S311 -- no secret


def world_with(random_number: float) -> FakeWorld:
    return FakeWorld(random=lambda: random_number)


def first(count: int, delays: Iterator[float]) -> list[float]:
    return list(islice(delays, count))


def nth(position: int, delays: Iterator[float]) -> float:
    return next(islice(delays, position - 1, None))


def shares_per_fifth(draw: Callable[[], float], low: float, high: float) -> list[float]:
    """Return the shares of many draws in each fifth of a range, and assert that all are in it."""
    counts = [0] * 5
    for _ in range(DRAWS):
        value = draw()
        assert low <= value <= high
        counts[min(int((value - low) / (high - low) * 5), 4)] += 1
    return [count / DRAWS for count in counts]


@pytest.mark.parametrize(
    'case', [case for case in CASES if case['kind'] == 'backoff'], ids=lambda case: case['name']
)
def test_delays_match_the_vectors(case: dict[str, Any]) -> None:
    delays = backoff(
        base=case['base_ms'] / 1000,
        cap=case['cap_ms'] / 1000,
        jitter=case['form'],
        world=world_with(case['random']),
    )
    selected = islice(
        delays, case['first_retry'] - 1, case['first_retry'] - 1 + len(case['expected_ms'])
    )
    assert [delay * 1000 for delay in selected] == case['expected_ms']


@pytest.mark.parametrize(
    'case', [case for case in CASES if case['kind'] == 'spread'], ids=lambda case: case['name']
)
def test_spread_of_the_delays_matches_the_vectors(case: dict[str, Any]) -> None:
    world = FakeWorld(random=seeded_random(5))
    values: list[float] = []

    def draw() -> float:
        delays = backoff(
            base=case['base_ms'] / 1000, cap=case['cap_ms'] / 1000, jitter=case['form'], world=world
        )
        values.append(nth(case['retry'], delays) * 1000)
        return values[-1]

    minimum, maximum = case['share_per_fifth']
    assert case['draws'] == DRAWS
    assert all(
        minimum <= share <= maximum
        for share in shares_per_fifth(draw, case['low_ms'], case['high_ms'])
    )
    assert values.count(case['high_ms']) / DRAWS < case['share_exactly_at_high_below']


@pytest.mark.parametrize(
    ('jitter', 'retry', 'low', 'high'),
    [
        ('full', 1, 0.0, 1.0),
        ('full', 3, 0.0, 4.0),
        ('full', 9, 0.0, 6.0),
        ('equal', 1, 0.5, 1.0),
        ('equal', 3, 2.0, 4.0),
        ('equal', 9, 3.0, 6.0),
        ('tenth', 1, 0.9, 1.1),
        ('tenth', 3, 3.6, 4.4),
        ('tenth', 9, 6.0 / 1.1 * 0.9, 6.0),
    ],
)
def test_jitter_is_distributed_uniformly_below_and_at_the_cap(
    jitter: Jitter, retry: int, low: float, high: float
) -> None:
    world = FakeWorld(random=seeded_random(7))

    def draw() -> float:
        return nth(retry, backoff(base=1.0, cap=6.0, jitter=jitter, world=world))

    assert shares_per_fifth(draw, low, high) == pytest.approx([0.2] * 5, abs=0.02)


def test_decorrelated_jitter_at_the_cap_is_below_it_in_a_third_of_the_cases() -> None:
    delays = backoff(
        base=1.0, cap=31.0, jitter='decorrelated', world=FakeWorld(random=seeded_random(3))
    )
    previous, after_cap = 0.0, list[float]()
    for delay in islice(delays, DRAWS):
        if previous == 31.0:
            after_cap.append(delay)
        previous = delay
    # After a delay at the cap, the next one is 1 + U * 92, limited to 31.
    assert len([delay for delay in after_cap if delay < 31.0]) / len(after_cap) == pytest.approx(
        30 / 92, abs=0.03
    )
    below = [delay for delay in after_cap if delay < 31.0]
    assert [
        len([delay for delay in below if 6 * n < delay - 1.0 <= 6 * (n + 1)]) / len(below)
        for n in range(5)
    ] == pytest.approx([0.2] * 5, abs=0.04)


def test_decorrelated_jitter_depends_on_the_previous_delay() -> None:
    assert first(4, backoff(base=1.0, cap=9.0, jitter='decorrelated', world=world_with(0.5))) == [
        2.0,
        3.5,
        5.75,
        9.0,
    ]


@pytest.mark.parametrize(
    ('jitter', 'expected'),
    [
        ('full', [0.25, 0.75, 2.25, 2.5]),
        ('equal', [0.625, 1.875, 5.625, 6.25]),
        ('none', [1.0, 3.0, 9.0, 10.0]),
        ('tenth', [0.95, 2.85, 8.55, 10 / 1.1 * 0.95]),
    ],
)
def test_jitter_follows_its_formula(jitter: Jitter, expected: list[float]) -> None:
    assert first(
        4, backoff(base=1.0, factor=3.0, cap=10.0, jitter=jitter, world=world_with(0.25))
    ) == pytest.approx(expected, rel=1e-12)


def test_default_delays_are_between_a_tenth_of_a_second_and_five_seconds() -> None:
    assert first(8, backoff(jitter='none')) == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    assert first(2, backoff(world=world_with(0.25))) == [0.025, 0.05]
    assert all(0 <= delay <= 5 for delay in islice(backoff(), 20))


@given(parameters, st.sampled_from(JITTERS), random_numbers, st.integers(1, 60))
def test_no_delay_is_negative_or_above_the_cap(
    numbers: tuple[float, float, float], jitter: Jitter, random_number: float, retry: int
) -> None:
    base, cap, factor = numbers
    assert (
        0.0
        <= nth(
            retry,
            backoff(
                base=base, factor=factor, cap=cap, jitter=jitter, world=world_with(random_number)
            ),
        )
        <= cap
    )


@given(parameters, st.sampled_from(['full', 'equal', 'tenth', 'none']), random_numbers)
def test_delays_with_a_constant_random_number_never_shrink(
    numbers: tuple[float, float, float], jitter: Jitter, random_number: float
) -> None:
    base, cap, factor = numbers
    delays = first(
        20,
        backoff(base=base, factor=factor, cap=cap, jitter=jitter, world=world_with(random_number)),
    )
    assert delays == sorted(delays)


@pytest.mark.parametrize('jitter', JITTERS)
def test_delay_of_a_late_retry_does_not_overflow(jitter: Jitter) -> None:
    assert 0.0 < nth(5000, backoff(base=1e-9, factor=1e308, cap=1e9, jitter=jitter)) <= 1e9


@pytest.mark.parametrize('jitter', JITTERS)
def test_delays_do_not_exceed_a_cap_that_equals_the_base(jitter: Jitter) -> None:
    assert all(delay <= 2.0 for delay in islice(backoff(base=2.0, cap=2.0, jitter=jitter), 100))
    assert all(delay == 0.0 for delay in islice(backoff(base=0.0, cap=0.0, jitter=jitter), 100))


def test_each_delay_uses_one_random_number() -> None:
    draws = iter([0.1, 0.2, 0.3])
    delays = backoff(base=10.0, factor=1.0, cap=10.0, world=FakeWorld(random=lambda: next(draws)))
    assert first(3, delays) == pytest.approx([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'base': -0.1}, 'base must be a finite number, 0 or more'),
        ({'base': float('nan')}, 'base must be'),
        ({'base': 1e10}, 'base must be'),
        ({'factor': 0.99}, 'factor must be a finite number, 1 or more'),
        ({'factor': float('inf')}, 'factor must be'),
        ({'cap': float('inf')}, 'cap must be'),
        ({'cap': 2e9}, 'cap must be'),
        ({'base': 2.0, 'cap': 1.9}, r'cap must be base \(2 s\) or more, not 1\.9\.'),
        (
            {'jitter': 'some'},
            "jitter must be one of 'full', 'equal', 'tenth', 'decorrelated', 'none', not 'some'",
        ),
    ],
)
def test_option_out_of_range_is_a_value_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f'^{message}'):
        backoff(**options)


@pytest.mark.parametrize('options', [{'base': True}, {'cap': '5'}, {'factor': None}])
def test_option_that_is_not_a_number_is_a_type_error(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match='must be a number'):
        backoff(**options)
