"""Hunks of a unified diff: located in a document by exact match, and converted to edits."""

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise.catalog.tools import RejectedHunk
from seamwise.containers import Failure, Result, Success
from seamwise.messages import shorten
from seamwise.toolhost.text.document import Document, TextEdit
from seamwise.toolhost.text.unified_diff import Hunk

Rejection: TypeAlias = Literal['not_found', 'ambiguous']


class LocatedHunk(Struct, frozen=True):
    """A hunk, and the index of the line (from 0) that its first old line matches."""

    hunk: Hunk
    start: int

    @property
    def end(self) -> int:
        """The index of the line after its last old line."""
        return self.start + len(self.hunk.old)


def locate(
    hunks: Sequence[Hunk], document: Document
) -> Result[tuple[LocatedHunk, ...], tuple[RejectedHunk, ...]]:
    """Locate every hunk in the unchanged document.

    A hunk is located at the line in its header if its old lines match there, else at the only
    other match. If two hunks overlap, the later one is rejected.

    Returns:
        The located hunks in the order of their lines, or all rejected hunks.
    """
    located: list[LocatedHunk] = []
    rejected: list[RejectedHunk] = []
    for hunk in hunks:
        start = _find_start(hunk, document)
        if isinstance(start, int):
            located.append(LocatedHunk(hunk, start))
        else:
            rejected.append(_reject(hunk, start, document))
    located.sort(key=lambda item: (item.start, item.end, item.hunk.number))
    for previous, current in pairwise(located):
        if current.start < previous.end:
            rejected.append(_reject(current.hunk, 'not_found', document))
    if rejected:
        return Failure(tuple(sorted(rejected, key=lambda hunk: hunk.number)))
    return Success(tuple(located))


def iter_edits(located: Sequence[LocatedHunk], document: Document) -> Iterator[TextEdit]:
    """Yield one edit for each added or removed line, in the order of the document."""
    for item in located:
        line = item.start
        for change in item.hunk.changes:
            offset = document.starts[line]
            if change.sign == '+':
                yield TextEdit(offset, offset, change.text + '\n')
                continue
            line += 1
            if change.sign == '-':
                yield TextEdit(offset, document.starts[line], '')


def _find_start(hunk: Hunk, document: Document) -> int | Rejection:
    old_lines = hunk.old
    start = _header_start(hunk)
    lines = document.lines[start : start + len(old_lines)]
    if lines == old_lines and _fits_file_end(hunk, start, document):
        return start
    if not old_lines:
        # Without context lines, every position would match.
        return 'ambiguous'
    matches = _iter_matches(old_lines, document)
    candidates = list(
        islice((match for match in matches if _fits_file_end(hunk, match, document)), 2)
    )
    if not candidates:
        return 'not_found'
    return candidates[0] if len(candidates) == 1 else 'ambiguous'


def _header_start(hunk: Hunk) -> int:
    """Return the index of the line in the hunk's header."""
    # The header of a pure insertion names the line before it: `@@ -3,0 +4 @@`.
    return max(0, hunk.line - 1) if hunk.old else hunk.line


def _fits_file_end(hunk: Hunk, start: int, document: Document) -> bool:
    r"""Return whether the hunk's `\ No newline at end of file` markers fit at this position."""
    end = start + len(hunk.old)
    if hunk.ends_old and document.has_last_newline:
        return False
    if hunk.ends_old or hunk.ends_new:
        return end == len(document.lines)
    return end <= len(document.lines)


def _iter_matches(old_lines: Sequence[str], document: Document) -> Iterator[int]:
    """Yield the index of every line at which the old lines match."""
    # One search in the text takes linear time. Comparing slices at each line would not.
    text = '\n' + document.text
    pattern = '\n' + '\n'.join(old_lines) + '\n'
    offset = text.find(pattern)
    while offset != -1:
        yield document.line_at(offset) - 1
        offset = text.find(pattern, offset + 1)


def _reject(hunk: Hunk, reason: Rejection, document: Document) -> RejectedHunk:
    start = _header_start(hunk)
    actual = document.lines[start : start + max(1, len(hunk.old))]
    return RejectedHunk(
        number=hunk.number,
        header=hunk.header,
        line=hunk.line,
        reason=reason,
        expected=shorten('\n'.join(hunk.old)),
        actual=shorten('\n'.join(actual)),
    )
