"""Strict JSON parser for untrusted input, with limits on size and depth."""

from typing import Final

from seamwise._results.containers import Failure, Result
from seamwise._runtime.strict_json import decode_json
from seamwise._text.jsonable import Json
from seamwise.catalog.parsing import UnreadableCall
from seamwise.redaction import redact

SIZE_LIMIT: Final = 16 * 2**20
"""Maximum size of a body in bytes."""

DEPTH_LIMIT: Final = 128
"""Maximum depth of nesting. It is checked before parsing, which recurses."""

EXCERPT_LIMIT: Final = 200
"""Maximum length of the excerpt in an error, in characters."""

# Redaction needs more context than the excerpt shows.
_REDACTED_BYTES: Final = 4096


def parse_json(body: bytes) -> Result[Json, UnreadableCall]:
    """Return a body parsed as JSON (RFC 8259): UTF-8, without NaN, infinity or lone surrogates."""
    if len(body) > SIZE_LIMIT:
        return _unreadable(
            body, f'it has {len(body):,} bytes, more than {SIZE_LIMIT:,}', SIZE_LIMIT
        )
    document = decode_json(body, depth_limit=DEPTH_LIMIT)
    if type(document) is Failure:
        error = document.failure()
        return _unreadable(body, error.problem, error.position)
    return document


def _unreadable(body: bytes, problem: str, position: int) -> Failure[UnreadableCall]:
    beginning = redact(body[:_REDACTED_BYTES].decode('utf-8', 'replace'))
    return Failure(UnreadableCall('json', problem, beginning[:EXCERPT_LIMIT], position))


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
