"""Time-limited regular expressions, evaluated by a worker process.

While `re` matches, no other thread runs, and only a signal to the main thread can interrupt it.
The worker is therefore a process of its own; the kernel kills it when its time is over (SIGALRM),
even if this process has died.
"""

import errno
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from socket import socket, socketpair
from time import monotonic
from typing import BinaryIO, TypeAlias

import msgspec

from seamwise._results.containers import Failure, Result, Success
from seamwise.toolhost.builtin.processes import regex_worker
from seamwise.toolhost.guards.guarded_call import MIN_TIMEOUT

LineMatch: TypeAlias = tuple[int, str]
"""The index of a line, from 0, and its text."""


STOP_GRACE = 0.5
"""In seconds: the time for the kernel to end a worker, before this process kills it."""


class WorkerStopped(msgspec.Struct, frozen=True):
    """The worker ended before it answered.

    Attributes:
        status: Its return code.
        timed_out: Whether it ended because its time was over.
    """

    status: int
    timed_out: bool


class RegexClient:
    """Client of a regex worker; `start_regex_worker` creates it.

    Call `compile` first, and once only.
    """

    def __init__(
        self,
        process: 'subprocess.Popen[bytes]',
        connection: socket,
        answers: BinaryIO,
        *,
        seconds: float,
    ) -> None:
        self._process = process
        self._connection = connection
        self._answers = answers
        self._end = monotonic() + seconds + STOP_GRACE

    def compile(
        self, pattern: str, *, ignore_case: bool, name_pattern: str = ''
    ) -> Result[str | None, WorkerStopped]:
        """Compile the patterns in the worker.

        Args:
            pattern: The regular expression for lines.
            ignore_case: Whether `pattern` ignores case.
            name_pattern: The regular expression for names; it must be valid.

        Returns:
            The reason why `pattern` is invalid, or None if it is valid.
        """
        job = msgspec.json.encode(
            {'pattern': pattern, 'ignore_case': ignore_case, 'name_pattern': name_pattern}
        )
        return self._request(job + b'\n').map(_problem_decoder.decode)

    def matches_name(self, name: str) -> Result[bool, WorkerStopped]:
        """Return whether the pattern for names matches in a name."""
        data = name.encode('utf-8', 'surrogateescape')
        return self._request(b'name %d 0\n%b' % (len(data), data)).map(_verdict_decoder.decode)

    def search(self, text: bytes, *, limit: int) -> Result[list[LineMatch], WorkerStopped]:
        """Return the first matching lines of a text, at most `limit`."""
        request = b'text %d %d\n%b' % (len(text), limit, text)
        return self._request(request).map(_matches_decoder.decode)

    def _request(self, message: bytes) -> Result[bytes, WorkerStopped]:
        timed_out = False
        try:
            self._connection.settimeout(max(self._end - monotonic(), MIN_TIMEOUT))
            self._connection.sendall(message)
            answer = self._answers.readline()
        except (BrokenPipeError, ConnectionResetError):
            answer = b''
        except TimeoutError:
            # The alarm does not end a process that has been stopped (SIGSTOP).
            self._process.kill()
            timed_out, answer = True, b''
        if answer.endswith(b'\n'):
            return Success(answer)
        status = self._process.wait()
        return Failure(WorkerStopped(status, timed_out or status == -signal.SIGALRM))


_problem_decoder: msgspec.json.Decoder[str | None] = msgspec.json.Decoder(str | None)
_verdict_decoder: msgspec.json.Decoder[bool] = msgspec.json.Decoder(bool)
_matches_decoder: msgspec.json.Decoder[list[LineMatch]] = msgspec.json.Decoder(list[LineMatch])


@contextmanager
def start_regex_worker(*, seconds: float) -> Generator[RegexClient, None, None]:
    """Start a worker that is killed after `seconds` seconds, or on exit.

    Raises:
        OSError: the worker cannot be started.
    """
    connection, worker_connection = socketpair()
    with connection, connection.makefile('rb') as answers:
        with worker_connection:
            process = _start_process(worker_connection.fileno(), seconds)
        try:
            yield RegexClient(process, connection, answers, seconds=seconds)
        finally:
            process.kill()
            process.wait()


def _start_process(connection: int, seconds: float) -> 'subprocess.Popen[bytes]':
    command = [sys.executable, '-I', '-S', regex_worker.__file__, str(seconds)]
    try:
        return subprocess.Popen(  # noqa: S603 -- no part of the command comes from a caller
            command, stdin=connection, stdout=connection, stderr=subprocess.DEVNULL
        )
    except (FileNotFoundError, PermissionError) as error:
        # This is about the interpreter; the caller must not take it for the searched path.
        raise ChildProcessError(
            errno.ECHILD, f'the search process cannot be started: {error}'
        ) from error
