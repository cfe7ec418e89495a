"""Strict parser for the unified diff of one file."""

import re
from collections import Counter
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise._results.scope import Do, fallible
from seamwise._text.shortening import shorten
from seamwise.toolhost.builtin.text.document import main_line_end

Sign: TypeAlias = Literal[' ', '-', '+']

_HEADER = re.compile(r'@@ -(\d{1,18})(?:,(\d{1,18}))? \+(\d{1,18})(?:,(\d{1,18}))? @@(?= |$)')
_SIGNATURE = '-- '
"""The line that `git format-patch` writes after the diff, before git's version."""

_SIGNS: dict[str, Sign] = {' ': ' ', '-': '-', '+': '+', '': ' '}
"""An empty line is an empty context line whose trailing space was stripped."""


class Change(Struct, frozen=True):
    """One line of a hunk: context (` `), removed (`-`) or added (`+`)."""

    sign: Sign
    text: str


class Hunk(Struct, frozen=True):
    r"""One hunk of a diff.

    Attributes:
        number: The position in the diff, from 1.
        header: The header from `@@` to `@@`.
        line: The line of the old file in the header.
        changes: The lines of the hunk.
        ends_old: Whether `\ No newline at end of file` marks the last old line.
        ends_new: Whether `\ No newline at end of file` marks the last new line.
    """

    number: int
    header: str
    line: int
    changes: tuple[Change, ...]
    ends_old: bool
    ends_new: bool

    @property
    def old(self) -> list[str]:
        """The lines that the file must contain."""
        return [change.text for change in self.changes if change.sign != '+']

    @property
    def is_creation(self) -> bool:
        """Whether its header, `@@ -0,0 …`, is for a file that is empty or does not exist."""
        return not self.old and self.line == 0

    def count(self, sign: Sign) -> int:
        """Return the number of lines with this sign."""
        return sum(change.sign == sign for change in self.changes)


@fallible
def parse_diff(do: Do[str], diff: str) -> tuple[Hunk, ...]:
    r"""Parse the hunks of a diff; skip any text around them.

    The error is a predicate for the parameter, such as "contains no hunk".

    >>> parse_diff('@@ -1 +1 @@\n-old\n+new\n').unwrap()[0].old
    ['old']
    >>> parse_diff('-old\n+new\n')
    Failure('contains no hunk; a hunk begins with a line like "@@ -1,3 +1,4 @@"')
    """
    lines = diff.replace('\r\n', '\n').removesuffix('\n').split('\n')
    hunks: list[Hunk] = []
    file_headers: Counter[str] = Counter()
    index = 0
    while index < len(lines):
        if lines[index].startswith('@@'):
            hunk, index = do(_parse_hunk(lines, index, len(hunks) + 1))
            hunks.append(hunk)
            continue
        if header := _file_header(lines, index):
            file_headers[header] += 1
            if hunks or file_headers[header] > 1:
                do.fail('covers more than one file; send one diff per file')
        elif hunks and lines[index].startswith(('-', '+', ' ')) and lines[index] != _SIGNATURE:
            do.fail(f'hunk {len(hunks)} ({hunks[-1].header}) has more lines than its header states')
        index += 1
    if not hunks:
        do.fail('contains no hunk; a hunk begins with a line like "@@ -1,3 +1,4 @@"')
    return tuple(hunks)


def added_line_end(diff: str) -> str:
    r"""Return the line end of most lines that a diff adds.

    >>> added_line_end('@@ -0,0 +1 @@\n+one\r\n')
    '\r\n'
    """
    return main_line_end(''.join(re.findall(r'^\+(?!\+\+ )[^\n]*\n', diff, re.MULTILINE)))


def _file_header(lines: list[str], index: int) -> Literal['git', 'names'] | None:
    """Return the kind of the file header that begins at a line, if any."""
    if lines[index].startswith('diff --git '):
        return 'git'
    following = lines[index + 1 : index + 2]
    if lines[index].startswith('--- ') and following and following[0].startswith('+++ '):
        return 'names'
    return None


@fallible
def _parse_hunk(do: Do[str], lines: list[str], index: int, number: int) -> tuple[Hunk, int]:
    """Parse the hunk whose header is at `index`; return it and the index after it."""
    match = _HEADER.match(lines[index])
    if match is None:
        do.fail(
            f'line {index + 1} is not a hunk header like "@@ -1,3 +1,4 @@": '
            f'{shorten(lines[index], 80)!r}'
        )
    line, old, _, new = (1 if group is None else int(group) for group in match.groups())
    body = _HunkBody(old, new)
    index += 1
    while index < len(lines) and body.accept(lines[index]):
        index += 1
    if problem := body.problem():
        do.fail(f'hunk {number} ({match[0]}) {problem}')
    return Hunk(number, match[0], line, tuple(body.changes), body.ends_old, body.ends_new), index


class _HunkBody:
    """The lines of a hunk, accepted until their counts match the header."""

    def __init__(self, expected_old: int, expected_new: int) -> None:
        self._expected = (expected_old, expected_new)
        self._old = 0
        self._new = 0
        self.changes: list[Change] = []
        self.ends_old = False
        self.ends_new = False
        self._continues_after_end = False

    def accept(self, line: str) -> bool:
        """Add a line and return True, or return False if it does not belong to the hunk."""
        if line.startswith('\\') and self.changes:
            self._mark_end(self.changes[-1].sign)
            return True
        sign = _SIGNS.get(line[:1])
        expected_old, expected_new = self._expected
        if sign is None or (self._old >= expected_old and self._new >= expected_new):
            return False
        self._continues_after_end |= (self.ends_old and sign != '+') or (
            self.ends_new and sign != '-'
        )
        self._old += sign != '+'
        self._new += sign != '-'
        self.changes.append(Change(sign, line[1:]))
        return True

    def _mark_end(self, sign: Sign) -> None:
        self.ends_old |= sign != '+'
        self.ends_new |= sign != '-'

    def problem(self) -> str | None:
        """Return the reason why the accepted lines are invalid, or None if they are valid."""
        expected_old, expected_new = self._expected
        if (self._old, self._new) != self._expected:
            return (
                f'has the wrong number of lines: expected {expected_old} old and '
                f'{expected_new} new, found {self._old} old and {self._new} new'
            )
        if self._continues_after_end:
            return 'continues after a line that is marked as the end of the file'
        return None
