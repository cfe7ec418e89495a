"""Strict reader for calls in JSON Lines, in bounded memory.

An invalid line becomes a typed failure, and reading continues with the next line.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from math import isinf
from typing import BinaryIO, NamedTuple

import msgspec

from seamwise._text.values import describe_value
from seamwise.catalog.parsing import SchemaViolations, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.containers import Failure, Result, Success
from seamwise.messages import shorten
from seamwise.redaction import redact
from seamwise.toolhost.calls import InputLine, ToolCall

LINE_LIMIT = 16 * 1024 * 1024
"""In bytes: the maximum length of a line. Its values in memory can be many times as large."""

DEPTH_LIMIT = 200
"""In levels: the maximum nesting of arrays and objects."""

ID_LIMIT = 128
"""In characters: the maximum length of an id."""

EXCERPT_LIMIT = 200
"""In characters: the maximum length of an excerpt in an error."""

DIGITS_LIMIT = 4300
"""The maximum number of digits of an integer, as in Python: conversion takes quadratic time."""

_KEYS = ('id', 'tool', 'arguments')
_BYTE_ORDER_MARK = b'\xef\xbb\xbf'
_BLANK = b' \t\r\n'
# Redaction needs more context than the excerpt shows.
_REDACTED_SIZE = 8 * 1024


class _DuplicateKeys(NamedTuple):
    """The keys that occur twice in any object of a line, and whether `id` is one at the top."""

    keys: list[str]
    has_id: bool


def read_calls(stream: BinaryIO) -> Iterator[InputLine]:
    r"""Read the lines of a stream that are not blank, one at a time.

    >>> from io import BytesIO
    >>> stream = BytesIO(b'{"tool": "list_files"}\n\n{"id": "x", "tool": "list_files"}')
    >>> [line.id for line in read_calls(stream)]
    ['line-1', 'x']

    Raises:
        OSError: the stream cannot be read.
    """
    line_numbers: dict[str, int] = {}
    for number, text, is_complete in _lines(stream):
        document = (
            _parse(text)
            if is_complete
            else _unreadable(text, f'the line has more than {LINE_LIMIT:,} bytes', LINE_LIMIT)
        )
        if type(document) is Failure:
            yield InputLine(number, None, document)
        else:
            yield _input_line(number, *document.unwrap(), line_numbers)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Yield number, text and completeness of the lines that are not blank.

    Of a line that is too long only the start is yielded.
    """
    number = 0
    while line := stream.readline(LINE_LIMIT + 1):
        number += 1
        is_complete = len(line) <= LINE_LIMIT or line.endswith(b'\n')
        rest = line
        while rest and not rest.endswith(b'\n'):
            rest = stream.readline(LINE_LIMIT)
        text = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
        if text.strip(_BLANK) or not is_complete:
            yield number, text, is_complete


def _parse(text: bytes) -> Result[tuple[object, _DuplicateKeys], UnreadableCall]:
    """Return the value in a line and the duplicate keys in it."""
    try:
        text.decode()
        if (position := _too_deep_position(text)) is not None:
            return _unreadable(text, f'it is nested more than {DEPTH_LIMIT} levels deep', position)
        return Success((msgspec.json.decode(text), _duplicate_keys(text)))
    except UnicodeDecodeError as error:
        return _unreadable(text, f'byte 0x{text[error.start]:02x} is not UTF-8', error.start)
    except msgspec.DecodeError as error:
        return _unreadable(text, *_problem_and_position(str(error), text))


def _problem_and_position(message: str, text: bytes) -> tuple[str, int]:
    """Return the problem in an error message of msgspec, and the offset of the byte."""
    if message == 'Input data was truncated':
        return 'it ends too early or inside a character', len(text.rstrip(_BLANK))
    match = re.fullmatch(r'JSON is malformed: (.*) \(byte (\d+)\)', message)
    if match:
        return match[1], int(match[2])
    problem = message.partition(' - at ')[0]
    return problem[:1].lower() + problem[1:], _large_number_position(text)


def _large_number_position(text: bytes) -> int:
    """Return the offset of the number that is out of range; msgspec does not report it."""
    for match in re.finditer(rb'"(?:[^"\\]|\\.)*+"|-?\d[\d.eE+-]*', text):
        token = match[0]
        if token.startswith(b'"'):
            continue
        if isinf(float(token)) or len(token) > DIGITS_LIMIT:
            return match.start()
    return 0


def _unreadable(text: bytes, problem: str, position: int) -> Failure[UnreadableCall]:
    head = text[:_REDACTED_SIZE].decode('utf-8', 'replace').strip()
    return Failure(
        UnreadableCall(
            format='json',
            problem=problem,
            excerpt=redact(head)[:EXCERPT_LIMIT],
            position=position,
            id=_apparent_value('id', head),
            tool=_apparent_value('tool', head),
        )
    )


def _apparent_value(key: str, text: str) -> str | None:
    """Return the string that invalid JSON seems to contain for a key."""
    match = re.search(rf'"{key}"\s*:\s*"([^"\\]{{1,{ID_LIMIT}}})"', text)
    return match and match[1]


def _too_deep_position(text: bytes) -> int | None:
    """Return the offset of the bracket that exceeds the limit, before a parser recurses."""
    if text.count(b'[') + text.count(b'{') <= DEPTH_LIMIT:
        return None
    depth = 0
    for match in re.finditer(rb'"(?:[^"\\]|\\[\s\S]?)*+"?|[\[{]|[\]}]', text):
        token = match[0]
        depth += (token in b'[{') - (token in b']}')
        if depth > DEPTH_LIMIT:
            return match.start()
    return None


def _duplicate_keys(text: bytes) -> _DuplicateKeys:
    """Find the duplicate keys of objects: parsers disagree on the value that counts."""
    duplicates: list[list[str]] = []

    def collect(pairs: list[tuple[str, object]]) -> None:
        counts = Counter(key for key, _ in pairs)
        duplicates.append([key for key, count in counts.items() if count > 1])

    # Numbers are not needed and would cost time. The outermost object comes last.
    json.loads(text, object_pairs_hook=collect, parse_int=str, parse_float=str)
    return _DuplicateKeys(
        keys=sorted({key for keys in duplicates for key in keys}),
        has_id=bool(duplicates) and 'id' in duplicates[-1],
    )


def _input_line(
    number: int, value: object, duplicates: _DuplicateKeys, line_numbers: dict[str, int]
) -> InputLine:
    """Return the line with its call or its problems, and register its id.

    Args:
        number: The number of the line.
        value: The value in the line.
        duplicates: The duplicate keys in the line.
        line_numbers: The line number of each id so far.
    """
    try:
        fields = msgspec.convert(value, dict[str, object])
    except msgspec.ValidationError:
        problem = Problem('', f'must be an object, not {describe_value(value)}')
        return InputLine(number, None, Failure(SchemaViolations((problem,))))
    field = None if duplicates.has_id else fields.get('id')
    valid_id = field if isinstance(field, str) and 1 <= len(field) <= ID_LIMIT else None
    call_id = valid_id or f'line-{number}'
    problems = [
        *(
            Problem('', f'has the key {shorten(key, 80)!r} twice in one object')
            for key in duplicates.keys
        ),
        *_id_problems(fields, call_id, line_numbers),
        *_shape_problems(fields),
    ]
    if valid_id is not None or not problems:
        line_numbers.setdefault(call_id, number)
    if problems:
        return InputLine(number, valid_id, Failure(SchemaViolations(tuple(problems))))
    call = msgspec.convert({'id': call_id, 'line': number, 'arguments': {}, **fields}, ToolCall)
    return InputLine(number, call_id, Success(call))


def _id_problems(
    fields: Mapping[str, object], call_id: str, line_numbers: Mapping[str, int]
) -> Iterator[Problem]:
    value = fields.get('id', call_id)
    if not isinstance(value, str):
        reason = f'must be a string of 1 to {ID_LIMIT} characters, not {describe_value(value)}'
        yield Problem('/id', reason)
    elif value != call_id:
        yield Problem('/id', f'must have 1 to {ID_LIMIT} characters, not {len(value):,}')
    elif call_id in line_numbers:
        yield Problem('/id', f'must be unique: line {line_numbers[call_id]} uses {call_id!r}')


def _shape_problems(fields: Mapping[str, object]) -> Iterator[Problem]:
    if 'tool' not in fields:
        yield Problem('/tool', 'is missing')
    elif not isinstance(fields['tool'], str):
        yield Problem('/tool', f'must be a string, not {describe_value(fields["tool"])}')
    if not isinstance(arguments := fields.get('arguments', {}), dict):
        yield Problem('/arguments', f'must be an object, not {describe_value(arguments)}')
    for key in sorted(fields.keys() - set(_KEYS)):
        yield Problem(_pointer(key), f'is not a key of a call; the keys are {", ".join(_KEYS)}')


def _pointer(key: str) -> str:
    """Return the JSON Pointer (RFC 6901) to a key, shortened."""
    return '/' + shorten(key, 80).replace('~', '~0').replace('/', '~1')
