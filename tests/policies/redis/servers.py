"""A real Redis server for tests, on a free port, without persistence."""

import os
import signal
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from redis import Redis
from redis.exceptions import RedisError

from tests.ports import free_port
from tests.programs import program

# On a machine that is busy with other tests.
_START_SECONDS = 60.0


class Server:
    """A server that can be killed, paused and restarted."""

    def __init__(self, folder: Path, *options: str) -> None:
        # For example, valkey-server.
        binary = program(os.environ.get('SEAMWISE_REDIS_SERVER', 'redis-server'))
        self.port = free_port()
        options_without_persistence = [
            '--save',
            '',
            '--appendonly',
            'no',
            '--dir',
            str(folder),
            '--bind',
            '127.0.0.1',
            '--loglevel',
            'warning',
        ]
        self._command = [binary, '--port', str(self.port), *options_without_persistence, *options]
        self._output = folder / f'output-{self.port}.txt'
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._output.open('wb') as output:
            process = subprocess.Popen(self._command, stdout=output, stderr=output)
        self._process = process
        deadline = time.monotonic() + _START_SECONDS
        with self.client() as client:
            while not _is_ready(client):
                if process.poll() is not None or time.monotonic() > deadline:
                    self.kill()
                    raise AssertionError(f'redis-server does not start: {self._output.read_text()}')
                time.sleep(0.01)

    def client(self) -> Redis:
        """Return a client for the test itself, with a long timeout."""
        return Redis(host='127.0.0.1', port=self.port, decode_responses=True, socket_timeout=5.0)

    def flush(self) -> None:
        self.execute('FLUSHALL')

    def execute(self, *command: str) -> Any:
        """Send a command, and return the reply."""
        client: Any = self.client()
        with client:
            return client.execute_command(*command)

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()


def _is_ready(client: Any) -> bool:
    try:
        return bool(client.ping())
    except RedisError:
        return False
