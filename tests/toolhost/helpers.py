"""What the tests of the tool host share."""

import gc
import os
import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from seamwise import Failure, Result, Success

T = TypeVar('T')
K = TypeVar('K')

NOBODY = 65534

CANARY = 'OUTSIDE-CANARY-5f1c\n'


def value_of(result: Result[T, object]) -> T:
    """Give the value of a success."""
    assert type(result) is Success, result
    return result.unwrap()


def error_of(result: Result[object, object], kind: type[K]) -> K:
    """Give the error of a failure, which must be of this kind."""
    assert type(result) is Failure, result
    error = result.failure()
    assert isinstance(error, kind), error
    return error


@contextmanager
def unprivileged() -> Generator[None, None, None]:
    """Let permissions count, for root too."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


def make_nested_folders(folder: Path, depth: int) -> None:
    """Make a folder `d` in a folder `d` in a folder `d`, and so on."""
    folder.joinpath(*['d'] * depth).mkdir(parents=True)


def open_handles() -> set[str]:
    """Give the open handles of this process, without those that wait to be collected."""
    gc.collect()
    return {one.name for one in Path('/proc/self/fd').iterdir()}


@contextmanager
def limit_handles(count: int) -> Generator[None, None, None]:
    """Let the process open so many files more, and no more."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.dup(0)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free + count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def tree(folder: Path) -> dict[str, bytes | str | None]:
    """Give all that is in a folder: bytes of a file, target of a symlink, None for a folder."""
    found: dict[str, bytes | str | None] = {}
    for path in sorted(folder.rglob('*')):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = str(path.readlink())
        else:
            found[name] = path.read_bytes() if path.is_file() else None
    return found
