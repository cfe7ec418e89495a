"""Descriptions of pipelines, and warnings about contradictory orders."""

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
from seamwise.policies.describe import ORDER_RULES
from seamwise.policies.fault_injection import FaultPlan

PAGE = Path(__file__).parents[2] / 'docs' / 'guards.md'

Pipeline = Guard[object]


def build_rate_limit(wait: float = 0.0) -> Pipeline:
    return rate_limit(5, name='limit', wait=wait)


def build_bulkhead(maximum: Any = 5, *, wait: float | None = 0.0) -> Pipeline:
    return bulkhead(maximum, name='room', queue=None, wait=wait)


def build_circuit(**settings: Any) -> Pipeline:
    return circuit(name='circuit', **settings)


CONTRADICTORY: list[tuple[Pipeline, str]] = [
    (deadline(5.0) >> retry(), 'retry has a timeout of 45 s, but deadline outside ends after 5 s'),
    (
        deadline(5.0) >> retry(timeout=None),
        'retry has no timeout, but deadline outside ends after 5 s',
    ),
    (
        retry(timeout=4.0) >> deadline(2.0),
        '3 attempts of 2 s each (deadline) do not fit into the 4 s of retry',
    ),
    (
        retry() >> retry(attempts=4, name='inner'),
        "retry and retry 'inner' inside make up to 12 attempts",
    ),
    (retry() >> build_circuit(), 'retry retries the refusals of circuit'),
    (
        retry() >> build_rate_limit(),
        "retry retries the refusals of rate limit 'limit', and every attempt takes a slot",
    ),
    (retry() >> build_bulkhead(), "retry retries the refusals of bulkhead 'room'"),
    (
        deadline(5.0) >> build_rate_limit(wait=5.0),
        "rate limit 'limit' waits up to 5 s, but deadline outside ends after 5 s",
    ),
    (
        deadline(5.0) >> build_bulkhead(wait=None),
        "bulkhead 'room' waits without limit, but deadline outside ends after 5 s",
    ),
    (deadline(5.0) >> build_bulkhead(wait=5.0), "bulkhead 'room' waits up to 5 s"),
    (
        deadline(5.0) >> deadline(5.0, name='inner'),
        "deadline 'inner' never expires after its 5 s: deadline outside ends after 5 s",
    ),
    (
        deadline(5.0) >> build_circuit(slow=5.0),
        'no success is slower than the 5 s of circuit: deadline outside',
    ),
    (
        build_circuit(slow=5.0) >> deadline(5.0),
        'no success is slower than the 5 s of circuit: deadline inside',
    ),
    (
        build_circuit(probe_timeout=4.0) >> deadline(5.0),
        'circuit abandons a probe after 4 s, but deadline inside ends after 5 s',
    ),
    (build_circuit() >> deadline(31.0), 'circuit abandons a probe after 30 s'),
    (
        build_bulkhead(2) >> build_circuit(probes=3),
        "circuit never runs its 3 probes at a time: bulkhead 'room' outside admits only 2",
    ),
    (
        build_bulkhead(adaptive(1, 2)) >> build_circuit(probes=3),
        "circuit never runs its 3 probes at a time: bulkhead 'room' outside admits only 2",
    ),
    (
        build_rate_limit() >> hedge(after=1.0, name='hedge'),
        "rate limit 'limit' does not count the second attempts of hedge",
    ),
    (
        build_bulkhead() >> hedge(after=1.0, name='hedge'),
        "bulkhead 'room' does not count the second attempts of hedge",
    ),
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


@pytest.mark.parametrize(
    ('guard', 'warning'), CONTRADICTORY, ids=[str(guard.name) for guard, _ in CONTRADICTORY]
)
def test_contradictory_order_has_a_warning(guard: Pipeline, warning: str) -> None:
    lines = [line for line in guard.describe().splitlines() if line.startswith('warning: ')]
    assert len(lines) == 1
    assert lines[0].startswith(f'warning: {warning}')
    assert lines[0].endswith('.')


VALID: list[Pipeline] = [
    identity,
    build_rate_limit() >> build_bulkhead() >> build_circuit() >> retry() >> deadline(2.0),
    deadline(45.0) >> retry(),
    deadline(5.0) >> retry(attempts=1),
    retry(timeout=4.1) >> deadline(2.0),
    retry(timeout=None) >> deadline(60.0),
    retry(attempts=1) >> build_circuit() >> build_rate_limit() >> build_bulkhead(),
    retry() >> retry(attempts=1, name='inner'),
    retry(attempts=1) >> retry(name='inner'),
    deadline(5.0) >> build_rate_limit(wait=4.9) >> build_bulkhead(wait=4.9),
    deadline(5.0) >> deadline(4.9, name='inner'),
    deadline(5.0) >> build_circuit(slow=4.9),
    deadline(5.0) >> build_circuit(),
    build_circuit(slow=4.9) >> deadline(5.0),
    build_circuit() >> deadline(30.0),
    build_bulkhead(3) >> build_circuit(probes=3),
    build_bulkhead(adaptive(1, 3)) >> build_circuit(probes=3),
    hedge(after=1.0, name='hedge') >> build_rate_limit() >> build_bulkhead() >> retry(attempts=1),
    retry() >> hedge(after=1.0, name='hedge'),
    deadline(5.0) >> hedge(after=4.9, name='hedge'),
    deadline(5.0) >> hedge(after=percentile(0.9), name='hedge') >> deadline(4.0, name='inner'),
    hedge(after=4.9, name='hedge') >> deadline(5.0),
    retry() >> chaos(seed=1, delays=FaultPlan.of(1.0)),
]


@pytest.mark.parametrize('guard', VALID, ids=[guard.name for guard in VALID])
def test_valid_order_has_no_warning(guard: Pipeline) -> None:
    assert 'warning' not in guard.describe()
    assert list(order_warnings(guard._layers)) == []


def test_all_pairs_of_layers_are_checked() -> None:
    guard = deadline(5.0) >> build_bulkhead() >> retry() >> build_circuit() >> retry(name='inner')
    assert len(list(order_warnings(guard._layers))) == 4


def test_description_has_a_line_for_each_layer_and_each_warning() -> None:
    guard = (
        rate_limit(50, name='bank', burst=5)
        >> build_bulkhead(20, wait=None)
        >> build_circuit()
        >> retry()
        >> deadline(2.0)
    )
    assert guard.describe().splitlines() == [
        "rate limit 'bank': 50 calls in 1 s, burst of 5",
        "bulkhead 'room': 20 at a time, unlimited queue",
        (
            'circuit: opens for 30 s after 5 failures in a row; '
            'probes: 1 at a time, 30 s each, 1 in a row close it'
        ),
        'retry: 3 attempts in 45 s, waits 0.1 s to 5 s, full jitter',
        'deadline: 2 s',
    ]
    assert (deadline(5.0) >> retry()).describe().splitlines()[:2] == [
        'deadline: 5 s',
        'retry: 3 attempts in 45 s, waits 0.1 s to 5 s, full jitter',
    ]


def test_fallback_has_the_warnings_of_its_guards() -> None:
    def handle(_error: object) -> Failure[str]:
        return Failure('no')

    assert (
        'warning: retry has a timeout of 45 s'
        in (fallback(handle) >> deadline(5.0) >> retry()).describe()
    )


def test_page_lists_all_rules() -> None:
    rows = re.findall(r'^\| `(\w+) >> (\w+)` \|', PAGE.read_text(encoding='utf-8'), re.MULTILINE)

    def guard_name(layer_type: type[Layer[Any]]) -> str:
        return layer_type.kind.replace(' ', '_') or 'any'

    assert rows == [(guard_name(rule.outer), guard_name(rule.inner)) for rule in ORDER_RULES]


def test_guards_over_redis_have_the_warnings_of_the_local_ones() -> None:
    pytest.importorskip('redis')
    from redis import Redis  # noqa: PLC0415 -- it may be missing

    from seamwise.policies.redis import (  # noqa: PLC0415 -- as above
        shared_circuit,
        shared_rate_limit,
    )

    client = Redis()
    guard = (
        retry()
        >> shared_rate_limit(5, redis=client, name='bank')
        >> shared_circuit(redis=client, name='bank')
    )
    lines = guard.describe().splitlines()
    assert [line.partition(':')[0] for line in lines[:3]] == [
        'retry',
        "rate limit 'bank'",
        "circuit 'bank'",
    ]
    assert len([line for line in lines if line.startswith('warning: ')]) == 2
