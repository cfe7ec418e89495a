"""Strict JSON parser for untrusted input, with limits on size and depth."""

import re
from typing import Final

import msgspec

from seamwise._text.jsonable import Json
from seamwise.catalog.parsing import UnreadableCall
from seamwise.containers import Failure, Result, Success
from seamwise.redaction import redact

SIZE_LIMIT: Final = 16 * 2**20
"""Maximum size of a body in bytes."""

DEPTH_LIMIT: Final = 128
"""Maximum depth of nesting. It is checked before parsing, which recurses."""

EXCERPT_LIMIT: Final = 200
"""Maximum length of the excerpt in an error, in characters."""

# Redaction needs more context than the excerpt shows.
_REDACTED_BYTES: Final = 4096
_TOKEN = re.compile(rb'"(?:[^"\\]|\\[\s\S]?)*+"?|[\[{]|[\]}]')


def parse_json(body: bytes) -> Result[Json, UnreadableCall]:
    """Return a body parsed as JSON (RFC 8259): UTF-8, without NaN, infinity or lone surrogates."""
    if len(body) > SIZE_LIMIT:
        return _unreadable(
            body, f'it has {len(body):,} bytes, more than {SIZE_LIMIT:,}', SIZE_LIMIT
        )
    try:
        # msgspec would report the position of invalid UTF-8 in its string, not in the body.
        body.decode()
        if (position := _excess_depth(body)) is not None:
            return _unreadable(body, f'it is nested more than {DEPTH_LIMIT} levels deep', position)
        value: Json = msgspec.json.decode(body)
        return Success(value)
    except UnicodeDecodeError as error:
        return _unreadable(body, f'byte 0x{body[error.start]:02x} is not UTF-8', error.start)
    except msgspec.DecodeError as error:
        message = str(error).partition(' - at ')[0]
        match = re.fullmatch(r'JSON is malformed: (.*) \(byte (\d+)\)', message)
        if match:
            return _unreadable(body, match[1], int(match[2]))
        return _unreadable(body, message[:1].lower() + message[1:], len(body))


def _unreadable(body: bytes, problem: str, position: int) -> Failure[UnreadableCall]:
    beginning = redact(body[:_REDACTED_BYTES].decode('utf-8', 'replace'))
    return Failure(UnreadableCall('json', problem, beginning[:EXCERPT_LIMIT], position))


def _excess_depth(body: bytes) -> int | None:
    """Return the position of the first bracket deeper than the limit, or None."""
    if body.count(b'[') + body.count(b'{') <= DEPTH_LIMIT:
        return None
    depth = 0
    for match in _TOKEN.finditer(body):
        token = match[0]
        depth += (token in b'[{') - (token in b']}')
        if depth > DEPTH_LIMIT:
            return match.start()
    return None


def json_type(value: Json) -> str:
    """Return the JSON type of a value, with its article. The value itself may be a secret.

    >>> json_type([1]), json_type(None), json_type(True)
    ('an array', 'null', 'a boolean')
    """
    if value is None:
        return 'null'
    if isinstance(value, bool):
        return 'a boolean'
    names: dict[type, str] = {
        str: 'a string',
        int: 'a number',
        float: 'a number',
        list: 'an array',
        dict: 'an object',
    }
    return names[type(value)]
