"""Reads calls from JSON Lines, strictly and in bounded memory: a bad line becomes a typed failure, and the rest is read on."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from math import isinf
from typing import BinaryIO, NamedTuple

import msgspec

from seamwise.catalog.parsing import SchemaViolations, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.containers import Failure, Result, Success
from seamwise.messages import shorten
from seamwise.redaction import redact
from seamwise.toolhost.arguments import shown
from seamwise.toolhost.calls import InputLine, ToolCall

LINE_LIMIT = 16 * 1024 * 1024
"""In bytes: a longer line is not read, since what a line becomes in memory may be many times as long."""

DEPTH_LIMIT = 200
"""In levels: arrays and objects that are nested more deeply are not read."""

ID_LIMIT = 128
"""In characters, of an id."""

EXCERPT_LIMIT = 200
"""In characters, of an excerpt."""

DIGITS_LIMIT = 4300
"""Of an integer, as in Python: more take too long to read."""

_KEYS = ('id', 'tool', 'arguments')
_MARK = b'\xef\xbb\xbf'
_BLANK = b' \t\r\n'
# Enough to redact in its context what the excerpt shows.
_REDACTED = 8 * 1024


class _Twice(NamedTuple):
    """The keys that some object has twice, and whether the line's own `id` is one of them."""

    keys: list[str]
    in_doubt: bool


def read_calls(stream: BinaryIO) -> Iterator[InputLine]:
    r"""Read the lines of a stream, blank ones aside: each with a call, or with what is wrong with it. Raises OSError.

    >>> from io import BytesIO
    >>> [line.id for line in read_calls(BytesIO(b'{"tool": "list_files"}\n\n{"id": "x", "tool": "list_files"}'))]
    ['line-1', 'x']
    """
    seen: dict[str, int] = {}
    for number, text, is_whole in _lines(stream):
        value = (
            _value(text)
            if is_whole
            else _unreadable(text, f'the line has more than {LINE_LIMIT:,} bytes', LINE_LIMIT)
        )
        yield (
            InputLine(number, None, value)
            if type(value) is Failure
            else _line(number, *value.unwrap(), seen)
        )


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Give the lines that are not blank: number, text, and whether that is the whole line or only its beginning."""
    number = 0
    while line := stream.readline(LINE_LIMIT + 1):
        number += 1
        is_whole = len(line) <= LINE_LIMIT or line.endswith(b'\n')
        rest = line
        while rest and not rest.endswith(b'\n'):
            rest = stream.readline(LINE_LIMIT)
        text = line.removeprefix(_MARK) if number == 1 else line
        if text.strip(_BLANK) or not is_whole:
            yield number, text, is_whole


def _value(text: bytes) -> Result[tuple[object, _Twice], UnreadableCall]:
    """Give what a line holds, and which keys stand twice in it."""
    try:
        text.decode()
        if (place := _too_deep(text)) is not None:
            return _unreadable(text, f'it is nested more than {DEPTH_LIMIT} levels deep', place)
        return Success((msgspec.json.decode(text), _twice(text)))
    except UnicodeDecodeError as raised:
        return _unreadable(text, f'byte 0x{text[raised.start]:02x} is not UTF-8', raised.start)
    except msgspec.DecodeError as raised:
        return _unreadable(text, *_problem(str(raised), text))


def _problem(message: str, text: bytes) -> tuple[str, int]:
    """Take msgspec's message apart: what is wrong, and at which byte."""
    if message == 'Input data was truncated':
        return 'it ends too early, or with half of a character', len(text.rstrip(_BLANK))
    found = re.fullmatch(r'JSON is malformed: (.*) \(byte (\d+)\)', message)
    if found:
        return found[1], int(found[2])
    said = message.partition(' - at ')[0]
    return said[:1].lower() + said[1:], _too_long_number(text)


def _too_long_number(text: bytes) -> int:
    """Find the number of which msgspec says only that it is out of range."""
    numbers = (
        one
        for one in re.finditer(rb'"(?:[^"\\]|\\.)*+"|-?\d[\d.eE+-]*', text)
        if not one[0].startswith(b'"')
    )
    return next(
        (one.start() for one in numbers if isinf(float(one[0])) or len(one[0]) > DIGITS_LIMIT), 0
    )


def _unreadable(text: bytes, problem: str, position: int) -> Failure[UnreadableCall]:
    head = text[:_REDACTED].decode('utf-8', 'replace').strip()
    return Failure(
        UnreadableCall(
            'json',
            problem,
            redact(head)[:EXCERPT_LIMIT],
            position,
            _told('id', head),
            _told('tool', head),
        )
    )


def _told(key: str, text: str) -> str | None:
    """Give what a broken text seems to say under a key."""
    found = re.search(rf'"{key}"\s*:\s*"([^"\\]{{1,{ID_LIMIT}}})"', text)
    return found and found[1]


def _too_deep(text: bytes) -> int | None:
    """Find the bracket that opens one level too many, before any parser has to go down there."""
    if text.count(b'[') + text.count(b'{') <= DEPTH_LIMIT:
        return None
    depth = 0
    for one in re.finditer(rb'"(?:[^"\\]|\\[\s\S]?)*+"?|[\[{]|[\]}]', text):
        mark = one[0]
        depth += (mark in b'[{') - (mark in b']}')
        if depth > DEPTH_LIMIT:
            return one.start()
    return None


def _twice(text: bytes) -> _Twice:
    """Find the keys that an object has twice: parsers do not agree on which one counts."""
    found: list[list[str]] = []

    def note(pairs: list[tuple[str, object]]) -> None:
        found.append([key for key, times in Counter(key for key, _ in pairs).items() if times > 1])

    # The numbers are read already; here they would only cost time. The outermost object comes last.
    json.loads(text, object_pairs_hook=note, parse_int=str, parse_float=str)
    return _Twice(sorted({key for keys in found for key in keys}), 'id' in (found or [[]])[-1])


def _line(number: int, value: object, twice: _Twice, seen: dict[str, int]) -> InputLine:
    try:
        given = msgspec.convert(value, dict[str, object])
    except msgspec.ValidationError:
        return InputLine(
            number,
            None,
            Failure(SchemaViolations((Problem('', f'must be an object, not {shown(value)}'),))),
        )
    own = None if twice.in_doubt else given.get('id')
    own_id = own if isinstance(own, str) and 1 <= len(own) <= ID_LIMIT else None
    call_id = own_id or f'line-{number}'
    doubles = [
        Problem('', f'has the key {shorten(key, 80)!r} twice in one object') for key in twice.keys
    ]
    problems = [*doubles, *_id_problems(given, call_id, seen), *_shape_problems(given)]
    if own_id is not None or not problems:
        seen.setdefault(call_id, number)
    if problems:
        return InputLine(number, own_id, Failure(SchemaViolations(tuple(problems))))
    call = msgspec.convert({'id': call_id, 'line': number, 'arguments': {}, **given}, ToolCall)
    return InputLine(number, call_id, Success(call))


def _id_problems(
    given: Mapping[str, object], call_id: str, seen: Mapping[str, int]
) -> Iterator[Problem]:
    own = given.get('id', call_id)
    if not isinstance(own, str):
        yield Problem('/id', f'must be a text of 1 to {ID_LIMIT} characters, not {shown(own)}')
    elif own != call_id:
        yield Problem('/id', f'must have 1 to {ID_LIMIT} characters, not {len(own):,}')
    elif call_id in seen:
        yield Problem('/id', f'must be new: line {seen[call_id]} has {call_id!r} already')


def _shape_problems(given: Mapping[str, object]) -> Iterator[Problem]:
    if 'tool' not in given:
        yield Problem('/tool', 'is missing')
    elif not isinstance(given['tool'], str):
        yield Problem('/tool', f'must be a text, not {shown(given["tool"])}')
    if not isinstance(arguments := given.get('arguments', {}), dict):
        yield Problem('/arguments', f'must be an object, not {shown(arguments)}')
    for key in sorted(given.keys() - set(_KEYS)):
        yield Problem(_pointer(key), f'is no key of a call; those are {", ".join(_KEYS)}')


def _pointer(key: str) -> str:
    """Write a JSON Pointer to a key (RFC 6901)."""
    return '/' + shorten(key, 80).replace('~', '~0').replace('/', '~1')
