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
    def flush(self) -> None:
        super().flush()
        self._without_loops: dict[str, list[str]] = {}

    @override
    def listdir(self, path: str) -> list[str]:
        # mypy lists the folders of all packages many times.
        names = self._without_loops.get(path)
        if names is None:
            names = self._without_loops[path] = _without_loops(path, super().listdir(path))
        return names


def _without_loops(path: str, names: list[str]) -> list[str]:
    """Return the names in a folder, but not those of links to a folder around it."""
    with os.scandir(path) as entries:
        links = {entry.name for entry in entries if entry.is_symlink()}
    if not links:
        return names
    around = {os.path.realpath(folder) for folder in _folders(os.path.abspath(path))}  # noqa: PTH100 -- paths of mypy
    return [
        name
        for name in names
        if name not in links or os.path.realpath(os.path.join(path, name)) not in around
    ]


def _folders(path: str) -> list[str]:
    """Return a folder and all folders around it."""
    folders = [path]
    while (parent := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(parent)
    return folders
