"""Every benchmark runs and yields a ratio; how high it is, is no matter of a test."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

import pytest
from benchmarks import checking
from benchmarks.__main__ import main
from benchmarks.jobs import JOBS
from benchmarks.measure import Comparison, Timer, measure, timed
from benchmarks.report import page, table
from click.testing import CliRunner

# Of the code bases a small one will do.
TRIED = {**JOBS, 'checking': checking.comparisons([250])}
ALL = [
    pytest.param(one, id=f'{one.job} / {one.peer}')
    for comparisons in TRIED.values()
    for one in comparisons
]
_PAGE = Path(__file__).parents[1] / 'docs' / 'performance.md'


def taking(nanoseconds: int) -> Timer:
    return lambda times: times * nanoseconds


SLOW = Comparison(
    job='slow',
    peer='quick',
    ours=taking(30),
    theirs=taking(20),
    target=1.1,
    because='it was made so',
)
QUICK = Comparison(job='quick', peer='slow', ours=taking(20), theirs=taking(30), target=1.1)
FREE = Comparison(job='free', peer='bound', ours=taking(90), theirs=taking(30))


@pytest.mark.parametrize('comparison', ALL)
def test_every_job_yields_a_ratio(comparison: Comparison) -> None:
    [measured] = measure([comparison], rounds=1, batch_ns=1)
    assert measured.ratio > 0
    assert measured.ours_ns > 0
    assert measured.peer_ns > 0


@pytest.mark.parametrize('comparison', ALL)
def test_every_target_says_what_drives_it(comparison: Comparison) -> None:
    assert (comparison.target is None) == (comparison.because == '')


def test_times_are_those_of_one_call_and_the_ratio_is_ours_to_theirs() -> None:
    [measured] = measure([SLOW], rounds=3, batch_ns=1000)
    assert (measured.ours_ns, measured.peer_ns, measured.ratio) == (30, 20, 1.5)


def test_the_ratio_is_the_median_of_those_within_a_round() -> None:
    def showing(*nanoseconds: int) -> Timer:
        each = iter([1, *nanoseconds])  # the first one warms up
        return lambda _: next(each)

    [measured] = measure(
        [Comparison(job='a', peer='b', ours=showing(30, 40, 100), theirs=showing(10, 50, 20))],
        rounds=3,
        batch_ns=1,
    )
    assert (measured.ours_ns, measured.peer_ns, measured.ratio) == (40, 20, 3)


def test_both_sides_take_turns_and_so_does_who_goes_first() -> None:
    seen: list[str] = []

    def timer(name: str) -> Timer:
        def note(times: int) -> int:
            seen.append(name)
            return times

        return note

    measure(
        [Comparison(job='a', peer='b', ours=timer('ours'), theirs=timer('theirs'))],
        rounds=2,
        batch_ns=1,
    )
    assert seen == ['ours', 'theirs', 'theirs', 'ours', 'ours', 'theirs']


def test_the_comparisons_take_turns_so_that_a_slow_minute_belongs_to_all_of_them() -> None:
    seen: list[str] = []

    def timer(name: str) -> Timer:
        def note(times: int) -> int:
            seen.append(name)
            return times

        return note

    first, second = (
        Comparison(job=name, peer='p', ours=timer(name), theirs=taking(1)) for name in 'ab'
    )
    measured = measure([first, second], rounds=20, batch_ns=1)
    assert ''.join(seen[2:]) == 'aabb' * 10
    assert [one.rounds for one in measured] == [20, 20]


def test_a_timer_does_the_work_once_a_turn() -> None:
    turns: list[None] = []
    timed(turns.extend)(7)
    assert len(turns) == 7


def test_a_target_is_met_up_to_itself_and_a_free_row_always() -> None:
    exact = Comparison(job='a', peer='b', ours=taking(11), theirs=taking(10), target=1.1)
    assert [one.is_met for one in measure([exact, SLOW, QUICK, FREE], rounds=1)] == [
        True,
        False,
        True,
        True,
    ]


def test_the_page_has_a_row_for_each_and_says_why_a_target_is_missed() -> None:
    text = page(measure([SLOW, QUICK, FREE], rounds=2))
    assert '| slow | quick | 30.0 ns | 20.0 ns | 1.50 | 1.1 | **over** | 2 |' in text
    assert '| quick | slow | 20.0 ns | 30.0 ns | 0.67 | 1.1 | yes | 2 |' in text
    assert '| free | bound | 90.0 ns | 30.0 ns | 3.00 |  |  | 2 |' in text
    assert '- slow / quick: 1.50 instead of 1.1, because it was made so.' in text
    assert text.count('instead of') == 1


def test_the_page_says_what_writes_it_and_where_it_was_measured() -> None:
    text = page([])
    assert '`python -m benchmarks` measures all of this and writes this page.' in text
    assert f'- Python: CPython {platform.python_version()}\n' in text
    assert f'{os.cpu_count()} CPUs' in text
    assert f'result {version("result")}' in text
    assert text.endswith('## Missed targets\n\nNone.\n')


@pytest.mark.parametrize(
    ('nanoseconds', 'shown'),
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
def test_a_time_has_three_digits_and_its_unit(nanoseconds: int, shown: str) -> None:
    assert f'| {shown} |' in table(
        measure(
            [Comparison(job='a', peer='b', ours=taking(nanoseconds), theirs=taking(7))], rounds=1
        )
    )


def test_a_ratio_is_rounded_up_so_that_none_looks_like_its_target_and_is_over_it() -> None:
    barely = Comparison(
        job='a', peer='b', ours=taking(1101), theirs=taking(1000), target=1.1, because='of a bit'
    )
    assert '| 1.11 | 1.1 | **over** |' in table(measure([barely], rounds=1))


def test_the_page_in_the_documents_shows_every_comparison_and_its_target() -> None:
    # Who adds a job runs the command again.
    rows = [
        line.split(' | ')
        for line in _PAGE.read_text(encoding='utf-8').splitlines()
        if line.startswith('| ')
    ]
    shown = {(row[0].removeprefix('| '), row[1], row[5]) for row in rows[2:]}
    compared = [one for comparisons in JOBS.values() for one in comparisons]
    assert shown == {
        (one.job, one.peer, '' if one.target is None else f'{one.target:g}') for one in compared
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
def test_a_named_job_is_shown_and_the_page_is_left_as_it_is(tmp_path: Path) -> None:
    target = tmp_path / 'performance.md'
    shown = run('binding', '--to', str(target))
    assert '| quick | slow |' in shown
    assert '| slow | quick |' not in shown
    assert not target.exists()


def run(*arguments: str) -> str:
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout
