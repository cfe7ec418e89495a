"""The folder that no path leaves: where a path leads in it, and how to open what is there."""

import errno
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO
from weakref import finalize

from seamwise._close_matches import close_matches
from seamwise.catalog.tools import PathForbidden
from seamwise.containers import Failure, Result, Success
from seamwise.scope import Do, fallible
from seamwise.toolhost.workspace.ignore_rules import FILE, NO_RULES, RULES_LIMIT, Rules, parse
from seamwise.toolhost.workspace.location import ResolvedPath, is_git
from seamwise.toolhost.workspace.path_resolver import FOLDER, PathResolver
from seamwise.toolhost.workspace.paths import (
    Names,
    PathRequest,
    Roots,
    Trouble,
    route,
    shown,
    split,
)

MOST_NAMES = 10_000
"""So many names of a folder are looked at for suggestions."""

_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# A pipe or a device must not block the open, nor a terminal become the program's own.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Workspace:
    """A folder with its ignore rules, and the only way to what is in it.

    A path is relative to the folder or absolute inside it; `..` and symlinks may lead anywhere inside. Making one
    raises OSError where `root` is no folder that can be opened.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve(strict=True)
        self._folder = os.open(self.root, _LIST)
        finalize(self, os.close, self._folder)
        self._roots = Roots(tuple({split(str(root.absolute())), split(str(self.root))}))

    @fallible
    def locate(self, do: Do[Trouble], asked: PathRequest, *, writing: bool = False) -> ResolvedPath:
        """Find where a path leads; nothing needs to be there. Checks the rules for paths, in their order."""
        given = do(route(asked, self._roots))
        try:
            rules, rules_file = self._rules()
            with closing(PathResolver(self._folder, self._roots, rules)) as walk:
                walk.go(given.names)
                place = ResolvedPath(tuple(walk.names), walk.depth, self._mode(walk), rules)
            if walk.end in {'outside', 'ignored'}:
                do.fail(
                    asked.forbidden('ignored' if walk.end == 'ignored' else 'outside_workspace')
                )
            if writing:
                do(self._may_write(asked, place, rules_file))
        except OSError as raised:
            do.fail(asked.trouble(raised))
        if walk.end == 'nowhere':
            do.fail(asked.missing())
        if walk.end == 'blocked' or (given.to_folder and place.mode and not place.is_folder):
            do.fail(asked.invalid('goes through a file as if that were a folder'))
        if writing and given.to_folder and not place.mode:
            do.fail(asked.invalid('must name a file, so it must not end in "/", "." or ".."'))
        return place

    @fallible
    def existing(
        self, do: Do[Trouble], asked: PathRequest, *, writing: bool = False
    ) -> ResolvedPath:
        """Find what stands at a path; FileNotFound where nothing does, with near names of the same folder."""
        place = do(self.locate(asked, writing=writing))
        if not place.mode:
            do.fail(asked.missing(self._suggestions(place)))
        return place

    @fallible
    def folder(self, do: Do[Trouble], asked: PathRequest) -> ResolvedPath:
        """Find the folder at a path; anything else there is InvalidParameter."""
        place = do(self.existing(asked))
        if not place.is_folder:
            do.fail(asked.invalid(f'is {place.kind}, not a folder'))
        return place

    @fallible
    def file(self, do: Do[Trouble], asked: PathRequest, *, writing: bool = False) -> ResolvedPath:
        """Find the regular file at a path; anything else there is InvalidParameter."""
        place = do(self.existing(asked, writing=writing))
        if not place.is_file:
            do.fail(asked.invalid(f'is {place.kind}, not a file'))
        return place

    @contextmanager
    def open_folder(self, names: Names) -> Generator[int, None, None]:
        """Open a folder by names of which none is a symlink; raises OSError where that has changed."""
        folder = os.dup(self._folder)
        try:
            for name in names:
                below = os.open(name, FOLDER, dir_fd=folder)
                os.close(folder)
                folder = below
            yield folder
        finally:
            os.close(folder)

    @contextmanager
    def open_file(self, names: Names) -> Generator[BinaryIO, None, None]:
        """Open a regular file for reading, by names of which none is a symlink; raises OSError where that has changed."""
        with self.open_folder(names[:-1]) as folder:
            descriptor = os.open(names[-1], _READ, dir_fd=folder)
        with os.fdopen(descriptor, 'rb') as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileNotFoundError(errno.ENOENT, 'it is no file any more', names[-1])
            yield stream

    @contextmanager
    def entries(self, names: Names) -> Generator[Iterator[os.DirEntry[str]], None, None]:
        """List a folder by names of which none is a symlink; raises OSError where that has changed."""
        with self.open_folder(names) as folder:
            descriptor = os.open('.', _LIST, dir_fd=folder)
        try:
            with os.scandir(descriptor) as entries:
                yield entries
        finally:
            os.close(descriptor)

    def _mode(self, walk: PathResolver) -> int:
        if walk.end != 'here':
            return 0
        return walk.mode if walk.names else os.fstat(self._folder).st_mode

    def _rules(self) -> tuple[Rules, Names]:
        """Read the rules as they are now, and tell where they stand. Raises OSError rather than to ignore nothing by mistake."""
        with closing(PathResolver(self._folder, self._roots, NO_RULES)) as walk:
            walk.go((FILE,))
        names = tuple(walk.names)
        if walk.end == 'missing' and names == (FILE,):
            return NO_RULES, names
        if not stat.S_ISREG(self._mode(walk)):
            raise OSError(
                errno.EINVAL, 'the ignore rules are no file inside of the workspace', FILE
            )
        with self.open_file(names) as stream:
            data = stream.read(RULES_LIMIT + 1)
        if len(data) > RULES_LIMIT:
            raise OSError(
                errno.EFBIG, f'the ignore rules have more than {RULES_LIMIT:,} bytes', FILE
            )
        return parse(data), names

    def _may_write(
        self, asked: PathRequest, place: ResolvedPath, rules_file: Names
    ) -> Result[None, PathForbidden]:
        if is_git(place.names):
            return Failure(asked.forbidden('system'))
        if any(place.names[: len(one)] == one for one in ((FILE,), rules_file)):
            return Failure(asked.forbidden('write_protected'))
        if not place.is_file:
            return Success(None)
        # Root may write anything, and a file is replaced by way of its folder: neither asks the file's own bits.
        if not place.mode & 0o222:
            return Failure(asked.forbidden('write_protected'))
        with self.open_folder(place.names[:-1]) as folder:
            allowed = os.access(place.names[-1], os.W_OK, dir_fd=folder, effective_ids=True)
        return Success(None) if allowed else Failure(asked.forbidden('system'))

    def _suggestions(self, place: ResolvedPath) -> tuple[str, ...]:
        folder = place.names[: place.present]
        try:
            with self.entries(folder) as entries:
                names = [
                    one.name
                    for one in islice(entries, MOST_NAMES)
                    if not place.hides(
                        (*folder, one.name), folder=one.is_dir(follow_symlinks=False)
                    )
                    and shown([one.name]) == one.name
                ]
        except OSError:
            # A folder that cannot be listed has no suggestions; that the file is not there is known all the same.
            return ()
        return tuple(
            '/'.join((*folder, name))
            for name in close_matches(place.names[place.present], sorted(names))
        )
