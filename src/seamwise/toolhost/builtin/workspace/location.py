"""The location that a path resolves to, and the kind of entry there."""

import stat

from msgspec import Struct

from seamwise.toolhost.builtin.workspace.ignore_rules import IgnoreRules
from seamwise.toolhost.builtin.workspace.paths import Names

GIT_FOLDER = '.git'
"""Git's own folder: tools neither write in it nor list it."""

_KINDS = {
    stat.S_IFDIR: 'a folder',
    stat.S_IFREG: 'a file',
    stat.S_IFIFO: 'a pipe',
    stat.S_IFSOCK: 'a socket',
}


def is_git_path(names: Names) -> bool:
    """Return whether a path is a `.git` folder or inside one.

    The comparison ignores case, as some file systems do.

    >>> is_git_path(('.git', 'config')), is_git_path(('.gitignore',))
    (True, False)
    """
    return any(name.casefold() == GIT_FOLDER for name in names)


class ResolvedPath(Struct, frozen=True):
    """A location in the workspace, free of symlinks, and the entry there.

    Attributes:
        names: The path from the workspace down; none of its names is a symlink.
        depth: The number of leading names that exist.
        mode: The `st_mode` of the entry; 0 if it does not exist.
        rules: The ignore rules in force when the path was resolved.
    """

    names: Names
    depth: int
    mode: int
    rules: IgnoreRules

    @property
    def exists(self) -> bool:
        """Whether there is an entry of any type."""
        return self.mode != 0

    @property
    def is_folder(self) -> bool:
        """Whether the entry is a folder; the workspace itself is one."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        """Whether the entry is a regular file."""
        return stat.S_ISREG(self.mode)

    @property
    def kind(self) -> str:
        """The type of an existing entry for an error message, such as "a folder"."""
        return _KINDS.get(stat.S_IFMT(self.mode), 'a device')

    def hides(self, names: Names, *, is_folder: bool) -> bool:
        """Return whether listings omit this path: it is ignored, or git's own."""
        return is_git_path(names) or self.rules.ignores(names, is_folder=is_folder)
