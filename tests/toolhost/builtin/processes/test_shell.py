"""Shell commands: results, timeouts, and the end of all children."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pytest

from seamwise.toolhost.builtin.processes import shell
from seamwise.toolhost.builtin.processes.shell import (
    CommandResult,
    command_environment,
    run_command,
)
from seamwise.toolhost.containment import supervisor
from seamwise.toolhost.running.stopping import STOP
from tests.toolhost.builtin.processes.helpers import (
    LONG_TIMEOUT,
    is_running,
    read_pid,
    wait_for_exit,
)
from tests.toolhost.helpers import open_handles


def run_shell(command: str, folder: Path, timeout: float = LONG_TIMEOUT) -> CommandResult:
    return run_command(command.encode(), cwd=folder, timeout=timeout)


class TestCommandResult:
    @pytest.mark.parametrize(
        ('command', 'exit_code'),
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
    def test_a_result_contains_the_exit_code(
        self, folder: Path, command: str, exit_code: int
    ) -> None:
        assert run_shell(command, folder).exit_code == exit_code

    def test_standard_output_and_error_are_in_order(self, folder: Path) -> None:
        command = 'echo one; echo two >&2; echo three; echo four >&2'
        assert run_shell(command, folder) == CommandResult(
            0, 'one\ntwo\nthree\nfour\n', truncated=False
        )

    def test_invalid_utf_8_in_the_output_is_replaced(self, folder: Path) -> None:
        assert run_shell("printf 'a\\377b\\n\\346\\225\\260'", folder).output == 'a\ufffdb\n数'

    def test_a_command_has_no_input(self, folder: Path) -> None:
        assert run_shell('cat; read line || echo none', folder).output == 'none\n'

    def test_a_command_runs_in_its_folder_and_in_a_separate_group(self, folder: Path) -> None:
        assert run_shell('pwd', folder).output == f'{folder}\n'
        pid, group = run_shell('echo $$ $(ps -o pgid= -p $$)', folder).output.split()
        assert pid == group != str(os.getpgid(0))

    def test_a_command_inherits_no_handle(self, folder: Path) -> None:
        with (folder / 'open').open('w') as stream:
            os.set_inheritable(stream.fileno(), True)
            assert 'open' not in run_shell('ls -l /proc/self/fd', folder).output

    def test_a_command_that_closes_its_output_is_awaited(self, folder: Path) -> None:
        assert run_shell('echo before; exec >&- 2>&-; sleep 0.2; exit 7', folder) == CommandResult(
            7, 'before\n', truncated=False
        )


class TestTimeout:
    def test_a_timeout_returns_the_output_so_far(self, folder: Path) -> None:
        started_at = time.monotonic()
        assert run_shell('echo begun; sleep 60; echo never', folder, 0.5) == CommandResult(
            None, 'begun\n', truncated=False
        )
        assert time.monotonic() - started_at < LONG_TIMEOUT / 2

    @pytest.mark.slow
    def test_a_timeout_kills_all_children(self, folder: Path) -> None:
        command = (
            'sleep 60 & echo $! > a; (sleep 60 & echo $! > b; wait) & '
            'sh -c "echo \\$\\$ > c; exec sleep 60"'
        )
        assert run_shell(command, folder, 1.0).exit_code is None
        assert all(wait_for_exit(read_pid(folder / name)) for name in 'abc')

    def test_a_command_cannot_ignore_the_timeout(self, folder: Path) -> None:
        assert (
            run_shell(
                'trap "" TERM INT HUP ALRM; while :; do sleep 0.05; done', folder, 0.5
            ).exit_code
            is None
        )

    def test_a_timeout_ends_a_command_that_writes_all_the_time(self, folder: Path) -> None:
        result = run_shell('yes', folder, 0.5)
        assert (result.exit_code, result.truncated) == (None, True)
        assert result.output.startswith('y\n')


class TestCleanup:
    def test_a_child_that_keeps_the_output_open_is_killed(self, folder: Path) -> None:
        started_at = time.monotonic()
        assert run_shell('sleep 60 & echo $! > pid; echo done', folder) == CommandResult(
            0, 'done\n', truncated=False
        )
        assert time.monotonic() - started_at < LONG_TIMEOUT / 2
        assert wait_for_exit(read_pid(folder / 'pid'))

    def test_a_child_that_keeps_writing_is_killed(self, folder: Path) -> None:
        result = run_shell('yes & echo $! > pid; sleep 0.1', folder)
        assert result.exit_code == 0
        assert wait_for_exit(read_pid(folder / 'pid'))

    @pytest.mark.parametrize(
        'start',
        [
            'setsid sh -c "{child}" &',
            '(setsid sh -c "{child}" & ) &',
            'setsid sh -c "trap \\"\\" TERM INT HUP; setsid sh -c \\"{child}\\" & wait" &',
        ],
    )
    def test_a_child_that_has_left_the_group_is_killed(self, folder: Path, start: str) -> None:
        child = 'echo \\$\\$ > pid; exec sleep 60'
        if start.count('"') > 2:
            child = child.replace('\\', '\\' * 3)
        started_at = time.monotonic()
        command = f'{start.format(child=child)} while ! [ -s pid ]; do sleep 0.01; done; echo done'
        assert run_shell(command, folder) == CommandResult(0, 'done\n', truncated=False)
        assert time.monotonic() - started_at < LONG_TIMEOUT / 2
        # The command has ended, so everything has.
        assert not is_running(read_pid(folder / 'pid'))

    def test_a_command_leaves_no_handle_open(self, folder: Path) -> None:
        handles_before = open_handles()
        for command, timeout in (
            ('true', LONG_TIMEOUT),
            ('sleep 60', 0.1),
            ('exec >&-', LONG_TIMEOUT),
        ):
            run_shell(command, folder, timeout)
        with pytest.raises(FileNotFoundError):
            run_shell('true', folder / 'nothere')
        assert open_handles() == handles_before


MEASUREMENT = """
import resource, sys
from pathlib import Path
from seamwise.toolhost.builtin.processes.shell import CommandResult, run_command
run_command(b'true', cwd=Path('/'), timeout=60)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
command = b'head -c 1000000000 /dev/zero | tr "\\\\0" x; echo; echo end'
result = run_command(command, cwd=Path('/'), timeout=60)
growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert result == CommandResult(0, 'end\\n', truncated=True), result
sys.exit(0 if growth < 8_000 else f'{growth} KiB')
"""


@pytest.mark.nightly
def test_an_output_of_a_gigabyte_uses_little_memory() -> None:
    process = subprocess.run([sys.executable, '-c', MEASUREMENT], check=False, capture_output=True)
    assert process.returncode == 0, process.stderr


INTERRUPTED_SCRIPT = """
import sys
from pathlib import Path
from seamwise.toolhost.builtin.processes.shell import run_command
run_command(b'sleep 60 & echo $! > a; echo $$ > b; wait', cwd=Path(sys.argv[1]), timeout=60)
"""


def test_an_interrupt_kills_the_command_and_its_children(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, '-c', INTERRUPTED_SCRIPT, str(folder)], stderr=subprocess.DEVNULL
    ) as program:
        pids = [read_pid(folder / name) for name in 'ab']
        program.send_signal(signal.SIGINT)
        assert program.wait(LONG_TIMEOUT) == -signal.SIGINT
    assert all(wait_for_exit(pid) for pid in pids)


def test_a_command_that_cannot_be_started_raises(folder: Path) -> None:
    with pytest.raises(OSError, match='too long') as raised:
        run_shell('x' * 3_000_000, folder)
    assert raised.value.errno == errno.E2BIG
    (folder / 'file').write_text('x')
    with pytest.raises(NotADirectoryError):
        run_shell('true', folder / 'file')


def test_the_output_is_complete_if_sigchld_is_ignored(folder: Path) -> None:
    old_handler = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert run_shell('echo out', folder).output == 'out\n'
    finally:
        signal.signal(signal.SIGCHLD, old_handler)


UNPRIVILEGED_SUPERVISOR = """
import os, runpy

def refuse(*_):
    raise PermissionError(1, 'not yours')

os.kill = refuse
main = runpy.run_path({path!r})['main']
"""


@pytest.mark.slow
def test_a_command_that_cannot_be_killed_is_abandoned(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / 'supervisor.py'
    script.write_text(UNPRIVILEGED_SUPERVISOR.format(path=supervisor.__file__))
    monkeypatch.setattr(supervisor, '__file__', str(script))
    assert run_shell('echo $$ > pid; exec sleep 60', folder, 0.2).exit_code is None
    os.kill(read_pid(folder / 'pid'), signal.SIGKILL)


def test_a_command_can_stop_its_supervisor_only_until_the_timeout(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, 'STALL_SECONDS', 0.1)
    command = 'echo $$ > pid; kill -STOP $PPID; sleep 60'
    assert run_shell(command, folder, 0.3).exit_code is None
    assert wait_for_exit(read_pid(folder / 'pid'))


def test_a_command_that_kills_its_supervisor_is_killed(folder: Path) -> None:
    command = 'echo $$ > pid; sleep 60 & kill -9 $PPID; wait'
    assert run_shell(command, folder).exit_code == 137
    assert wait_for_exit(read_pid(folder / 'pid'))


def test_a_command_with_too_many_processes_is_killed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, 'MAX_PROCESSES', 10)
    command = 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do setsid sleep 30 & done; wait'
    assert run_shell(command, folder).exit_code == 137


def test_a_command_of_a_cancelled_call_ends(folder: Path) -> None:
    event = Event()
    token = STOP.set(event)
    try:
        Timer(0.2, event.set).start()
        started_at = time.monotonic()
        assert run_shell('echo $$ > pid; sleep 60', folder).exit_code == 137
        assert time.monotonic() - started_at < LONG_TIMEOUT
    finally:
        STOP.reset(token)
    assert wait_for_exit(read_pid(folder / 'pid'))


KILLED_SCRIPT = """
import sys
from pathlib import Path
from seamwise.toolhost.builtin.processes.shell import run_command
command = b'setsid sh -c "echo \\$\\$ > a; exec sleep 60" & echo $$ > b; wait'
run_command(command, cwd=Path(sys.argv[1]), timeout=60)
"""


def test_a_command_ends_with_the_program_that_is_killed(folder: Path) -> None:
    with subprocess.Popen([sys.executable, '-c', KILLED_SCRIPT, str(folder)]) as program:
        pids = [read_pid(folder / name) for name in 'ab']
        program.kill()
    assert all(wait_for_exit(pid) for pid in pids)


def test_a_command_gets_few_variables_of_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ('API_KEY', 'LC_TIME', 'LC', 'PROXY'):
        monkeypatch.setenv(name, f'value of {name}')
    assert {'PATH': os.environ['PATH'], 'LC_TIME': 'value of LC_TIME'}.items() <= (
        command_environment().items()
    )
    assert not {'API_KEY', 'LC', 'PROXY'} & command_environment().keys()
    assert run_shell('echo "$API_KEY"', folder).output == '\n'
    passed = run_command(
        b'echo "$API_KEY"',
        cwd=folder,
        timeout=LONG_TIMEOUT,
        environment=command_environment(['API_KEY', 'MISSING']),
    )
    assert passed.output == 'value of API_KEY\n'


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_the_start_does_not_leave_the_command_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            pids.append(self.pid)
            signal.raise_signal(number)

    def raise_interrupt(number: int, _frame: object) -> None:
        raise InterruptedError(number)

    pids: list[int] = []
    old_handler = signal.signal(number, raise_interrupt)
    try:
        monkeypatch.setattr(subprocess, 'Popen', Interrupted)
        with pytest.raises(InterruptedError):
            run_command(b'sleep 1000', cwd=tmp_path, timeout=LONG_TIMEOUT)
        assert signal.getsignal(number) is raise_interrupt
    finally:
        signal.signal(number, old_handler)
    (pid,) = pids
    if not wait_for_exit(pid):
        os.killpg(pid, signal.SIGKILL)
        pytest.fail('the command is still running')
