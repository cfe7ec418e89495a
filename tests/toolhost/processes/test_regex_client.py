"""A search in another process, which is killed in time, and never outlives this one's interest."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from seamwise.toolhost.processes.regex_client import RegexClient, WorkerStopped, start_regex_worker
from tests.toolhost.helpers import error_of, open_handles, value_of
from tests.toolhost.processes.test_shell import LONG, has_ended, pid_in


def pid(matcher: RegexClient) -> int:
    return matcher._process.pid


def test_lines_that_match_are_given_with_their_numbers() -> None:
    with start_regex_worker(seconds=LONG) as matcher:
        assert value_of(matcher.compile('b+', ignore_case=False)) is None
        assert value_of(matcher.search(b'a\nabb\r\n\nB\nb', limit=9)) == [(1, 'abb'), (4, 'b')]
        assert value_of(matcher.search(b'', limit=9)) == []
        assert value_of(matcher.search(b'b\n' * 5, limit=2)) == [(0, 'b'), (1, 'b')]
        assert value_of(
            matcher.search('数b\xff'.encode('latin-1', 'replace') + b'\xff', limit=9)
        ) == [(0, '?b\ufffd\ufffd')]


def test_upper_and_lower_case_may_be_one() -> None:
    with start_regex_worker(seconds=LONG) as matcher:
        value_of(matcher.compile('straße|Ж', ignore_case=True))
        assert value_of(matcher.search('STRAßE\nж\n'.encode(), limit=9)) == [
            (0, 'STRAßE'),
            (1, 'ж'),
        ]


def test_names_are_asked_for_by_their_own_pattern() -> None:
    with start_regex_worker(seconds=LONG) as matcher:
        value_of(matcher.compile('x', ignore_case=False, name_pattern=r'\.py$'))
        assert [
            value_of(matcher.matches_name(name))
            for name in ('a.py', 'a.pyc', 'a\nb.py', '\udcff.py', '数.py')
        ] == [True, False, True, True, True]


@pytest.mark.parametrize(
    'pattern',
    ['([', '*', '(?P<a>x)(?P<a>y)', 'a{99999999999}', '(' * 5_000 + ')' * 5_000, '\\', '(?z)'],
)
def test_what_is_no_pattern_is_said(pattern: str) -> None:
    with start_regex_worker(seconds=LONG) as matcher:
        assert value_of(matcher.compile(pattern, ignore_case=False))


@pytest.mark.parametrize('pattern', ['[[a]', 'a||b', '(?i:x)', '[a&&b]'])
def test_a_pattern_that_is_only_warned_of_is_one(pattern: str) -> None:
    with start_regex_worker(seconds=LONG) as matcher:
        assert value_of(matcher.compile(pattern, ignore_case=False)) is None


def test_the_time_is_over_inside_of_one_match_too() -> None:
    with start_regex_worker(seconds=0.5) as matcher:
        value_of(matcher.compile('(a+)+$', ignore_case=False))
        begun = time.monotonic()
        stopped = error_of(matcher.search(b'a' * 60 + b'b', limit=1), WorkerStopped)
        assert time.monotonic() - begun < LONG / 2
        assert stopped == WorkerStopped(-signal.SIGALRM)
        assert stopped.timed_out
        assert error_of(matcher.search(b'a', limit=1), WorkerStopped) == stopped


def test_the_time_is_over_inside_of_one_name_too() -> None:
    with start_regex_worker(seconds=0.5) as matcher:
        value_of(matcher.compile('x', ignore_case=False, name_pattern='^(?:a|a|b?a)*$'))
        assert error_of(matcher.matches_name('a' * 200 + 'c'), WorkerStopped).timed_out


def test_another_end_is_another_matter() -> None:
    with start_regex_worker(seconds=LONG) as matcher:
        value_of(matcher.compile('a', ignore_case=False))
        os.kill(pid(matcher), signal.SIGKILL)
        stopped = error_of(matcher.search(b'a' * 5_000_000, limit=1), WorkerStopped)
        assert stopped == WorkerStopped(-signal.SIGKILL)
        assert not stopped.timed_out


def test_nothing_is_left_behind() -> None:
    before = open_handles()
    pids: list[int] = []
    for pattern in ('a', '(['):
        with start_regex_worker(seconds=LONG) as matcher:
            matcher.compile(pattern, ignore_case=False)
            pids.append(pid(matcher))
    with suppress(KeyboardInterrupt), start_regex_worker(seconds=LONG) as matcher:
        pids.append(pid(matcher))
        raise KeyboardInterrupt
    assert not any(Path(f'/proc/{one}').exists() for one in pids)
    assert open_handles() == before


def test_a_matcher_that_cannot_be_started_leaves_no_handle(monkeypatch: pytest.MonkeyPatch) -> None:
    before = open_handles()
    monkeypatch.setattr(sys, 'executable', '/nothere')
    with (
        pytest.raises(ChildProcessError, match='cannot be started'),
        start_regex_worker(seconds=LONG),
    ):
        pass
    assert open_handles() == before


SEARCHING = """
import sys
from pathlib import Path
from seamwise.toolhost.processes.regex_client import start_regex_worker
with start_regex_worker(seconds=60) as client:
    client.compile('(a+)+$', ignore_case=False)
    Path(sys.argv[1]).write_text(f'{client._process.pid}\\n')
    client.search(b'a' * 60 + b'b', limit=1)
"""


def test_an_interrupt_ends_the_search_and_its_process(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, '-c', SEARCHING, str(tmp_path / 'pid')], stderr=subprocess.DEVNULL
    ) as program:
        searching = pid_in(tmp_path / 'pid')
        program.send_signal(signal.SIGINT)
        assert program.wait(LONG) == -signal.SIGINT
    assert has_ended(searching)
