"""What is in a folder: in the order of the paths, without what is ignored, following no symlink."""

import os
import stat
from collections.abc import Iterator

from msgspec import Struct

from seamwise.toolhost.workspace.location import ResolvedPath
from seamwise.toolhost.workspace.paths import Names, is_passed_over
from seamwise.toolhost.workspace.workspace import Workspace


class Item(Struct, frozen=True):
    """Something in a folder: its names from the workspace down, and what it is (`st_mode`, and its size in bytes)."""

    names: Names
    mode: int
    size: int

    @property
    def is_folder(self) -> bool:
        """Whether this is a folder, and no symlink to one."""
        return stat.S_ISDIR(self.mode)


class _Below(Struct, frozen=True):
    """A folder that is still to be listed."""

    names: Names


def items(workspace: Workspace, place: ResolvedPath, *, recursive: bool) -> Iterator[Item]:
    """Walk through a folder, sorted by path as text; raises OSError where `place` itself cannot be listed.

    What vanishes meanwhile is left out, and so is what is in a folder that may not be listed. Holds the names of
    the folders on the way, and no open folder.
    """
    ahead = _sorted(_listed(workspace, place, place.names), recursive=recursive)
    while ahead:
        one = ahead.pop()
        if isinstance(one, Item):
            yield one
            continue
        try:
            ahead.extend(_sorted(_listed(workspace, place, one.names), recursive=recursive))
        except OSError as raised:
            if not is_passed_over(raised):
                raise


def _listed(workspace: Workspace, place: ResolvedPath, folder: Names) -> list[Item]:
    with workspace.entries(folder) as entries:
        found = (_item(one, (*folder, one.name)) for one in entries)
        return [
            one
            for one in found
            if one is not None and not place.hides(one.names, folder=one.is_folder)
        ]


def _item(entry: os.DirEntry[str], names: Names) -> Item | None:
    try:
        found = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return Item(names, found.st_mode, found.st_size)


def _sorted(found: list[Item], *, recursive: bool) -> list[Item | _Below]:
    """Sort so that the first comes last; what is in a folder has its own turn, as if the folder's name ended in a slash."""
    turns: list[tuple[str, Item | _Below]] = [(one.names[-1], one) for one in found]
    if recursive:
        turns.extend((f'{one.names[-1]}/', _Below(one.names)) for one in found if one.is_folder)
    return [one for _key, one in sorted(turns, key=lambda turn: turn[0], reverse=True)]
