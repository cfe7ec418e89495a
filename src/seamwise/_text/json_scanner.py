r"""Linear scanner for JSON inside other text, with positions in characters.

It finds the end of a value and the places of its parts without decoding them. Runs of flat values
are matched by one regular expression, so Python code runs only per nested array or object.
"""

import re
from collections.abc import Collection
from enum import Enum
from typing import NamedTuple, TypeAlias

import msgspec

Span: TypeAlias = tuple[int, int]
"""The position of the first character, and the one after the last."""

CUT_TOKEN_LIMIT = 12
"""In characters. A literal or an escape at the end of a text may be cut off: `fals`, `-1.5e`."""

Path: TypeAlias = tuple[str | int, ...]
"""Keys of objects and indexes of arrays, from the outermost value inwards."""

# Every repetition is possessive: a match never goes back, so that it takes linear time.
_W = r'[ \t\n\r]*+'
_STRING_START = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+'
_STRING = f'{_STRING_START}"'
_ATOM = rf'(?:{_STRING}|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+|true|false|null)'
_MEMBER = f'{_STRING}{_W}:{_W}'
_FLAT_ARRAY = rf'\[{_W}(?:{_ATOM}{_W}(?:,{_W}{_ATOM}{_W})*+)?+\]'
_FLAT_OBJECT = rf'\{{{_W}(?:{_MEMBER}{_ATOM}{_W}(?:,{_W}{_MEMBER}{_ATOM}{_W})*+)?+\}}'
_FLAT = f'(?:{_ATOM}|{_FLAT_ARRAY}|{_FLAT_OBJECT})'
_SEPARATOR = f'{_W},{_W}'

_STRING_PART = re.compile(_STRING_START)
_FLAT_VALUE = re.compile(_FLAT)
_KEY = re.compile(f'({_STRING}){_W}:{_W}')
_SPACE = re.compile(_W)
_NEXT = re.compile(f'{_W},?+{_W}')


def _container(item: str, close: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of an array or object: from its start, after a nested value, and a part.

    The first two run to the bracket of the next nested value, or of the end, which is their group.
    The third matches as much as can be matched.

    Args:
        item: The pattern of all before the value of an item: nothing, or a key and a colon.
        close: The closing bracket.
    """
    run = rf'(?:{item}{_FLAT}{_SEPARATOR})*+{item}(?:{_FLAT}{_W}({close})|([\[{{]))'
    part = rf'(?:{_SEPARATOR})?+(?:{item}{_FLAT}{_SEPARATOR})*+(?:{item}(?:{_FLAT}{_W})?+)?+'
    return (
        re.compile(rf'.{_W}(?:({close})|{run})', re.DOTALL),
        re.compile(rf'{_W}(?:({close})|,{_W}{run})'),
        re.compile(rf'{_W}{part}(?:{_STRING_START}(?:"{_W}:?+)?+)?+'),
    )


_PATTERNS = {'[': _container('', r'\]'), '{': _container(_MEMBER, r'\}')}


class Ending(Enum):
    """The way in which a value ends."""

    COMPLETE = 'complete'
    CUT_OFF = 'it is cut off'
    MALFORMED = 'it is malformed'
    TOO_DEEP = 'it is nested too deeply'


class Scan(NamedTuple):
    """The end of a value, or the position where the text stops being JSON."""

    end: int
    ending: Ending


def scan_json(text: str, start: int, *, depth_limit: int) -> Scan:
    r"""Find the end of the array, object or string that begins at `start`.

    Strings and numbers are checked for their syntax only: `"\ud800"` and `1e999` are accepted.

    >>> scan_json('see {"a": [1, {}]} there', 4, depth_limit=9)
    Scan(end=18, ending=<Ending.COMPLETE: 'complete'>)
    >>> scan_json('{"a": [1,]}', 0, depth_limit=9)
    Scan(end=9, ending=<Ending.MALFORMED: 'it is malformed'>)

    Args:
        text: The text.
        start: The position of the opening bracket or quote.
        depth_limit: The maximum nesting of arrays and objects.
    """
    if match := _FLAT_VALUE.match(text, start):
        return Scan(match.end(), Ending.COMPLETE)
    if text[start] == '"':
        return _stop(_STRING_PART, text, start)
    patterns = [_PATTERNS[text[start]]]
    position, is_first = start, True
    while True:
        first, following, part = patterns[-1]
        match = (first if is_first else following).match(text, position)
        if match is None:
            return _stop(part, text, position + is_first)
        position = match.end()
        if match[match.lastindex or 0] in '[{':
            if len(patterns) == depth_limit:
                return Scan(position - 1, Ending.TOO_DEEP)
            position -= 1
            patterns.append(_PATTERNS[text[position]])
            is_first = True
        else:
            patterns.pop()
            is_first = False
            if not patterns:
                return Scan(position, Ending.COMPLETE)


def _stop(part: re.Pattern[str], text: str, position: int) -> Scan:
    """Return the position after a last part of a value."""
    end = _end(part, text, position)
    return Scan(end, Ending.CUT_OFF if end == len(text) else Ending.MALFORMED)


def find_spans(text: str, start: int, paths: Collection[Path]) -> dict[Path, Span]:
    """Return the spans of parts of a JSON value, in one pass over the value.

    >>> text = 'see {"a": [1, {"b": 2}]} there'
    >>> find_spans(text, 4, [(), ('a', 1)])
    {('a', 1): (14, 22), (): (4, 24)}

    Args:
        text: The text.
        start: The position of the value, which must be valid JSON without duplicate keys.
        paths: The paths of the parts, which must exist.
    """
    root = _Node()
    for path in paths:
        node = root
        for key in path:
            node = node.children.setdefault(key, _Node())
        node.path = path
    spans: dict[Path, Span] = {}
    _find_spans(text, start, root, spans)
    return spans


class _Node:
    """A part of a value on the way to a wanted part, or the wanted part itself."""

    __slots__ = ('children', 'path')

    def __init__(self) -> None:
        self.children: dict[str | int, _Node] = {}
        self.path: Path | None = None


def _find_spans(text: str, start: int, node: _Node, spans: dict[Path, Span]) -> int:
    """Add the spans of the wanted parts of a value to `spans`, and return the end of the value."""
    end = _search_children(text, start, node, spans) if node.children else _value_end(text, start)
    if node.path is not None:
        spans[node.path] = (start, end)
    return end


def _search_children(text: str, start: int, node: _Node, spans: dict[Path, Span]) -> int:
    position = _end(_SPACE, text, start + 1)
    index = 0
    while text[position] not in ']}':
        key: str | int = index
        if match := _KEY.match(text, position):
            key = msgspec.json.decode(match[1], type=str)
            position = match.end()
        child = node.children.get(key)
        position = (
            _find_spans(text, position, child, spans) if child else _value_end(text, position)
        )
        position = _end(_NEXT, text, position)
        index += 1
    return position + 1


def _value_end(text: str, start: int) -> int:
    # The value is valid, so no limit is needed.
    return scan_json(text, start, depth_limit=len(text)).end


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position
