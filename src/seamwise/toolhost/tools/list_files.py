"""`list_files`: list the content of a folder."""

import stat
from itertools import islice
from typing import Annotated, Literal

from msgspec import Meta, Struct

from seamwise.scope import Do, fallible
from seamwise.toolhost.workspace.listing import ListedItem, iter_items
from seamwise.toolhost.workspace.paths import PathError, PathRequest
from seamwise.toolhost.workspace.workspace import Workspace


class ListFiles(Struct, frozen=True, kw_only=True):
    """The arguments of `list_files`; `limit` is the maximum number of entries."""

    path: str = '.'
    recursive: bool = False
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 1_000


class DirectoryEntry(Struct, frozen=True):
    """An entry of a folder.

    `size` is in bytes for a file, else 0. Pipes and devices have the kind `file`.
    """

    path: str
    kind: Literal['file', 'directory', 'symlink']
    size: int


class Listing(Struct, frozen=True):
    """The content of a folder, sorted by path; `truncated` if there are more entries.

    U+FFFD replaces bytes in names that are not UTF-8.
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
    folder = do(workspace.locate_folder(request))
    try:
        walk = iter_items(workspace, folder, recursive=args.recursive)
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
