"""One walk from the workspace's root along the names of a path, on which no symlink is followed unseen.

Every name is opened below the folder before it (`openat` with O_NOFOLLOW), and symlinks are read and resolved here.
So there is no moment between a check and a use in which a swapped symlink could lead out.
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Sequence
from typing import Literal, TypeAlias

from seamwise.toolhost.workspace.ignore_rules import Rules
from seamwise.toolhost.workspace.paths import Names, Roots, split

FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, 'O_PATH', os.O_RDONLY)
"""How a folder is opened on the way: enough to look names up in it, where the system knows the difference."""

HOPS = 40
"""So many symlinks may lie on the way, as in Linux; more are a loop."""

Resolution: TypeAlias = Literal['here', 'missing', 'nowhere', 'blocked', 'ignored', 'outside']
"""How a walk ends: at something; where nothing is, yet; where nothing can be (a loop, `..` of what is missing); at a
file that is no folder; or at a border."""


class PathResolver:
    """Goes along names below `root` (an open folder, which stays open); `close` gives the last folder back.

    What is ignored is never looked at, so that an answer cannot depend on what stands there. After the first name
    that is ignored or missing the rest is only read: it may still lead out.
    """

    def __init__(self, root: int, roots: Roots, rules: Rules) -> None:
        self._root = root
        self._roots = roots
        self._rules = rules
        self._ahead: deque[str] = deque()
        self._hops = 0
        self.folder = os.dup(root)
        self.names: list[str] = []
        self.end: Resolution = 'here'
        self.depth = 0
        """How many of `names` there are, and were seen to be no symlink."""
        self.mode = 0
        """The type and the permissions (`st_mode`) of what stands at the last name that was looked up."""

    def close(self) -> None:
        """Close the folder in which the last name was looked up."""
        os.close(self.folder)

    def go(self, names: Sequence[str]) -> None:
        """Walk; how it went stands in `end`. Raises OSError where the machine does not let a folder be looked into."""
        self._ahead.extend(names)
        while self._ahead and self.end != 'outside':
            self._step(self._ahead.popleft())

    def _step(self, name: str) -> None:
        if name == '..':
            self._up()
            return
        self.names.append(name)
        if self.end == 'here':
            self.end = self._look(name)
        elif self.end != 'ignored' and self._rules.may_ignore(self.names):
            self.end = 'ignored'

    def _up(self) -> None:
        if not self.names:
            self.end = 'outside'
            return
        self.names.pop()
        if self.end == 'here':
            self._again(self.names)
        elif self.end == 'missing':
            self.end = 'nowhere'

    def _again(self, names: Sequence[str]) -> None:
        """Start anew from the root: a `..` on the disk may have been moved elsewhere."""
        self._ahead.extendleft(reversed(names))
        self.names = []
        self.depth = 0
        self.mode = 0
        self._move(os.dup(self._root))

    def _move(self, folder: int) -> None:
        os.close(self.folder)
        self.folder = folder

    def _look(self, name: str) -> Resolution:
        if self._ahead and self._rules.ignores(self.names, folder=True):
            return 'ignored'
        try:
            mode = os.stat(name, dir_fd=self.folder, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return 'ignored' if self._rules.may_ignore(self.names) else 'missing'
        if stat.S_ISLNK(mode):
            return 'ignored' if self._rules.may_ignore(self.names) else self._follow(name)
        is_folder = stat.S_ISDIR(mode)
        if self._rules.ignores(self.names, folder=is_folder):
            return 'ignored'
        if self._ahead and not is_folder:
            return 'blocked'
        self.depth += 1
        self.mode = mode
        if self._ahead:
            self._move(os.open(name, FOLDER, dir_fd=self.folder))
        return 'here'

    def _follow(self, name: str) -> Resolution:
        self._hops += 1
        if self._hops > HOPS:
            return 'nowhere'
        try:
            target = os.readlink(name, dir_fd=self.folder)
        except OSError as raised:
            if raised.errno != errno.EINVAL:
                raise
            # It is no symlink any more: look again.
            target = name
        names = self._target(target)
        if names is None:
            return 'outside'
        self._again([*self.names[:-1], *names])
        return 'here'

    def _target(self, target: str) -> Names | None:
        return self._roots.inside(target) if target.startswith('/') else split(target)
