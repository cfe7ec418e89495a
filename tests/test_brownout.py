"""Simulation of a brown-out over real Redis, with the clients in two processes."""

from collections import Counter
from pathlib import Path

import pytest
from benchmarks.brownout.clients import STRATEGIES
from benchmarks.brownout.plan import Plan
from benchmarks.brownout.report import page, write_picture
from benchmarks.brownout.simulation import Run, redis_server, simulate

from tests.programs import program
from tests.test_outage import assert_has_themes

ROOT = Path(__file__).parents[1]

PLAN = Plan(slow_from=2.0, slow_until=6.0, duration=14.0)


@pytest.mark.nightly
def test_service_recovers_with_guards_and_not_with_retries() -> None:
    with redis_server(program('redis-server')) as port:
        timeout, retries, adaptive, fixed = (
            simulate(strategy, PLAN, redis_port=port) for strategy in STRATEGIES
        )

    for run in (timeout, retries, adaptive, fixed):
        assert run.calls.total() == PLAN.rate * PLAN.duration
        assert run.answered_share(1, PLAN.slow_from) > 0.9
    # A queue that only grows serves nobody.
    assert timeout.answered_share(3, 6) < 0.1
    assert timeout.recovery is None or timeout.recovery >= 4
    # The retries multiply the load, and the overload remains after its cause.
    assert retries.load_multiple(6, 14) > 3
    assert retries.answered_share(6, 14) < 0.1
    assert retries.recovery is None
    # With guards, it receives about what it can serve: 140 of 500 calls per second.
    assert adaptive.answered_share(2, 6) > 0.06
    assert fixed.answered_share(2, 6) > 0.2
    for guards in (adaptive, fixed):
        assert guards.load_multiple(2, 6) < 0.5
        assert guards.answered_share(6, 14) > 0.85
        assert guards.load_multiple(6, 14) < 1.2
        assert guards.recovery is not None
        assert guards.recovery <= 4


def run_with(answered: list[int]) -> Run:
    return Run(
        'fixed',
        Plan(slow_from=1.0, slow_until=2.0, duration=float(len(answered))),
        Counter(dict.fromkeys(range(len(answered)), 100)),
        Counter(dict(enumerate(answered))),
        Counter({1: 300}),
    )


@pytest.mark.parametrize(
    ('answered', 'recovery'),
    [
        ([100, 0, 95, 100], 0),
        ([100, 0, 94, 95], 1),
        ([100, 0, 100, 94, 100], 2),
        ([100, 100, 100, 94], None),
    ],
)
def test_recovery_is_the_time_until_the_calls_of_every_second_are_answered(
    answered: list[int], recovery: int | None
) -> None:
    assert run_with(answered).recovery == recovery


def test_shares_are_relative_to_the_calls() -> None:
    run = run_with([100, 50, 0])
    assert run.answered_share(0, 2) == 0.75
    assert run.load_multiple(1, 2) == 3.0
    assert run.load_multiple(0, 3) == 1.0


def test_page_has_a_row_for_each_run_and_pictures(tmp_path: Path) -> None:
    runs = [run_with([100, 25, 100]), run_with([100, 50, 0])]
    rows = [line for line in page(runs).splitlines() if line.startswith('| guards')]
    assert rows == [
        '| guards with a fixed limit | 25 % | 100 % | 0 s | 3.00 | 0.00 |',
        '| guards with a fixed limit | 50 % | 0 % | never | 3.00 | 0.00 |',
    ]
    write_picture(runs, tmp_path)
    assert_has_themes(tmp_path, 'brownout')


def test_page_in_the_documentation_is_current() -> None:
    documented = (ROOT / 'docs' / 'brownout.md').read_text(encoding='utf-8')
    ones = Counter(dict.fromkeys(range(20), 1))
    built = page([Run(strategy, Plan(), ones, ones, ones) for strategy in STRATEGIES])

    def text(markdown: str) -> list[str]:
        return [line for line in markdown.splitlines() if not line.startswith('| ')]

    assert text(built) == text(documented)
