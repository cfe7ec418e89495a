"""Resolution of a path inside the workspace, safe against concurrent changes of symlinks.

Every name is opened relative to its folder (`openat` with O_NOFOLLOW), and symlinks are read and
resolved in this module. There is no gap between check and use in which a swapped symlink could
lead outside.
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Sequence
from typing import Literal, TypeAlias

from seamwise.toolhost.builtin.time_limit import TimeLimit
from seamwise.toolhost.builtin.workspace.disk_names import disk_name
from seamwise.toolhost.builtin.workspace.ignore_rules import IgnoreRules
from seamwise.toolhost.builtin.workspace.paths import Names, Roots, split_path

FOLDER_FLAGS = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, 'O_PATH', os.O_RDONLY)
"""Flags to open a folder for lookups only, if the system supports that (O_PATH)."""

MAX_SYMLINKS = 40
"""The maximum number of symlinks in a path, as in Linux; more are treated as a loop."""

Resolution: TypeAlias = Literal['found', 'missing', 'unreachable', 'blocked', 'ignored', 'outside']
"""The outcome of a resolution.

- `found`: there is an entry.
- `missing`: there is no entry, but one can be created.
- `unreachable`: there can be no entry (a symlink loop, or `..` after a missing name).
- `blocked`: the path continues below a file.
- `ignored`: an ignore rule matches.
- `outside`: the path leaves the workspace.
"""


class PathResolver:
    """Resolver of one path below `root`, a descriptor of an open folder.

    Ignored entries are never looked up, so a resolution does not reveal whether they exist. After
    the first ignored or missing name, the rest is only parsed: it can still lead outside.
    Call `close` to release the last folder; `root` stays open.
    """

    def __init__(self, root: int, roots: Roots, rules: IgnoreRules, limit: TimeLimit) -> None:
        self._root = root
        self._roots = roots
        self._rules = rules
        self._limit = limit
        self._pending: deque[str] = deque()
        self._symlinks = 0
        self.folder = os.dup(root)
        """The descriptor of the folder that contains the last name looked up."""
        self.names: list[str] = []
        """The names so far; those that exist are spelled as in their folder."""
        self.resolution: Resolution = 'found'
        self.depth = 0
        """The number of `names` that exist and are not symlinks."""
        self.mode = 0
        """The `st_mode` of the last entry looked up."""

    def close(self) -> None:
        """Close the folder that contains the last name looked up."""
        os.close(self.folder)

    def resolve(self, names: Sequence[str]) -> None:
        """Resolve the names and store the outcome in `resolution`.

        Raises:
            OSError: a folder on the way cannot be searched.
            OutOfTime: the time of the call is over.
        """
        self._pending.extend(names)
        while self._pending and self.resolution != 'outside':
            self._limit.check()
            self._resolve_name(self._pending.popleft())

    def _resolve_name(self, name: str) -> None:
        if name == '..':
            self._go_up()
            return
        self.names.append(name)
        if self.resolution == 'found':
            self.resolution = self._look_up(name)
        elif self.resolution != 'ignored' and self._ignores_missing():
            self.resolution = 'ignored'

    def _go_up(self) -> None:
        if not self.names:
            self.resolution = 'outside'
            return
        self.names.pop()
        if self.resolution == 'found':
            self._restart(self.names)
        elif self.resolution == 'missing':
            self.resolution = 'unreachable'

    def _restart(self, names: Sequence[str]) -> None:
        """Resolve the names from the root: the `..` of a folder that was moved leads elsewhere."""
        self._pending.extendleft(reversed(names))
        self.names = []
        self.depth = 0
        self.mode = 0
        self._enter(os.dup(self._root))

    def _enter(self, folder: int) -> None:
        os.close(self.folder)
        self.folder = folder

    def _look_up(self, name: str) -> Resolution:
        # Also the requested spelling, so that a rule is not evaded by another spelling of it.
        if self._pending and self._rules.ignores(self.names, is_folder=True):
            return 'ignored'
        try:
            status = os.stat(name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return 'ignored' if self._ignores_missing() else 'missing'
        mode = status.st_mode
        is_folder = stat.S_ISDIR(mode)
        is_ignored = self._ignores_existing(mode)
        self.names[-1] = disk_name(self.folder, name, status, self._limit)
        if is_ignored or (self.names[-1] != name and self._ignores_existing(mode)):
            # A folder is expected here, and a missing one would be found missing: an ignored file
            # or symlink of that name must not show that it exists.
            return 'ignored' if is_folder or not self._pending else 'missing'
        if stat.S_ISLNK(mode):
            return self._follow_symlink(name)
        if self._pending and not is_folder:
            return 'blocked'
        self.depth += 1
        self.mode = mode
        if self._pending:
            self._enter(os.open(name, FOLDER_FLAGS, dir_fd=self.folder))
        return 'found'

    def _ignores_existing(self, mode: int) -> bool:
        if stat.S_ISLNK(mode):
            # Its target may be a folder.
            return self._rules.may_ignore(self.names)
        return self._rules.ignores(self.names, is_folder=stat.S_ISDIR(mode))

    def _ignores_missing(self) -> bool:
        if self._pending:
            return self._rules.ignores(self.names, is_folder=True)
        return self._rules.may_ignore(self.names)

    def _follow_symlink(self, name: str) -> Resolution:
        self._symlinks += 1
        if self._symlinks > MAX_SYMLINKS:
            return 'unreachable'
        try:
            target = os.readlink(name, dir_fd=self.folder)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            # The entry is no longer a symlink: look it up again.
            target = name
        names = self._target_names(target)
        if names is None:
            return 'outside'
        self._restart([*self.names[:-1], *names])
        return 'found'

    def _target_names(self, target: str) -> Names | None:
        if target.startswith('/'):
            return self._roots.relative_names(target)
        return split_path(target)
