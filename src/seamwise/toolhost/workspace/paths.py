"""A path as a call gives it: whether it can be one at all, the names in it, and the failures that speak of it."""

import errno
import os
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise.catalog.tools import (
    FileNotFound,
    InvalidParameter,
    PathForbidden,
    PathReason,
    ResourceExhausted,
    ToolFailed,
)
from seamwise.containers import Failure, Result, Success
from seamwise.secrets import Secret

NAME_LIMIT = 255
"""In bytes: no common file system takes a longer name (NAME_MAX of Linux)."""

PATH_LIMIT = 4096
"""In bytes: no program could open a longer path (PATH_MAX of Linux)."""

Names: TypeAlias = tuple[str, ...]
"""The names of a path from the workspace down; none of them is empty or `.`."""

_EXHAUSTED: dict[int | None, Literal['memory', 'disk', 'threads', 'handles']] = {
    errno.ENOSPC: 'disk',
    errno.EDQUOT: 'disk',
    errno.EMFILE: 'handles',
    errno.ENFILE: 'handles',
    errno.ENOMEM: 'memory',
    errno.EAGAIN: 'threads',
}
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}
_VANISHED = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
_BUGS = {None, errno.EBADF, errno.EFAULT}


class PathRequest(Struct, frozen=True):
    """Which tool asks for which path, as it was given, under which parameter: what every failure about it names."""

    tool: str
    path: str
    parameter: str = 'path'

    def invalid(self, reason: str) -> InvalidParameter:
        """Say what is wrong with the path."""
        return InvalidParameter(self.tool, self.parameter, reason, Secret(self.path))

    def forbidden(self, reason: PathReason) -> PathForbidden:
        """Say why the path may not be touched."""
        return PathForbidden(self.tool, self.path, reason)

    def missing(self, suggestions: Iterable[str] = ()) -> FileNotFound:
        """Say that nothing has this path, and what may have been meant."""
        return FileNotFound(self.tool, self.path, tuple(suggestions))

    def below(self, names: Names) -> str:
        """Write a path below this one, in the way in which this one was given."""
        if not names:
            return self.path
        is_root = not self.path.startswith('/') and not split(self.path)
        return shown(names) if is_root else f'{self.path.rstrip("/")}/{shown(names)}'

    def trouble(self, raised: OSError) -> 'Trouble':
        """Tell what an exception of the operating system means; one that only a bug can cause is raised again."""
        if raised.errno in _BUGS:
            raise raised
        if raised.errno in _EXHAUSTED:
            return ResourceExhausted(_EXHAUSTED[raised.errno])
        if raised.errno in _DENIED:
            return self.forbidden('system')
        if raised.errno in _VANISHED:
            # Every path was looked up before: it has gone, or was swapped for a symlink, in between.
            return self.missing()
        if raised.errno == errno.ENAMETOOLONG:
            return self.invalid('has a name that is too long for this file system')
        return ToolFailed(self.tool, raised)


Trouble: TypeAlias = (
    InvalidParameter | FileNotFound | PathForbidden | ResourceExhausted | ToolFailed
)
"""What can go wrong with any path."""


def is_passed_over(raised: OSError) -> bool:
    """Whether a look through a folder goes on without what gave this: it has vanished, or may not be read."""
    return raised.errno in _VANISHED or raised.errno in _DENIED


class Route(Struct, frozen=True):
    """The names in a path, with every `..`, and whether its end says that it is a folder."""

    names: Names
    to_folder: bool


class Roots(Struct, frozen=True):
    """The absolute paths of the workspace: as it was named, and where its symlinks lead."""

    known: tuple[Names, ...]

    def inside(self, path: str) -> Names | None:
        """Give the names in an absolute path below the workspace, or None where it is another's."""
        names = split(path)
        return next((names[len(root) :] for root in self.known if names[: len(root)] == root), None)


def split(path: str) -> Names:
    """Give the names in a path; what is empty or `.` names nothing.

    >>> split('./src//app.py/')
    ('src', 'app.py')
    """
    return tuple(name for name in path.split('/') if name not in {'', '.'})


def route(asked: PathRequest, roots: Roots) -> Result[Route, InvalidParameter | PathForbidden]:
    """Read a path, with no look at the disk: it must be one, and must not be another folder's absolute path."""
    path = asked.path
    if reason := _flaw(path):
        return Failure(asked.invalid(reason))
    names = roots.inside(path) if path.startswith('/') else split(path)
    if names is None:
        return Failure(asked.forbidden('outside_workspace'))
    return Success(Route(names, path.endswith(('/', '/.', '/..')) or path in {'.', '..'}))


def _flaw(path: str) -> str | None:
    if not path:
        return 'must not be empty; the workspace itself is "."'
    if '\0' in path:
        return 'must not hold a NUL character'
    try:
        size = len(os.fsencode(path))
    except UnicodeEncodeError as raised:
        return f'holds the character {path[raised.start]!a}, which no file name here can hold'
    if size > PATH_LIMIT:
        return f'has {size:,} bytes; a path has at most {PATH_LIMIT:,}'
    longest = max(len(os.fsencode(name)) for name in path.split('/'))
    return (
        f'has a name of {longest:,} bytes; a name has at most {NAME_LIMIT}'
        if longest > NAME_LIMIT
        else None
    )


def shown(names: Sequence[str]) -> str:
    r"""Write names as a path that every encoder takes: what is not UTF-8 in a name is shown as U+FFFD.

    >>> shown(['a', 'b\udcff.txt'])
    'a/b\ufffd.txt'
    """
    return '/'.join(names).encode('utf-8', 'surrogateescape').decode('utf-8', 'replace')
