"""XML tag `<tool name="…" args="…"/>`, with arguments in all the ways that models quote them."""

import re
import sys
from typing import NamedTuple

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.json_scanner import Ending, scan_json
from seamwise.toolhost.formats.entries import (
    ARGUMENTS_KEYS,
    DEPTH_LIMIT,
    BrokenCall,
    Entry,
    decode_text,
    key_problem,
    read_in_text,
)
from seamwise.toolhost.formats.marks import TAG, TextReading, skip_space

_ATTRIBUTE = re.compile(r'\s*+(?P<name>[A-Za-z_][\w:.-]*+)\s*+=\s*+(?P<quote>["\'])', re.ASCII)
_QUOTED = {
    '"': re.compile(r'([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL),
    "'": re.compile(r"([^'\\]*+(?:\\.[^'\\]*+)*+)'", re.DOTALL),
}
_CLOSE = re.compile(
    r'\s*+(?:(?P<complete>/>|>\s*+</tool\s*+>)|>(?P<content>[^<]*+</tool\s*+>)?+)', re.IGNORECASE
)
# The beginning of an attribute or of the end.
_CUT_OFF = re.compile(r'\s*+(?:[\w:.-]++\s*+=?+\s*+|/)?+\Z')
_BROKEN_END = re.compile(rf'(?P<end>>)|{TAG}')
# In JSON the bracket needs a quote before it: `/>` may stand in an argument.
_BROKEN_JSON_END = re.compile(rf'(?P<end>["\']\s*+/?>)|{TAG}')
_ENTITY = re.compile(r'&(?:(quot|apos|amp|lt|gt)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));')
_KEYS = frozenset({'name', *ARGUMENTS_KEYS})
_ENTITIES = {'quot': '"', 'apos': "'", 'amp': '&', 'lt': '<', 'gt': '>'}


class _Value(NamedTuple):
    """The value of an attribute.

    Attributes:
        raw: The value between its quotes, or None if the closing one is missing.
        end: The position after the closing quote.
        resume: The position where the next call is searched if the tag is broken.
        is_broken_json: Whether the value begins as JSON that has no end.
    """

    raw: str | None
    end: int
    resume: int
    is_broken_json: bool = False


def read(text: str, start: int, end: int) -> TextReading:
    """Read a tag.

    Args:
        text: The text.
        start: The position of the tag.
        end: The end of its name.
    """
    attributes: dict[str, str] = {}
    value = _Value('', end, end)
    is_broken = False
    while not is_broken and (match := _ATTRIBUTE.match(text, value.end)):
        value = _read_value(text, match.end(), match['quote'])
        name = match['name'].lower()
        is_broken = value.raw is None or name in attributes
        attributes.setdefault(name, value.raw or '')
    close = None if is_broken else _CLOSE.match(text, value.end)
    if close and close['complete']:
        call = read_in_text(_entry(attributes), text, (start, close.end()))
        return TextReading(close.end(), [call], is_settled=True)
    if close:
        problem = 'the tag has content' if close['content'] else 'the tag is not closed'
        stop, is_settled = close.end(), close['content'] is not None
    else:
        problem = 'the tag is broken or cut off'
        pattern = _BROKEN_JSON_END if value.is_broken_json else _BROKEN_END
        match = pattern.search(text, value.resume)
        stop = (match.end() if match['end'] else match.start()) if match else len(text)
        is_cut_off = value.raw is None or _CUT_OFF.match(text, value.end)
        is_settled = match is not None and not is_cut_off
    tool = _unescape(attributes.get('name', '')) or None
    failure = BrokenCall('xml', problem, text, (start, stop), position=value.resume, tool=tool)
    return TextReading(stop, [failure], is_settled)


def _read_value(text: str, start: int, quote: str) -> _Value:
    """Read the value that begins after an opening quote."""
    resume, is_broken_json = start, False
    json_start = skip_space(text, start)
    if text[json_start : json_start + 1] in {'{', '['}:
        # JSON is delimited by its own brackets: it may contain quotes that are not escaped.
        resume, ending = scan_json(text, json_start, depth_limit=DEPTH_LIMIT)
        is_broken_json = ending is not Ending.COMPLETE
        end = skip_space(text, resume)
        if not is_broken_json and text.startswith(quote, end):
            return _Value(text[start:end], end + 1, end + 1)
    match = _QUOTED[quote].match(text, start)
    if match is None:
        return _Value(None, start, resume, is_broken_json)
    return _Value(match[1], match.end(), resume, is_broken_json)


def _entry(attributes: dict[str, str]) -> Entry:
    raw = next((attributes[key] for key in ARGUMENTS_KEYS if key in attributes), '')
    decoded = _decode(raw) if raw.strip() else Success(None)
    arguments = None if type(decoded) is Failure else decoded.unwrap()
    if type(decoded) is Failure:
        problem = f'the arguments are not JSON: {decoded.failure()}'
    else:
        problem = key_problem(attributes, arguments, _KEYS)
        if not problem and isinstance(arguments, str):
            problem = 'the arguments are encoded twice'
    name, call_id = _unescape(attributes.get('name', '')), attributes.get('id')
    return Entry('xml', (), name, arguments, call_id, attributes.get('namespace'), problem)


def _decode(raw: str) -> Result[object, str]:
    r"""Return the value of an attribute with JSON: plain, with entities or with backslashes.

    >>> [_decode(raw).unwrap() for raw in ('{"a": 1}', '{&quot;a&quot;: 1}', r'{\"a\": 1}')]
    [{'a': 1}, {'a': 1}, {'a': 1}]
    """
    # An attribute of XML contains no `<`. In a text with one, `&amp;` stands for itself.
    if '&' in raw and '<' not in raw:
        value = decode_text(_unescape(raw))
        if type(value) is Success:
            return value
    value = decode_text(raw)
    if type(value) is Failure and '\\' in raw:
        text = decode_text('"' + raw.replace("\\'", "'") + '"').value_or(None)
        if isinstance(text, str):
            return decode_text(text)
    return value


def _unescape(raw: str) -> str:
    return _ENTITY.sub(_character, raw) if '&' in raw else raw


def _character(match: re.Match[str]) -> str:
    """Return the character of an entity; one that does not exist stays as it is."""
    name, number, hexadecimal = match.groups()
    if name:
        return _ENTITIES[name]
    code_point = int(number) if number else int(hexadecimal, 16)
    return chr(code_point) if code_point <= sys.maxunicode else match[0]
