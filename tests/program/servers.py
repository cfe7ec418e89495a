"""`seamwise serve` as a process, and its clients."""

import signal
import socket
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
from msgspec import Struct

from .helpers import CLEAN, COMMAND

WAIT = 30.0
"""Upper bound of every wait, in seconds."""


class RunningServer(Struct):
    """A server that accepts connections.

    Attributes:
        process: The process.
        url: The address without the token.
        token: The token, empty if it is in a file.
    """

    process: subprocess.Popen[str]
    url: str
    token: str

    @property
    def port(self) -> int:
        """The port."""
        return int(self.url.rstrip('/').rpartition(':')[2])

    def client(self) -> httpx.Client:
        """Return a client with the token."""
        return httpx.Client(
            base_url=self.url,
            headers={'authorization': f'Bearer {self.token}'},
            timeout=WAIT,
            trust_env=False,
        )

    def connect(self) -> socket.socket:
        """Return a plain connection."""
        return socket.create_connection(('127.0.0.1', self.port), WAIT)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(WAIT)

    def errors(self) -> str:
        """Return the rest of standard error, after the end."""
        assert self.process.stderr is not None
        return self.process.stderr.read()


@contextmanager
def served(workspace: Path, *options: str | Path) -> Generator[RunningServer]:
    """Start `seamwise serve` on a free port, and kill it at the end."""
    command = [*COMMAND, 'serve', '--workspace', workspace, '--port', '0', *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        list(map(str, command)),
        stdout=pipe,
        stderr=pipe,
        text=True,
        env=CLEAN,
        preexec_fn=_reset_signals,  # noqa: PLW1509 -- Popen has no other way
    ) as process:
        try:
            assert process.stdout is not None
            url, _, token = process.stdout.readline().strip().partition('#')
            assert url, process.communicate(timeout=WAIT)[1]
            yield RunningServer(process, url, token)
        finally:
            process.kill()


def _reset_signals() -> None:
    # The process that runs the tests may ignore some of them (nohup, background job).
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true; fail after some seconds."""
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline, 'the condition was never true'
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """Return whether a process exists that is no zombie."""
    try:
        status = Path(f'/proc/{pid}/stat').read_text(encoding='utf-8')
    except OSError:
        return False
    return status.rpartition(')')[2].split()[0] != 'Z'
