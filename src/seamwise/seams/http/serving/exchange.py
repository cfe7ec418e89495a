"""Exchange of one served request, ASGI types, and how its errors are answered."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from re import compile as pattern
from time import perf_counter
from typing import Any, NamedTuple, Never, TypeAlias, TypeVar

import msgspec
from typing_extensions import TypeIs

from seamwise._errors.causes import Raised, iter_leaves
from seamwise.seams.adapter import Adapter, check_seam, translated
from seamwise.seams.functions import check_samples
from seamwise.seams.http.bodies import Body, BodyFormat
from seamwise.seams.http.negotiation import locale_for, negotiated
from seamwise.seams.http.request_ids import request_id
from seamwise.seams.http.response import RawResponse, raw_response
from seamwise.seams.http.shape import HttpError, defect
from seamwise.seams.http.successes import Outcome
from seamwise.seams.reporting.failure_log import FailureLog
from seamwise.seams.reporting.operations import ACTIVE, Operation

# The values of an ASGI message depend on its type; no narrower type fits all of them.
Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI 3 application."""

ENDS = frozenset({'http.response.body', 'http.response.pathsend'})
"""Types of the ASGI messages that end a response, unless `more_body` is set."""

_SCOPE_KEY = 'seamwise.exchange'
_HEADERS = frozenset({b'accept', b'accept-language', b'user-agent', b'x-request-id'})
_PRODUCT = pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}(?:/[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20})?(?= |$)")
"""The first product of a `User-Agent`, with its version (RFC 9110, 10.1.5)."""


class Exchange(Operation, kw_only=True, eq=False):
    """A served request, which is one operation, and what is known of its answer."""

    accept: str | None = None
    operation: str
    """The method and the path template of the route, such as `GET /users/{uid}`.

    Without a known route it is only the method: the path would be an input of the client.
    """
    started: float | None = msgspec.field(default_factory=perf_counter)
    """Time of the start, on the clock of `time.perf_counter`; None if it is not known."""
    user_agent: str | None = None
    answers: 'Answers | None' = None
    """How errors are answered, by the route or the application; None without `install`."""
    outcome: Outcome | None = None
    """What a handler has returned in a Success, if a body format has to write it."""
    is_direct: bool = False
    """Whether the value of a Success may be answered without the framework."""
    cut_answer: HttpError | None = None
    """The answer of the error that ended a response, which must stay incomplete."""
    handled: BaseException | None = None
    """The exception that a middleware inside has handled and raised again."""
    is_disconnected: bool = False
    """Whether the client disconnected before the application sent a response."""

    @property
    def duration(self) -> float | None:
        """Seconds since the start, None if it is not known."""
        return None if self.started is None else perf_counter() - self.started


def current_exchange() -> Exchange | None:
    """Return the request that is being served, also inside of an operation of it."""
    operation = ACTIVE.get()
    # Of most requests it is the operation itself; this runs twice for each.
    if type(operation) is Exchange:
        return operation
    request = operation and operation.request
    return request if isinstance(request, Exchange) else None


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
        method: str | None = scope.get('method')
        exchange = Exchange(
            True,  # noqa: FBT003 -- positional arguments are faster
            request_id(values.get(b'x-request-id')),
            locale_for(values.get(b'accept-language')),
            method,
            accept=values.get(b'accept'),
            operation=method or 'WEBSOCKET',
            user_agent=values.get(b'user-agent'),
        )
        scope[_SCOPE_KEY] = exchange
    return exchange


def closing_headers(scope: Scope) -> list[tuple[bytes, bytes]]:
    """Return the header with which a response announces that the server closes the connection.

    A server closes after an exception, and a client without this header would lose its next
    request. HTTP/2 and later forbid the header (RFC 9113, 8.2.2).
    """
    is_first = scope['type'] == 'http' and str(scope.get('http_version', '')).startswith('1.')
    return [(b'connection', b'close')] if is_first else []


def name_operation(exchange: Exchange, scope: Scope) -> None:
    """Add the path template of the route to the operation, once a router has found one."""
    route = effective_route(scope)
    # In FastAPI, the WebSocket of an included router has its path in a route of Starlette.
    path: str | None = getattr(getattr(route, 'starlette_route', None) or route, 'path', None)
    if path and ' ' not in exchange.operation:
        exchange.operation = f'{exchange.operation} {mount_path(scope, route)}{path}'


def mount_path(scope: Scope, route: object) -> str:
    """Return the path at which the application of a route is mounted; empty if it is not.

    It is empty for a mount whose path has parameters too, because only their values are known.
    """
    root = scope.get('root_path', '')
    prefix: str = root[len(scope.get('app_root_path', root)) :]
    if not prefix:
        return ''
    names: Mapping[str, object] = getattr(route, 'param_convertors', {})
    return prefix if scope.get('path_params', {}).keys() <= names.keys() else ''


def effective_route(scope: Scope) -> object:
    """Return the route of a request; FastAPI has another object for a route of a router."""
    context: object = scope.get('fastapi', {}).get('effective_route_context')
    return scope.get('route') if context is None else context


E = TypeVar('E')

NO_ARMS: Adapter[Never, HttpError] = Adapter({})
"""Adapter that covers no error."""


class Answers(NamedTuple):
    """How the errors of an application or a handler are answered and logged."""

    adapter: Callable[[Any], HttpError]
    body: Body
    log: FailureLog

    @property
    def table(self) -> Adapter[Never, HttpError] | None:
        """The adapter, or None if it is a plain function, whose arms are unknown."""
        return self.adapter if _is_table(self.adapter) else None

    def http_error(self, error: Any) -> HttpError:
        """Return the answer for an error; raises TypeError if the adapter returns another shape."""
        return translated(error, self.adapter, HttpError)

    def failure(self, error: Any, exchange: Exchange) -> RawResponse:
        """Return the response for the error of a Failure, and log it."""
        return written(self.logged(error, exchange), self.body, exchange)

    def logged(self, error: Any, exchange: Exchange, *, sent: int | None = None) -> HttpError:
        """Return the answer for the error of a Failure, and log it.

        `sent` is the status of a response that had started before.
        """
        answer = translated(error, self.adapter, HttpError)
        self.log.failed(
            error,
            seam='http',
            operation=exchange.operation,
            request_id=exchange.request_id,
            duration=exchange.duration,
            status=answer.status,
            sent=sent,
        )
        if isinstance(self.body, BodyFormat) and self.body.is_legacy:
            name = answer.type if answer.legacy is None else answer.legacy.name
            self.log.legacy(name, _client(exchange.user_agent))
        return answer

    def in_form_of(self, installed: 'Answers | None') -> 'Answers':
        """Return these answers in the body format of the application, unless they have an own."""
        if installed is None or self.body is not negotiated:
            return self
        return self._replace(body=installed.body)

    def covers(self, error: object) -> bool:
        """Return whether the adapter has an arm for an error."""
        return self.table is not None and isinstance(error, self.table.kinds)


def _client(user_agent: str | None) -> str | None:
    product = user_agent and _PRODUCT.match(user_agent)
    return product[0] if product else None


def as_table(function: Callable[[E], HttpError]) -> Adapter[E, HttpError]:
    """Return the adapter that a function of `install` or `endpoint` is or stands for.

    Raises:
        TypeError: The function is not annotated, or it raises or returns another shape for an
            example of an error class. Or the adapter is one of another seam.
    """
    adapter = Adapter.of(function)
    check_seam(adapter, 'http')
    check_samples(adapter.arms, HttpError)
    return adapter


def _is_table(adapter: object) -> TypeIs[Adapter[Never, HttpError]]:
    return isinstance(adapter, Adapter)


def written(answer: object, body: Body, exchange: Exchange) -> RawResponse:
    """Return the response for a value or an `HttpError` in the form that the client accepts."""
    return raw_response(
        answer,
        request_id=exchange.request_id,
        body=body,
        accept=exchange.accept,
        is_localized=True,
    )


def answer_defect(
    exception: Exception, log: FailureLog, exchange: Exchange, *, has_started: bool
) -> HttpError:
    """Report an unexpected exception, and return its answer.

    Args:
        exception: The exception.
        log: Log of the defects.
        exchange: The request.
        has_started: Whether a response was started, which cannot be replaced.
    """
    report = log.defect(
        exception,
        seam='http',
        operation=exchange.operation,
        request_id=exchange.request_id,
        **({'response': 'already started, the connection is closed'} if has_started else {}),
    )
    return defect(report.ref)


def raised_error(exception: BaseException) -> object:
    """Return the error that an exception carries, None for other exceptions.

    A task group wraps the exception of its only task in a group.
    """
    leaves = [*iter_leaves(exception)]
    if len(leaves) == 1 and isinstance(leaves[0], Raised):
        return leaves[0].error
    return None
