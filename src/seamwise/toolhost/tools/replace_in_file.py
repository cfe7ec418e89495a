"""`replace_in_file`: another text in the place of one that stands in a file."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from seamwise.catalog.tools import (
    ContentMismatch,
    ContentNotFound,
    DuplicateMatch,
    InvalidParameter,
)
from seamwise.messages import shorten
from seamwise.scope import Do, fallible
from seamwise.secrets import Secret
from seamwise.toolhost.arguments import Example
from seamwise.toolhost.text.document import Document, Edit
from seamwise.toolhost.text.editing import EDIT_LIMIT, open_for_edit, save
from seamwise.toolhost.text.similarity import most_similar
from seamwise.toolhost.workspace.paths import PathRequest, Trouble
from seamwise.toolhost.workspace.workspace import Workspace

MOST_LINES = 10_000
"""Of so many places a DuplicateMatch names the lines; it counts all of them."""

MOST_PLACES = 1_000_000
"""In no more places is a text replaced at once: each one takes time and memory."""


class ReplaceInFile(Struct, frozen=True, kw_only=True):
    """The arguments of `replace_in_file`; `line`, from 1, is where the text that is searched for must begin."""

    path: Annotated[str, Example('src/app.py')]
    search: Annotated[str, Meta(min_length=1), Example('old text')]
    replace: Annotated[str, Example('new text')]
    replace_all: bool = False
    line: Annotated[int, Meta(ge=1)] | None = None


class Replaced(Struct, frozen=True):
    """How many times the text was replaced."""

    path: str
    replacements: int


@fallible
def replace_in_file(
    do: Do[Trouble | ContentNotFound | ContentMismatch | DuplicateMatch],
    workspace: Workspace,
    args: ReplaceInFile,
) -> Replaced:
    """Replace a text that stands once in a UTF-8 file, or at a line, or everywhere (`replace_all`; with `line`: in it)."""
    asked = PathRequest('replace_in_file', args.path)
    draft = do(open_for_edit(workspace, asked))
    document = draft.document
    search, replace = _plain(args.search), _plain(args.replace)
    text = document.text
    if search == '\n' and not document.has_last_newline:
        # The last one stands in no file: it was added to make a line of what comes before it.
        text = text[:-1]
    if search not in text:
        do.fail(_not_found(args, search, document))
    span = _span(document, args.line, len(search))
    places = _places(text, search, *span)
    if not places:
        do.fail(_mismatch(args, search, document, args.line or 1))
    if len(places) > 1 and not args.replace_all:
        lines = tuple(document.line_at(one) for one in places[:MOST_LINES])
        count = max(len(places), text.count(search, *span))
        do.fail(DuplicateMatch('replace_in_file', args.path, count, lines))
    if too_much := _too_much(args, places, replace):
        do.fail(too_much)
    edits = _edits(places, search, replace)
    content = document.edited(edits)
    if replace.endswith('\n') and not document.has_last_newline:
        content = re.sub(r'(?:\r?\n)+\Z', '', content)
    do(save(workspace, asked, draft, content))
    return Replaced(args.path, len(edits))


def _plain(text: str) -> str:
    return text.replace('\r\n', '\n')


def _span(document: Document, line: int | None, length: int) -> tuple[int, int]:
    """Say between which offsets the text may stand: anywhere, or so that it begins in the line."""
    if line is None:
        return 0, len(document.text)
    if line > len(document.lines):
        return 0, 0
    begin, end = document.starts[line - 1 : line + 1]
    return begin, end - 1 + length


def _places(text: str, search: str, begin: int, end: int) -> list[int]:
    """Find the text from left to right; where it stands once, but once more across itself, that is no certain place."""
    found: list[int] = []
    place = text.find(search, begin, end)
    while place != -1 and len(found) <= MOST_PLACES:
        found.append(place)
        place = text.find(search, place + len(search), end)
    if len(found) == 1:
        across = text.find(search, found[0] + 1, end)
        return found if across == -1 else [*found, across]
    return found


def _too_much(args: ReplaceInFile, places: list[int], replace: str) -> InvalidParameter | None:
    if len(places) > MOST_PLACES:
        reason = f'stands in more than {MOST_PLACES:,} places, which are too many at once; search for more of the text'
        return InvalidParameter('replace_in_file', 'search', reason, Secret(args.search))
    if len(places) * len(replace) > EDIT_LIMIT:
        reason = f'would come {len(places):,} times, as more than {EDIT_LIMIT:,} characters in all'
        return InvalidParameter('replace_in_file', 'replace', reason, Secret(args.replace))
    return None


def _edits(places: list[int], search: str, replace: str) -> list[Edit]:
    edits: list[Edit] = []
    for place in places:
        if not edits or place >= edits[-1].end:
            edits.append(Edit(place, place + len(search), replace))
    return edits


def _not_found(args: ReplaceInFile, search: str, document: Document) -> ContentNotFound:
    searched = shorten(args.search)
    best = most_similar(search, document)
    if best is None:
        return ContentNotFound('replace_in_file', args.path, searched)
    return ContentNotFound(
        'replace_in_file', args.path, searched, best.similarity, shorten(best.text), best.line
    )


def _mismatch(args: ReplaceInFile, search: str, document: Document, line: int) -> ContentMismatch:
    height = search.rstrip('\n').count('\n') + 1
    actual = '\n'.join(document.lines[line - 1 : line - 1 + height])
    return ContentMismatch(
        'replace_in_file', args.path, shorten(args.search), shorten(actual), line
    )
