"""Request ids: those of clients, and the header that passes one on to other services."""

import os
from os import urandom
from re import compile as pattern
from typing import Final

from seamwise.seams.reporting.request_context import current_request_id

REQUEST_ID_HEADER: Final = 'X-Request-ID'


# Harmless in a header, a log and a shell.
_SAFE_ID = pattern(r'[A-Za-z0-9._-]{1,128}').fullmatch


_BLOCK = 64
_NEW_IDS: Final[list[str]] = []
"""Ids in reserve: one call of the operating system per request would take longer."""

if hasattr(os, 'register_at_fork'):
    # A parent and its child must not use the same ids.
    os.register_at_fork(after_in_child=_NEW_IDS.clear)


def request_id(incoming: str | None) -> str:
    """Return an incoming `X-Request-ID` of 1 to 128 characters `[A-Za-z0-9._-]`, else a new id.

    >>> request_id('req-abc123'), len(request_id('a b'))
    ('req-abc123', 36)
    """
    if incoming is not None and _SAFE_ID(incoming):
        return incoming
    try:
        # Atomic, so that no other thread gets the same id.
        return _NEW_IDS.pop()
    except IndexError:
        digits = urandom(_BLOCK * 16).hex()
        _NEW_IDS.extend(f'req-{digits[start : start + 32]}' for start in range(32, len(digits), 32))
        return f'req-{digits[:32]}'


def request_id_headers() -> dict[str, str]:
    """Return the header `X-Request-ID` with the id of the request that is being served.

    A service that keeps the id logs its part of the request under the same id. Outside a request,
    the dict is empty.

    >>> request_id_headers()
    {}
    """
    id_ = current_request_id()
    return {} if id_ is None else {REQUEST_ID_HEADER: id_}
