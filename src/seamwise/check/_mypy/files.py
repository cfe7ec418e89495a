"""View of the file system for mypy: exact modification times, and no loops of symbolic links."""

import os

from mypy.fscache import FileSystemCache
from typing_extensions import override


class CheckedFiles(FileSystemCache):
    """File system in which a folder is never a part of itself, and with times in nanoseconds.

    mypy compares size and time of a file in whole seconds, and would not see that a fix or an
    editor has changed a file twice in a second.
    """

    @override
    def stat_or_none(self, path: str) -> os.stat_result | None:
        status = super().stat_or_none(path)
        if status is None:
            return None
        return os.stat_result((*status[:8], float(status.st_mtime_ns), status.st_ctime))

    @override
    def listdir(self, path: str) -> list[str]:
        names = super().listdir(path)
        if not any(os.path.islink(os.path.join(path, name)) for name in names):  # noqa: PTH114 -- paths of mypy
            return names
        around = {os.path.realpath(folder) for folder in _folders(os.path.abspath(path))}  # noqa: PTH100
        return [name for name in names if not _is_loop(os.path.join(path, name), around)]


def _folders(path: str) -> list[str]:
    """Return a folder and all folders around it."""
    folders = [path]
    while (parent := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(parent)
    return folders


def _is_loop(path: str, around: set[str]) -> bool:
    return os.path.islink(path) and os.path.realpath(path) in around  # noqa: PTH114
