"""`list_files`: what is in a folder."""

import stat
from itertools import islice
from typing import Annotated, Literal

from msgspec import Meta, Struct

from seamwise.scope import Do, fallible
from seamwise.toolhost.workspace.listing import Item, items
from seamwise.toolhost.workspace.paths import PathRequest, Trouble
from seamwise.toolhost.workspace.workspace import Workspace


class ListFiles(Struct, frozen=True, kw_only=True):
    """The arguments of `list_files`; `limit` is how many entries are given at most."""

    path: str = '.'
    recursive: bool = False
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 1_000


class Entry(Struct, frozen=True):
    """One thing in a folder; `size` is in bytes for a file (a pipe and a device count as one), else 0."""

    path: str
    kind: Literal['file', 'directory', 'symlink']
    size: int


class Listing(Struct, frozen=True):
    """What is in a folder, sorted by path; `truncated` where there is more. A name that is not UTF-8 shows U+FFFD."""

    path: str
    entries: tuple[Entry, ...]
    truncated: bool


@fallible
def list_files(do: Do[Trouble], workspace: Workspace, args: ListFiles) -> Listing:
    """List a folder, or all that is below it. Leaves out what is ignored and `.git`, and follows no symlink."""
    asked = PathRequest('list_files', args.path)
    place = do(workspace.folder(asked))
    try:
        found = list(islice(items(workspace, place, recursive=args.recursive), args.limit + 1))
    except OSError as raised:
        do.fail(asked.trouble(raised))
    entries = tuple(
        _entry(one, asked.below(one.names[len(place.names) :])) for one in found[: args.limit]
    )
    return Listing(args.path, entries, len(found) > args.limit)


def _entry(item: Item, path: str) -> Entry:
    if item.is_folder:
        return Entry(path, 'directory', 0)
    if stat.S_ISLNK(item.mode):
        return Entry(path, 'symlink', 0)
    return Entry(path, 'file', item.size)
