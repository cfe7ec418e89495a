"""A command and its children end with its call."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seamwise.toolhost.processes import shell
from seamwise.toolhost.processes.shell import CommandResult, run_command
from tests.toolhost.helpers import open_handles

LONG = 30.0


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie has ended."""
    try:
        stat = Path(f'/proc/{pid}/stat').read_text(encoding='ascii')
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(')')[2].split()[0] not in {'Z', 'X'}


def has_ended(pid: int) -> bool:
    """Whether a process ends within a while; that it was killed takes a moment to show."""
    deadline = time.monotonic() + LONG
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_alive(pid)


def pid_in(file: Path) -> int:
    deadline = time.monotonic() + LONG
    while not (file.exists() and file.read_text().endswith('\n')) and time.monotonic() < deadline:
        time.sleep(0.01)
    return int(file.read_text())


def ended(command: str, folder: Path, timeout: float = LONG) -> CommandResult:
    return run_command(command.encode(), cwd=folder, timeout=timeout)


class TestHowItEnds:
    @pytest.mark.parametrize(
        ('command', 'code'),
        [
            ('true', 0),
            ('exit 3', 3),
            ('exit 255', 255),
            ('nothing-of-this-name', 127),
            ('kill -9 $$', 137),
            ('kill -TERM $$', 143),
            ('exec sh -c "kill -SEGV \\$\\$"', 139),
            ('sh -c "kill -9 \\$\\$"', 137),
            ('if', 2),
        ],
    )
    def test_is_its_status(self, folder: Path, command: str, code: int) -> None:
        assert ended(command, folder).exit_code == code

    def test_both_outputs_come_as_they_came(self, folder: Path) -> None:
        command = 'echo one; echo two >&2; echo three; echo four >&2'
        assert ended(command, folder) == CommandResult(
            0, 'one\ntwo\nthree\nfour\n', truncated=False
        )

    def test_bytes_that_are_not_utf_8_are_shown_as_such(self, folder: Path) -> None:
        assert ended("printf 'a\\377b\\n\\346\\225\\260'", folder).output == 'a\ufffdb\n数'

    def test_it_has_no_input(self, folder: Path) -> None:
        assert ended('cat; read line || echo none', folder).output == 'none\n'

    def test_it_runs_in_its_folder_and_in_a_group_of_its_own(self, folder: Path) -> None:
        assert ended('pwd', folder).output == f'{folder}\n'
        own, group = ended('echo $$ $(ps -o pgid= -p $$)', folder).output.split()
        assert own == group != str(os.getpgid(0))

    def test_it_inherits_no_handle(self, folder: Path) -> None:
        with (folder / 'open').open('w') as stream:
            os.set_inheritable(stream.fileno(), True)
            assert 'open' not in ended('ls -l /proc/self/fd', folder).output

    def test_a_command_that_closes_its_output_is_waited_for(self, folder: Path) -> None:
        assert ended('echo before; exec >&- 2>&-; sleep 0.2; exit 7', folder) == CommandResult(
            7, 'before\n', truncated=False
        )


class TestTheTimeout:
    def test_gives_the_output_so_far(self, folder: Path) -> None:
        begun = time.monotonic()
        assert ended('echo begun; sleep 60; echo never', folder, 0.5) == CommandResult(
            None, 'begun\n', truncated=False
        )
        assert time.monotonic() - begun < LONG / 2

    def test_kills_all_children(self, folder: Path) -> None:
        command = 'sleep 60 & echo $! > a; (sleep 60 & echo $! > b; wait) & sh -c "echo \\$\\$ > c; exec sleep 60"'
        assert ended(command, folder, 1.0).exit_code is None
        assert all(has_ended(pid_in(folder / name)) for name in 'abc')

    def test_cannot_be_ignored(self, folder: Path) -> None:
        assert (
            ended('trap "" TERM INT HUP ALRM; while :; do sleep 0.05; done', folder, 0.5).exit_code
            is None
        )

    def test_ends_what_never_pauses(self, folder: Path) -> None:
        found = ended('yes', folder, 0.5)
        assert (found.exit_code, found.truncated) == (None, True)
        assert found.output.startswith('y\n')


class TestWhatIsLeftBehind:
    def test_a_child_that_holds_the_output_is_not_waited_for_but_killed(self, folder: Path) -> None:
        begun = time.monotonic()
        assert ended('sleep 60 & echo $! > pid; echo done', folder) == CommandResult(
            0, 'done\n', truncated=False
        )
        assert time.monotonic() - begun < LONG / 2
        assert has_ended(pid_in(folder / 'pid'))

    def test_a_child_that_goes_on_writing_ends_too(self, folder: Path) -> None:
        found = ended('yes & echo $! > pid; sleep 0.1', folder)
        assert found.exit_code == 0
        assert has_ended(pid_in(folder / 'pid'))

    def test_a_child_that_has_left_the_group_is_not_waited_for(self, folder: Path) -> None:
        begun = time.monotonic()
        assert ended(
            'setsid sh -c "echo \\$\\$ > pid; exec sleep 60" & sleep 0.3; echo done', folder
        ) == CommandResult(0, 'done\n', truncated=False)
        assert time.monotonic() - begun < LONG / 2
        os.kill(pid_in(folder / 'pid'), signal.SIGKILL)

    def test_no_handle_is_left_open(self, folder: Path) -> None:
        before = open_handles()
        for command, timeout in (('true', LONG), ('sleep 60', 0.1), ('exec >&-', LONG)):
            ended(command, folder, timeout)
        with pytest.raises(FileNotFoundError):
            ended('true', folder / 'nothere')
        assert open_handles() == before


MEASUREMENT = """
import resource, sys
from pathlib import Path
from seamwise.toolhost.processes.shell import CommandResult, run_command
run_command(b'true', cwd=Path('/'), timeout=60)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
command = b'head -c 1000000000 /dev/zero | tr "\\\\0" x; echo; echo end'
result = run_command(command, cwd=Path('/'), timeout=60)
growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert result == CommandResult(0, 'end\\n', truncated=True), result
sys.exit(0 if growth < 8_000 else f'{growth} KiB')
"""


def test_an_output_of_a_gigabyte_takes_little_memory() -> None:
    done = subprocess.run([sys.executable, '-c', MEASUREMENT], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr


INTERRUPTED = """
import sys
from pathlib import Path
from seamwise.toolhost.processes.shell import run_command
run_command(b'sleep 60 & echo $! > a; echo $$ > b; wait', cwd=Path(sys.argv[1]), timeout=60)
"""


def test_an_interrupt_kills_the_command_and_its_children(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, '-c', INTERRUPTED, str(folder)], stderr=subprocess.DEVNULL
    ) as program:
        pids = [pid_in(folder / name) for name in 'ab']
        program.send_signal(signal.SIGINT)
        assert program.wait(LONG) == -signal.SIGINT
    assert all(has_ended(pid) for pid in pids)


def test_what_cannot_be_started_says_why(folder: Path) -> None:
    with pytest.raises(OSError, match='too long') as raised:
        ended('x' * 3_000_000, folder)
    assert raised.value.errno == errno.E2BIG
    (folder / 'file').write_text('x')
    with pytest.raises(NotADirectoryError):
        ended('true', folder / 'file')


def test_a_program_that_is_not_told_of_its_children_still_gets_the_output(folder: Path) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert ended('echo out', folder).output == 'out\n'
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_shell_that_may_not_be_killed_is_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killpg: Callable[[int, int], None] = os.killpg
    asked: list[int] = []

    def refuse(group: int, _signal: int) -> None:
        asked.append(group)
        raise PermissionError(errno.EPERM, 'not yours')

    monkeypatch.setattr(os, 'killpg', refuse)
    monkeypatch.setattr(shell, 'KILL_GRACE', 0.05)
    with pytest.warns(ResourceWarning, match='still running'):
        assert ended('exec sleep 60', folder, 0.1).exit_code is None
    killpg(asked[0], signal.SIGKILL)
    os.waitpid(asked[0], 0)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_a_command_begins_does_not_leave_it_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            began.append(self.pid)
            signal.raise_signal(number)

    def stop(number: int, _frame: object) -> None:
        raise InterruptedError(number)

    began: list[int] = []
    before = signal.signal(number, stop)
    try:
        monkeypatch.setattr(subprocess, 'Popen', Interrupted)
        with pytest.raises(InterruptedError):
            run_command(b'sleep 1000', cwd=tmp_path, timeout=LONG)
        assert signal.getsignal(number) is stop
    finally:
        signal.signal(number, before)
    (pid,) = began
    if not has_ended(pid):
        os.killpg(pid, signal.SIGKILL)
        pytest.fail('the command runs on')
