"""The workspace: resolution and opening of paths that never leave its folder."""

import errno
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO
from weakref import finalize

from seamwise._results.containers import Failure, Result, Success
from seamwise._results.scope import Do, fallible
from seamwise._text.close_matches import close_matches
from seamwise.catalog.tools import PathForbidden
from seamwise.toolhost.builtin.time_limit import TimeLimit
from seamwise.toolhost.builtin.workspace.ignore_rules import (
    MAX_RULES_SIZE,
    NO_RULES,
    RULES_FILE,
    IgnoreRules,
    parse_ignore_rules,
)
from seamwise.toolhost.builtin.workspace.location import ResolvedPath, is_git_path
from seamwise.toolhost.builtin.workspace.path_resolver import FOLDER_FLAGS, PathResolver
from seamwise.toolhost.builtin.workspace.paths import (
    Names,
    PathError,
    PathRequest,
    Roots,
    display_path,
    parse_path,
    split_path,
)

MAX_CANDIDATES = 10_000
"""The maximum number of names in a folder that are compared for suggestions."""

_LIST_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe must not block. O_NOCTTY: a terminal must not become our own.
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Workspace:
    """A folder with ignore rules; tools reach files only through it.

    A path is relative to the folder, or absolute and inside it. `..` and symlinks are allowed if
    they lead to a location inside.

    Raises:
        OSError: `root` is not a folder or cannot be opened.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve(strict=True)
        self._folder = os.open(self.root, _LIST_FLAGS)
        finalize(self, os.close, self._folder)
        self._roots = Roots(tuple({split_path(str(root.absolute())), split_path(str(self.root))}))

    @fallible
    def locate(
        self,
        do: Do[PathError],
        request: PathRequest,
        limit: TimeLimit | None = None,
        *,
        writing: bool = False,
    ) -> ResolvedPath:
        """Return the location of a path; the entry need not exist.

        The checks run in this order: syntax, inside the workspace, not ignored, writable (only with
        `writing`), reachable.
        """
        limit = limit or TimeLimit()
        parsed = do(parse_path(request, self._roots))
        try:
            rules, rules_path = self._read_rules(limit)
            with closing(PathResolver(self._folder, self._roots, rules, limit)) as resolver:
                resolver.resolve(parsed.names)
                location = ResolvedPath(
                    tuple(resolver.names), resolver.depth, self._mode(resolver), rules
                )
            if resolver.resolution == 'outside':
                do.fail(request.forbidden('outside_workspace'))
            if resolver.resolution == 'ignored':
                do.fail(request.forbidden('ignored'))
            if writing:
                do(self._check_writable(request, location, rules_path))
        except OSError as error:
            do.fail(request.error_for(error))
        if resolver.resolution == 'unreachable':
            do.fail(request.missing())
        if resolver.resolution == 'blocked' or (
            parsed.is_folder and location.exists and not location.is_folder
        ):
            do.fail(request.invalid('uses a file as if it were a folder'))
        if writing and parsed.is_folder and not location.exists:
            do.fail(request.invalid('must name a file, so it must not end in "/", "." or ".."'))
        return location

    @fallible
    def locate_existing(
        self,
        do: Do[PathError],
        request: PathRequest,
        limit: TimeLimit | None = None,
        *,
        writing: bool = False,
    ) -> ResolvedPath:
        """Return the location of an existing entry, else `FileNotFound` with similar names."""
        limit = limit or TimeLimit()
        location = do(self.locate(request, limit, writing=writing))
        if not location.exists:
            do.fail(request.missing(self._suggestions(location, limit)))
        return location

    @fallible
    def locate_folder(
        self, do: Do[PathError], request: PathRequest, limit: TimeLimit | None = None
    ) -> ResolvedPath:
        """Return the location of a folder; any other entry is an `InvalidParameter`."""
        location = do(self.locate_existing(request, limit))
        if not location.is_folder:
            do.fail(request.invalid(f'is {location.kind}, not a folder'))
        return location

    @fallible
    def locate_file(
        self,
        do: Do[PathError],
        request: PathRequest,
        limit: TimeLimit | None = None,
        *,
        writing: bool = False,
    ) -> ResolvedPath:
        """Return the location of a regular file; any other entry is an `InvalidParameter`."""
        location = do(self.locate_existing(request, limit, writing=writing))
        if not location.is_file:
            do.fail(request.invalid(f'is {location.kind}, not a file'))
        return location

    @contextmanager
    def open_folder(self, names: Names) -> Generator[int, None, None]:
        """Open a resolved folder and yield its descriptor.

        Raises:
            OSError: one of the names is now missing or a symlink.
        """
        folder = os.dup(self._folder)
        try:
            for name in names:
                child = os.open(name, FOLDER_FLAGS, dir_fd=folder)
                os.close(folder)
                folder = child
            yield folder
        finally:
            os.close(folder)

    @contextmanager
    def open_file(self, names: Names) -> Generator[BinaryIO, None, None]:
        """Open a resolved file for reading.

        Raises:
            OSError: one of the names is now missing, a symlink or not a regular file.
        """
        with self.open_folder(names[:-1]) as folder:
            descriptor = os.open(names[-1], _READ_FLAGS, dir_fd=folder)
        try:
            # Before `fdopen`: that of a folder raises, and leaves the descriptor open.
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileNotFoundError(errno.ENOENT, 'no longer a regular file', names[-1])
            with os.fdopen(descriptor, 'rb', closefd=False) as stream:
                yield stream
        finally:
            os.close(descriptor)

    @contextmanager
    def scan_folder(self, names: Names) -> Generator[Iterator[os.DirEntry[str]], None, None]:
        """Open a resolved folder and yield its entries.

        Raises:
            OSError: one of the names is now missing or a symlink.
        """
        with self.open_folder(names) as folder:
            descriptor = os.open('.', _LIST_FLAGS, dir_fd=folder)
        try:
            with os.scandir(descriptor) as entries:
                yield entries
        finally:
            os.close(descriptor)

    def _mode(self, resolver: PathResolver) -> int:
        if resolver.resolution != 'found':
            return 0
        return resolver.mode if resolver.names else os.fstat(self._folder).st_mode

    def _read_rules(self, limit: TimeLimit) -> tuple[IgnoreRules, Names]:
        """Return the current ignore rules and the resolved path of their file.

        Raises:
            OSError: the rules cannot be read. Ignoring nothing instead would expose files.
        """
        with closing(PathResolver(self._folder, self._roots, NO_RULES, limit)) as resolver:
            resolver.resolve((RULES_FILE,))
        names = tuple(resolver.names)
        if resolver.resolution == 'missing' and names == (RULES_FILE,):
            return NO_RULES, names
        if not stat.S_ISREG(self._mode(resolver)):
            raise OSError(
                errno.EINVAL, 'the ignore rules are not a file inside the workspace', RULES_FILE
            )
        with self.open_file(names) as stream:
            data = stream.read(MAX_RULES_SIZE + 1)
        if len(data) > MAX_RULES_SIZE:
            raise OSError(
                errno.EFBIG, f'the ignore rules have more than {MAX_RULES_SIZE:,} bytes', RULES_FILE
            )
        return parse_ignore_rules(data), names

    def _check_writable(
        self, request: PathRequest, location: ResolvedPath, rules_path: Names
    ) -> Result[None, PathForbidden]:
        if is_git_path(location.names):
            return Failure(request.forbidden('system'))
        if any(location.names[: len(path)] == path for path in ((RULES_FILE,), rules_path)):
            return Failure(request.forbidden('write_protected'))
        if not location.is_file:
            return Success(None)
        # The file's own write bits are checked here, since nothing else does: root can write any
        # file, and replacing a file needs permission for its folder only.
        if not location.mode & 0o222:
            return Failure(request.forbidden('write_protected'))
        with self.open_folder(location.names[:-1]) as folder:
            allowed = os.access(location.names[-1], os.W_OK, dir_fd=folder, effective_ids=True)
        return Success(None) if allowed else Failure(request.forbidden('system'))

    def _suggestions(self, location: ResolvedPath, limit: TimeLimit) -> tuple[str, ...]:
        folder = location.names[: location.depth]
        names: list[str] = []
        try:
            with self.scan_folder(folder) as entries:
                for entry in islice(entries, MAX_CANDIDATES):
                    limit.check()
                    is_hidden = location.hides(
                        (*folder, entry.name), is_folder=entry.is_dir(follow_symlinks=False)
                    )
                    if not is_hidden and display_path([entry.name]) == entry.name:
                        names.append(entry.name)
        except OSError:
            # The file is known to be missing, even if its folder cannot be listed.
            return ()
        missing, *rest = location.names[location.depth :]
        similar = [
            '/'.join((*folder, name, *rest)) for name in close_matches(missing, sorted(names))
        ]
        if not rest:
            return tuple(similar)
        # A folder is no suggestion for what is missing inside it: it must contain the rest.
        found = (self.locate(PathRequest('', path), limit) for path in similar)
        return tuple(
            display_path(place.names)
            for place in (item.unwrap() for item in found if type(item) is Success)
            if place.exists and not place.hides(place.names, is_folder=place.is_folder)
        )
