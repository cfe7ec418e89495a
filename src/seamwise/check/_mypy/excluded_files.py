"""Python files that the configuration of mypy excludes from the check."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct
from mypy.fscache import FileSystemCache
from mypy.modulefinder import matches_exclude, matches_gitignore
from mypy.options import Options

_SUFFIXES = ('.py', '.pyi')
_SKIPPED = frozenset({'__pycache__', 'site-packages', 'node_modules'})
"""Folders that mypy never reads, like those whose names begin with a dot."""


class ExcludedPath(Struct, frozen=True):
    """File, or folder with Python files."""

    path: str
    files: int
    """Number of Python files."""
    is_folder: bool = False


def excluded_paths(paths: Iterable[str], options: Options) -> list[ExcludedPath]:
    """Return the files and folders below some folders that mypy excludes."""
    if not options.exclude and not options.exclude_gitignore:
        return []
    cache = FileSystemCache()
    by_path = {
        excluded.path: excluded
        for path in paths
        if Path(path).is_dir()
        for excluded in _excluded_in(os.path.normpath(path), options, cache)
    }
    return list(by_path.values())


def _excluded_in(folder: str, options: Options, cache: FileSystemCache) -> Iterator[ExcludedPath]:
    for path, is_folder in _entries(folder):
        is_excluded = matches_exclude(path, options.exclude, cache, verbose=False) or (
            options.exclude_gitignore and matches_gitignore(path, cache, verbose=False)
        )
        if not is_excluded:
            if is_folder:
                yield from _excluded_in(path, options, cache)
        elif not is_folder:
            yield ExcludedPath(path, 1)
        elif count := _count_files(path):
            yield ExcludedPath(path, count, is_folder=True)


def _count_files(folder: str) -> int:
    return sum(_count_files(path) if is_folder else 1 for path, is_folder in _entries(folder))


def _entries(folder: str) -> Iterator[tuple[str, bool]]:
    """Yield the Python files and the folders in a folder, and whether each is a folder.

    Virtual environments are omitted, because their code is not that of the project.
    """
    try:
        with os.scandir(folder) as scanned:
            entries = sorted(scanned, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = os.path.normpath(os.path.join(folder, entry.name))
        if entry.name in _SKIPPED or entry.name.startswith('.'):
            continue
        if entry.is_dir(follow_symlinks=False):
            if not Path(path, 'pyvenv.cfg').exists():
                yield path, True
        elif entry.name.endswith(_SUFFIXES) and entry.is_file():
            yield path, False
