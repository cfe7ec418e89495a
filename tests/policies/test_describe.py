"""A pipeline says what it is, and warns of an order that cannot mean what it says."""

import re
from pathlib import Path
from typing import Any

import pytest

from seamwise import Failure
from seamwise.policies import (
    adaptive,
    bulkhead,
    chaos,
    circuit,
    deadline,
    fallback,
    hedge,
    identity,
    percentile,
    rate_limit,
    retry,
)
from seamwise.policies._engine.order_rules import order_warnings
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies.chaos import plan
from seamwise.policies.describe import ORDER_RULES

PAGE = Path(__file__).parents[2] / 'docs' / 'guards.md'

Pipeline = Guard[object]


def limit(wait: float = 0.0) -> Pipeline:
    return rate_limit(5, name='limit', wait=wait)


def room(most: Any = 5, *, wait: float | None = 0.0) -> Pipeline:
    return bulkhead(most, name='room', queue=None, wait=wait)


def breaker(**settings: Any) -> Pipeline:
    return circuit(name='circuit', **settings)


WARNED: list[tuple[Pipeline, str]] = [
    (deadline(5.0) >> retry(), 'retry has a timeout of 45 s, but deadline outside ends after 5 s'),
    (
        deadline(5.0) >> retry(timeout=None),
        'retry has no timeout, but deadline outside ends after 5 s',
    ),
    (
        retry(timeout=4.0) >> deadline(2.0),
        '3 attempts of 2 s each (deadline) do not fit into the 4 s of retry',
    ),
    (retry() >> retry(attempts=4, name='inner'), 'retry and inner inside make up to 12 attempts'),
    (retry() >> breaker(), 'retry retries the refusals of circuit'),
    (retry() >> limit(), 'retry retries the refusals of limit, and every attempt takes a slot'),
    (retry() >> room(), 'retry retries the refusals of room'),
    (
        deadline(5.0) >> limit(wait=5.0),
        'limit waits up to 5 s, but deadline outside ends after 5 s',
    ),
    (
        deadline(5.0) >> room(wait=None),
        'room waits without limit, but deadline outside ends after 5 s',
    ),
    (deadline(5.0) >> room(wait=5.0), 'room waits up to 5 s'),
    (
        deadline(5.0) >> deadline(5.0, name='inner'),
        'inner never expires after its 5 s: deadline outside ends after 5 s',
    ),
    (
        deadline(5.0) >> breaker(slow=5.0),
        'no success is slower than the 5 s of circuit: deadline outside',
    ),
    (
        breaker(slow=5.0) >> deadline(5.0),
        'no success is slower than the 5 s of circuit: deadline inside',
    ),
    (
        breaker(probe_timeout=4.0) >> deadline(5.0),
        'circuit abandons a probe after 4 s, but deadline inside ends after 5 s',
    ),
    (breaker() >> deadline(31.0), 'circuit abandons a probe after 30 s'),
    (
        room(2) >> breaker(probes=3),
        'circuit never runs its 3 probes at a time: room outside admits only 2',
    ),
    (
        room(adaptive(1, 2)) >> breaker(probes=3),
        'circuit never runs its 3 probes at a time: room outside admits only 2',
    ),
    (
        limit() >> hedge(after=1.0, name='hedge'),
        'limit does not count the second attempts of hedge',
    ),
    (room() >> hedge(after=1.0, name='hedge'), 'room does not count the second attempts of hedge'),
    (
        hedge(after=1.0, name='hedge') >> retry(),
        'both calls of hedge are retried, up to 6 attempts',
    ),
    (
        deadline(5.0) >> hedge(after=5.0, name='hedge'),
        'hedge never hedges after its 5 s: deadline outside ends',
    ),
    (
        hedge(after=5.0, name='hedge') >> deadline(5.0),
        'hedge never hedges after its 5 s: deadline inside ends the first attempt after 5 s',
    ),
    (chaos(seed=1) >> retry(), 'retry does not see the faults of chaos'),
]


@pytest.mark.parametrize(('guard', 'says'), WARNED, ids=[str(guard.name) for guard, _ in WARNED])
def test_an_order_that_cannot_be_meant_is_warned_of(guard: Pipeline, says: str) -> None:
    warned = [line for line in guard.describe().splitlines() if line.startswith('warning: ')]
    assert len(warned) == 1
    assert warned[0].startswith(f'warning: {says}')
    assert warned[0].endswith('.')


FINE: list[Pipeline] = [
    identity,
    limit() >> room() >> breaker() >> retry() >> deadline(2.0),
    deadline(45.0) >> retry(),
    deadline(5.0) >> retry(attempts=1),
    retry(timeout=4.1) >> deadline(2.0),
    retry(timeout=None) >> deadline(60.0),
    retry(attempts=1) >> breaker() >> limit() >> room(),
    retry() >> retry(attempts=1, name='inner'),
    retry(attempts=1) >> retry(name='inner'),
    deadline(5.0) >> limit(wait=4.9) >> room(wait=4.9),
    deadline(5.0) >> deadline(4.9, name='inner'),
    deadline(5.0) >> breaker(slow=4.9),
    deadline(5.0) >> breaker(),
    breaker(slow=4.9) >> deadline(5.0),
    breaker() >> deadline(30.0),
    room(3) >> breaker(probes=3),
    room(adaptive(1, 3)) >> breaker(probes=3),
    hedge(after=1.0, name='hedge') >> limit() >> room() >> retry(attempts=1),
    retry() >> hedge(after=1.0, name='hedge'),
    deadline(5.0) >> hedge(after=4.9, name='hedge'),
    deadline(5.0) >> hedge(after=percentile(0.9), name='hedge') >> deadline(4.0, name='inner'),
    hedge(after=4.9, name='hedge') >> deadline(5.0),
    retry() >> chaos(seed=1, delays=plan(1.0)),
]


@pytest.mark.parametrize('guard', FINE, ids=[guard.name for guard in FINE])
def test_an_order_that_may_be_meant_is_not_warned_of(guard: Pipeline) -> None:
    assert 'warning' not in guard.describe()
    assert list(order_warnings(guard._layers)) == []


def test_every_two_layers_are_looked_at_and_not_only_neighbours() -> None:
    guard = deadline(5.0) >> room() >> retry() >> breaker() >> retry(name='inner')
    assert len(list(order_warnings(guard._layers))) == 4


def test_a_description_has_a_line_for_each_layer_and_each_warning() -> None:
    guard = (
        rate_limit(50, name='bank', burst=5)
        >> room(20, wait=None)
        >> breaker()
        >> retry()
        >> deadline(2.0)
    )
    assert guard.describe().splitlines() == [
        'bank: 50 calls in 1 s, burst of 5',
        'room: 20 at a time, unlimited queue',
        'circuit: opens for 30 s after 5 failures in a row; probes: 1 at a time, 30 s each, 1 in a row close it',
        'retry: 3 attempts in 45 s, waits 0.1 s to 5 s, full jitter',
        'deadline: 2 s',
    ]
    assert (deadline(5.0) >> retry()).describe().splitlines()[:2] == [
        'deadline: 5 s',
        'retry: 3 attempts in 45 s, waits 0.1 s to 5 s, full jitter',
    ]


def test_a_fallback_warns_like_what_it_stands_around() -> None:
    def instead(_error: object) -> Failure[str]:
        return Failure('no')

    assert (
        'warning: retry has a timeout of 45 s'
        in (fallback(instead) >> deadline(5.0) >> retry()).describe()
    )


def test_the_page_lists_every_pair() -> None:
    rows = re.findall(r'^\| `(\w+) >> (\w+)` \|', PAGE.read_text(encoding='utf-8'), re.MULTILINE)

    def word(kind: type[Layer[Any]]) -> str:
        name = kind.__name__.removesuffix('Layer')
        return re.sub(r'(?<!^)(?=[A-Z])', '_', name).lower() or 'any'

    assert rows == [(word(rule.outer), word(rule.inner)) for rule in ORDER_RULES]
