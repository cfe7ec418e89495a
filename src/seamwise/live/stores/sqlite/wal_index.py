"""Committed frames of a write-ahead log whose processes have ended.

SQLite ends the write-ahead log at the first frame with a wrong checksum. A log that was cut is
therefore an older state of the file without any error. Its index (the file `-shm`) survives
`kill -9` and counts the frames. Both formats are described on https://sqlite.org/walformat.html.
"""

import os
import sys
from io import FileIO
from pathlib import Path
from struct import unpack, unpack_from
from typing import Final

if sys.platform != 'win32':
    import fcntl

_INDEX_HEADER: Final = 48
"""The length of the header of the index; a copy of it follows, and then the backfilled frames."""

_FORMAT: Final = 3007000
"""The version of the index."""

_IN_USE: Final = 128
"""The byte of the index that each open connection locks for reading."""

_WAL_HEADER: Final = 32


def committed_frames(path: Path) -> int:
    """Return how many frames the write-ahead log must have.

    No connection of this process to the file may be open: the locks of SQLite would be released.

    Args:
        path: The path of the database.

    Returns:
        The number of frames; 0 if it is unknown, if the file is in use, or if the database contains
        all frames already.
    """
    try:
        index = FileIO(os.open(f'{path}-shm', os.O_RDWR | os.O_CLOEXEC), 'r+')
    except OSError:
        return 0
    with index:
        if _is_in_use(index):
            return 0
        header = index.read(2 * _INDEX_HEADER + 4)
    if len(header) < 2 * _INDEX_HEADER + 4 or header[:_INDEX_HEADER] != header[48:96]:
        return 0
    (version,), (frames,), (backfilled,) = (
        unpack_from('=I', header, offset) for offset in (0, 16, 96)
    )
    if version != _FORMAT or frames <= backfilled:
        return 0
    wal = _wal_header(path)
    # After a loss of power, the index can be older than a log that has begun again.
    is_outdated = _is_intact(wal) and wal[16:24] != header[32:40]
    return 0 if is_outdated else frames


def _is_in_use(index: FileIO) -> bool:
    if sys.platform == 'win32':
        return True
    try:
        fcntl.lockf(index, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _IN_USE)
    except OSError:
        return True
    # Closing the file releases the lock.
    return False


def _wal_header(path: Path) -> bytes:
    try:
        with Path(f'{path}-wal').open('rb') as wal:
            return wal.read(_WAL_HEADER)
    except OSError:
        return b''


def _is_intact(wal: bytes) -> bool:
    """Return whether the checksum of the header is right."""
    if len(wal) < _WAL_HEADER:
        return False
    words = unpack('>6I' if wal[3] & 1 else '<6I', wal[:24])
    first = second = 0
    for index in range(0, 6, 2):
        first = (first + words[index] + second) % 2**32
        second = (second + words[index + 1] + first) % 2**32
    return unpack('>2I', wal[24:32]) == (first, second)
