"""Tests of the benchmarks: each yields a ratio, whose value is not tested, and the page."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

import pytest
from benchmarks import checking
from benchmarks.__main__ import main
from benchmarks.jobs import JOBS
from benchmarks.measure import Comparison, Timer, measure, timed
from benchmarks.report import SUMMARY, page, table
from click.testing import CliRunner

# A small code base keeps the test fast.
TESTED_JOBS = {**JOBS, 'checking': checking.comparisons([250])}
ALL = [
    pytest.param(comparison, id=f'{comparison.job} / {comparison.peer}')
    for comparisons in TESTED_JOBS.values()
    for comparison in comparisons
]
_PAGE = Path(__file__).parents[1] / 'docs' / 'performance.md'


def timer_of(nanoseconds: int) -> Timer:
    return lambda times: times * nanoseconds


SLOW = Comparison(
    job='slow',
    peer='quick',
    ours=timer_of(30),
    theirs=timer_of(20),
    target=1.1,
    because='it was made so',
)
QUICK = Comparison(job='quick', peer='slow', ours=timer_of(20), theirs=timer_of(30), target=1.1)
FREE = Comparison(job='free', peer='bound', ours=timer_of(90), theirs=timer_of(30))


@pytest.mark.nightly
@pytest.mark.parametrize('comparison', ALL)
def test_every_job_yields_a_ratio(comparison: Comparison) -> None:
    [measured] = measure([comparison], rounds=1, batch_ns=1)
    assert measured.ratio > 0
    assert measured.ours_ns > 0
    assert measured.peer_ns > 0


@pytest.mark.parametrize('comparison', ALL)
def test_every_comparison_with_a_target_has_a_reason(comparison: Comparison) -> None:
    assert (comparison.target is None) == (comparison.because == '')


def test_times_are_per_call_and_the_ratio_is_ours_to_theirs() -> None:
    [measured] = measure([SLOW], rounds=3, batch_ns=1000)
    assert (measured.ours_ns, measured.peer_ns, measured.ratio) == (30, 20, 1.5)


def test_the_ratio_is_the_median_of_the_ratios_of_all_rounds() -> None:
    def timer_with(*nanoseconds: int) -> Timer:
        times = iter([1, 1, *nanoseconds])  # the first calls warm up
        return lambda _: next(times)

    [measured] = measure(
        [
            Comparison(
                job='a', peer='b', ours=timer_with(30, 40, 100), theirs=timer_with(10, 50, 20)
            )
        ],
        rounds=3,
        batch_ns=1,
    )
    assert (measured.ours_ns, measured.peer_ns, measured.ratio) == (40, 20, 3)


def test_a_slow_first_run_makes_no_batch_smaller() -> None:
    sizes: list[int] = []

    def compiling(times: int) -> int:
        sizes.append(times)
        return 100 * times + (10_000 if len(sizes) == 1 else 0)

    measure(
        [Comparison(job='a', peer='b', ours=compiling, theirs=timer_of(1000))],
        rounds=3,
        batch_ns=800,
    )
    assert sizes[-3:] == [8, 8, 8]


def test_both_sides_alternate_and_so_does_the_first_side() -> None:
    calls: list[str] = []

    def timer(name: str) -> Timer:
        def record(times: int) -> int:
            calls.append(name)
            return times

        return record

    measure(
        [Comparison(job='a', peer='b', ours=timer('ours'), theirs=timer('theirs'))],
        rounds=2,
        batch_ns=1,
    )
    assert calls[4:] == ['theirs', 'ours', 'ours', 'theirs']


def test_the_comparisons_alternate_so_that_a_slow_minute_affects_all_of_them() -> None:
    calls: list[str] = []

    def timer(name: str) -> Timer:
        def record(times: int) -> int:
            calls.append(name)
            return times

        return record

    first, second = (
        Comparison(job=name, peer='p', ours=timer(name), theirs=timer_of(1)) for name in 'ab'
    )
    measured = measure([first, second], rounds=20, batch_ns=1)
    assert ''.join(calls[4:]) == 'aabb' * 10
    assert [result.rounds for result in measured] == [20, 20]


def test_a_timer_does_the_work_once_per_turn() -> None:
    turns: list[None] = []
    timed(turns.extend)(7)
    assert len(turns) == 7


def test_a_ratio_up_to_the_target_or_without_one_meets_it() -> None:
    exact = Comparison(job='a', peer='b', ours=timer_of(11), theirs=timer_of(10), target=1.1)
    assert [result.is_met for result in measure([exact, SLOW, QUICK, FREE], rounds=1)] == [
        True,
        False,
        True,
        True,
    ]


def test_the_page_has_a_row_per_comparison_and_the_reason_of_each_missed_target() -> None:
    text = page(measure([SLOW, QUICK, FREE], rounds=2))
    assert '| slow | quick | 30.0 ns | 20.0 ns | 1.50 | 1.1 | **over** | 2 |' in text
    assert '| quick | slow | 20.0 ns | 30.0 ns | 0.67 | 1.1 | yes | 2 |' in text
    assert '| free | bound | 90.0 ns | 30.0 ns | 3.00 |  |  | 2 |' in text
    assert '- slow / quick: 1.50 instead of 1.1, because it was made so.' in text
    assert text.count('instead of') == 1


def test_the_page_names_its_command_and_the_machine() -> None:
    text = page([])
    assert '`python -m benchmarks` measures all of this and writes this page.' in text
    assert f'- Python: CPython {platform.python_version()}\n' in text
    assert f'{os.cpu_count()} CPUs' in text
    assert f'result {version("result")}' in text
    assert '## Missed targets\n\nNone.\n' in text


def test_the_page_begins_with_the_times_of_common_tasks() -> None:
    job, peer = 'retry, success', 'stamina'
    retried = Comparison(job=job, peer=peer, ours=timer_of(500), theirs=timer_of(2000))
    start = page(measure([SLOW, retried], rounds=2)).partition('## All')[0]
    assert '| `retry` around a call that succeeds | 500 ns | stamina | 2.00 µs | 0.25 |' in start
    assert 'slow |' not in start


def test_every_common_task_is_measured_and_on_the_page_of_the_documentation() -> None:
    compared = {(item.job, item.peer) for comparisons in JOBS.values() for item in comparisons}
    assert SUMMARY.keys() <= compared
    start = _PAGE.read_text(encoding='utf-8').partition('## All')[0]
    assert all(f'| {task} |' in start for task, _ in SUMMARY.values())


@pytest.mark.parametrize(
    ('nanoseconds', 'expected'),
    [
        (1, '1.00 ns'),
        (80, '80.0 ns'),
        (999, '999 ns'),
        (1_070, '1.07 µs'),
        (96_900, '96.9 µs'),
        (27_000_000, '27.0 ms'),
        (2_000_000_000, '2.00 s'),
    ],
)
def test_a_time_has_three_digits_and_a_unit(nanoseconds: int, expected: str) -> None:
    assert f'| {expected} |' in table(
        measure(
            [Comparison(job='a', peer='b', ours=timer_of(nanoseconds), theirs=timer_of(7))],
            rounds=1,
        )
    )


def test_a_ratio_is_rounded_up_so_that_a_missed_target_is_visible() -> None:
    barely = Comparison(
        job='a',
        peer='b',
        ours=timer_of(1101),
        theirs=timer_of(1000),
        target=1.1,
        because='of a bit',
    )
    assert '| 1.11 | 1.1 | **over** |' in table(measure([barely], rounds=1))


def test_the_page_in_the_documentation_has_every_comparison_and_its_target() -> None:
    # After adding a job, run `python -m benchmarks` again.
    rows = [
        line.split(' | ')
        for line in _PAGE.read_text(encoding='utf-8').partition('## All')[2].splitlines()
        if line.startswith('| ')
    ]
    documented = {(row[0].removeprefix('| '), row[1], row[5]) for row in rows[2:]}
    compared = [comparison for comparisons in JOBS.values() for comparison in comparisons]
    assert documented == {
        (
            comparison.job,
            comparison.peer,
            '' if comparison.target is None else f'{comparison.target:g}',
        )
        for comparison in compared
    }


@pytest.fixture
def two_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('benchmarks.__main__.JOBS', {'building': (SLOW,), 'binding': (QUICK,)})


@pytest.mark.usefixtures('two_jobs')
def test_the_command_measures_every_job_and_writes_the_page(tmp_path: Path) -> None:
    target = tmp_path / 'performance.md'
    run('--to', str(target))
    text = target.read_text(encoding='utf-8')
    assert '| slow | quick |' in text
    assert '| quick | slow |' in text


@pytest.mark.usefixtures('two_jobs')
def test_the_command_prints_a_named_job_and_does_not_write_the_page(tmp_path: Path) -> None:
    target = tmp_path / 'performance.md'
    output = run('binding', '--to', str(target))
    assert '| quick | slow |' in output
    assert '| slow | quick |' not in output
    assert not target.exists()


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout
