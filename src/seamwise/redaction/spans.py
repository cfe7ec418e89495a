"""Spans of a text: the ends of quoted values, brackets, words, lines and blocks."""

from collections.abc import Iterable
from functools import lru_cache
from re import VERBOSE, Pattern, escape
from re import compile as pattern
from typing import NamedTuple

from seamwise._text.secrets import MASK

# Every pattern here is linear: repetitions are possessive, lookaheads have limited lengths.
_NEXT_PAIR = r'[\w.%\[\]$-]{1,64}[=:]'
_ESCAPED_LINE_END = rf'[nr](?: ["\'`\\\s{{(\[<] | \Z | [ \t-]{{0,16}}{_NEXT_PAIR} )'
_PIECES = rf"""
    [^\s"'`,;&\\<%]++ | [,&](?! \s | \Z | ["'`{{\[\\] | {_NEXT_PAIR} )
    | ["'`](?! [\s,;:.)\]}}"'`\\<>&] | \Z )
    | \\++(?! ["'`] | {_ESCAPED_LINE_END} ) | %(?!26) | <(?!/)
"""
_WORD = pattern(rf'(?:{_PIECES})*+', VERBOSE)
_WORDS = pattern(rf'(?:{_PIECES} | [ \t]++(?!{_NEXT_PAIR}) )*+', VERBOSE)
_LINE = pattern(rf'(?: [^\r\n\\]++ | \\++(?!{_ESCAPED_LINE_END}) )*+', VERBOSE)
_BLOCK = pattern(r'[|>]?[-+0-9]{0,3}(?:[ \t]*+\r?+\n)++([ \t]++)(?=\S)')
_MARK = pattern(r'[()\[\]{}]|(?<!\\)(\\*+)(["\'`])')


class Span(NamedTuple):
    """Part of a text, and its replacement."""

    start: int
    end: int
    replacement: str = MASK
    masked: int = 1
    """Number of masked places in it."""


def replace_spans(
    text: str, spans: Iterable[Span], *, start: int = 0, end: int | None = None
) -> str:
    """Return `text[start:end]` with each span replaced; spans are ordered and do not overlap."""
    pieces: list[str] = []
    copied = start
    for span in spans:
        pieces += (text[copied : span.start], span.replacement)
        copied = span.end
    return ''.join([*pieces, text[copied:end]])


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return ordered spans without overlaps that cover the same characters.

    >>> merge_spans([Span(4, 9), Span(1, 5), Span(11, 12)])
    [Span(start=1, end=9, replacement='***', masked=1), \
Span(start=11, end=12, replacement='***', masked=1)]
    """
    result: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        last = result[-1] if result else None
        if last is None or span.start > last.end:
            result.append(span)
        elif span.end > last.end:
            # A partial overlap: neither replacement fits both, but the mask does.
            result[-1] = Span(last.start, span.end)
    return result


@lru_cache(maxsize=16)
def _quotes(quote: str) -> Pattern[str]:
    return pattern(rf'(?<!\\)(\\*+){escape(quote)}')


def closing_quote(text: str, at: int, quote: str, slashes: int) -> int | None:
    """Return the end of a quoted text whose opening quote has `slashes` backslashes before it.

    A quote that was encoded k times has 2**k - 1 backslashes. So a run of backslashes with more
    trailing ones, as a binary number, belongs to a quote further in. A run with fewer closes an
    outer text and this one with it. The result is None if the text is truncated.
    """
    mask = 2 * slashes + 1 if slashes & (slashes + 1) == 0 else 0
    for match in _quotes(quote).finditer(text, at):
        run = len(match[1])
        if run <= slashes or (mask and run & mask != mask):
            return max(match.start(), match.end() - len(quote) - slashes)
    return None


def container_end(text: str, at: int) -> int:
    """Return the index after the bracket that closes the one at `at`, or the end of the text."""
    depth = 0
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark[2]:
            end = closing_quote(text, at, mark[2], len(mark[1]))
            at = len(text) if end is None else end + len(mark[1]) + 1
            continue
        depth += 1 if mark[0] in '([{' else -1
        if depth <= 0:
            return at
    return len(text)


def word_end(text: str, at: int, *, limit: int | None = None) -> int:
    """Return the end of the word at `at`, without punctuation of the sentence.

    With a limit, the value may consist of several words.
    """
    match = _WORD.match(text, at) if limit is None else _WORDS.match(text, at, limit)
    return at if match is None else at + len(_without_closers(match[0]))


def _without_closers(word: str) -> str:
    unopened = sum(map(word.count, ')]}')) - sum(map(word.count, '([{'))
    end = len(word)
    while end and (word[end - 1] in '.,:\\ \t' or (unopened > 0 and word[end - 1] in ')]}')):
        unopened -= word[end - 1] in ')]}'
        end -= 1
    return word[:end]


def line_end(text: str, at: int, *, limit: int | None = None) -> int:
    """Return the end of the line at `at`, or the limit; an escaped line end counts too."""
    match = _LINE.match(text, at, len(text) if limit is None else limit)
    return at if match is None else at + len(match[0].rstrip())


def block_end(text: str, at: int, indent: str) -> int | None:
    """Return the end of the lines indented deeper than `indent`, None if there are none."""
    match = _BLOCK.match(text, at)
    if match is None or len(match[1]) <= len(indent):
        return None
    end = match.end()
    while (line := text.find('\n', end)) >= 0:
        end = line
        following = _BLOCK.match(text, end)
        if following is None or not following[1].startswith(match[1]):
            return end
        end = following.end()
    return len(text)
