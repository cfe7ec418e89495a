"""A unified diff of one file, read strictly."""

import re
from collections import Counter
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise.messages import shorten
from seamwise.scope import Do, fallible

Sign: TypeAlias = Literal[' ', '-', '+']

_HEADER = re.compile(r'@@ -(\d{1,18})(?:,(\d{1,18}))? \+(\d{1,18})(?:,(\d{1,18}))? @@(?= |$)')
_SIGNATURE = '-- '
"""What `git format-patch` ends a diff with, before the version of git."""

_SIGNS: dict[str, Sign] = {' ': ' ', '-': '-', '+': '+', '': ' '}
"""An empty line is an empty line of context, whose blank somebody has cut off."""


class Change(Struct, frozen=True):
    """One line of a hunk: kept (` `), removed (`-`) or added (`+`)."""

    sign: Sign
    text: str


class Hunk(Struct, frozen=True):
    """One part of a diff: its number from 1, its header, and where it says that it stands in the old file.

    `ends_old` and `ends_new`: its last old or new line is said to end the file, with no newline.
    """

    number: int
    header: str
    line: int
    changes: tuple[Change, ...]
    ends_old: bool
    ends_new: bool

    @property
    def old(self) -> list[str]:
        """The lines that must stand in the file."""
        return [one.text for one in self.changes if one.sign != '+']

    def count(self, sign: Sign) -> int:
        """How many lines have this sign."""
        return sum(one.sign == sign for one in self.changes)


@fallible
def parse(do: Do[str], diff: str) -> tuple[Hunk, ...]:
    r"""Read the hunks of a diff, and leave out what stands around them. The error says in words what is wrong.

    >>> parse('@@ -1 +1 @@\n-old\n+new\n').unwrap()[0].old
    ['old']
    >>> parse('-old\n+new\n')
    <Failure: holds no hunk: each part of a unified diff begins with a line like "@@ -1,3 +1,4 @@">
    """
    lines = diff.replace('\r\n', '\n').removesuffix('\n').split('\n')
    hunks: list[Hunk] = []
    files: Counter[str] = Counter()
    at = 0
    while at < len(lines):
        if lines[at].startswith('@@'):
            hunk, at = do(_hunk(lines, at, len(hunks) + 1))
            hunks.append(hunk)
            continue
        if mark := _begins_file(lines, at):
            files[mark] += 1
            if hunks or files[mark] > 1:
                do.fail('is a diff of more than one file; send one diff a file')
        elif hunks and lines[at].startswith(('-', '+', ' ')) and lines[at] != _SIGNATURE:
            do.fail(f'hunk {len(hunks)} ({hunks[-1].header}) has more lines than its header says')
        at += 1
    if not hunks:
        do.fail(
            'holds no hunk: each part of a unified diff begins with a line like "@@ -1,3 +1,4 @@"'
        )
    return tuple(hunks)


def _begins_file(lines: list[str], at: int) -> str | None:
    if lines[at].startswith('diff --git '):
        return 'git'
    return (
        'names'
        if lines[at].startswith('--- ')
        and lines[at + 1 : at + 2]
        and lines[at + 1].startswith('+++ ')
        else None
    )


@fallible
def _hunk(do: Do[str], lines: list[str], at: int, number: int) -> tuple[Hunk, int]:
    """Read the hunk whose header stands at `at`; gives it, and where what follows begins."""
    match = _HEADER.match(lines[at])
    if match is None:
        do.fail(
            f'line {at + 1} is no header of a hunk, as "@@ -1,3 +1,4 @@" is: {shorten(lines[at], 80)!r}'
        )
    line, old, _, new = (1 if one is None else int(one) for one in match.groups())
    body = _Body(old, new)
    at += 1
    while at < len(lines) and body.takes(lines[at]):
        at += 1
    if flaw := body.flaw():
        do.fail(f'hunk {number} ({match[0]}) {flaw}')
    return Hunk(number, match[0], line, tuple(body.changes), body.ends_old, body.ends_new), at


class _Body:
    """The lines of a hunk, taken until there are as many as its header promises."""

    def __init__(self, old: int, new: int) -> None:
        self._promised = (old, new)
        self._old = 0
        self._new = 0
        self.changes: list[Change] = []
        self.ends_old = False
        self.ends_new = False
        self._goes_on = False

    def takes(self, line: str) -> bool:
        """Take a line, where it belongs to the hunk."""
        if line.startswith('\\') and self.changes:
            self._mark(self.changes[-1].sign)
            return True
        sign = _SIGNS.get(line[:1])
        if sign is None or (self._old >= self._promised[0] and self._new >= self._promised[1]):
            return False
        self._goes_on |= (self.ends_old and sign != '+') or (self.ends_new and sign != '-')
        self._old += sign != '+'
        self._new += sign != '-'
        self.changes.append(Change(sign, line[1:]))
        return True

    def _mark(self, sign: Sign) -> None:
        self.ends_old |= sign != '+'
        self.ends_new |= sign != '-'

    def flaw(self) -> str | None:
        """Say what is wrong with the lines taken, if anything."""
        if (self._old, self._new) != self._promised:
            return 'promises {} old and {} new lines, but has {} and {}'.format(
                *self._promised, self._old, self._new
            )
        return (
            'goes on after a line that is said to be the last of the file'
            if self._goes_on
            else None
        )
