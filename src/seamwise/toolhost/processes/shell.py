"""Shell commands that end with their call: all children are killed at the end or at a timeout."""

import os
import select
import signal
import subprocess
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from pathlib import Path
from threading import current_thread, main_thread
from time import monotonic

from msgspec import Struct

from seamwise.toolhost.processes.output_tail import TailBuffer

READ_SIZE = 64 * 1024
"""In bytes: the size of one read, which is the default capacity of a pipe."""

MAX_PAUSE = 20
"""In milliseconds: the maximum delay until the end of a shell is noticed.

The end of the output does not show it if children still hold the pipe open.
"""

KILL_GRACE = 1.0
"""In seconds: the maximum wait for a killed shell.

A shell that we may not kill (`exec sudo …`) keeps running.
"""


class CommandResult(Struct, frozen=True):
    """The end of a command.

    Attributes:
        exit_code: The exit status, 128 + N after signal N, or None after a timeout.
        output: The last characters of the output.
        truncated: Whether output before them was cut off.
    """

    exit_code: int | None
    output: str
    truncated: bool


def run_command(command: bytes, *, cwd: Path, timeout: float) -> CommandResult:
    """Run a command with `/bin/sh -c`.

    The command has a private session and process group, no input, and one pipe for its standard
    output and error. A child that leaves the group (`setsid`) is neither killed nor awaited.

    Args:
        command: The command line.
        cwd: The folder to run it in.
        timeout: The maximum time in seconds.

    Raises:
        OSError: the shell cannot be started.
    """
    deadline = monotonic() + timeout
    tail = TailBuffer()
    read_end, write_end = os.pipe()
    with FileIO(read_end) as output:
        os.set_blocking(read_end, False)
        with ExitStack() as cleanup:
            with _deferred_signals():
                try:
                    shell = subprocess.Popen(  # noqa: S603 -- the purpose is to run the command
                        ['/bin/sh', '-c', command],
                        cwd=cwd,
                        stdin=subprocess.DEVNULL,
                        stdout=write_end,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                    )
                finally:
                    os.close(write_end)
                cleanup.callback(_kill_group, shell)
            in_time = _read_until_exit(shell.pid, output, tail, deadline)
        # One read only: a child that has left the group can keep writing.
        tail.add(output.read(READ_SIZE) or b'')
    return CommandResult(_exit_code(shell.returncode) if in_time else None, *tail.text())


@contextmanager
def _deferred_signals() -> Generator[None]:
    """Defer signals whose handlers can raise.

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


def _read_until_exit(pid: int, output: FileIO, tail: TailBuffer, deadline: float) -> bool:
    """Read the output until the shell exits; return False if the deadline passes before."""
    poll = select.poll()
    poll.register(output, select.POLLIN)
    pause = 1.0
    while not _has_exited(pid):
        remaining = 1000 * (deadline - monotonic())
        if remaining <= 0:
            return False
        if not poll.poll(min(pause, remaining)):
            pause = min(2 * pause, MAX_PAUSE)
        elif data := output.read(READ_SIZE):
            tail.add(data)
        else:
            # All writers have closed the pipe, which now would wake every poll.
            poll.unregister(output)
    return True


def _has_exited(pid: int) -> bool:
    try:
        # WNOWAIT keeps the shell a zombie, so that its PID still identifies the group to kill.
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        # This process ignores SIGCHLD, so the kernel has reaped the shell already.
        return True


def _kill_group(shell: 'subprocess.Popen[bytes]') -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(shell.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        shell.wait(KILL_GRACE)


def _exit_code(returncode: int) -> int:
    return returncode if returncode >= 0 else 128 - returncode
