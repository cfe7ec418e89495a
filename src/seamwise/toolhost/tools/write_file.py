"""`write_file`: a whole new text for a file, or a new file."""

from typing import Annotated

from msgspec import Struct

from seamwise.catalog.tools import FileAlreadyExists
from seamwise.scope import Do, fallible
from seamwise.toolhost.arguments import Example
from seamwise.toolhost.workspace.atomic_write import create_file, replace_file
from seamwise.toolhost.workspace.paths import PathRequest, Trouble
from seamwise.toolhost.workspace.workspace import Workspace


class WriteFile(Struct, frozen=True, kw_only=True):
    """The arguments of `write_file`; the content is written as it is, in UTF-8."""

    path: Annotated[str, Example('src/app.py')]
    content: Annotated[str, Example('first line\nsecond line\n')]
    overwrite: bool = False


class Written(Struct, frozen=True):
    """How many bytes the file has now, and whether it is new."""

    path: str
    bytes: int
    created: bool


@fallible
def write_file(
    do: Do[Trouble | FileAlreadyExists], workspace: Workspace, args: WriteFile
) -> Written:
    """Write a file, at once or not at all, and make the folders that it needs; permissions of an old file stay."""
    asked = PathRequest('write_file', args.path)
    place = do(workspace.locate(asked, writing=True))
    data = args.content.encode()
    if place.mode and not place.is_file:
        do.fail(asked.invalid(f'is {place.kind}, not a file'))
    if place.mode and not args.overwrite:
        do.fail(FileAlreadyExists('write_file', args.path))
    try:
        if place.mode:
            replace_file(workspace, place.names, data)
        else:
            create_file(workspace, place, data)
    except FileExistsError:
        do.fail(FileAlreadyExists('write_file', args.path))
    except OSError as raised:
        do.fail(asked.trouble(raised))
    return Written(args.path, len(data), created=not place.mode)
