"""Decoding of escapes in a text, with the way back to the positions of the original."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from html import unescape
from re import IGNORECASE, VERBOSE, Match
from re import compile as pattern

from seamwise.redaction.sensitive_names import HINT
from seamwise.redaction.spans import Span

_ESCAPE = pattern(
    r"""
      \x1b (?: \[ [0-9;:?]{0,32} [A-Za-z] | \][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\) )
    | \\++ (?: u00(?P<four>[0-7][0-9A-Fa-f]) | x(?P<two>[0-7][0-9A-Fa-f]) | (?P<octal>033)
             | (?P<letter>e)(?=\[) )
    | & (?: quot | apos | amp | lt | gt | equals | colon | lbrace | rbrace | nbsp
          | \#\d{1,4} | \#[xX][0-9A-Fa-f]{1,4} ) ;
    | %(?:25)*+[0-7][0-9A-Fa-f]
    """,
    VERBOSE,
)
_SIGN = pattern(r'[\x1b\\]|&(?=[a-z#])|%[2357]')
_HIDDEN = pattern(
    rf"""
    (?:{HINT}) [\w.-]{{0,40}}? [^\w%&\\\x1b]{{0,4}}?
    (?: \x1b[\[\]] | \\{{1,8}}(?:[uU]00[0-9a-f]{{2}}|x[0-9a-f]{{2}}|033\[|e\[)
      | &(?:quot|apos|amp|lt|gt|equals|colon|\#) | %(?:2[0-9a-f]|3[ad]|5[bd]|7[bd]) )
    | %(?:25)*3a%(?:25)*2f%(?:25)*2f\S{{1,200}}?%(?:25)*40
    """,
    VERBOSE | IGNORECASE,
)
"""A sensitive name, or user information, whose value or sign is behind an escape."""
_MAX_LEVELS = 3


class Decoded:
    """A text with its escapes decoded, each to one character or none, and the way back."""

    def __init__(self, text: str) -> None:
        pieces: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        """Positions of the decoded escapes in the decoded text."""
        self._offsets = [0]
        """Distances from the original position, before the first and after each of them."""
        copied = length = 0
        for match in _ESCAPE.finditer(text):
            decoded = _decoded(match)
            pieces += (text[copied : match.start()], decoded)
            length += match.start() - copied
            self._starts.append(length)
            length += len(decoded)
            self._ends.append(length)
            copied = match.end()
            self._offsets.append(copied - length)
        self.text = ''.join([*pieces, text[copied:]])

    def original(self, span: Span) -> Span:
        """Return a span of the decoded text as one of the original text."""
        start, end, replacement = span.start, span.end, span.replacement
        if (
            replacement[:1] == replacement[-1:] == '"' == self.text[start] == self.text[end - 1]
            and len(replacement) > 1
            and end - start > 1
        ):
            # The quotes stay as they are encoded.
            start, end, replacement = start + 1, end - 1, replacement[1:-1]
        # An escape without a character, such as a colour, belongs to no span that it borders.
        return Span(
            start + self._offsets[bisect_right(self._ends, start)],
            end + self._offsets[bisect_left(self._starts, end)],
            replacement,
            span.masked,
        )


def decoded_texts(text: str) -> Iterator[tuple[str, Callable[[Span], Span]]]:
    """Yield a text with one level of escapes decoded, then with two, and so on.

    Each comes with a function that returns the original span of a span in it.
    """
    views: list[Decoded] = []
    while len(views) < _MAX_LEVELS and _SIGN.search(text) and _HIDDEN.search(text):
        views.append(Decoded(text))
        text = views[-1].text
        yield text, partial(_through, tuple(views))


def _through(views: tuple[Decoded, ...], span: Span) -> Span:
    for view in reversed(views):
        span = view.original(span)
    return span


def _decoded(match: Match[str]) -> str:
    text = match[0]
    if text[0] == '\x1b':
        return ''
    if text[0] == '\\':
        if match['octal'] or match['letter']:
            return '\x1b'
        return chr(int(match['four'] or match['two'], 16))
    if text[0] == '&':
        return unescape(text)
    return chr(int(text[-2:], 16))
