"""`list_files`: list the content of a folder."""

import stat
from itertools import islice
from typing import Annotated, Literal

from msgspec import Meta, Struct

from seamwise._results.scope import Do, fallible
from seamwise.toolhost.builtin.time_limit import TimeLimit
from seamwise.toolhost.builtin.workspace.listing import ListedItem, iter_items
from seamwise.toolhost.builtin.workspace.paths import PathError, PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace


class ListFiles(Struct, frozen=True, kw_only=True):
    """The arguments of `list_files`.

    Attributes:
        path: The folder, relative to the workspace.
        recursive: Whether the folders below it are listed too.
        limit: The maximum number of entries.
    """

    path: str = '.'
    recursive: bool = False
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 1_000


class DirectoryEntry(Struct, frozen=True):
    """An entry of a folder.

    Attributes:
        path: The path, as the tools accept it. U+FFFD replaces bytes that are not UTF-8.
        kind: `file`, `directory` or `symlink`. Pipes and devices have the kind `file`.
        size: The size of a file in bytes, else 0.
    """

    path: str
    kind: Literal['file', 'directory', 'symlink']
    size: int


class Listing(Struct, frozen=True):
    """The content of a folder.

    Attributes:
        path: The folder, as in the arguments.
        entries: The entries, sorted by path.
        truncated: Whether there are more entries.
    """

    path: str
    entries: tuple[DirectoryEntry, ...]
    truncated: bool


@fallible
def list_files(do: Do[PathError], workspace: Workspace, args: ListFiles) -> Listing:
    """List a folder, with `recursive` also the folders below it.

    Ignored entries and `.git` are omitted. Symlinks are not followed.
    """
    request = PathRequest('list_files', args.path)
    limit = TimeLimit()
    folder = do(workspace.locate_folder(request, limit))
    try:
        walk = iter_items(workspace, folder, limit, recursive=args.recursive)
        items = list(islice(walk, args.limit + 1))
    except OSError as error:
        do.fail(request.error_for(error))
    depth = len(folder.names)
    entries = tuple(
        _entry(item, request.child_path(item.names[depth:])) for item in items[: args.limit]
    )
    return Listing(args.path, entries, len(items) > args.limit)


def _entry(item: ListedItem, path: str) -> DirectoryEntry:
    if item.is_folder:
        return DirectoryEntry(path, 'directory', 0)
    if stat.S_ISLNK(item.mode):
        return DirectoryEntry(path, 'symlink', 0)
    return DirectoryEntry(path, 'file', item.size)
