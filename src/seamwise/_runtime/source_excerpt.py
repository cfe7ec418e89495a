"""Excerpt of a source file around the location of an error, redacted, with a caret below it."""

import os
import stat
from collections.abc import Callable
from typing import Literal, TypeAlias
from unicodedata import category, east_asian_width

from msgspec import Struct

from seamwise._text.escaping import escape
from seamwise.redaction import redact

Style: TypeAlias = Literal['auto', 'plain', 'screen-reader']
"""Output style: `plain` has no escape sequences.

`screen-reader` has none either, breaks no lines, draws nothing and puts locations into words.
"""


class Place(Struct, frozen=True):
    """Location in a file; `line` and `column` count from 1, in characters."""

    path: str
    line: int
    column: int


Source: TypeAlias = Callable[[Place], str | None]
"""Returns the whole text of the file that contains a location, or None if it is unavailable."""

FILE_LIMIT = 256 * 1024
"""Maximum size of a file in bytes; longer files are not read."""

MAX_WIDTH = 100
"""Maximum width of an excerpt in columns; a longer line is cut around the location."""

INDENT = '  '
_TAB = '    '
_CUT = '…'
# O_NONBLOCK: opening a named pipe must not block. O_NOCTTY: opening a terminal must not make it
# the controlling terminal. Windows has O_BINARY only, without which it would convert line ends.
_FLAG_NAMES = ('O_RDONLY', 'O_NONBLOCK', 'O_NOCTTY', 'O_CLOEXEC', 'O_BINARY')
_OPEN_FLAGS = sum(getattr(os, name, 0) for name in _FLAG_NAMES)


def from_file(location: Place) -> str | None:
    """Return the text of the file that contains a location.

    The result is None unless it is a regular file of at most 256 KiB that can be opened.

    >>> from_file(Place('app.toml', 3, 7)) is None
    True
    """
    try:
        descriptor = os.open(location.path, _OPEN_FLAGS)
    except (OSError, ValueError):
        # The excerpt is an addition to an error that is reported anyway. ValueError: a NUL byte.
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = os.read(descriptor, FILE_LIMIT + 1)
    finally:
        os.close(descriptor)
    return None if len(data) > FILE_LIMIT else data.decode('utf-8-sig', 'replace')


def pointer(location: Place, text: str, *, width: int | None, style: Style) -> list[str]:
    """Return the line of a location, redacted, and a line with a caret below the column.

    A screen reader gets one line in words. The result is empty if the line is blank or missing.

    Args:
        location: Location of the error.
        text: The whole text of its file.
        width: Width of the terminal in columns, None if unlimited; 100 columns are the maximum.
        style: Output style.
    """
    located = _locate(text, location)
    if located is None:
        return []
    line, index = located
    if not line:
        return []
    pieces = [_TAB if character == '\t' else escape(character) for character in line]
    excerpt, offset = fit_window(pieces, index, min(MAX_WIDTH, width or MAX_WIDTH) - len(INDENT))
    if style == 'screen-reader':
        return [f'line {location.line}, column {location.column}: {excerpt}']
    return [INDENT + excerpt, INDENT + ' ' * offset + '^']


def _locate(text: str, location: Place) -> tuple[str, int] | None:
    """Return the redacted line of a location, and the index of the location in it."""
    lines = text.split('\n')
    if not 0 < location.line <= len(lines):
        return None
    # Redact the whole text: a line from the middle of a private key does not look like a secret.
    redacted_lines = redact(text).split('\n')
    line = lines[location.line - 1]
    if len(redacted_lines) == len(lines):
        redacted = redacted_lines[location.line - 1]
    elif line in redacted_lines:
        redacted = line
    else:
        return None
    column = min(max(location.column - 1, 0), len(line))
    # If a secret before the column is masked, the caret points to the mask.
    index = next((i for i in range(column) if redacted[i : i + 1] != line[i]), column)
    redacted = redacted.rstrip()
    return redacted, min(index, len(redacted))


def fit_window(pieces: list[str], index: int, width: int) -> tuple[str, int]:
    """Cut a line to `width` columns around the piece at `index`.

    Returns:
        The visible part of the line, and the number of columns in it before that piece.
    """
    widths = [display_width(piece) for piece in pieces]
    if sum(widths) < width:
        return ''.join(pieces), sum(widths[:index])
    width -= 2 * len(_CUT) + 1
    start = end = index
    used = 0
    while start > 0 and used + widths[start - 1] <= width // 2:
        start -= 1
        used += widths[start]
    while end < len(pieces) and used + widths[end] <= width:
        used += widths[end]
        end += 1
    head, tail = _CUT if start else '', _CUT if end < len(pieces) else ''
    return head + ''.join(pieces[start:end]) + tail, len(head) + sum(widths[start:index])


def display_width(text: str) -> int:
    """Return the number of columns that a terminal uses for a text."""
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if category(character) in {'Mn', 'Me', 'Cf'}:
        return 0
    return 2 if east_asian_width(character) in {'W', 'F'} else 1
