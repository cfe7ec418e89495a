"""Strict reader for calls in JSON Lines, in bounded memory.

An invalid line becomes a typed failure, and reading continues with the next line.
"""

import re
from collections.abc import Iterator, Mapping
from heapq import nsmallest
from typing import BinaryIO, NamedTuple

import msgspec

from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.strict_json import decode_json, duplicate_keys, has_duplicate_keys
from seamwise._text.json_pointer import json_pointer
from seamwise._text.shortening import shorten
from seamwise._text.values import describe_value
from seamwise.catalog.parsing import SchemaViolations, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.redaction import redact
from seamwise.toolhost.calls import InputLine, ToolCall

LINE_LIMIT = 16 * 1024 * 1024
"""In bytes: the maximum length of a line. Its values in memory can be many times as large."""

DEPTH_LIMIT = 200
"""In levels: the maximum nesting of arrays and objects."""

ID_LIMIT = 128
"""In characters: the maximum length of an id."""

MAX_PROBLEMS = 20
"""The maximum number of problems of one line that are listed; one more gives the number of others.

A line can have a million unknown keys, and each listed problem costs time at each seam.
"""

EXCERPT_LIMIT = 200
"""In characters: the maximum length of an excerpt in an error."""

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
    document = decode_json(text, depth_limit=DEPTH_LIMIT)
    if type(document) is Failure:
        error = document.failure()
        return _unreadable(text, error.problem, error.position)
    value = document.unwrap()
    return Success((value, _duplicate_keys(text, value)))


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


def _duplicate_keys(text: bytes, value: object) -> _DuplicateKeys:
    """Find the duplicate keys of objects: parsers disagree on the value that counts."""
    if not has_duplicate_keys(text, value):
        return _DuplicateKeys([], has_id=False)
    duplicates = duplicate_keys(text)
    return _DuplicateKeys(
        keys=sorted({key for keys in duplicates for key in keys}), has_id='id' in duplicates[-1]
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
    unknown = fields.keys() - set(_KEYS)
    problems = [
        *(
            Problem('', f'has the key {shorten(key, 80)!r} twice in one object')
            for key in duplicates.keys[:MAX_PROBLEMS]
        ),
        *_id_problems(fields, call_id, line_numbers),
        *_shape_problems(fields),
        *(
            Problem(_pointer(key), f'is not a key of a call; the keys are {", ".join(_KEYS)}')
            for key in nsmallest(MAX_PROBLEMS, unknown)
        ),
    ]
    omitted = (
        max(len(duplicates.keys) - MAX_PROBLEMS, 0)
        + max(len(unknown) - MAX_PROBLEMS, 0)
        + max(len(problems) - MAX_PROBLEMS, 0)
    )
    if omitted:
        noun = 'problem' if omitted == 1 else 'problems'
        problems[MAX_PROBLEMS:] = [Problem('', f'has {omitted:,} more {noun}')]
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


def _pointer(key: str) -> str:
    """Return the JSON Pointer (RFC 6901) to a key, shortened."""
    return json_pointer([shorten(key, 80)])
