"""Where a path leads in the workspace, and what stands there."""

import stat

from msgspec import Struct

from seamwise.toolhost.workspace.ignore_rules import Rules
from seamwise.toolhost.workspace.paths import Names

GIT = '.git'
"""Git's own folder: no tool writes in it, and no list shows it."""

_KINDS = {
    stat.S_IFDIR: 'a folder',
    stat.S_IFREG: 'a file',
    stat.S_IFIFO: 'a pipe',
    stat.S_IFSOCK: 'a socket',
}


def is_git(names: Names) -> bool:
    """Whether these names lead to git's own folder or into it; upper and lower case are one, as on some file systems.

    >>> is_git(('.git', 'config')), is_git(('.gitignore',))
    (True, False)
    """
    return any(name.casefold() == GIT for name in names)


class ResolvedPath(Struct, frozen=True):
    """Names from the workspace down, none of them a symlink, and what stands at the last one.

    `present` says how many of the names are there; `mode` is the `st_mode`, 0 where nothing stands; `rules` are the
    ignore rules that held when it was looked up.
    """

    names: Names
    present: int
    mode: int
    rules: Rules

    @property
    def is_folder(self) -> bool:
        """Whether a folder stands here; the workspace itself is one."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        """Whether a regular file stands here."""
        return stat.S_ISREG(self.mode)

    @property
    def kind(self) -> str:
        """What stands here, in words, where something does."""
        return _KINDS.get(stat.S_IFMT(self.mode), 'a device')

    def hides(self, names: Names, *, folder: bool) -> bool:
        """Whether a list must leave these names out: they are ignored, or git's own."""
        return is_git(names) or self.rules.ignores(names, folder=folder)
