"""ASGI types, and the request id and state that all layers of one request share."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from re import compile as pattern
from typing import Any, TypeAlias
from uuid import uuid4

from msgspec import Struct

# The values of an ASGI message depend on its type; no narrower type fits all of them.
Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI 3 application."""

_SCOPE_KEY = 'seamwise.exchange'
# Harmless in a header, a log and a shell.
_SAFE_ID = pattern(r'[A-Za-z0-9._-]{1,128}').fullmatch


class Exchange(Struct):
    """The id and the `Accept` header of a request, and whether a handler has answered it."""

    request_id: str
    accept: str | None
    is_answered: bool = False
    """Whether `endpoint` has built the response: it is no error page of the framework."""


def request_id(incoming: str | None) -> str:
    """Return an incoming `X-Request-ID` of 1 to 128 characters `[A-Za-z0-9._-]`, else a new id.

    >>> request_id('req-abc123'), len(request_id('a b'))
    ('req-abc123', 36)
    """
    if incoming is not None and _SAFE_ID(incoming):
        return incoming
    return f'req-{uuid4().hex}'


def exchange_of(scope: Scope) -> Exchange:
    """Return the exchange of a request; the first call creates it."""
    exchange: Exchange | None = scope.get(_SCOPE_KEY)
    if exchange is None:
        incoming_id = accept = None
        for name, value in scope['headers']:
            if name == b'accept':
                accept = value if accept is None else b', '.join([accept, value])
            elif name == b'x-request-id':
                incoming_id = value if incoming_id is None else b', '.join([incoming_id, value])
        exchange = Exchange(request_id(_text(incoming_id)), _text(accept))
        scope[_SCOPE_KEY] = exchange
    return exchange


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode('latin-1')


def header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str | None:
    """Return the value of a header, or None without one.

    Several values are joined by commas (RFC 9110, 5.3). `name` is in lower case.
    """
    values = [value for key, value in headers if key.lower() == name]
    return b', '.join(values).decode('latin-1') if values else None
