"""Parsing of the paths in tool calls, and the typed failures that describe them."""

import errno
import os
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.secrets import Secret
from seamwise.catalog.tools import (
    FileNotFound,
    InvalidParameter,
    PathForbidden,
    PathReason,
    ResourceExhausted,
    ToolFailed,
    ToolTimedOut,
)
from seamwise.toolhost.builtin.time_limit import OutOfTime

MAX_NAME_SIZE = 255
"""In bytes: the limit of all common file systems (NAME_MAX of Linux)."""

MAX_PATH_SIZE = 4096
"""In bytes: the limit of the system calls that open a path (PATH_MAX of Linux)."""

Names: TypeAlias = tuple[str, ...]
"""The names in a path, relative to the workspace; none of them is empty or `.`."""

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

PathError: TypeAlias = (
    InvalidParameter | FileNotFound | PathForbidden | ResourceExhausted | ToolFailed | ToolTimedOut
)
"""The failures that are possible with any path."""


class PathRequest(Struct, frozen=True):
    """A path as a tool call spells it, with the tool and the parameter that every failure names.

    >>> PathRequest('read_file', 'a.txt').forbidden('ignored')
    PathForbidden(tool='read_file', path='a.txt', reason='ignored')
    """

    tool: str
    path: str
    parameter: str = 'path'

    def invalid(self, reason: str) -> InvalidParameter:
        """Return an `InvalidParameter` for the parameter with this path."""
        return InvalidParameter(self.tool, self.parameter, reason, Secret(self.path))

    def forbidden(self, reason: PathReason) -> PathForbidden:
        """Return a `PathForbidden` for this path."""
        return PathForbidden(self.tool, self.path, reason)

    def missing(self, suggestions: Iterable[str] = ()) -> FileNotFound:
        """Return a `FileNotFound` for this path, with similar paths that exist."""
        return FileNotFound(self.tool, self.path, tuple(suggestions))

    def child_path(self, names: Names) -> str:
        """Return the path of an entry below this one, in the spelling of this one.

        >>> PathRequest('list_files', './src/').child_path(('app.py',))
        './src/app.py'
        """
        if not names:
            return self.path
        is_root = not self.path.startswith('/') and not split_path(self.path)
        child = display_path(names)
        return child if is_root else f'{self.path.rstrip("/")}/{child}'

    def error_for(self, error: OSError) -> PathError:
        """Return the failure that represents an `OSError` on this path.

        >>> PathRequest('read_file', 'a').error_for(OSError(errno.ENOSPC, ''))
        ResourceExhausted(resource='disk')

        Raises:
            OSError: the error itself, if only a bug can cause it (a closed descriptor).
        """
        if isinstance(error, OutOfTime):
            return ToolTimedOut(self.tool, error.seconds, 1)
        if error.errno in _BUGS:
            raise error
        if error.errno in _EXHAUSTED:
            return ResourceExhausted(_EXHAUSTED[error.errno])
        if error.errno in _DENIED:
            return self.forbidden('system')
        if error.errno in _VANISHED:
            # Every path was resolved before: it has since been removed or replaced by a symlink.
            return self.missing()
        if error.errno == errno.ENAMETOOLONG:
            return self.invalid('contains a name that is too long for this file system')
        return ToolFailed(self.tool, error)


def is_skippable(error: OSError) -> bool:
    """Return whether a walk through a folder skips the entry that raised this error.

    It does if the entry has vanished or is not readable.

    >>> is_skippable(FileNotFoundError(errno.ENOENT, '')), is_skippable(OSError(errno.EIO, ''))
    (True, False)
    """
    return error.errno in _VANISHED or error.errno in _DENIED


class ParsedPath(Struct, frozen=True):
    """The names in a path, every `..` included, and whether its last part requires a folder."""

    names: Names
    is_folder: bool


class Roots(Struct, frozen=True):
    """The absolute paths of the workspace: as configured, and with its symlinks resolved."""

    paths: tuple[Names, ...]

    def relative_names(self, path: str) -> Names | None:
        """Return the names of an absolute path below the workspace, or None if it is outside."""
        names = split_path(path)
        return next((names[len(root) :] for root in self.paths if names[: len(root)] == root), None)


def split_path(path: str) -> Names:
    """Return the names in a path, without empty ones and `.`.

    >>> split_path('./src//app.py/')
    ('src', 'app.py')
    """
    return tuple(name for name in path.split('/') if name not in {'', '.'})


def parse_path(
    request: PathRequest, roots: Roots
) -> Result[ParsedPath, InvalidParameter | PathForbidden]:
    """Parse the path of a request without access to the disk.

    An absolute path outside the workspace is forbidden; a path that cannot exist is invalid.

    >>> parse_path(PathRequest('list_files', './src/'), Roots(()))
    Success(ParsedPath(names=('src',), is_folder=True))
    """
    path = request.path
    if problem := _path_problem(path):
        return Failure(request.invalid(problem))
    names = roots.relative_names(path) if path.startswith('/') else split_path(path)
    if names is None:
        return Failure(request.forbidden('outside_workspace'))
    is_folder = path.endswith(('/', '/.', '/..')) or path in {'.', '..'}
    return Success(ParsedPath(names, is_folder))


def _path_problem(path: str) -> str | None:
    if not path:
        return 'must not be empty; the workspace itself is "."'
    if '\0' in path:
        return 'must not contain a NUL character'
    try:
        size = len(os.fsencode(path))
    except UnicodeEncodeError as error:
        return f'contains the character {path[error.start]!a}, which no file name can contain'
    if size > MAX_PATH_SIZE:
        return f'has {size:,} bytes; the maximum is {MAX_PATH_SIZE:,}'
    name_size = max(len(os.fsencode(name)) for name in path.split('/'))
    if name_size > MAX_NAME_SIZE:
        return f'contains a name of {name_size:,} bytes; the maximum is {MAX_NAME_SIZE}'
    return None


def display_path(names: Sequence[str]) -> str:
    r"""Join names to a path that can be encoded: U+FFFD replaces bytes that are not UTF-8.

    >>> display_path(['a', 'b\udcff.txt'])
    'a/b\ufffd.txt'
    """
    return '/'.join(names).encode('utf-8', 'surrogateescape').decode('utf-8', 'replace')
