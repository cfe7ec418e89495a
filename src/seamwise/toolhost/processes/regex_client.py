"""A search by a regular expression that ends in time, even inside of one match: another process does it.

While `re` matches, no other thread runs, and only a signal to the main thread could end it. So `matcher` is run as a
process of its own, which the kernel kills when the time is over (SIGALRM), whatever becomes of this one.
"""

import errno
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from socket import socket, socketpair
from typing import BinaryIO, TypeAlias

import msgspec

from seamwise.containers import Failure, Result, Success
from seamwise.toolhost.processes import regex_worker as matcher

Match: TypeAlias = tuple[int, str]
"""The number of a line, from 0, and its text."""


class WorkerStopped(msgspec.Struct, frozen=True):
    """The other process has ended too early: `in_time` where it was not because the time was over."""

    status: int

    @property
    def in_time(self) -> bool:
        """Whether it ended for another reason than that the time was over."""
        return self.status != -signal.SIGALRM


class Matcher:
    """The process that searches, as `matching` hands it out."""

    def __init__(self, process: 'subprocess.Popen[bytes]', line: socket, answers: BinaryIO) -> None:
        self._process = process
        self._line = line
        self._answers = answers

    def compile(
        self, pattern: str, *, ignore_case: bool, wanted: str = ''
    ) -> Result[str | None, WorkerStopped]:
        """Take a pattern for lines, and a certainly right one for names; gives what is wrong with the first, or None."""
        job = msgspec.json.encode(
            {'pattern': pattern, 'ignore_case': ignore_case, 'wanted': wanted}
        )
        return self._ask(job + b'\n').map(_refusal.decode)

    def wants(self, name: str) -> Result[bool, WorkerStopped]:
        """Tell whether the pattern for names finds itself in one."""
        data = name.encode('utf-8', 'surrogateescape')
        return self._ask(b'name %d 0\n%b' % (len(data), data)).map(_verdict.decode)

    def search(self, text: bytes, *, most: int) -> Result[list[Match], WorkerStopped]:
        """Give the first lines of a text that match, `most` of them at most."""
        return self._ask(b'text %d %d\n%b' % (len(text), most, text)).map(_matches.decode)

    def _ask(self, message: bytes) -> Result[bytes, WorkerStopped]:
        try:
            self._line.sendall(message)
            answer = self._answers.readline()
        except (BrokenPipeError, ConnectionResetError):
            answer = b''
        return (
            Success(answer)
            if answer.endswith(b'\n')
            else Failure(WorkerStopped(self._process.wait()))
        )


_refusal: msgspec.json.Decoder[str | None] = msgspec.json.Decoder(str | None)
_verdict: msgspec.json.Decoder[bool] = msgspec.json.Decoder(bool)
_matches: msgspec.json.Decoder[list[Match]] = msgspec.json.Decoder(list[Match])


def _started(line: int, seconds: float) -> 'subprocess.Popen[bytes]':
    command = [sys.executable, '-I', '-S', matcher.__file__, str(seconds)]
    try:
        return subprocess.Popen(command, stdin=line, stdout=line, stderr=subprocess.DEVNULL)  # noqa: S603 -- nothing of it is a caller's
    except (FileNotFoundError, PermissionError) as raised:
        # This speaks of the interpreter, and must not be taken for the path that is searched.
        raise ChildProcessError(
            errno.ECHILD, f'the process that searches cannot be started: {raised}'
        ) from raised


@contextmanager
def matching(*, seconds: float) -> Generator[Matcher, None, None]:
    """Run a matcher for so many seconds at most. Raises OSError where it cannot be started."""
    here, there = socketpair()
    with here, here.makefile('rb') as answers:
        with there:
            process = _started(there.fileno(), seconds)
        try:
            yield Matcher(process, here, answers)
        finally:
            process.kill()
            process.wait()
