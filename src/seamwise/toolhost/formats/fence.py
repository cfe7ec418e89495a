"""Fenced block of Markdown; the calls in it keep the format that they are written in."""

import re
from typing import NamedTuple

from seamwise._results.containers import Failure
from seamwise._text.json_scanner import CUT_TOKEN_LIMIT
from seamwise.toolhost.formats.json_text import read_calls, read_json
from seamwise.toolhost.formats.marks import TextReading, skip_space

# The language is bounded: text without spaces may follow each of many fences in a line.
_OPENING = re.compile(
    r'(?P<marks>`++|~++)[ \t]*+(?P<language>\{[.#\w][^\s"`{}]{0,64}+\}(?=\s)|[^\s`{\[]{0,64}+)'
)
# Attributes in the place of a language that are cut off.
_CUT_ATTRIBUTES = re.compile(r'[ \t]*+\{[^\s"`{}]{0,66}+\}?+\Z')
# A fence with one word behind it opens a block in the block.
_CLOSING = re.compile(r'\n[ \t]*+(?P<marks>```++|~~~++)(?![ \t]*+[\w+-]++[ \t\r]*+(?:\n|\Z))')
_BACKTICKS = re.compile('`*+')
_READ_LANGUAGES = frozenset({'', 'json'})
_INDENTATION_LIMIT = 8

# A search for each number of marks that has no end would take more than linear time.
_MARKS_LIMIT = 16


class FenceReading(NamedTuple):
    """The result of reading a fence.

    Attributes:
        reading: The position after the fence, and the calls of a block that is one array.
        is_open: Whether the text that follows is in the block.
    """

    reading: TextReading
    is_open: bool


def read(text: str, start: int, *, is_open: bool) -> FenceReading:
    """Read an opening or a closing fence, or a block in another language up to its end.

    Args:
        text: The text.
        start: The position of the fence.
        is_open: Whether the fence is in a block.
    """
    opening = _OPENING.match(text, start)
    marks, language = opening.group('marks', 'language') if opening else ('', '')
    end = opening.end() if opening else start
    margin = text[max(0, start - _INDENTATION_LIMIT) : start].rpartition('\n')[2]
    if margin.strip() and marks.startswith('~'):
        return FenceReading(TextReading(start + len(marks), [], is_settled=True), is_open)
    if is_open and not language:
        return FenceReading(TextReading(end, [], _is_settled(text, end)), is_open=False)
    if language.lower() in _READ_LANGUAGES:
        code = _read_code(text, end, marks) if margin.strip() else None
        return FenceReading(code or _read_array(text, end), is_open or code is None)
    if margin.strip():
        return FenceReading(_skip_code(text, end, marks[:_MARKS_LIMIT]), is_open)
    for match in _CLOSING.finditer(text, end):
        if match['marks'].startswith(marks):
            is_settled = text.find('\n', match.end()) >= 0
            return FenceReading(TextReading(match.end(), [], is_settled), is_open=False)
    return FenceReading(TextReading(len(text), [], is_settled=False), is_open=False)


def _is_settled(text: str, end: int) -> bool:
    """Return whether more text would not change the language of a fence without one."""
    return end < len(text) and _CUT_ATTRIBUTES.match(text, end) is None


def _read_code(text: str, end: int, marks: str) -> TextReading | None:
    """Skip code in a line that ends in the same line; return None for a block."""
    line_end = text.find('\n', end)
    if text.find(marks, end, line_end if line_end >= 0 else len(text)) >= 0:
        return _skip_code(text, end, marks[:_MARKS_LIMIT])
    return TextReading(end, [], is_settled=False) if line_end < 0 else None


def _skip_code(text: str, end: int, marks: str) -> TextReading:
    """Skip code in a line up to the end of its closing marks; without these it is no block."""
    start = text.find(marks, end)
    closing = None if start < 0 else _BACKTICKS.match(text, start)
    if closing is None:
        return TextReading(end, [], is_settled=False)
    return TextReading(closing.end(), [], is_settled=closing.end() < len(text))


def _read_array(text: str, end: int) -> TextReading:
    """Read a block that consists of an array; leave any other to the scanner of the text."""
    start = skip_space(text, end)
    if not text.startswith('[', start):
        return TextReading(end, [], is_settled=start < len(text) and _is_settled(text, end))
    value, stop, is_whole = read_json(text, start)
    if not is_whole:
        return TextReading(end, [], is_settled=stop + CUT_TOKEN_LIMIT < len(text))
    rest_start = skip_space(text, stop)
    rest = text[rest_start : rest_start + 3]
    if type(value) is Failure or not ('```'.startswith(rest) or '~~~'.startswith(rest)):
        return TextReading(end, [], is_settled=True)
    is_settled = rest in {'```', '~~~'}
    return TextReading(stop, read_calls(text, (start, stop), value.unwrap()), is_settled)
