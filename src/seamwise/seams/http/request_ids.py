"""Request ids: what comes in is kept where it is harmless in a header, a log and a shell."""

from re import compile as pattern
from uuid import uuid4

_HARMLESS = pattern(r'[A-Za-z0-9._-]{1,128}').fullmatch


def request_id(given: str | None) -> str:
    """Keep an incoming `X-Request-ID` of 1 to 128 of `[A-Za-z0-9._-]`, else make a new one.

    >>> request_id('req-abc123'), len(request_id('a b'))
    ('req-abc123', 36)
    """
    if given is not None and _HARMLESS(given):
        return given
    return f'req-{uuid4().hex}'
