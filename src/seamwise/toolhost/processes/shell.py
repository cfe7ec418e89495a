"""A shell command that cannot outlive its call: killed with all its children when the shell ends, or at a timeout."""

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

PIPE = 64 * 1024
"""In bytes: so much is read at once; a pipe holds no more, unless somebody widens it."""

PAUSE = 20
"""In milliseconds: so late at most it is seen that a shell has ended whose children still hold its output."""

GRACE = 1.0
"""In seconds: so long a killed shell may take to go; one that may not be killed (`exec sudo …`) is left alone then."""


class CommandResult(Struct, frozen=True):
    """How a command ended: its status (128 + N by signal N), or None where it was stopped; and the end of its output."""

    exit_code: int | None
    output: str
    truncated: bool


def run(command: bytes, *, cwd: Path, timeout: float) -> CommandResult:
    """Run a command by `/bin/sh -c` for at most `timeout` seconds. Raises OSError where it cannot be started.

    It has a session and process group of its own, no input, and one pipe for all its output. A child that leaves
    the group (`setsid`) is not killed, but not waited for either.
    """
    deadline = monotonic() + timeout
    tail = TailBuffer()
    reading, writing = os.pipe()
    with FileIO(reading) as output:
        os.set_blocking(reading, False)
        with ExitStack() as ending:
            with _uninterrupted():
                try:
                    shell = subprocess.Popen(  # noqa: S603 -- to run what it is given is what this is for
                        ['/bin/sh', '-c', command],
                        cwd=cwd,
                        stdin=subprocess.DEVNULL,
                        stdout=writing,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                    )
                finally:
                    os.close(writing)
                ending.callback(_kill, shell)
            in_time = _listen(shell.pid, output, tail, deadline)
        # What lies in the pipe, and no more: somebody who has left the group may go on writing.
        tail.add(output.read(PIPE) or b'')
    return CommandResult(_status(shell.returncode) if in_time else None, *tail.text())


@contextmanager
def _uninterrupted() -> Generator[None]:
    """Let a signal that would raise here do so afterwards: between a child's beginning and its name nobody could kill it."""
    came: list[int] = []
    # Handlers run in the main thread, and can be changed there only.
    numbers = (
        (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if current_thread() is main_thread() else ()
    )
    handlers = {
        number: handler for number in numbers if callable(handler := signal.getsignal(number))
    }
    try:
        for number in handlers:
            signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for one in came:
            signal.raise_signal(one)


def _listen(pid: int, output: FileIO, tail: TailBuffer, deadline: float) -> bool:
    """Take the output until the shell ends; False where that does not happen in time."""
    poll = select.poll()
    poll.register(output, select.POLLIN)
    pause = 1.0
    while not _has_ended(pid):
        left = 1000 * (deadline - monotonic())
        if left <= 0:
            return False
        if not poll.poll(min(pause, left)):
            pause = min(2 * pause, PAUSE)
        elif data := output.read(PIPE):
            tail.add(data)
        else:
            # Everybody has closed the output: from here on there is only the shell's end to wait for.
            poll.unregister(output)
    return True


def _has_ended(pid: int) -> bool:
    try:
        # The shell stays a zombie, so that its number stands for its group until that is killed.
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        # The program that we run in has asked not to be told of its children (SIGCHLD is ignored).
        return True


def _kill(shell: 'subprocess.Popen[bytes]') -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(shell.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        shell.wait(GRACE)


def _status(returncode: int) -> int:
    return returncode if returncode >= 0 else 128 - returncode
