"""Where the hunks of a diff go in a file: at their stated line, else at the only other place that fits. No fuzz."""

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Literal

from msgspec import Struct

from seamwise.catalog.tools import RejectedHunk
from seamwise.containers import Failure, Result, Success
from seamwise.messages import shorten
from seamwise.toolhost.text.document import Document, Edit
from seamwise.toolhost.text.unified_diff import Hunk


class LocatedHunk(Struct, frozen=True):
    """A hunk, and which line of the file (from 0) its first old line is, or would be."""

    hunk: Hunk
    first: int

    @property
    def behind(self) -> int:
        """The line after its last old line."""
        return self.first + len(self.hunk.old)


def locate(
    hunks: Sequence[Hunk], document: Document
) -> Result[tuple[LocatedHunk, ...], tuple[RejectedHunk, ...]]:
    """Find a place for every hunk in the file as it is, in the order of the lines; the error names all that have none.

    Where two take the same lines, the later one has no place any more.
    """
    placed: list[LocatedHunk] = []
    rejected: list[RejectedHunk] = []
    for hunk in hunks:
        first = _find(hunk, document)
        if isinstance(first, int):
            placed.append(LocatedHunk(hunk, first))
        else:
            rejected.append(_rejected(hunk, first, document))
    placed.sort(key=lambda one: (one.first, one.behind, one.hunk.number))
    rejected.extend(
        _rejected(later.hunk, 'not_found', document)
        for before, later in pairwise(placed)
        if later.first < before.behind
    )
    if rejected:
        return Failure(tuple(sorted(rejected, key=lambda one: one.number)))
    return Success(tuple(placed))


def edits(placed: Sequence[LocatedHunk], document: Document) -> Iterator[Edit]:
    """Say what the hunks change, line by line."""
    for one in placed:
        line = one.first
        for change in one.hunk.changes:
            start = document.starts[line]
            if change.sign == '+':
                yield Edit(start, start, change.text + '\n')
                continue
            line += 1
            if change.sign == '-':
                yield Edit(start, document.starts[line], '')


def _find(hunk: Hunk, document: Document) -> int | Literal['not_found', 'ambiguous']:
    old = hunk.old
    stated = _stated(hunk)
    if document.lines[stated : stated + len(old)] == old and _may_end(hunk, stated, document):
        return stated
    if not old:
        return 'ambiguous'
    others = list(
        islice((one for one in _everywhere(old, document) if _may_end(hunk, one, document)), 2)
    )
    if not others:
        return 'not_found'
    return others[0] if len(others) == 1 else 'ambiguous'


def _stated(hunk: Hunk) -> int:
    # A hunk with no old lines says which line it comes after.
    return max(0, hunk.line - 1) if hunk.old else hunk.line


def _may_end(hunk: Hunk, first: int, document: Document) -> bool:
    """Whether a hunk that speaks of the file's end stands there; one that speaks of what is not in the file never does."""
    behind = first + len(hunk.old)
    if hunk.ends_old and document.has_last_newline:
        return False
    return (
        behind == len(document.lines)
        if hunk.ends_old or hunk.ends_new
        else behind <= len(document.lines)
    )


def _everywhere(old: Sequence[str], document: Document) -> Iterator[int]:
    # One search in one text is linear, where comparing the lines at every line is not.
    text, wanted = '\n' + document.text, '\n' + '\n'.join(old) + '\n'
    locate = text.find(wanted)
    while locate != -1:
        yield document.line_at(locate) - 1
        locate = text.find(wanted, locate + 1)


def _rejected(
    hunk: Hunk, reason: Literal['not_found', 'ambiguous'], document: Document
) -> RejectedHunk:
    stated = _stated(hunk)
    actual = document.lines[stated : stated + max(1, len(hunk.old))]
    return RejectedHunk(
        hunk.number,
        hunk.header,
        hunk.line,
        reason,
        shorten('\n'.join(hunk.old)),
        shorten('\n'.join(actual)),
    )
