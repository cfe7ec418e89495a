"""File of an event log: opened, checked, and replaced if it is damaged."""

import os
import sqlite3
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from logging import getLogger
from pathlib import Path
from sqlite3 import Connection
from stat import S_ISREG
from threading import Lock
from time import gmtime, monotonic, sleep, strftime
from typing import Final, TypeAlias

from msgspec import Struct

from seamwise.live.stores.sqlite.schema import (
    APPLICATION_ID,
    VERSION,
    create_tables,
    has_tables,
    is_empty,
    number,
)
from seamwise.live.stores.sqlite.wal_index import committed_frames

BUSY_SECONDS: Final = 5.0
"""How long a statement waits for a lock of another process, in seconds."""

OPEN_SECONDS: Final = 30.0
"""How long opening waits while another process checks the same file, in seconds."""

if sys.platform != 'win32':
    import fcntl

_MAX_WAL_BYTES: Final = 4 * 2**20
"""The length to which SQLite shortens the write-ahead log after a burst."""

_CHECKPOINT_PAGES: Final = 1000
"""The number of pages in the write-ahead log after which a commit copies them to the file."""

_CHECKS: Final = (
    'PRAGMA quick_check(1)',
    # These compare the indexes with the rows: an id that has changed would not be found.
    'PRAGMA integrity_check(streams)',
    'PRAGMA integrity_check(batches)',
)

_MIN_BYTES: Final = 512
"""The minimum length of a database: one page."""

_DAMAGE: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

_Identity: TypeAlias = tuple[int, int]

_CONNECTIONS: Final[Counter[_Identity]] = Counter()
"""The number of open connections of this process to each file."""

_LOCK: Final = Lock()


class StoreDamagedError(Exception):
    """The content of the file is not what the log has written."""


class StoreMovedError(Exception):
    """The file was deleted or replaced while it was open."""


SQLITE_ERRORS: Final = (sqlite3.Error, UnicodeDecodeError)
"""Exceptions of `sqlite3`. The second one replaces an error whose message quotes damaged text."""

STORE_ERRORS: Final = (*SQLITE_ERRORS, OSError, StoreDamagedError, StoreMovedError)
"""Exceptions that mean that the store is unavailable."""


def primary_code(error: BaseException) -> int | None:
    """Return the result code of SQLite without its extension; see https://sqlite.org/rescode.html.

    None: the exception is not from SQLite.
    """
    code = getattr(error, 'sqlite_errorcode', None)
    return code & 0xFF if isinstance(code, int) else None


class OpenFile(Struct, frozen=True):
    """A connection to the file, for one thread.

    Attributes:
        connection: The connection. Transactions are explicit.
        path: The path of the file.
        identity: The device and inode of the file to which the connection belongs.
    """

    connection: Connection
    path: Path
    identity: _Identity

    def check_unmoved(self) -> None:
        """Check that the file is still the one at its path.

        Raises:
            StoreMovedError: It was deleted or replaced. The new file has new epochs.
        """
        if _identity(self.path) != self.identity:
            raise StoreMovedError('the file was deleted or replaced')

    def close(self) -> None:
        """Close the connection."""
        try:
            self.connection.close()
        finally:
            with _LOCK:
                _CONNECTIONS[self.identity] -= 1
                if not _CONNECTIONS[self.identity]:
                    del _CONNECTIONS[self.identity]


class StoreFile:
    """The file of an event log. Each thread has a connection of its own to it.

    Do not open the file in any other way: closing any descriptor of it would release the locks
    that SQLite holds for this process (a rule of POSIX).

    Args:
        path: The path of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self._verified: _Identity | None = None

    def open(self) -> OpenFile:
        """Return a connection to the file. A damaged file is kept under another name.

        Raises:
            STORE_ERRORS: The file cannot be opened.
        """
        with _locked(self.path.parent):
            identity = _identity(self.path)
            if identity is not None and identity == self._verified:
                # Damage in a file that is in use is reported with each call: other processes may
                # use it too, and most sessions in it may be intact.
                return self._register(self._open_known())
            connection = self._open_verified() or self._open_verified()
            if connection is None:
                raise StoreDamagedError('a new file is damaged')
            return self._register(connection)

    def _open_known(self) -> Connection:
        connection = _connect(self.path)
        try:
            _set_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_verified(self) -> Connection | None:
        """Return a connection to a file without damage, or None after a damaged one was renamed."""
        identity = _identity(self.path)
        if identity is not None:
            status = self.path.stat()
            if not S_ISREG(status.st_mode):
                raise OSError('the path is not that of a regular file')
            if status.st_size < _MIN_BYTES:
                # SQLite would take it for a new file, and delete its write-ahead log.
                self._set_aside(StoreDamagedError(f'it has {status.st_size} bytes'))
                return None
        # The index can only be read while this process has no locks.
        frames = 0 if identity is None or identity in _CONNECTIONS else committed_frames(self.path)
        connection = _connect(self.path)
        try:
            _create_or_verify(connection, frames)
            _set_up(connection)
        except (StoreDamagedError, *SQLITE_ERRORS) as error:
            with closing(connection):
                if identity is None or not _is_damage(error):
                    raise
                # Before the connection is closed: that would delete the write-ahead log.
                self._set_aside(error)
            return None
        except BaseException:
            connection.close()
            raise
        finally:
            if identity is None:
                self._discard_empty()
        return connection

    def _discard_empty(self) -> None:
        """Delete a file that could not be created, for example because the disk is full."""
        with suppress(FileNotFoundError):
            if self.path.stat().st_size == 0:
                self.path.unlink()

    def _register(self, connection: Connection) -> OpenFile:
        self._verified = identity = _identity(self.path)
        if identity is None:
            connection.close()
            raise StoreMovedError('the file was deleted')
        with _LOCK:
            _CONNECTIONS[identity] += 1
        return OpenFile(connection, self.path, identity)

    def _set_aside(self, reason: Exception) -> None:
        """Rename the file and its companions, and write a warning."""
        stamp = strftime('%Y%m%dT%H%M%SZ', gmtime())
        target = self.path.with_name(f'{self.path.name}.damaged-{stamp}')
        count = 1
        while target.exists():
            count += 1
            target = self.path.with_name(f'{self.path.name}.damaged-{stamp}-{count}')
        # The file itself first: SQLite deletes the write-ahead log of a file that does not exist,
        # but a file without its write-ahead log could look like an older version of the log.
        for suffix in ('', '-wal', '-shm'):
            with suppress(FileNotFoundError):
                _ = Path(f'{self.path}{suffix}').rename(f'{target}{suffix}')
        getLogger('seamwise').warning(
            'The event log %s is damaged (%s). It is kept as %s; a new log with new epochs begins.',
            self.path,
            reason,
            target,
        )


def _identity(path: Path) -> _Identity | None:
    try:
        status = os.stat(path)  # noqa: PTH116 -- runs with each commit
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _is_damage(error: Exception) -> bool:
    return (
        isinstance(error, StoreDamagedError | UnicodeDecodeError) or primary_code(error) in _DAMAGE
    )


def _connect(path: Path) -> Connection:
    return sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)


def _set_up(connection: Connection) -> None:
    """Set the options of a connection to an event log."""
    _use_wal(connection)
    # A commit returns after the write-ahead log is on the disk.
    _ = connection.execute('PRAGMA synchronous = FULL')
    _ = connection.execute(f'PRAGMA journal_size_limit = {_MAX_WAL_BYTES}')
    _ = connection.execute(f'PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}')


def _use_wal(connection: Connection) -> None:
    row: tuple[str] = connection.execute('PRAGMA journal_mode = WAL').fetchone()
    if row[0] != 'wal':
        raise OSError('the file system does not support the write-ahead log of SQLite')


def _create_or_verify(connection: Connection, frames: int) -> None:
    """Create the tables in an empty file, or check the structure of the file.

    The checksums of its events are checked when they are read.

    Args:
        connection: A connection to the file.
        frames: The number of frames that its write-ahead log must have.

    Raises:
        StoreDamagedError: It is damaged.
        OSError: It belongs to another program, or to a newer version of this one.
    """
    application = number(connection, 'PRAGMA application_id')
    if application not in {0, APPLICATION_ID}:
        raise OSError('the file is a database of another program')
    if frames > 0:
        row: tuple[int, int, int] = connection.execute('PRAGMA wal_checkpoint(PASSIVE)').fetchone()
        if row[1] < frames:
            raise StoreDamagedError('the end of its write-ahead log is missing')
    if is_empty(connection):
        # Freed pages can then be returned to the file system.
        _ = connection.execute('PRAGMA auto_vacuum = INCREMENTAL')
        _use_wal(connection)
        create_tables(connection)
        return
    if number(connection, 'PRAGMA application_id') != APPLICATION_ID:
        raise OSError('the file is a database of another program')
    if (version := number(connection, 'PRAGMA user_version')) > VERSION:
        raise OSError(f'version {version} of the event log is newer than this program')
    if not has_tables(connection):
        raise StoreDamagedError('tables are missing')
    for check in _CHECKS:
        answer: tuple[str] = connection.execute(check).fetchone()
        if answer[0] != 'ok':
            raise StoreDamagedError(answer[0].replace('\n', ' '))


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """Let one process at a time check, create or replace a file of a folder."""
    with closing(_Folder(folder)) as lock:
        lock.acquire()
        yield


class _Folder:
    """Lock of a folder, which ends with the process. Windows has none."""

    def __init__(self, folder: Path) -> None:
        self._descriptor: int | None = None
        if sys.platform != 'win32':
            self._descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def acquire(self) -> None:
        """Wait for the lock.

        Raises:
            TimeoutError: Another process holds it for too long.
        """
        if sys.platform == 'win32' or self._descriptor is None:
            return
        deadline = monotonic() + OPEN_SECONDS
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if monotonic() > deadline:
                    raise TimeoutError('another process is checking the file') from None
                sleep(0.005)
            else:
                return

    def close(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
