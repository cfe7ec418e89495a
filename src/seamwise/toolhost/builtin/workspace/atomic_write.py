"""Atomic file writes: a file has its old content or its complete new content, never a part."""

import errno
import os
import stat
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from secrets import token_hex
from typing import BinaryIO

from seamwise.toolhost.builtin.workspace.location import ResolvedPath
from seamwise.toolhost.builtin.workspace.path_resolver import FOLDER_FLAGS
from seamwise.toolhost.builtin.workspace.paths import Names
from seamwise.toolhost.builtin.workspace.workspace import Workspace

_NAMED_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_UNNAMED_FLAG: int = getattr(os, 'O_TMPFILE', 0)
# Errors of a file system or sandbox without unnamed files, /proc or hard links.
_UNSUPPORTED = {
    errno.EOPNOTSUPP,
    errno.EISDIR,
    errno.EINVAL,
    errno.ENOSYS,
    errno.ENOENT,
    errno.EPERM,
    errno.EXDEV,
}


def replace_file(
    workspace: Workspace,
    names: Names,
    data: bytes,
    *,
    is_current: Callable[[], bool] = lambda: True,
) -> bool:
    """Replace the content of a file; keep its permissions and, if allowed, its owner.

    A process killed at any moment leaves the old file or the new one.

    Args:
        workspace: The workspace of the file.
        names: Its resolved path.
        data: The new content.
        is_current: Called directly before the replacement; False prevents it.

    Returns:
        The answer of `is_current`.

    Raises:
        OSError: the file cannot be written; it then has its old content.
    """
    with workspace.open_folder(names[:-1]) as folder, _temporary_name(folder) as temporary:
        old_status = os.stat(names[-1], dir_fd=folder, follow_symlinks=False)
        if not _write_unnamed(folder, temporary, data, old_status):
            _write_named(folder, temporary, data, old_status)
        if not is_current():
            return False
        os.rename(temporary, names[-1], src_dir_fd=folder, dst_dir_fd=folder)
    return True


def create_file(workspace: Workspace, location: ResolvedPath, data: bytes) -> None:
    """Create a file and its missing parent folders.

    A process killed at any moment leaves no file or the complete one.

    Raises:
        FileExistsError: another process has created the file since it was located.
        OSError: the file cannot be written; the new folders are then removed again.
    """
    name = location.names[-1]
    with (
        workspace.open_folder(location.names[: location.depth]) as folder,
        _new_folders(folder, location.names[location.depth : -1]) as parent,
        _temporary_name(parent) as temporary,
    ):
        if not _write_unnamed(parent, name, data, None):
            _write_named(parent, temporary, data, None)
            _rename_new(parent, temporary, name)


@contextmanager
def _temporary_name(folder: int) -> Generator[str, None, None]:
    """Yield a name for a temporary file; remove a file of that name on exit."""
    name = f'.seamwise-{token_hex(8)}.tmp'
    try:
        yield name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _write_unnamed(folder: int, name: str, data: bytes, old_status: os.stat_result | None) -> bool:
    """Write a file that gets its name when it is complete, so that a kill leaves nothing.

    Returns:
        False if the system does not support that.
    """
    if not _UNNAMED_FLAG:
        return False
    try:
        descriptor = os.open(
            '.',
            _UNNAMED_FLAG | os.O_WRONLY | os.O_CLOEXEC,
            _initial_mode(old_status),
            dir_fd=folder,
        )
        with os.fdopen(descriptor, 'wb') as stream:
            _write_content(stream, data, old_status)
            os.link(f'/proc/self/fd/{descriptor}', name, dst_dir_fd=folder)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return False
        raise
    return True


def _write_named(folder: int, name: str, data: bytes, old_status: os.stat_result | None) -> None:
    descriptor = os.open(name, _NAMED_FLAGS, _initial_mode(old_status), dir_fd=folder)
    with os.fdopen(descriptor, 'wb') as stream:
        _write_content(stream, data, old_status)


def _initial_mode(old_status: os.stat_result | None) -> int:
    # New content of an existing file stays private until its permissions are set.
    return 0o666 if old_status is None else 0o600


def _write_content(stream: BinaryIO, data: bytes, old_status: os.stat_result | None) -> None:
    stream.write(data)
    stream.flush()
    if old_status is not None:
        with suppress(PermissionError):
            os.fchown(stream.fileno(), old_status.st_uid, old_status.st_gid)
        os.fchmod(stream.fileno(), stat.S_IMODE(old_status.st_mode))
    os.fsync(stream.fileno())


def _rename_new(folder: int, temporary: str, name: str) -> None:
    try:
        # Unlike a rename, a link never replaces a file that another process has just created.
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


@contextmanager
def _new_folders(folder: int, names: Names) -> Generator[int, None, None]:
    """Create nested folders and yield the innermost; remove the created ones after an error."""
    created: list[tuple[int, str]] = []
    with ExitStack() as open_folders:
        try:
            for name in names:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)
                    created.append((folder, name))
                folder = os.open(name, FOLDER_FLAGS, dir_fd=folder)
                open_folders.callback(os.close, folder)
            yield folder
        except BaseException:
            for parent, name in reversed(created):
                with suppress(OSError):
                    os.rmdir(name, dir_fd=parent)
            raise
