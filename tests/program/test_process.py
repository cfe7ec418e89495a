"""The command as a process: pipes, full disks, signals, closed streams, missing packages."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from .helpers import CLEAN, COMMAND, call, objects, run

WAIT = 30.0
"""Upper bound of every wait, in seconds."""

READS = ''.join(call('list_files', id=f'c{number}') for number in range(3))


@contextmanager
def start_command(
    *arguments: str | Path, ignored: Collection[signal.Signals] = ()
) -> Generator[subprocess.Popen[bytes], None, None]:
    """Start the command with pipes as its streams, and kill it at the end."""

    def set_signals() -> None:
        # The process that runs the tests may ignore some of them (nohup, background job).
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

    command, pipe = [*COMMAND, *map(str, arguments)], subprocess.PIPE
    with subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=CLEAN,
        preexec_fn=set_signals,  # noqa: PLW1509 -- Popen has no other way to ignore a signal
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def is_readable(stream: IO[bytes], seconds: float) -> bool:
    return bool(select.select([stream], [], [], seconds)[0])


def streams(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdin, process.stdout, process.stderr


def test_line_is_written_before_the_next_call_starts(workspace: Path) -> None:
    with start_command('run', '--workspace', workspace, '--seam', 'model') as process:
        stdin, stdout, _ = streams(process)
        for number in range(3):
            stdin.write(call('list_files', id=f'c{number}').encode())
            stdin.flush()
            assert is_readable(stdout, WAIT)
            assert objects(stdout.readline())[0]['id'] == f'c{number}'
        stdin.close()
        assert process.wait(WAIT) == 0


def test_run_ends_quietly_if_its_reader_has_ended(workspace: Path) -> None:
    with start_command('run', '--workspace', workspace, '--seam', 'model') as process:
        stdin, stdout, stderr = streams(process)
        stdin.write(call('list_files').encode())
        stdin.flush()
        stdout.readline()
        stdout.close()
        stdin.write(
            (
                call('write_file', path='b.txt', content='')
                + call('write_file', path='c.txt', content='')
            ).encode()
        )
        stdin.close()
        assert process.wait(WAIT) == 141
        assert stderr.read() == b''
    assert (workspace / 'b.txt').exists(), 'only the writing showed it'
    assert not (workspace / 'c.txt').exists()


@pytest.mark.parametrize(
    'arguments',
    [['run', '--workspace', '.', '--seam', 'all'], ['--help'], ['--version'], ['run', '--help']],
)
def test_full_disk_is_reported_in_one_line(workspace: Path, arguments: list[str]) -> None:
    with Path('/dev/full').open('wb') as full:
        command = [*COMMAND, *arguments]
        done = subprocess.run(
            command,
            input=READS.encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            cwd=workspace,
            env=CLEAN,
            timeout=WAIT,
        )
    assert done.returncode == 74
    assert done.stderr == b'seamwise: cannot write to standard output: No space left on device\n'


SLEEPER = call('execute_command', command='echo $$ > pid; sleep 1000 & sleep 1000')


@pytest.mark.parametrize(
    ('number', 'code', 'message'),
    [
        (signal.SIGINT, 130, b'seamwise: interrupted.\n'),
        (signal.SIGTERM, 143, b''),
        (signal.SIGHUP, 129, b''),
    ],
)
def test_signal_ends_the_run_and_the_running_command_with_its_children(
    workspace: Path, number: int, code: int, message: bytes
) -> None:
    with start_command('run', '--workspace', workspace, '--seam', 'model') as process:
        stdin, stdout, stderr = streams(process)
        stdin.write((call('list_files') + SLEEPER).encode())
        stdin.flush()
        group = int(wait_for_content(workspace / 'pid'))
        process.send_signal(number)
        assert process.wait(WAIT) == code
        assert stderr.read() == message
        assert len(objects(stdout.read())) == 1
    # The command kills its children without waiting for their end.
    deadline = time.monotonic() + WAIT
    while is_group_running(group):
        assert time.monotonic() < deadline


def test_nohup_is_respected(workspace: Path) -> None:
    with start_command(
        'run', '--workspace', workspace, '--seam', 'model', ignored=[signal.SIGHUP]
    ) as process:
        stdin, stdout, _ = streams(process)
        stdin.write(call('list_files', id='before').encode())
        stdin.flush()
        stdout.readline()
        process.send_signal(signal.SIGHUP)
        stdin.write(call('list_files', id='after').encode())
        stdin.close()
        assert objects(stdout.readline())[0]['id'] == 'after'
        assert process.wait(WAIT) == 0


def test_command_keeps_its_exit_code_if_sigchld_is_inherited_as_ignored(workspace: Path) -> None:
    with start_command(
        'run', '--workspace', workspace, '--seam', 'planner', ignored=[signal.SIGCHLD]
    ) as process:
        stdin, stdout, _ = streams(process)
        stdin.write(call('execute_command', command='exit 3').encode())
        stdin.close()
        assert objects(stdout.readline())[0]['output']['details']['exit_code'] == 3
        assert process.wait(WAIT) == 1


def wait_for_content(file: Path) -> str:
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        if file.exists() and (text := file.read_text()).endswith('\n'):
            return text
        select.select([], [], [], 0.01)
    raise AssertionError(f'{file} was not written')


def is_group_running(group: int) -> bool:
    """Return whether any process of a group is running; zombies do not count."""
    for status in Path('/proc').glob('[0-9]*/stat'):
        try:
            state, _, process_group = status.read_text().rpartition(')')[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(process_group) == group and state not in 'ZX':
            return True
    return False


INTERRUPTED_AT_START = """
import builtins
real = builtins.__import__

def stop(name, *rest):
    if name == 'click':
        raise KeyboardInterrupt
    return real(name, *rest)

builtins.__import__ = stop
from seamwise.program import main
main()
"""


def test_interrupt_at_the_start_shows_no_traceback() -> None:
    done = subprocess.run(
        [sys.executable, '-c', INTERRUPTED_AT_START], capture_output=True, check=False, timeout=WAIT
    )
    assert (done.returncode, done.stderr) == (130, b'')


@pytest.mark.parametrize(
    ('missing', 'argument'),
    [('click', '--version'), ('rapidfuzz', 'run')],
)
def test_missing_package_is_reported_in_one_line(missing: str, argument: str) -> None:
    code = f'import sys; sys.modules[{missing!r}] = None; from seamwise.program import main; main()'
    done = subprocess.run(
        [sys.executable, '-c', code, argument], capture_output=True, check=False, timeout=WAIT
    )
    assert done.returncode == 78
    assert done.stderr.decode() == (
        f"seamwise: the command requires {missing}. Install it with: pip install 'seamwise[cli]'\n"
    )


def test_run_works_with_closed_standard_error(workspace: Path) -> None:
    shell = f'exec "$0" -m seamwise run --workspace {workspace} --seam model 2>&-'
    done = subprocess.run(
        ['/bin/sh', '-c', shell, sys.executable],
        input=READS.encode(),
        stdout=subprocess.PIPE,
        check=False,
        env=CLEAN,
    )
    assert (done.returncode, len(objects(done.stdout))) == (0, 3)


@pytest.mark.parametrize(
    ('closed', 'code'), [('2>/dev/full', 2), ('2>&-', 2), ('2>/dev/full >/dev/full', 74)]
)
def test_unwritable_message_does_not_change_the_exit_code(closed: str, code: int) -> None:
    arguments = '--help' if code == 74 else 'rnu'
    done = subprocess.run(
        ['/bin/sh', '-c', f'"$0" -m seamwise {arguments} {closed}', sys.executable],
        stdout=subprocess.PIPE,
        check=False,
        env=CLEAN,
    )
    assert (done.returncode, done.stdout) == (code, b'')


@pytest.mark.parametrize(
    ('closed', 'code', 'message'), [('>&-', 74, b'stdout'), ('<&-', 66, b'stdin')]
)
def test_closed_stdin_or_stdout_is_reported(
    workspace: Path, closed: str, code: int, message: bytes
) -> None:
    shell = f'exec "$0" -m seamwise run --workspace {workspace} --seam model {closed}'
    done = subprocess.run(
        ['/bin/sh', '-c', shell, sys.executable],
        input=b'',
        stderr=subprocess.PIPE,
        check=False,
        env=CLEAN,
    )
    assert (done.returncode, done.stderr) == (code, b'seamwise: ' + message + b' is closed.\n')


def test_file_name_that_is_not_utf_8_is_shown(workspace: Path) -> None:
    done = run('run', os.fsdecode(b'caf\xe9.jsonl'), '--workspace', workspace, '--seam', 'model')
    assert (done.returncode, done.stderr) == (
        66,
        b"seamwise: cannot read 'caf\\udce9.jsonl': No such file or directory\n",
    )


def test_json_is_utf_8_in_every_locale(workspace: Path) -> None:
    calls = call('read_file', path='说明.md')
    ascii_only = {**CLEAN, 'LC_ALL': 'C', 'PYTHONIOENCODING': 'ascii'}
    lines = run('run', '--workspace', workspace, '--seam', 'model', calls=calls, env=ascii_only)
    assert '你好，世界'.encode() in lines.stdout
    texts = run('run', '--workspace', workspace, '--seam', 'cli', calls=calls, env=ascii_only)
    assert b'path: \\u8bf4\\u660e.md\n' in texts.stdout


def test_output_to_a_pipe_is_plain_text(workspace: Path) -> None:
    done = run(
        'run', '--workspace', workspace, '--seam', 'cli', calls=call('read_file', path='b.txt')
    )
    assert b'\x1b' not in done.stdout + done.stderr


def test_module_runs_the_command() -> None:
    by_module, by_script = (
        run('--version'),
        subprocess.run(
            [Path(sys.executable).parent / 'seamwise', '--version'],
            capture_output=True,
            check=False,
        ),
    )
    assert by_module.stdout == by_script.stdout
    assert by_module.stdout.startswith(b'seamwise 0.')


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['rnu'], "No such command 'rnu'. Did you mean 'run'?"),
        (['run', '--workspac', '.'], "No such option '--workspac'. Did you mean '--workspace'?"),
        (['--nothing'], "No such option '--nothing'."),
    ],
)
def test_incorrect_use_exits_with_2(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert b'Traceback' not in done.stderr
