"""Logs in one SQLite file for tests, processes that write to it, and traces of open ones."""

import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from time import time

from seamwise.live import EventLog, LogLimits, SqliteLog
from tests.live.stores.writers import Writer

MANY = 10**9


class SqliteLaboratory:
    """Logs with the same file."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / 'events.db'

    def open(
        self, *, limits: LogLimits | None = None, clock: Callable[[], float] = time
    ) -> AbstractAsyncContextManager[EventLog]:
        return self.log(limits=limits, clock=clock)

    def log(
        self, *, limits: LogLimits | None = None, clock: Callable[[], float] = time
    ) -> SqliteLog:
        return SqliteLog(self.path, limits=limits or LogLimits(), clock=clock)

    def forget(self) -> None:
        """Delete the file and its companions."""
        for path in self.path.parent.glob(f'{self.path.name}*'):
            path.unlink()

    @property
    def damaged(self) -> list[Path]:
        """The damaged files that were kept, without their companions."""
        files = self.path.parent.glob(f'{self.path.name}.damaged-*')
        return [path for path in files if not path.name.endswith(('-wal', '-shm'))]

    @property
    def threads(self) -> list[str]:
        """The names of the threads of open logs."""
        prefix = f'seamwise-{self.path.name}'
        return [thread.name for thread in threading.enumerate() if thread.name.startswith(prefix)]

    @property
    def descriptors(self) -> list[Path]:
        """The paths of the files of the log that this process has open."""
        paths: list[Path] = []
        for descriptor in Path('/proc/self/fd').iterdir():
            # The descriptor of this listing is closed already.
            with suppress(FileNotFoundError):
                paths.append(descriptor.readlink())
        return [path for path in paths if path.is_relative_to(self.path.parent)]


def start_writer(path: Path, name: str, *, first: int = 0, count: int = MANY) -> Writer:
    """Start a process that appends batches of two events."""
    return Writer('tests.live.stores.sqlite_writer', path, name, first, count)
