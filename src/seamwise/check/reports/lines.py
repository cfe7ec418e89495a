"""Line layout for a terminal: wrapped messages and underlined source lines.

Widths count terminal columns; a wide character takes two.
"""

from collections.abc import Iterator

from seamwise._runtime.source_excerpt import MAX_WIDTH, display_width, fit_window
from seamwise._text.escaping import escape
from seamwise.check.findings import Finding

_TAB = ' ' * 4
_MIN_WIDTH = 40
"""Narrowest layout, in columns. Narrower terminals use it too."""


def wrap_columns(text: str, *, width: int | None, used: int, indent: str) -> list[str]:
    """Break a text into lines between words.

    >>> wrap_columns('one two three', width=40, used=33, indent='  ')
    ['one two', '  three']

    Args:
        text: The text.
        width: Width of a line in columns; None breaks no line.
        used: Columns already used in the first line.
        indent: Start of the lines after the first.
    """
    if width is None:
        return [text]
    end = max(width, _MIN_WIDTH)
    lines, room = [''], end - used
    for space, word in _words(text, end - len(indent)):
        gap = space if lines[-1].strip() else ''
        if display_width(gap + word) > room:
            lines.append(indent)
            gap, room = '', end - len(indent)
        lines[-1] += gap + word
        room -= display_width(gap + word)
    return lines


def _words(text: str, max_width: int) -> Iterator[tuple[str, str]]:
    """Yield each word with the space before it.

    A word wider than a line, as in Chinese, is split; its later parts follow without a space.
    """
    for word in text.split(' '):
        space, part = ' ', ''
        for char in word:
            if display_width(part + char) > max_width:
                yield space, part
                space, part = '', ''
            part += char
        yield space, part


def underline(finding: Finding, *, width: int | None, indent: str) -> tuple[str, str]:
    """Return the source line of a finding, cut to the width, and the carets below it."""
    pieces = [_TAB if char == '\t' else escape(char) for char in finding.source.rstrip()]
    start = min(finding.column - 1, len(pieces))
    line_width = min(MAX_WIDTH, max(width or MAX_WIDTH, _MIN_WIDTH))
    line, offset = fit_window(pieces, start, line_width - len(indent))
    length = sum(map(display_width, pieces[start : finding.end_column - 1]))
    carets = '^' * max(min(length, display_width(line) - offset), 1)
    return f'{indent}{line}', f'{indent}{" " * offset}{carets}'
