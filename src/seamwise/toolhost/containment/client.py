"""Client of a supervisor: it starts the supervisor of one program, and reads its report.

A call that ends, for any reason, closes the supervision. The supervisor then ends everything that
the program started, also if this process was killed.
"""

import errno
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from socket import SHUT_RDWR, socket, socketpair
from typing import IO, Final, Literal, TypeAlias

from msgspec import Struct

from seamwise.toolhost.containment import supervisor

END_SECONDS: Final = 5.0
"""The maximum time for the end of a supervisor whose program is over."""

EndReason: TypeAlias = Literal[
    'exited', 'stopped', 'timeout', 'memory', 'processes', 'output', 'failed', 'lost'
]

_LOGGER: Final = logging.getLogger('seamwise')


class Bounds(Struct, frozen=True, kw_only=True):
    """The limits of a program; see `supervisor`.

    Attributes:
        seconds: The maximum time.
        memory: The maximum memory of all its processes in bytes; 0: no maximum.
        processes: The maximum number of its processes; 0: no maximum.
        output: The maximum size of its printed text and its answer in bytes. 0: the program prints
            to the descriptors of the supervisor, and gives no answer.
    """

    seconds: float
    memory: int = 0
    processes: int = 0
    output: int = 0


class Report(Struct, frozen=True):
    """The end of a program.

    Attributes:
        reason: The reason of the end; `lost` if the supervisor was killed.
        status: The exit status, negative after a signal, or the errno of a start that `failed`.
        answer: What the program wrote to its answer pipe.
    """

    reason: EndReason
    status: int = 0
    answer: bytes = b''


class Supervision:
    """A running supervisor; `start_supervisor` creates it.

    Attributes:
        control: The socket of the supervisor. It ends after the report.
        process: The supervisor.
    """

    def __init__(self, control: socket, process: 'subprocess.Popen[bytes]') -> None:
        self.control = control
        self.process = process

    def close(self) -> None:
        """Make the supervisor end the program, without waiting for it."""
        with suppress(OSError):
            # Unlike `close`, this also ends the copies of the socket in forked processes.
            self.control.shutdown(SHUT_RDWR)
        self.control.close()
        # A program can stop its supervisor.
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)

    def log_remains(self) -> None:
        """Log that the processes of a program have not ended in time."""
        _LOGGER.error(
            'The supervisor %d still ends processes %g s after its call was over.',
            self.process.pid,
            END_SECONDS,
        )


def start_supervisor(  # noqa: PLR0913 -- one argument each
    program: Sequence[str | bytes],
    bounds: Bounds,
    *,
    environment: Mapping[str, str],
    stdin: int | IO[bytes],
    stdout: int,
    cwd: Path | None = None,
    folder: str = '',
) -> Supervision:
    """Start a program under a supervisor.

    Args:
        program: The path of the program, and its arguments.
        bounds: The limits of the program.
        environment: All environment variables of the program.
        stdin: The input of the program.
        stdout: The output and the errors of the program, unless `bounds.output` is set.
        cwd: The working directory.
        folder: The path of a new working directory, which the supervisor removes at the end.

    Raises:
        OSError: The supervisor cannot be started.
    """
    control, other_side = socketpair()
    limits = (bounds.seconds, bounds.memory, bounds.processes, bounds.output)
    try:
        with other_side:
            process = subprocess.Popen(  # noqa: S603 -- the purpose is to run the program
                [
                    *_supervisor_command(),
                    str(other_side.fileno()),
                    str(os.getpid()),
                    *map(str, limits),
                    folder,
                    *program,
                ],
                cwd=cwd,
                env=environment,
                stdin=stdin,
                stdout=stdout,
                stderr=subprocess.STDOUT,
                pass_fds=[other_side.fileno()],
                start_new_session=True,
            )
    except BaseException:
        control.close()
        raise
    return Supervision(control, process)


def parse_report(data: bytes) -> Report:
    r"""Parse everything that a supervisor has written.

    Without a report the supervisor was killed. This function then kills the process group of its
    program, which is all that can be found.

    >>> parse_report(b'4711\nexited 0\nanswer')
    Report(reason='exited', status=0, answer=b'answer')
    """
    program, _, rest = data.partition(b'\n')
    line, newline, answer = rest.partition(b'\n')
    if not newline:
        if program.isdigit():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(int(program), signal.SIGKILL)
        return Report('lost')
    reason, _, status = line.decode('ascii').partition(' ')
    return Report(_REASONS[reason], int(status), answer)


_REASONS: Final[Mapping[str, EndReason]] = {
    'exited': 'exited',
    'stopped': 'stopped',
    'timeout': 'timeout',
    'memory': 'memory',
    'processes': 'processes',
    'output': 'output',
    'failed': 'failed',
}


def _supervisor_command() -> list[str]:
    if not sys.executable:
        raise ChildProcessError(errno.ECHILD, 'sys.executable is empty: no supervisor can start')
    # Unlike a script, an imported module is compiled once only.
    code = 'import sys; sys.path.append(sys.argv.pop(1)); from supervisor import main; main()'
    return [sys.executable, '-I', '-S', '-c', code, str(Path(supervisor.__file__).parent)]
