"""Opening of a text file for an edit, and saving of the result."""

from io import BytesIO

from msgspec import Struct

from seamwise.scope import Do, fallible
from seamwise.toolhost.text.document import Document
from seamwise.toolhost.text.encodings import BINARY_HEAD_SIZE, decoding_problem, is_binary
from seamwise.toolhost.workspace.atomic_write import replace_file
from seamwise.toolhost.workspace.paths import Names, PathError, PathRequest
from seamwise.toolhost.workspace.workspace import Workspace

MAX_EDIT_SIZE = 16 * 1024 * 1024
"""In bytes: the maximum size of a file to edit, since an edit copies the text several times."""


class Draft(Struct, frozen=True):
    """A file under edit: its text and its path in the workspace."""

    document: Document
    names: Names


@fallible
def open_for_edit(do: Do[PathError], workspace: Workspace, request: PathRequest) -> Draft:
    """Read a writable text file in UTF-8 of at most `MAX_EDIT_SIZE` bytes."""
    location = do(workspace.locate_file(request, writing=True))
    try:
        with workspace.open_file(location.names) as stream:
            data = stream.read(MAX_EDIT_SIZE + 1)
    except OSError as error:
        do.fail(request.error_for(error))
    if len(data) > MAX_EDIT_SIZE:
        do.fail(request.invalid(f'has more than {MAX_EDIT_SIZE:,} bytes, too many for an edit'))
    if is_binary(data[:BINARY_HEAD_SIZE], 'utf-8'):
        do.fail(request.invalid('is a binary file, not text (it has a NUL byte near its start)'))
    try:
        return Draft(Document(data.decode()), location.names)
    except UnicodeDecodeError:
        problem = decoding_problem(BytesIO(data), 'utf-8')
        do.fail(request.invalid(f'must be UTF-8 text to be edited: {problem}'))


@fallible
def save(
    do: Do[PathError], workspace: Workspace, request: PathRequest, draft: Draft, content: str
) -> None:
    """Replace the content of a file under edit.

    Args:
        do: The scope of the failures.
        workspace: The workspace of the file.
        request: The path that failures name.
        draft: The file, from `open_for_edit`.
        content: The new content, written in UTF-8.
    """
    try:
        replace_file(workspace, draft.names, content.encode())
    except OSError as error:
        do.fail(request.error_for(error))
