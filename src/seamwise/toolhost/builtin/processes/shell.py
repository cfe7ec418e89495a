"""Shell commands that end with their call, together with everything that they started."""

import os
import select
import signal
import subprocess
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path
from threading import current_thread, main_thread
from time import monotonic
from typing import Final

from msgspec import Struct

from seamwise.toolhost.builtin.processes.output_tail import TailBuffer
from seamwise.toolhost.containment.client import (
    END_SECONDS,
    Bounds,
    Report,
    Supervision,
    parse_report,
    start_supervisor,
)
from seamwise.toolhost.running.stopping import stop_requested

READ_SIZE = 64 * 1024
"""In bytes: the size of one read, which is the default capacity of a pipe."""

MAX_READS: Final = 16
"""The maximum number of reads after the end; the default capacity of a pipe needs one."""

MAX_PROCESSES: Final = 1024
"""The maximum number of processes of a command at once; a fork bomb ends there."""

STOP_INTERVAL: Final = 0.1
"""In seconds: the maximum delay until a command ends whose call was cancelled."""

STALL_SECONDS: Final = 5.0
"""The maximum time after the timeout until the supervisor reports the end."""

PASSED_VARIABLES: Final = frozenset({'HOME', 'LANG', 'PATH', 'TERM', 'TMPDIR'})
"""The environment variables that a command gets, together with `LC_…`."""

_KILLED: Final = 128 + signal.SIGKILL


class CommandResult(Struct, frozen=True):
    """The end of a command.

    Attributes:
        exit_code: The exit status, 128 + N after signal N, or None after a timeout.
        output: The last characters of the output; those of a failed command are redacted.
        truncated: Whether output before them was cut off.
    """

    exit_code: int | None
    output: str
    truncated: bool


def command_environment(names: Iterable[str] = ()) -> dict[str, str]:
    """Return the environment variables for a command: the harmless ones, and those in `names`."""
    passed = PASSED_VARIABLES.union(names)
    return {
        name: value
        for name, value in os.environ.items()
        if name in passed or name.startswith('LC_')
    }


def run_command(
    command: bytes, *, cwd: Path, timeout: float, environment: Mapping[str, str] | None = None
) -> CommandResult:
    r"""Run a command with `/bin/sh -c`.

    The command has a private session and process group, no input, and one pipe for its standard
    output and error. When it ends, all processes that it has started are killed.

    >>> run_command(b'echo hello; exit 3', cwd=Path('/'), timeout=10)
    CommandResult(exit_code=3, output='hello\n', truncated=False)

    Args:
        command: The command line.
        cwd: The folder to run it in.
        timeout: The maximum time in seconds.
        environment: All its environment variables; by default `command_environment()`.

    Raises:
        OSError: The shell cannot be started.
    """
    tail = TailBuffer()
    read_end, write_end = os.pipe()
    with FileIO(read_end) as output:
        os.set_blocking(read_end, False)
        with ExitStack() as cleanup:
            with _deferred_signals():
                try:
                    supervision = start_supervisor(
                        ['/bin/sh', '-c', command],
                        Bounds(seconds=timeout, processes=MAX_PROCESSES),
                        environment=command_environment() if environment is None else environment,
                        stdin=subprocess.DEVNULL,
                        stdout=write_end,
                        cwd=cwd,
                    )
                finally:
                    os.close(write_end)
                cleanup.callback(_end, supervision)
            report = _read_until_end(supervision, output, tail, monotonic() + timeout)
        # A process that could not be killed can keep writing.
        for _ in range(MAX_READS):
            tail.add(output.read(READ_SIZE) or b'')
    if report.reason == 'failed':
        raise OSError(report.status, os.strerror(report.status))
    exit_code = _exit_code(report)
    # The output of a failed command is a field of its error, which seams redact without context.
    return CommandResult(exit_code, *tail.text(redacted=exit_code != 0))


@contextmanager
def _deferred_signals() -> Generator[None]:
    """Defer signals until the end of the block, since their handlers can raise.

    An exception between the start of a child and the assignment of its process would leave the
    child running.
    """
    received: list[int] = []
    # Only the main thread runs handlers and can change them.
    numbers = (
        (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if current_thread() is main_thread() else ()
    )
    handlers = {
        number: handler for number in numbers if callable(handler := signal.getsignal(number))
    }
    try:
        for number in handlers:
            signal.signal(number, lambda number, _: received.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for received_number in received:
            signal.raise_signal(received_number)


def _read_until_end(
    supervision: Supervision, output: FileIO, tail: TailBuffer, deadline: float
) -> Report:
    """Read the output until the command and everything that it started have ended."""
    control = supervision.control
    data = bytearray()
    poll = select.poll()
    poll.register(output, select.POLLIN)
    poll.register(control, select.POLLIN)
    # The supervisor enforces the timeout, unless the command has stopped it.
    while (remaining := deadline + STALL_SECONDS - monotonic()) > 0:
        if stop_requested():
            return Report('stopped')
        for descriptor, _ in poll.poll(1000 * min(remaining, STOP_INTERVAL)):
            if descriptor == control.fileno():
                chunk = control.recv(READ_SIZE)
                if not chunk:
                    return parse_report(bytes(data))
                data += chunk
            elif text := output.read(READ_SIZE):
                tail.add(text)
            else:
                # All writers have closed the pipe, which now would wake every poll.
                poll.unregister(output)
    return Report('timeout')


def _end(supervision: Supervision) -> None:
    supervision.close()
    try:
        supervision.process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        supervision.log_remains()


def _exit_code(report: Report) -> int | None:
    if report.reason == 'timeout':
        return None
    if report.reason == 'exited':
        return report.status if report.status >= 0 else 128 - report.status
    return _KILLED
