"""How a file is taken up for an edit, and put back."""

from io import BytesIO

from msgspec import Struct

from seamwise.scope import Do, fallible
from seamwise.toolhost.text.document import Document
from seamwise.toolhost.text.encodings import BINARY_HEAD, is_binary, misfit
from seamwise.toolhost.workspace.atomic_write import replace_file
from seamwise.toolhost.workspace.paths import Names, PathRequest, Trouble
from seamwise.toolhost.workspace.workspace import Workspace

EDIT_LIMIT = 16 * 1024 * 1024
"""In bytes: a larger file is not edited, since an edit holds its text in memory several times."""


class Draft(Struct, frozen=True):
    """A file that is being edited: its text, and its names in the workspace."""

    document: Document
    names: Names


@fallible
def open_for_edit(do: Do[Trouble], workspace: Workspace, asked: PathRequest) -> Draft:
    """Read a file that may be written; it must be text in UTF-8 of at most `EDIT_LIMIT` bytes."""
    place = do(workspace.file(asked, writing=True))
    try:
        with workspace.open_file(place.names) as stream:
            data = stream.read(EDIT_LIMIT + 1)
    except OSError as raised:
        do.fail(asked.trouble(raised))
    if len(data) > EDIT_LIMIT:
        do.fail(
            asked.invalid(
                f'is a file of more than {EDIT_LIMIT:,} bytes, which is too large to edit'
            )
        )
    if is_binary(data[:BINARY_HEAD], 'utf-8'):
        do.fail(asked.invalid('is a binary file, not text (it has a NUL byte near its start)'))
    try:
        return Draft(Document(data.decode()), place.names)
    except UnicodeDecodeError:
        do.fail(
            asked.invalid(
                f'is no text in UTF-8, and nothing else can be edited: {misfit(BytesIO(data), "utf-8")}'
            )
        )


@fallible
def save(
    do: Do[Trouble], workspace: Workspace, asked: PathRequest, draft: Draft, content: str
) -> None:
    """Write the new content of a file."""
    try:
        replace_file(workspace, draft.names, content.encode())
    except OSError as raised:
        do.fail(asked.trouble(raised))
