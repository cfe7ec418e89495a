"""Writing processes of the tests, and the batches that were confirmed to them."""

import subprocess
import sys
import threading
import time
from types import TracebackType
from typing import Self

import pytest

from seamwise.live import Position

START_SECONDS = 30.0
"""The time in which a writer must confirm its next batch, also on a busy machine."""

KILLS = pytest.mark.parametrize(
    'kills',
    [
        2,
        pytest.param(20, marks=pytest.mark.nightly),
        pytest.param(200, marks=pytest.mark.nightly),
    ],
)
"""The numbers of processes that a test kills."""


class Writer:
    """A process that appends numbered batches until it is killed, or has enough.

    It prints a line for each batch: the number, and the position of its last event.

    Args:
        module: The program.
        arguments: Its arguments.
    """

    def __init__(self, module: str, *arguments: object) -> None:
        self._process = subprocess.Popen(
            [sys.executable, '-m', module, *map(str, arguments)],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.confirmed: dict[int, Position] = {}
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            # The last line of a killed process can be cut.
            if line.endswith('\n'):
                number, position = line.split()
                parsed = Position.parse(position)
                assert parsed is not None
                self.confirmed[int(number)] = parsed

    def wait_for(self, count: int) -> None:
        """Wait until a number of batches is confirmed."""
        deadline = time.monotonic() + START_SECONDS
        while len(self.confirmed) < count:
            assert time.monotonic() < deadline, 'the writer does not write'
            time.sleep(0.001)

    def join(self) -> int:
        """Wait for the end of the process, and return its exit code."""
        code = self._process.wait(60.0)
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()
        return code

    def kill(self) -> None:
        """Kill the process, if it still runs."""
        self._process.kill()
        self.join()
