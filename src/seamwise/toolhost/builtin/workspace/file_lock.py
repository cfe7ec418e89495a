"""Advisory locks on files, so that no edit undoes another one that runs at the same time."""

import errno
import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from time import sleep
from typing import BinaryIO

from seamwise.toolhost.builtin.time_limit import TimeLimit
from seamwise.toolhost.builtin.workspace.paths import Names
from seamwise.toolhost.builtin.workspace.workspace import Workspace

PAUSE = 0.002
"""In seconds: the pause between two attempts to acquire a lock."""

# Errors of a file system without locks. NFS refuses to lock a file that is open for reading only.
_UNSUPPORTED = {errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


@contextmanager
def lock_file(
    workspace: Workspace, names: Names, limit: TimeLimit
) -> Generator[BinaryIO, None, None]:
    """Open a resolved file for reading, and lock it until exit.

    Threads and processes wait for each other. The kernel releases the lock of a killed process.

    Raises:
        OutOfTime: another program holds the lock.
        OSError: the file cannot be opened.
    """
    while True:
        limit.check()
        with workspace.open_file(names) as stream:
            _acquire(stream.fileno(), limit)
            # The previous holder may have put a new file in the place of the one that it locked.
            if _is_current(workspace, names, stream):
                yield stream
                return


def _acquire(descriptor: int, limit: TimeLimit) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            limit.check()
            sleep(PAUSE)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
            return
        else:
            return


def _is_current(workspace: Workspace, names: Names, stream: BinaryIO) -> bool:
    with workspace.open_folder(names[:-1]) as folder:
        status = os.stat(names[-1], dir_fd=folder, follow_symlinks=False)
    return os.path.samestat(status, os.fstat(stream.fileno()))
