"""`write_file`: create a file or replace its content."""

from codecs import BOM_UTF8
from contextlib import ExitStack, suppress
from typing import Annotated

from msgspec import Struct

from seamwise._results.scope import Do, fallible
from seamwise.catalog.tools import FileAlreadyExists
from seamwise.toolhost.builtin.time_limit import TimeLimit
from seamwise.toolhost.builtin.workspace.atomic_write import create_file, replace_file
from seamwise.toolhost.builtin.workspace.file_lock import lock_file
from seamwise.toolhost.builtin.workspace.paths import Names, PathError, PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.schema.arguments import Example


class WriteFile(Struct, frozen=True, kw_only=True):
    """The arguments of `write_file`.

    Attributes:
        path: The file, relative to the workspace.
        content: The text of the whole file, written unchanged in UTF-8.
        overwrite: Whether an existing file is replaced.
    """

    path: Annotated[str, Example('src/app.py')]
    content: Annotated[str, Example('first line\nsecond line\n')]
    overwrite: bool = False


class Written(Struct, frozen=True):
    """The effect of a write.

    Attributes:
        path: The file, as in the arguments.
        bytes: The size of the file in bytes.
        created: Whether the file is new.
    """

    path: str
    bytes: int
    created: bool


@fallible
def write_file(
    do: Do[PathError | FileAlreadyExists], workspace: Workspace, args: WriteFile
) -> Written:
    """Write a file atomically and create its missing parent folders.

    An existing file keeps its permissions and the byte order mark of UTF-8.
    """
    request = PathRequest('write_file', args.path)
    limit = TimeLimit()
    location = do(workspace.locate(request, limit, writing=True))
    data = args.content.encode()
    if location.exists and not location.is_file:
        do.fail(request.invalid(f'is {location.kind}, not a file'))
    if location.exists and not args.overwrite:
        do.fail(FileAlreadyExists('write_file', args.path))
    try:
        if not location.exists:
            create_file(workspace, location, data)
        else:
            data = _overwrite(workspace, location.names, data, limit)
    except FileExistsError:
        do.fail(FileAlreadyExists('write_file', args.path))
    except OSError as error:
        do.fail(request.error_for(error))
    return Written(args.path, len(data), created=not location.exists)


def _overwrite(workspace: Workspace, names: Names, data: bytes, limit: TimeLimit) -> bytes:
    """Replace a file, and return its new content.

    `read_file` does not show the mark of UTF-8 at the beginning, so the file keeps it.
    """
    with ExitStack() as lock:
        # A file that cannot be read has no edits to wait for.
        with suppress(PermissionError):
            lock.enter_context(lock_file(workspace, names, limit))
            with workspace.open_file(names) as file:
                has_mark = file.read(len(BOM_UTF8)) == BOM_UTF8
            if has_mark and not data.startswith(BOM_UTF8):
                data = BOM_UTF8 + data
        replace_file(workspace, names, data)
    return data
