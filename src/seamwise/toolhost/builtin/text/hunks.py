"""Hunks of a unified diff: located in a document by exact match, and converted to edits."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.shortening import shorten
from seamwise.catalog.tools import RejectedHunk
from seamwise.redaction import redact
from seamwise.toolhost.builtin.text.document import Document, TextEdit
from seamwise.toolhost.builtin.text.unified_diff import Hunk
from seamwise.toolhost.builtin.time_limit import TimeLimit

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
    hunks: Sequence[Hunk], document: Document, limit: TimeLimit
) -> Result[tuple[LocatedHunk, ...], tuple[RejectedHunk, ...]]:
    """Locate every hunk in the unchanged document.

    A hunk is located at its only match. If it has several, it is located at the line in its header,
    or, if the nearest hunks with one match have moved, at the line to which their shift leads. If
    two hunks overlap, the later one is rejected.

    Returns:
        The located hunks in the order of their lines, or all rejected hunks.

    Raises:
        OutOfTime: the limit is over; each hunk is searched in the whole document.
    """
    located: list[LocatedHunk] = []
    rejected: list[RejectedHunk] = []
    matches: list[Sequence[int]] = []
    for hunk in hunks:
        limit.check()
        matches.append(_first_matches(hunk, document))
    shifts = _Shifts(
        (_header_start(hunk), starts[0])
        for hunk, starts in zip(hunks, matches, strict=True)
        if hunk.old and len(starts) == 1
    )
    for hunk, starts in zip(hunks, matches, strict=True):
        start = _choose(hunk, starts, shifts, document)
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


class _Shifts:
    """The distances between the lines in headers and the lines of hunks with one match.

    Args:
        starts: The start of each of these hunks by its header, and its actual start.
    """

    def __init__(self, starts: Iterable[tuple[int, int]]) -> None:
        pairs = sorted(starts)
        self._header_starts = [header_start for header_start, _ in pairs]
        self._shifts = [start - header_start for header_start, start in pairs]

    def around(self, header_start: int) -> set[int]:
        """Return the shifts of the nearest hunks before and after a line; 0 if there are none."""
        index = bisect_left(self._header_starts, header_start)
        return set(self._shifts[max(0, index - 1) : index + 1]) or {0}


def _choose(
    hunk: Hunk, matches: Sequence[int], shifts: _Shifts, document: Document
) -> int | Rejection:
    if not matches:
        return 'not_found'
    if hunk.old and len(matches) == 1:
        return matches[0]
    header_start = _header_start(hunk)
    around = shifts.around(header_start)
    starts = {header_start + shift for shift in around}
    fitting = [start for start in starts if _fits(hunk, start, document)]
    # Lines were inserted or removed near this hunk: a match at its old line can be another text.
    is_stale = fitting == [header_start] and around != {0}
    return fitting[0] if len(fitting) == 1 and not is_stale else 'ambiguous'


def _header_start(hunk: Hunk) -> int:
    """Return the index of the line in the hunk's header."""
    # The header of a pure insertion names the line before it: `@@ -3,0 +4 @@`.
    return max(0, hunk.line - 1) if hunk.old else hunk.line


def _first_matches(hunk: Hunk, document: Document) -> Sequence[int]:
    """Return the first lines at which the hunk fits; two are enough to know that it is no other."""
    if hunk.is_creation:
        return () if document.lines else (0,)
    if not hunk.old:
        # Without context lines, every position matches.
        return range(len(document.lines) + 1)
    if hunk.ends_old or hunk.ends_new:
        start = len(document.lines) - len(hunk.old)
        return (start,) if _fits(hunk, start, document) else ()
    return list(islice(_iter_matches(hunk.old, document), 2))


def _fits(hunk: Hunk, start: int, document: Document) -> bool:
    r"""Return whether the old lines match here, and the `\ No newline at end of file` markers."""
    end = start + len(hunk.old)
    if start < 0 or end > len(document.lines) or document.lines[start:end] != hunk.old:
        return False
    if hunk.ends_old and document.has_last_newline:
        return False
    return end == len(document.lines) or not (hunk.ends_old or hunk.ends_new)


def _iter_matches(old_lines: Sequence[str], document: Document) -> Iterator[int]:
    """Yield the index of every line at which the old lines match."""
    # One search in the text takes linear time. Comparing slices at each line would not.
    pattern = '\n'.join(old_lines) + '\n'
    if document.text.startswith(pattern):
        yield 0
    offset = document.text.find(f'\n{pattern}')
    while offset != -1:
        yield document.line_at(offset)
        offset = document.text.find(f'\n{pattern}', offset + 1)


def _reject(hunk: Hunk, reason: Rejection, document: Document) -> RejectedHunk:
    start = _header_start(hunk)
    actual = document.redacted_lines(start, start + max(1, len(hunk.old)))
    return RejectedHunk(
        number=hunk.number,
        header=hunk.header,
        line=hunk.line,
        reason=reason,
        expected=shorten(redact('\n'.join(hunk.old))),
        actual=shorten(actual),
    )
