"""Folder listings, sorted by path, without ignored entries and without following symlinks."""

import os
import stat
from collections.abc import Iterator

from msgspec import Struct

from seamwise.toolhost.builtin.time_limit import TimeLimit
from seamwise.toolhost.builtin.workspace.location import ResolvedPath
from seamwise.toolhost.builtin.workspace.paths import Names, is_skippable
from seamwise.toolhost.builtin.workspace.workspace import Workspace


class ListedItem(Struct, frozen=True):
    """An entry of a folder: its path from the workspace down, `st_mode`, and size in bytes."""

    names: Names
    mode: int
    size: int

    @property
    def is_folder(self) -> bool:
        """Whether the item is a folder; a symlink to a folder is not."""
        return stat.S_ISDIR(self.mode)


class _FolderContent(Struct, frozen=True):
    """The content of a folder, not listed yet."""

    names: Names


def iter_items(
    workspace: Workspace, folder: ResolvedPath, limit: TimeLimit, *, recursive: bool
) -> Iterator[ListedItem]:
    """Yield the items of a folder, sorted by path as text.

    An item that vanishes during the walk is skipped, and so is the content of a folder that is
    not readable. The walk stores the names of pending items, but keeps no folder open.

    Args:
        workspace: The workspace of the folder.
        folder: The folder to list.
        limit: The limit of the time, checked for each entry.
        recursive: Whether to include the content of folders below it.

    Raises:
        OSError: `folder` itself cannot be listed.
        OutOfTime: the time is over.
    """
    # A stack: the next item is the last one.
    pending = _sorted_stack(
        _list_items(workspace, folder, folder.names, limit), recursive=recursive
    )
    while pending:
        item = pending.pop()
        if isinstance(item, ListedItem):
            yield item
            continue
        try:
            items = _list_items(workspace, folder, item.names, limit)
        except OSError as error:
            if not is_skippable(error):
                raise
        else:
            pending.extend(_sorted_stack(items, recursive=recursive))


def _list_items(
    workspace: Workspace, root: ResolvedPath, folder: Names, limit: TimeLimit
) -> list[ListedItem]:
    items: list[ListedItem] = []
    with workspace.scan_folder(folder) as entries:
        for entry in entries:
            limit.check()
            item = _item(entry, (*folder, entry.name))
            if item is not None and not root.hides(item.names, is_folder=item.is_folder):
                items.append(item)
    return items


def _item(entry: os.DirEntry[str], names: Names) -> ListedItem | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return ListedItem(names, status.st_mode, status.st_size)


def _sorted_stack(items: list[ListedItem], *, recursive: bool) -> list[ListedItem | _FolderContent]:
    """Return the items in reverse order, and with `recursive` the content of each folder.

    The content is sorted as if the folder's name ended in a slash, so that paths sort as text.
    """
    keyed: list[tuple[str, ListedItem | _FolderContent]] = [
        (item.names[-1], item) for item in items
    ]
    if recursive:
        keyed.extend(
            (f'{item.names[-1]}/', _FolderContent(item.names)) for item in items if item.is_folder
        )
    return [item for _key, item in sorted(keyed, key=lambda pair: pair[0], reverse=True)]
