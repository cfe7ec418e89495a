"""Regular expressions in a worker process, which ends in time and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from seamwise.toolhost.builtin.processes.regex_client import (
    RegexClient,
    WorkerStopped,
    start_regex_worker,
)
from tests.toolhost.builtin.processes.helpers import LONG_TIMEOUT, read_pid, wait_for_exit
from tests.toolhost.helpers import error_of, open_handles, value_of


def worker_pid(client: RegexClient) -> int:
    return client._process.pid


def test_matching_lines_are_returned_with_their_indexes() -> None:
    with start_regex_worker(seconds=LONG_TIMEOUT) as client:
        assert value_of(client.compile('b+', ignore_case=False)) is None
        assert value_of(client.search(b'a\nabb\r\n\nB\nb', limit=9)) == [(1, 'abb'), (4, 'b')]
        assert value_of(client.search(b'', limit=9)) == []
        assert value_of(client.search(b'b\n' * 5, limit=2)) == [(0, 'b'), (1, 'b')]
        assert value_of(
            client.search('数b\xff'.encode('latin-1', 'replace') + b'\xff', limit=9)
        ) == [(0, '?b\ufffd\ufffd')]


def test_ignore_case_matches_upper_and_lower_case() -> None:
    with start_regex_worker(seconds=LONG_TIMEOUT) as client:
        value_of(client.compile('straße|Ж', ignore_case=True))
        assert value_of(client.search('STRAßE\nж\n'.encode(), limit=9)) == [
            (0, 'STRAßE'),
            (1, 'ж'),
        ]


def test_names_are_matched_by_their_own_pattern() -> None:
    with start_regex_worker(seconds=LONG_TIMEOUT) as client:
        value_of(client.compile('x', ignore_case=False, name_pattern=r'\.py$'))
        assert [
            value_of(client.matches_name(name))
            for name in ('a.py', 'a.pyc', 'a\nb.py', '\udcff.py', '数.py')
        ] == [True, False, True, True, True]


@pytest.mark.parametrize(
    'pattern',
    ['([', '*', '(?P<a>x)(?P<a>y)', 'a{99999999999}', '(' * 5_000 + ')' * 5_000, '\\', '(?z)'],
)
def test_an_invalid_pattern_is_reported(pattern: str) -> None:
    with start_regex_worker(seconds=LONG_TIMEOUT) as client:
        assert value_of(client.compile(pattern, ignore_case=False))


@pytest.mark.parametrize('pattern', ['[[a]', 'a||b', '(?i:x)', '[a&&b]'])
def test_a_pattern_with_a_warning_is_valid(pattern: str) -> None:
    with start_regex_worker(seconds=LONG_TIMEOUT) as client:
        assert value_of(client.compile(pattern, ignore_case=False)) is None


def test_the_timeout_ends_a_single_slow_match() -> None:
    with start_regex_worker(seconds=0.5) as client:
        value_of(client.compile('(a+)+$', ignore_case=False))
        started_at = time.monotonic()
        stopped = error_of(client.search(b'a' * 60 + b'b', limit=1), WorkerStopped)
        assert time.monotonic() - started_at < LONG_TIMEOUT / 2
        assert stopped == WorkerStopped(-signal.SIGALRM, timed_out=True)
        assert error_of(client.search(b'a', limit=1), WorkerStopped) == stopped


def test_the_timeout_ends_a_slow_match_of_a_name() -> None:
    with start_regex_worker(seconds=0.5) as client:
        value_of(client.compile('x', ignore_case=False, name_pattern='^(?:a|a|b?a)*$'))
        assert error_of(client.matches_name('a' * 200 + 'c'), WorkerStopped).timed_out


def test_a_killed_worker_is_not_reported_as_a_timeout() -> None:
    with start_regex_worker(seconds=LONG_TIMEOUT) as client:
        value_of(client.compile('a', ignore_case=False))
        os.kill(worker_pid(client), signal.SIGKILL)
        stopped = error_of(client.search(b'a' * 5_000_000, limit=1), WorkerStopped)
        assert stopped == WorkerStopped(-signal.SIGKILL, timed_out=False)


@pytest.mark.slow
def test_the_timeout_ends_a_worker_that_someone_has_stopped() -> None:
    with start_regex_worker(seconds=0.5) as client:
        value_of(client.compile('a', ignore_case=False))
        os.kill(worker_pid(client), signal.SIGSTOP)
        started_at = time.monotonic()
        stopped = error_of(client.search(b'a', limit=1), WorkerStopped)
        assert time.monotonic() - started_at < LONG_TIMEOUT / 2
        assert stopped == WorkerStopped(-signal.SIGKILL, timed_out=True)


def test_the_timeout_ends_the_worker_of_a_thread_that_has_blocked_its_signals() -> None:
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    try:
        with start_regex_worker(seconds=0.5) as client:
            value_of(client.compile('(a+)+$', ignore_case=False))
            stopped = error_of(client.search(b'a' * 60 + b'b', limit=1), WorkerStopped)
            assert stopped == WorkerStopped(-signal.SIGALRM, timed_out=True)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def test_no_process_or_handle_remains() -> None:
    handles_before = open_handles()
    pids: list[int] = []
    for pattern in ('a', '(['):
        with start_regex_worker(seconds=LONG_TIMEOUT) as client:
            client.compile(pattern, ignore_case=False)
            pids.append(worker_pid(client))
    with suppress(KeyboardInterrupt), start_regex_worker(seconds=LONG_TIMEOUT) as client:
        pids.append(worker_pid(client))
        raise KeyboardInterrupt
    assert not any(Path(f'/proc/{pid}').exists() for pid in pids)
    assert open_handles() == handles_before


def test_a_worker_that_cannot_be_started_leaves_no_handle(monkeypatch: pytest.MonkeyPatch) -> None:
    handles_before = open_handles()
    monkeypatch.setattr(sys, 'executable', '/nothere')
    with (
        pytest.raises(ChildProcessError, match='cannot be started'),
        start_regex_worker(seconds=LONG_TIMEOUT),
    ):
        pass
    assert open_handles() == handles_before


SLOW_SEARCH = """
import sys
from pathlib import Path
from seamwise.toolhost.builtin.processes.regex_client import start_regex_worker
with start_regex_worker(seconds=60) as client:
    client.compile('(a+)+$', ignore_case=False)
    Path(sys.argv[1]).write_text(f'{client._process.pid}\\n')
    client.search(b'a' * 60 + b'b', limit=1)
"""


def test_an_interrupt_ends_the_search_and_the_worker(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, '-c', SLOW_SEARCH, str(tmp_path / 'pid')], stderr=subprocess.DEVNULL
    ) as program:
        pid = read_pid(tmp_path / 'pid')
        program.send_signal(signal.SIGINT)
        assert program.wait(LONG_TIMEOUT) == -signal.SIGINT
    assert wait_for_exit(pid)
