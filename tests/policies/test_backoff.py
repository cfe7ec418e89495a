"""Waits grow up to a cap, never above it, and are spread, also there."""

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
from seamwise.policies.testing import FakeWorld

VECTORS = Path(__file__).parent.parent / 'vectors' / 'retry_timelines.json'
CASES: list[dict[str, Any]] = json.loads(VECTORS.read_text(encoding='utf-8'))['cases']
FORMS: tuple[Jitter, ...] = get_args(Jitter)
DRAWS = 10_000
ALMOST_ONE = 1 - 2**-53

chances = st.floats(0.0, ALMOST_ONE)
settings = st.tuples(st.floats(0, 1e9), st.floats(0, 1e9), st.floats(1, 1e300)).map(
    lambda three: (*sorted(three[:2]), three[2])
)


def seeded(seed: int) -> Callable[[], float]:
    """Give chances that are the same in each run."""
    return random.Random(seed).random  # noqa: S311 -- no secret


def world_of(chance: float) -> FakeWorld:
    return FakeWorld(random=lambda: chance)


def first(count: int, delays: Iterator[float]) -> list[float]:
    return list(islice(delays, count))


def nth(place: int, delays: Iterator[float]) -> float:
    return next(islice(delays, place - 1, None))


def in_fifths(draw: Callable[[], float], low: float, high: float) -> list[float]:
    """Give the shares of many draws in each fifth of a range, after all were seen to be in it."""
    counts = [0] * 5
    for _ in range(DRAWS):
        drawn = draw()
        assert low <= drawn <= high
        counts[min(int((drawn - low) / (high - low) * 5), 4)] += 1
    return [count / DRAWS for count in counts]


@pytest.mark.parametrize(
    'case', [one for one in CASES if one['kind'] == 'backoff'], ids=lambda case: case['name']
)
def test_the_documented_delays(case: dict[str, Any]) -> None:
    delays = backoff(
        base=case['base_ms'] / 1000,
        cap=case['cap_ms'] / 1000,
        jitter=case['form'],
        world=world_of(case['random']),
    )
    made = islice(
        delays, case['first_retry'] - 1, case['first_retry'] - 1 + len(case['expected_ms'])
    )
    assert [one * 1000 for one in made] == case['expected_ms']


@pytest.mark.parametrize(
    'case', [one for one in CASES if one['kind'] == 'spread'], ids=lambda case: case['name']
)
def test_the_documented_spread(case: dict[str, Any]) -> None:
    world = FakeWorld(random=seeded(5))
    drawn: list[float] = []

    def draw() -> float:
        delays = backoff(
            base=case['base_ms'] / 1000, cap=case['cap_ms'] / 1000, jitter=case['form'], world=world
        )
        drawn.append(nth(case['retry'], delays) * 1000)
        return drawn[-1]

    least, most = case['share_per_fifth']
    assert case['draws'] == DRAWS
    assert all(least <= share <= most for share in in_fifths(draw, case['low_ms'], case['high_ms']))
    assert drawn.count(case['high_ms']) / DRAWS < case['share_exactly_at_high_below']


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
def test_every_fifth_of_a_jitter_s_range_is_drawn_alike_also_at_the_cap(
    jitter: Jitter, retry: int, low: float, high: float
) -> None:
    world = FakeWorld(random=seeded(7))

    def draw() -> float:
        return nth(retry, backoff(base=1.0, cap=6.0, jitter=jitter, world=world))

    assert in_fifths(draw, low, high) == pytest.approx([0.2] * 5, abs=0.02)


def test_decorrelated_jitter_is_spread_below_the_cap_in_a_third_of_the_cases() -> None:
    delays = backoff(base=1.0, cap=31.0, jitter='decorrelated', world=FakeWorld(random=seeded(3)))
    previous, after_cap = 0.0, list[float]()
    for delay in islice(delays, DRAWS):
        if previous == 31.0:
            after_cap.append(delay)
        previous = delay
    # From the cap: 1 + U * 92, cut at 31.
    assert len([one for one in after_cap if one < 31.0]) / len(after_cap) == pytest.approx(
        30 / 92, abs=0.03
    )
    below = [one for one in after_cap if one < 31.0]
    assert [
        len([one for one in below if 6 * n < one - 1.0 <= 6 * (n + 1)]) / len(below)
        for n in range(5)
    ] == pytest.approx([0.2] * 5, abs=0.04)


def test_decorrelated_jitter_builds_on_the_delay_before() -> None:
    assert first(4, backoff(base=1.0, cap=9.0, jitter='decorrelated', world=world_of(0.5))) == [
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
def test_each_jitter_by_its_formula(jitter: Jitter, expected: list[float]) -> None:
    assert first(
        4, backoff(base=1.0, factor=3.0, cap=10.0, jitter=jitter, world=world_of(0.25))
    ) == pytest.approx(expected, rel=1e-12)


def test_the_defaults() -> None:
    assert first(8, backoff(jitter='none')) == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    assert first(2, backoff(world=world_of(0.25))) == [0.025, 0.05]
    assert all(0 <= delay <= 5 for delay in islice(backoff(), 20))


@given(settings, st.sampled_from(FORMS), chances, st.integers(1, 60))
def test_no_delay_is_negative_or_above_the_cap(
    three: tuple[float, float, float], jitter: Jitter, chance: float, retry: int
) -> None:
    base, cap, factor = three
    assert (
        0.0
        <= nth(
            retry, backoff(base=base, factor=factor, cap=cap, jitter=jitter, world=world_of(chance))
        )
        <= cap
    )


@given(settings, st.sampled_from(['full', 'equal', 'tenth', 'none']), chances)
def test_delays_of_one_chance_never_shrink(
    three: tuple[float, float, float], jitter: Jitter, chance: float
) -> None:
    base, cap, factor = three
    made = first(
        20, backoff(base=base, factor=factor, cap=cap, jitter=jitter, world=world_of(chance))
    )
    assert made == sorted(made)


@pytest.mark.parametrize('jitter', FORMS)
def test_no_retry_is_so_late_that_it_overflows(jitter: Jitter) -> None:
    assert 0.0 < nth(5000, backoff(base=1e-9, factor=1e308, cap=1e9, jitter=jitter)) <= 1e9


@pytest.mark.parametrize('jitter', FORMS)
def test_a_base_that_is_the_cap_waits_about_the_same_each_time(jitter: Jitter) -> None:
    assert all(delay <= 2.0 for delay in islice(backoff(base=2.0, cap=2.0, jitter=jitter), 100))
    assert all(delay == 0.0 for delay in islice(backoff(base=0.0, cap=0.0, jitter=jitter), 100))


def test_one_draw_makes_one_delay() -> None:
    draws = iter([0.1, 0.2, 0.3])
    delays = backoff(base=10.0, factor=1.0, cap=10.0, world=FakeWorld(random=lambda: next(draws)))
    assert first(3, delays) == pytest.approx([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ('settings', 'said'),
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
def test_what_cannot_be_meant_is_refused_where_it_is_said(
    settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=f'^{said}'):
        backoff(**settings)


@pytest.mark.parametrize('settings', [{'base': True}, {'cap': '5'}, {'factor': None}])
def test_what_is_no_number_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match='must be a number'):
        backoff(**settings)
