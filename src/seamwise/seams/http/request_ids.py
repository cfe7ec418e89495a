"""Request ids: those of clients, and the header that passes one on to other services."""

from os import urandom
from re import compile as pattern
from typing import Final

from seamwise.seams.reporting.request_context import current_request_id

REQUEST_ID_HEADER: Final = 'X-Request-ID'


# Harmless in a header, a log and a shell.
_SAFE_ID = pattern(r'[A-Za-z0-9._-]{1,128}').fullmatch


def request_id(incoming: str | None) -> str:
    """Return an incoming `X-Request-ID` of 1 to 128 characters `[A-Za-z0-9._-]`, else a new id.

    >>> request_id('req-abc123'), len(request_id('a b'))
    ('req-abc123', 36)
    """
    if incoming is not None and _SAFE_ID(incoming):
        return incoming
    return f'req-{urandom(16).hex()}'


def request_id_headers() -> dict[str, str]:
    """Return the header `X-Request-ID` with the id of the request that is being served.

    A service that keeps the id logs its part of the request under the same id. Outside a request,
    the dict is empty.

    >>> request_id_headers()
    {}
    """
    id_ = current_request_id()
    return {} if id_ is None else {REQUEST_ID_HEADER: id_}
