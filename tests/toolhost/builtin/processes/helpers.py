"""Helpers that wait for child processes."""

import time
from pathlib import Path

LONG_TIMEOUT = 30.0
"""In seconds: the limit for waits that end much earlier unless a test fails."""


def is_running(pid: int) -> bool:
    """Return whether a process is running; a zombie is not."""
    try:
        stat = Path(f'/proc/{pid}/stat').read_text(encoding='ascii')
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(')')[2].split()[0] not in {'Z', 'X'}


def wait_for_exit(pid: int) -> bool:
    """Wait for a process to end, since a kill takes a moment; return whether it did."""
    deadline = time.monotonic() + LONG_TIMEOUT
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(pid)


def read_pid(file: Path) -> int:
    """Return the process id in a file, as soon as its line is complete."""
    deadline = time.monotonic() + LONG_TIMEOUT
    while not (file.exists() and file.read_text().endswith('\n')) and time.monotonic() < deadline:
        time.sleep(0.01)
    return int(file.read_text())
