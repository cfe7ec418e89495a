"""How a file is written: as a whole or not at all."""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from secrets import token_hex
from typing import BinaryIO

from seamwise.toolhost.workspace.location import ResolvedPath
from seamwise.toolhost.workspace.path_resolver import FOLDER
from seamwise.toolhost.workspace.paths import Names
from seamwise.toolhost.workspace.workspace import Workspace

_NAMED = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_UNNAMED: int = getattr(os, 'O_TMPFILE', 0)
# What a file system or a sandbox answers that has no unnamed files, no `/proc` to name them by, or no hard links.
_UNSUPPORTED = {
    errno.EOPNOTSUPP,
    errno.EISDIR,
    errno.EINVAL,
    errno.ENOSYS,
    errno.ENOENT,
    errno.EPERM,
    errno.EXDEV,
}


def replace_file(workspace: Workspace, names: Names, data: bytes) -> None:
    """Put `data` in the place of a file, with its permissions and, where allowed, its owner. Raises OSError.

    Killed at any moment, it leaves the old file or the new one.
    """
    with workspace.open_folder(names[:-1]) as folder, _temporary(folder) as temporary:
        before = os.stat(names[-1], dir_fd=folder, follow_symlinks=False)
        if not _write_unnamed(folder, temporary, data, before):
            _write_named(folder, temporary, data, before)
        os.rename(temporary, names[-1], src_dir_fd=folder, dst_dir_fd=folder)


def create_file(workspace: Workspace, place: ResolvedPath, data: bytes) -> None:
    """Make a new file, and the folders that it needs. Raises OSError: FileExistsError where somebody else was quicker.

    Killed at any moment, it leaves no file or the whole one; where it fails, the new folders go again.
    """
    name = place.names[-1]
    with (
        workspace.open_folder(place.names[: place.present]) as folder,
        _new_folders(folder, place.names[place.present : -1]) as inner,
        _temporary(inner) as temporary,
    ):
        if not _write_unnamed(inner, name, data, None):
            _write_named(inner, temporary, data, None)
            _give_name(inner, temporary, name)


@contextmanager
def _temporary(folder: int) -> Generator[str, None, None]:
    """Think of a name for a temporary file; whatever has it afterwards is removed."""
    name = f'.seamwise-{token_hex(8)}.tmp'
    try:
        yield name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _write_unnamed(folder: int, name: str, data: bytes, before: os.stat_result | None) -> bool:
    """Write a file that has no name until it is complete, so that a kill leaves nothing; False where that is not supported."""
    if not _UNNAMED:
        return False
    try:
        descriptor = os.open(
            '.', _UNNAMED | os.O_WRONLY | os.O_CLOEXEC, _first_mode(before), dir_fd=folder
        )
        with os.fdopen(descriptor, 'wb') as stream:
            _fill(stream, data, before)
            os.link(f'/proc/self/fd/{descriptor}', name, dst_dir_fd=folder)
    except OSError as raised:
        if raised.errno in _UNSUPPORTED:
            return False
        raise
    return True


def _write_named(folder: int, name: str, data: bytes, before: os.stat_result | None) -> None:
    with os.fdopen(os.open(name, _NAMED, _first_mode(before), dir_fd=folder), 'wb') as stream:
        _fill(stream, data, before)


def _first_mode(before: os.stat_result | None) -> int:
    # Nobody may look into the new content of a file whose permissions are still to be set.
    return 0o666 if before is None else 0o600


def _fill(stream: BinaryIO, data: bytes, before: os.stat_result | None) -> None:
    stream.write(data)
    stream.flush()
    if before is not None:
        with suppress(PermissionError):
            os.fchown(stream.fileno(), before.st_uid, before.st_gid)
        os.fchmod(stream.fileno(), stat.S_IMODE(before.st_mode))
    os.fsync(stream.fileno())


def _give_name(folder: int, temporary: str, name: str) -> None:
    try:
        # Unlike a rename, a link never takes the place of a file that somebody has just made.
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as raised:
        if raised.errno not in _UNSUPPORTED:
            raise
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


@contextmanager
def _new_folders(folder: int, names: Names) -> Generator[int, None, None]:
    """Make folders one in the other and give the innermost; where something fails, those that were made go again."""
    made: list[tuple[int, str]] = []
    with ExitStack() as opened:
        try:
            for name in names:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)
                    made.append((folder, name))
                folder = os.open(name, FOLDER, dir_fd=folder)
                opened.callback(os.close, folder)
            yield folder
        except BaseException:
            for above, name in reversed(made):
                with suppress(OSError):
                    os.rmdir(name, dir_fd=above)
            raise
