"""Strict decoding of JSON (RFC 8259) with a limit on nesting and the position of an error."""

import json
import re
from array import array
from collections import Counter
from itertools import accumulate
from math import isinf

import msgspec
from msgspec import Struct

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.jsonable import Json

DIGITS_LIMIT = 4300
"""The maximum number of digits of an integer, as in Python: conversion takes quadratic time."""

HALF_PAIR = 'it contains half of a surrogate pair'
"""The problem of a text with a lone surrogate, which UTF-8 cannot encode."""

_BLANK = b' \t\r\n'
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_STRING_OR_BRACKET = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
_STRING_OR_NUMBER = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|-?\d[\d.eE+-]*+', re.DOTALL)
_ESCAPE = re.compile(
    rb"""\\(?:
      u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}
    | (?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})
    | (?P<short>u(?![0-9a-fA-F]{4}))
    | . )""",
    re.VERBOSE | re.DOTALL,
)
_CUT_OFF_ESCAPE = re.compile(
    rb"""\\u(?:
      [0-9a-fA-F]{0,3}
    | [dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)? )\Z""",
    re.VERBOSE,
)
_MALFORMED = re.compile(r'JSON is malformed: (.*) \(byte (\d+)\)')
# As signed bytes: 1 for an opening bracket, -1 for a closing one.
_STEPS = bytes.maketrans(b'[{]}', b'\x01\x01\xff\xff')
_NO_BRACKETS = bytes(set(range(256)) - set(b'[{]}'))


class JsonError(Struct, frozen=True):
    """The reason why a text is not JSON.

    Attributes:
        problem: The reason, as the end of a sentence.
        position: The offset in bytes.
    """

    problem: str
    position: int


def decode_json(text: bytes, *, depth_limit: int) -> Result[Json, JsonError]:
    """Return the value of a JSON text in UTF-8, without NaN, infinity or lone surrogates.

    Integers are exact up to 4,300 digits. Duplicate keys are accepted; see `has_duplicate_keys`.

    >>> decode_json(b'{"a": [1, 0.5]}', depth_limit=2)
    Success({'a': [1, 0.5]})
    >>> decode_json(b'[[[]]]', depth_limit=2)
    Failure(JsonError(problem='it is nested more than 2 levels deep', position=2))

    Args:
        text: The text.
        depth_limit: The maximum nesting of arrays and objects.
    """
    try:
        # msgspec would report the position of invalid UTF-8 in its string, not in the text.
        text.decode()
        if (position := _excess_depth(text, depth_limit)) is None:
            value: Json = msgspec.json.decode(text)
            return Success(value)
        return Failure(JsonError(f'it is nested more than {depth_limit} levels deep', position))
    except UnicodeDecodeError as error:
        problem = f'byte 0x{text[error.start]:02x} is not UTF-8'
        return Failure(JsonError(problem, error.start))
    except msgspec.DecodeError as error:
        return Failure(_decode_error(str(error), text))
    except RecursionError:
        # The limit of the interpreter counts the frames of the caller too.
        return Failure(JsonError('it is nested too deeply for the stack of this program', 0))


def _decode_error(message: str, text: bytes) -> JsonError:
    """Return the problem in an error message of msgspec, and its position."""
    is_truncated = message == 'Input data was truncated'
    # msgspec also reports a bad escape near the end of a text as truncated.
    is_escape = 'surrogate' in message or 'unicode escape' in message
    if (is_truncated or is_escape) and (error := _escape_error(text)):
        return error
    if is_truncated:
        end = len(text.rstrip(_BLANK))
        return JsonError('it is cut off' if end else 'it is empty', end)
    match = _MALFORMED.fullmatch(message)
    if match:
        return JsonError(match[1], int(match[2]))
    problem = message.partition(' - at ')[0]
    return JsonError(problem[:1].lower() + problem[1:], _large_number_position(text))


def _escape_error(text: bytes) -> JsonError | None:
    """Return the problem of the first escape of a character that is no character."""
    for match in _ESCAPE.finditer(text):
        if match.lastgroup in {'half', 'short'}:
            if _CUT_OFF_ESCAPE.match(text, match.start()):
                return None
            is_half = match.lastgroup == 'half'
            problem = HALF_PAIR if is_half else 'invalid character in unicode escape'
            return JsonError(problem, match.start())
    return None


def _large_number_position(text: bytes) -> int:
    """Return the offset of the number that is out of range; msgspec does not report it."""
    for match in _STRING_OR_NUMBER.finditer(text):
        token = match[0]
        if not token.startswith(b'"') and (isinf(float(token)) or len(token) > DIGITS_LIMIT):
            return match.start()
    return 0


def _excess_depth(text: bytes, limit: int) -> int | None:
    """Return the offset of the first bracket deeper than the limit, before a parser recurses."""
    if text.count(b'[') + text.count(b'{') <= limit:
        return None
    steps = array('b', _STRING.sub(b'', text).translate(_STEPS, _NO_BRACKETS))
    if max(accumulate(steps), default=0) <= limit:
        return None
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        token = match[0]
        depth += (token in b'[{') - (token in b']}')
        if depth > limit:
            return match.start()
    return None


def has_duplicate_keys(text: bytes, value: object) -> bool:
    r"""Return whether an object in a JSON text has the same key twice.

    Each member of an object has a colon, and a decoded value has lost the members with equal keys.
    So the numbers of colons in the text and in the encoded value differ.

    >>> [has_duplicate_keys(text, msgspec.json.decode(text)) for text in
    ...     (b'{"a": ":", "b": "\\u003A"}', b'[{"a": 1, "\\u0061": 2}]')]
    [False, True]

    Args:
        text: The text.
        value: The value that `decode_json` returned for it.
    """
    colons = text.count(b':')
    if b'\\u003' in text:
        # Escaped backslashes first: `\\u003a` is no colon.
        colons += text.replace(b'\\\\', b'').lower().count(b'\\u003a')
    return colons != msgspec.json.encode(value).count(b':')


def duplicate_keys(text: bytes) -> list[list[str]]:
    """Return the keys that occur twice in each object of a JSON text, the outermost object last."""
    duplicates: list[list[str]] = []

    def collect(pairs: list[tuple[str, object]]) -> None:
        counts = Counter(key for key, _ in pairs)
        duplicates.append([key for key, count in counts.items() if count > 1])

    # Numbers are not needed and would cost time.
    json.loads(text, object_pairs_hook=collect, parse_int=str, parse_float=str)
    return duplicates
