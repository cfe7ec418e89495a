"""`replace_in_file`: replace a text in a file."""

from typing import Annotated

from msgspec import Meta, Struct

from seamwise._results.scope import Do, fallible
from seamwise._text.secrets import Secret
from seamwise._text.shortening import shorten
from seamwise.catalog.tools import (
    ContentMismatch,
    ContentNotFound,
    DuplicateMatch,
    InvalidParameter,
)
from seamwise.redaction import redact
from seamwise.toolhost.builtin.text.document import Document, TextEdit
from seamwise.toolhost.builtin.text.editing import MAX_EDIT_SIZE, open_for_edit, save
from seamwise.toolhost.builtin.text.similarity import most_similar
from seamwise.toolhost.builtin.time_limit import TimeLimit
from seamwise.toolhost.builtin.workspace.paths import PathError, PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.schema.arguments import Example

MAX_REPORTED_LINES = 10_000
"""The maximum number of lines that a `DuplicateMatch` names; its count is complete."""

MAX_REPLACEMENTS = 1_000_000
"""The maximum number of replacements in one call, to limit time and memory."""


class ReplaceInFile(Struct, frozen=True, kw_only=True):
    """The arguments of `replace_in_file`.

    Attributes:
        path: The file, relative to the workspace.
        search: The text to replace, exactly as it is in the file.
        replace: The text to insert.
        replace_all: Whether all occurrences are replaced.
        line: The line in which the match begins, from 1; null for any line.
    """

    path: Annotated[str, Example('src/app.py')]
    search: Annotated[str, Meta(min_length=1), Example('old text')]
    replace: Annotated[str, Example('new text')]
    replace_all: bool = False
    line: Annotated[int, Meta(ge=1)] | None = None


class Replaced(Struct, frozen=True):
    """The effect of a replacement.

    Attributes:
        path: The file, as in the arguments.
        replacements: The number of replaced occurrences.
    """

    path: str
    replacements: int


@fallible
def replace_in_file(
    do: Do[PathError | ContentNotFound | ContentMismatch | DuplicateMatch],
    workspace: Workspace,
    args: ReplaceInFile,
) -> Replaced:
    """Replace a text in a UTF-8 file.

    The text must occur once, or once with its start in `line`. With `replace_all`, all of these
    occurrences are replaced.
    """
    request = PathRequest('replace_in_file', args.path)
    with do(open_for_edit(workspace, request, TimeLimit())) as draft:
        edits = do(_find_edits(args, draft.document))
        do(save(workspace, request, draft, draft.document.apply_edits(edits)))
    return Replaced(args.path, len(edits))


@fallible
def _find_edits(
    do: Do[ContentNotFound | ContentMismatch | DuplicateMatch | InvalidParameter],
    args: ReplaceInFile,
    document: Document,
) -> list[TextEdit]:
    """Return the replacements of the matches, if they are certain."""
    search, replacement = map(document.normalized, (args.search, args.replace))
    text = document.text
    if search == '\n' and not document.has_last_newline:
        # `Document` has added the last newline; it is not in the file.
        text = text[:-1]
    if search not in text:
        do.fail(_not_found(args, search, document))
    start, end = _search_range(document, args.line, len(search))
    offsets = _find_all(text, search, start, end)
    if not offsets:
        do.fail(_mismatch(args, search, document, args.line or 1))
    if len(offsets) > 1 and not args.replace_all:
        lines = tuple(document.line_at(offset) for offset in offsets[:MAX_REPORTED_LINES])
        count = max(len(offsets), text.count(search, start, end))
        do.fail(DuplicateMatch('replace_in_file', args.path, count, lines))
    if error := _size_error(args, offsets, replacement):
        do.fail(error)
    return _edits(document, offsets, len(search), replacement)


def _search_range(document: Document, line: int | None, length: int) -> tuple[int, int]:
    """Return the range of offsets for a match: the whole text, or its start inside a line."""
    if line is None:
        return 0, len(document.text)
    if line > len(document.lines):
        return 0, 0
    start, end = document.starts[line - 1 : line + 1]
    return start, end - 1 + length


def _find_all(text: str, search: str, start: int, end: int) -> list[int]:
    """Return the offsets of all matches, which do not overlap.

    The only exception: if a single match overlaps another one, both are returned, since the match
    is not certain.
    """
    offsets: list[int] = []
    offset = text.find(search, start, end)
    while offset != -1 and len(offsets) <= MAX_REPLACEMENTS:
        offsets.append(offset)
        offset = text.find(search, offset + len(search), end)
    if len(offsets) == 1:
        overlapping = text.find(search, offsets[0] + 1, end)
        if overlapping != -1:
            offsets.append(overlapping)
    return offsets


def _size_error(
    args: ReplaceInFile, offsets: list[int], replacement: str
) -> InvalidParameter | None:
    if len(offsets) > MAX_REPLACEMENTS:
        reason = (
            f'occurs more than {MAX_REPLACEMENTS:,} times, the maximum for one call; '
            'search for a longer text'
        )
        return InvalidParameter('replace_in_file', 'search', reason, Secret(args.search))
    if len(offsets) * len(replacement) > MAX_EDIT_SIZE:
        reason = (
            f'would be inserted {len(offsets):,} times, '
            f'more than {MAX_EDIT_SIZE:,} characters in total'
        )
        return InvalidParameter('replace_in_file', 'replace', reason, Secret(args.replace))
    return None


def _edits(document: Document, offsets: list[int], length: int, replacement: str) -> list[TextEdit]:
    """Return the replacements of matches of this length, without the overlapping ones."""
    edits: list[TextEdit] = []
    for offset in offsets:
        if not edits or offset >= edits[-1].end:
            edits.append(TextEdit(offset, offset + length, replacement))
    last = edits[-1]
    if not document.has_last_newline and last.end >= document.length:
        # The new end of the file has no newline either.
        edits[-1] = TextEdit(last.start, document.length, replacement.rstrip('\n'))
    return edits


def _not_found(args: ReplaceInFile, search: str, document: Document) -> ContentNotFound:
    searched = shorten(redact(args.search))
    best = most_similar(search, document)
    if best is None:
        return ContentNotFound('replace_in_file', args.path, searched)
    actual = document.redacted_lines(best.line - 1, best.line + best.text.rstrip('\n').count('\n'))
    return ContentNotFound(
        'replace_in_file', args.path, searched, best.similarity, shorten(actual), best.line
    )


def _mismatch(args: ReplaceInFile, search: str, document: Document, line: int) -> ContentMismatch:
    height = search.rstrip('\n').count('\n') + 1
    actual = document.redacted_lines(line - 1, line - 1 + height)
    return ContentMismatch(
        'replace_in_file', args.path, shorten(redact(args.search)), shorten(actual), line
    )
