"""The line of a file that an error points to, redacted, and a caret under the column."""

import os
import stat
from collections.abc import Callable
from typing import TypeAlias
from unicodedata import category, east_asian_width

from seamwise._text.escaping import escape
from seamwise.redaction import redact
from seamwise.seams.cli.shape import Place
from seamwise.seams.cli.style import Style

Source: TypeAlias = Callable[[Place], str | None]
"""Gives the whole text of the file that a place is in, or None where it cannot be had."""

FILE_LIMIT = 256 * 1024
"""In bytes: a longer file is not read."""

MAX_WIDTH = 100
"""In columns: of a longer line, the part around the column is shown."""

INDENT = '  '
_TAB = '    '
_CUT = '…'
# A pipe must not block the open, nor a terminal become the program's own.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def from_file(place: Place) -> str | None:
    """Read the file that a place is in, where it is a regular one of at most 256 KiB."""
    try:
        descriptor = os.open(place.path, _READ)
    except (OSError, ValueError):
        # It has gone, or has a name that is none: the error itself has been told.
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = os.read(descriptor, FILE_LIMIT + 1)
    finally:
        os.close(descriptor)
    return None if len(data) > FILE_LIMIT else data.decode('utf-8-sig', 'replace')


def pointer(place: Place, text: str, *, width: int | None, style: Style) -> list[str]:
    """Show the line at a place of a text, and a caret under the column; in words for a screen reader.

    What looks like a secret is masked; of a long line, the part around the column is shown.
    """
    found = _line(text, place)
    if found is None:
        return []
    line, column = found
    pieces = [_TAB if one == '\t' else escape(one) for one in line]
    shown, before = _window(pieces, column, min(MAX_WIDTH, width or MAX_WIDTH) - len(INDENT))
    if style == 'screen-reader':
        return [f'line {place.line}, column {place.column}: {shown}']
    return [INDENT + shown, INDENT + ' ' * before + '^']


def _line(text: str, place: Place) -> tuple[str, int] | None:
    """Give the line, redacted, and how many characters of it stand before the column."""
    lines = text.split('\n')
    if not 0 < place.line <= len(lines):
        return None
    # Redacted in its context: a line from the middle of a key gives nothing away to who sees it alone.
    safe = redact(text).split('\n')
    line = lines[place.line - 1]
    if len(safe) == len(lines):
        shown = safe[place.line - 1]
    elif line in safe:
        shown = line
    else:
        return None
    column = min(max(place.column - 1, 0), len(line))
    # Where something before the column is masked, the caret stands at the mask.
    same = next((at for at in range(column) if shown[at : at + 1] != line[at]), column)
    shown = shown.rstrip()
    return shown, min(same, len(shown))


def _window(pieces: list[str], at: int, room: int) -> tuple[str, int]:
    """Give as much of a line around a column as there is room for, and how many columns stand before it."""
    widths = [_columns(one) for one in pieces]
    if sum(widths) < room:
        return ''.join(pieces), sum(widths[:at])
    room -= 2 * len(_CUT) + 1
    first = last = at
    used = 0
    while first > 0 and used + widths[first - 1] <= room // 2:
        first -= 1
        used += widths[first]
    while last < len(pieces) and used + widths[last] <= room:
        used += widths[last]
        last += 1
    head, tail = _CUT if first else '', _CUT if last < len(pieces) else ''
    return head + ''.join(pieces[first:last]) + tail, len(head) + sum(widths[first:at])


def _columns(text: str) -> int:
    return sum(_column(one) for one in text)


def _column(one: str) -> int:
    if category(one) in {'Mn', 'Me', 'Cf'}:
        return 0
    return 2 if east_asian_width(one) in {'W', 'F'} else 1
