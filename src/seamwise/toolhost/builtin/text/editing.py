"""Opening of a text file for an edit, and saving of the result."""

from contextlib import ExitStack
from io import BytesIO
from types import TracebackType
from typing import Self

from seamwise._results.scope import Do, fallible
from seamwise._text.shortening import shorten
from seamwise.catalog.tools import ContentMismatch
from seamwise.toolhost.builtin.text.document import Document
from seamwise.toolhost.builtin.text.encodings import BINARY_HEAD_SIZE, decoding_problem, is_binary
from seamwise.toolhost.builtin.time_limit import OutOfTime, TimeLimit
from seamwise.toolhost.builtin.workspace.atomic_write import replace_file
from seamwise.toolhost.builtin.workspace.file_lock import lock_file
from seamwise.toolhost.builtin.workspace.paths import Names, PathError, PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace

MAX_EDIT_SIZE = 16 * 1024 * 1024
"""In bytes: the maximum size of a file to edit, since an edit copies the text several times."""


class Draft:
    """A file under edit: its text and its path in the workspace.

    Use it in a `with` statement: until its end, other edits of the file wait.
    """

    def __init__(self, document: Document, names: Names, data: bytes, lock: ExitStack) -> None:
        self.document = document
        self.names = names
        self.data = data
        self._lock = lock

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.close()


@fallible
def open_for_edit(
    do: Do[PathError],
    workspace: Workspace,
    request: PathRequest,
    limit: TimeLimit,
    *,
    line_end: str = '\n',
) -> Draft:
    """Read and lock a writable text file in UTF-8 of at most `MAX_EDIT_SIZE` bytes.

    Args:
        do: The scope of the failures.
        workspace: The workspace of the file.
        request: The path that failures name.
        limit: The limit of the time, the wait for other edits included.
        line_end: The line end of a file without any.
    """
    location = do(workspace.locate_file(request, limit, writing=True))
    with ExitStack() as lock:
        try:
            stream = lock.enter_context(lock_file(workspace, location.names, limit))
            data = stream.read(MAX_EDIT_SIZE + 1)
        except OSError as error:
            do.fail(request.error_for(error))
        if len(data) > MAX_EDIT_SIZE:
            do.fail(request.invalid(f'has more than {MAX_EDIT_SIZE:,} bytes, too many for an edit'))
        if is_binary(data[:BINARY_HEAD_SIZE], 'utf-8'):
            reason = 'is a binary file, not text (it has a NUL byte near its start)'
            do.fail(request.invalid(reason))
        try:
            document = Document(data.decode(), line_end=line_end)
        except UnicodeDecodeError:
            do.fail(_undecodable(request, data, limit))
        return Draft(document, location.names, data, lock.pop_all())


def _undecodable(request: PathRequest, data: bytes, limit: TimeLimit) -> PathError:
    try:
        problem = decoding_problem(BytesIO(data), 'utf-8', limit)
    except OutOfTime as error:
        return request.error_for(error)
    return request.invalid(f'must be UTF-8 text to be edited: {problem}')


@fallible
def save(
    do: Do[PathError | ContentMismatch],
    workspace: Workspace,
    request: PathRequest,
    draft: Draft,
    content: str,
) -> None:
    """Replace the content of a file under edit.

    If a program that uses no lock has changed the file, nothing is written.

    Args:
        do: The scope of the failures.
        workspace: The workspace of the file.
        request: The path that failures name.
        draft: The file, from `open_for_edit`.
        content: The new content, written in UTF-8.
    """
    current = draft.data

    def is_current() -> bool:
        nonlocal current
        with workspace.open_file(draft.names) as stream:
            current = stream.read(MAX_EDIT_SIZE + 1)
        return current == draft.data

    try:
        if not replace_file(workspace, draft.names, content.encode(), is_current=is_current):
            do.fail(_mismatch(request, draft.document, Document(current.decode(errors='replace'))))
    except OSError as error:
        do.fail(request.error_for(error))


def _mismatch(request: PathRequest, old: Document, new: Document) -> ContentMismatch:
    """Return the failure for the first line that differs."""
    length = min(len(old.lines), len(new.lines))
    index = next((i for i in range(length) if old.lines[i] != new.lines[i]), length)
    expected, actual = (
        shorten(document.redacted_lines(index, index + 1)) if index < len(document.lines) else ''
        for document in (old, new)
    )
    return ContentMismatch(request.tool, request.path, expected, actual, index + 1)
