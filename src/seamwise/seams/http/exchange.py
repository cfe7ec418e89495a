"""One request and what is known of its answer: shared by everything between the server and the handler."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias

from msgspec import Struct

from seamwise.seams.http.request_ids import request_id

# What a message of ASGI holds depends on its keys; no narrower type is true of all.
Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An application of ASGI 3."""

_KEY = 'seamwise.exchange'


class Exchange(Struct):
    """The id of a request, what it accepts, and whether its answer has one of our forms already."""

    request_id: str
    accept: str | None
    is_answered: bool = False


def exchange_of(scope: Scope) -> Exchange:
    """Give the exchange of a request; whoever asks first begins it."""
    known: Exchange | None = scope.get(_KEY)
    if known is None:
        given = accept = None
        for name, value in scope['headers']:
            if name == b'accept':
                accept = value if accept is None else b', '.join([accept, value])
            elif name == b'x-request-id':
                given = value if given is None else b', '.join([given, value])
        known = scope[_KEY] = Exchange(request_id(_text(given)), _text(accept))
    return known


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode('latin-1')


def header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str | None:
    """Give the value of a header, of several of its name all (RFC 9110, 5.3), None where there is none; `name` in lower case."""
    found = [value for one, value in headers if one.lower() == name]
    return b', '.join(found).decode('latin-1') if found else None
