"""JSON from a stranger: read to the letter, refused before it costs much."""

import re
from typing import Final

import msgspec

from seamwise._text.jsonable import Json
from seamwise.catalog.parsing import UnreadableCall
from seamwise.containers import Failure, Result, Success
from seamwise.redaction import redact

SIZE_LIMIT: Final = 16 * 2**20
"""A body of more bytes is refused unread."""

DEPTH_LIMIT: Final = 128
"""A body nested deeper is refused, before any parser has to go down there."""

EXCERPT_LIMIT: Final = 200
_REDACTED: Final = 4096
_TOKEN = re.compile(rb'"(?:[^"\\]|\\[\s\S]?)*+"?|[\[{]|[\]}]')


def read(body: bytes) -> Result[Json, UnreadableCall]:
    """Read a whole body as JSON (RFC 8259): UTF-8, no NaN, no lone surrogate, no number without end."""
    if len(body) > SIZE_LIMIT:
        return _unreadable(
            body, f'it has {len(body):,} bytes, more than {SIZE_LIMIT:,}', SIZE_LIMIT
        )
    try:
        body.decode()
        if (place := _too_deep(body)) is not None:
            return _unreadable(body, f'it is nested more than {DEPTH_LIMIT} levels deep', place)
        value: Json = msgspec.json.decode(body)
        return Success(value)
    except UnicodeDecodeError as raised:
        return _unreadable(body, f'byte 0x{body[raised.start]:02x} is not UTF-8', raised.start)
    except msgspec.DecodeError as raised:
        said = str(raised).partition(' - at ')[0]
        found = re.fullmatch(r'JSON is malformed: (.*) \(byte (\d+)\)', said)
        problem, position = (
            (found[1], int(found[2])) if found else (said[:1].lower() + said[1:], len(body))
        )
        return _unreadable(body, problem, position)


def _unreadable(body: bytes, problem: str, position: int) -> Failure[UnreadableCall]:
    head = redact(body[:_REDACTED].decode('utf-8', 'replace'))
    return Failure(UnreadableCall('json', problem, head[:EXCERPT_LIMIT], position))


def _too_deep(body: bytes) -> int | None:
    """Find the bracket that opens one level too many."""
    if body.count(b'[') + body.count(b'{') <= DEPTH_LIMIT:
        return None
    depth = 0
    for one in _TOKEN.finditer(body):
        mark = one[0]
        depth += (mark in b'[{') - (mark in b']}')
        if depth > DEPTH_LIMIT:
            return one.start()
    return None


def kind_of(value: Json) -> str:
    """Say what JSON calls a value, and not the value itself: it may be a secret.

    >>> kind_of([1]), kind_of(None), kind_of(True)
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
