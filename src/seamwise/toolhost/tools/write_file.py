"""`write_file`: create a file or replace its content."""

from typing import Annotated

from msgspec import Struct

from seamwise.catalog.tools import FileAlreadyExists
from seamwise.scope import Do, fallible
from seamwise.toolhost.arguments import ExampleValue
from seamwise.toolhost.workspace.atomic_write import create_file, replace_file
from seamwise.toolhost.workspace.paths import PathError, PathRequest
from seamwise.toolhost.workspace.workspace import Workspace


class WriteFile(Struct, frozen=True, kw_only=True):
    """The arguments of `write_file`; the content is written unchanged, in UTF-8."""

    path: Annotated[str, ExampleValue('src/app.py')]
    content: Annotated[str, ExampleValue('first line\nsecond line\n')]
    overwrite: bool = False


class Written(Struct, frozen=True):
    """The size of the file in bytes, and whether it is new."""

    path: str
    bytes: int
    created: bool


@fallible
def write_file(
    do: Do[PathError | FileAlreadyExists], workspace: Workspace, args: WriteFile
) -> Written:
    """Write a file atomically and create its missing parent folders.

    An existing file keeps its permissions.
    """
    request = PathRequest('write_file', args.path)
    location = do(workspace.locate(request, writing=True))
    data = args.content.encode()
    if location.exists and not location.is_file:
        do.fail(request.invalid(f'is {location.kind}, not a file'))
    if location.exists and not args.overwrite:
        do.fail(FileAlreadyExists('write_file', args.path))
    try:
        if location.exists:
            replace_file(workspace, location.names, data)
        else:
            create_file(workspace, location, data)
    except FileExistsError:
        do.fail(FileAlreadyExists('write_file', args.path))
    except OSError as error:
        do.fail(request.error_for(error))
    return Written(args.path, len(data), created=not location.exists)
