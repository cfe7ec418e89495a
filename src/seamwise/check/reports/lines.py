"""Lines that fit: broken between words, or cut around what is meant; wide characters take two columns."""

from collections.abc import Iterator

from seamwise._text.escaping import escape
from seamwise._text.source_excerpt import MAX_WIDTH, display_width, fit_window
from seamwise.check.findings import Finding

TAB = ' ' * 4
NARROWEST = 40
"""On a narrower terminal lines are laid out as on one of this width."""


def columns(text: str) -> int:
    """Say how many columns of a terminal a text takes.

    >>> columns('ab'), columns('错误')
    (2, 4)
    """
    return display_width(text)


def wrapped(text: str, *, width: int | None, used: int, indent: str) -> list[str]:
    """Break a text at `width` columns, of whose first line so many are used already; the others begin with `indent`.

    >>> wrapped('one two three', width=40, used=33, indent='  ')
    ['one two', '  three']
    """
    if width is None:
        return [text]
    end = max(width, NARROWEST)
    lines, room = [''], end - used
    for space, piece in _pieces(text, end - len(indent)):
        gap = space if lines[-1].strip() else ''
        if columns(gap + piece) > room:
            lines.append(indent)
            gap, room = '', end - len(indent)
        lines[-1] += gap + piece
        room -= columns(gap + piece)
    return lines


def _pieces(text: str, room: int) -> Iterator[tuple[str, str]]:
    """Give the words, each with what divides it from the one before; one that is longer than a line, as Chinese is, in pieces."""
    for word in text.split(' '):
        space, piece = ' ', ''
        for one in word:
            if columns(piece + one) > room:
                yield space, piece
                space, piece = '', ''
            piece += one
        yield space, piece


def underlined(finding: Finding, *, width: int | None, indent: str) -> tuple[str, str]:
    """Give the line of source, or the part of it that there is room for, and a line of carets under what is meant."""
    pieces = [TAB if one == '\t' else escape(one) for one in finding.source.rstrip()]
    at = min(finding.column - 1, len(pieces))
    shown, before = fit_window(
        pieces, at, min(MAX_WIDTH, max(width or MAX_WIDTH, NARROWEST)) - len(indent)
    )
    meant = sum(map(columns, pieces[at : finding.end_column - 1]))
    return (
        f'{indent}{shown}',
        f'{indent}{" " * before}{"^" * max(min(meant, columns(shown) - before), 1)}',
    )
