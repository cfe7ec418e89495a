"""Parts of a text: how far a value reaches, to its closing quote or bracket, to the end of its word, line or block."""

from collections.abc import Iterable
from functools import lru_cache
from re import VERBOSE, Pattern, escape
from re import compile as pattern
from typing import NamedTuple

from seamwise.secrets import MASK

# Every pattern here is linear: what repeats is possessive, and what looks ahead looks at most so many characters far.
_NEXT_PAIR = r'[\w.%\[\]$-]{1,64}[=:]'
_ESCAPED_LINE_END = rf'[nr](?: ["\'`\\\s] | \Z | [ \t-]{{0,16}}{_NEXT_PAIR} )'
_PIECES = rf"""
    [^\s"'`,;&\\<%]++ | [,&](?! \s | \Z | ["'`{{\[\\] | {_NEXT_PAIR} ) | ["'`](?! [\s,;:.)\]}}"'`\\<>&] | \Z )
    | \\++(?! ["'`] | {_ESCAPED_LINE_END} ) | %(?!26) | <(?!/)
"""
_WORD = pattern(rf'(?:{_PIECES})*+', VERBOSE)
_WORDS = pattern(rf'(?:{_PIECES} | [ \t]++(?!{_NEXT_PAIR}) )*+', VERBOSE)
_LINE = pattern(rf'(?: [^\r\n\\]++ | \\++(?!{_ESCAPED_LINE_END}) )*+', VERBOSE)
_BLOCK = pattern(r'[|>]?[-+0-9]{0,3}(?:[ \t]*+\r?+\n)++([ \t]++)(?=\S)')
_MARK = pattern(r'[()\[\]{}]|(?<!\\)(\\*+)(["\'`])')


class Span(NamedTuple):
    """A part of a text, and what is shown in its place."""

    start: int
    end: int
    shown: str = MASK


def replaced(text: str, spans: Iterable[Span], *, start: int = 0, end: int | None = None) -> str:
    """Give the text, or a part of it, with what each span shows in its place; the spans come in order and do not overlap."""
    made: list[str] = []
    copied = start
    for span in spans:
        made += (text[copied : span.start], span.shown)
        copied = span.end
    return ''.join([*made, text[copied:end]])


@lru_cache(maxsize=16)
def _quotes(quote: str) -> Pattern[str]:
    return pattern(rf'(?<!\\)(\\*+){escape(quote)}')


def closing(text: str, at: int, quote: str, slashes: int) -> int | None:
    r"""Give where the text ends that a quote with `slashes` backslashes before it opened, None where it is cut off.

    A quote that was encoded k times has 2**k - 1 backslashes, so a run that ends in more ones, as a binary
    number, belongs to a quote further in; one with fewer closes a text further out, and this one with it.
    """
    mask = 2 * slashes + 1 if slashes & (slashes + 1) == 0 else 0
    for found in _quotes(quote).finditer(text, at):
        run = len(found[1])
        if run <= slashes or (mask and run & mask != mask):
            return max(found.start(), found.end() - len(quote) - slashes)
    return None


def container_end(text: str, at: int) -> int:
    """Give the place behind the bracket that closes the one at `at`; the end of a text that is cut off."""
    depth = 0
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark[2]:
            end = closing(text, at, mark[2], len(mark[1]))
            at = len(text) if end is None else end + len(mark[1]) + 1
            continue
        depth += 1 if mark[0] in '([{' else -1
        if depth <= 0:
            return at
    return len(text)


def word_end(text: str, at: int, *, limit: int | None = None) -> int:
    """Give the end of the word at `at`, a full stop or a bracket of the sentence aside; within a limit also of several words."""
    found = _WORD.match(text, at) if limit is None else _WORDS.match(text, at, limit)
    return at if found is None else at + len(_without_closers(found[0]))


def _without_closers(word: str) -> str:
    unopened = sum(map(word.count, ')]}')) - sum(map(word.count, '([{'))
    end = len(word)
    while end and (word[end - 1] in '.,:\\ \t' or (unopened > 0 and word[end - 1] in ')]}')):
        unopened -= word[end - 1] in ')]}'
        end -= 1
    return word[:end]


def line_end(text: str, at: int) -> int:
    """Give the end of the line at `at`, whether a real line end or an escaped one closes it."""
    found = _LINE.match(text, at)
    return at if found is None else at + len(found[0].rstrip())


def block_end(text: str, at: int, indent: str) -> int | None:
    """Give the end of the lines that stand under a name, further in than its own indent; None where there are none."""
    found = _BLOCK.match(text, at)
    if found is None or len(found[1]) <= len(indent):
        return None
    end = found.end()
    while (line := text.find('\n', end)) >= 0:
        end = line
        following = _BLOCK.match(text, end)
        if following is None or not following[1].startswith(found[1]):
            return end
        end = following.end()
    return len(text)
