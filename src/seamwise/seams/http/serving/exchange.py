"""ASGI types, and the request id and state that all layers of one request share."""

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from re import compile as pattern
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import uuid4

import msgspec
from msgspec import Struct

from seamwise.seams.http.language import locale_for
from seamwise.seams.http.successes import Outcome
from seamwise.seams.reporting.request_context import serving

if TYPE_CHECKING:
    from seamwise.seams.http.answers import Answers

# The values of an ASGI message depend on its type; no narrower type fits all of them.
Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI 3 application."""

_SCOPE_KEY = 'seamwise.exchange'
_HEADERS = frozenset({b'accept', b'accept-language', b'x-request-id'})
# Harmless in a header, a log and a shell.
_SAFE_ID = pattern(r'[A-Za-z0-9._-]{1,128}').fullmatch


class Exchange(Struct):
    """The headers of a request that answers depend on, and what is known of its answer."""

    request_id: str
    accept: str | None
    accept_language: str | None
    operation: str
    """The method and the path template of the route, such as `GET /users/{uid}`.

    Without a known route it is only the method: the path would be an input of the client.
    """
    started: float | None = msgspec.field(default_factory=perf_counter)
    """Time of the start, on the clock of `time.perf_counter`; None if it is not known."""
    answers: 'Answers | None' = None
    """How errors are answered, by the route or the application; None without `install`."""
    outcome: Outcome | None = None
    """What a handler has returned in a Success, if a body format has to write it."""

    @property
    def duration(self) -> float | None:
        """Seconds since the start, None if it is not known."""
        return None if self.started is None else perf_counter() - self.started


current_exchange: ContextVar[Exchange] = ContextVar('seamwise_exchange')
"""The exchange of the request whose handler is running."""


def request_id(incoming: str | None) -> str:
    """Return an incoming `X-Request-ID` of 1 to 128 characters `[A-Za-z0-9._-]`, else a new id.

    >>> request_id('req-abc123'), len(request_id('a b'))
    ('req-abc123', 36)
    """
    if incoming is not None and _SAFE_ID(incoming):
        return incoming
    return f'req-{uuid4().hex}'


def serving_exchange(exchange: Exchange, method: str | None = None) -> AbstractContextManager[None]:
    """Set the request id, the language and the method of a request inside a `with` block."""
    locale = locale_for(exchange.accept_language)
    return serving(exchange.request_id, locale, method=method)


def exchange_of(scope: Scope) -> Exchange:
    """Return the exchange of a request; the first call creates it."""
    exchange: Exchange | None = scope.get(_SCOPE_KEY)
    if exchange is None:
        values: dict[bytes, str] = {}
        for name, value in scope['headers']:
            if name in _HEADERS:
                text = value.decode('latin-1')
                # Several values are one list (RFC 9110, 5.3).
                values[name] = f'{values[name]}, {text}' if name in values else text
        exchange = Exchange(
            request_id(values.get(b'x-request-id')),
            values.get(b'accept'),
            values.get(b'accept-language'),
            scope.get('method', 'WEBSOCKET'),
        )
        scope[_SCOPE_KEY] = exchange
    return exchange


def name_operation(exchange: Exchange, scope: Scope) -> None:
    """Add the path template of the route to the operation, once a router has found one."""
    path: str | None = getattr(effective_route(scope), 'path', None)
    if path and ' ' not in exchange.operation:
        exchange.operation = f'{exchange.operation} {path}'


def effective_route(scope: Scope) -> object:
    """Return the route of a request; FastAPI has another object for a route of a router."""
    context: object = scope.get('fastapi', {}).get('effective_route_context')
    return scope.get('route') if context is None else context
