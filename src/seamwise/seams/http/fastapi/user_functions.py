"""Functions of users other than handlers, whose Results the frameworks would drop or refuse."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from inspect import isclass
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Host, Mount, Route, Router, WebSocketRoute, websocket_session

from seamwise._errors.causes import Raised
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, as_result
from seamwise.seams.http.fastapi.endpoints import CompleteResponse, Endpoint, checked_outcome
from seamwise.seams.http.fastapi.result_types import result_type
from seamwise.seams.http.fastapi.route_settings import apply_outcome
from seamwise.seams.http.fastapi.signatures import evaluated_signature, is_async
from seamwise.seams.http.serving.exchange import (
    Answers,
    closing_headers,
    exchange_of,
    written,
)
from seamwise.seams.reporting.operations import active

_FRAMEWORKS = frozenset({'fastapi', 'starlette', 'seamwise'})
_SESSION = websocket_session(lambda _: None).__code__  # type: ignore[arg-type, return-value]  # it is not called
_IS_RAISING = '__seamwise_is_raising__'
"""Attribute of a function that is converted already: a stack may be built more than once."""

_METHODS = frozenset(
    {'get', 'head', 'post', 'put', 'patch', 'delete', 'options'}
    | {'on_connect', 'on_receive', 'on_disconnect'}
)
"""Methods of the classes for endpoints of Starlette."""


def raising(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that raises the error of a returned Failure as `Raised`."""

    def finished(value: object) -> object:
        result = as_result(value)
        if type(result) is Failure:
            raise Raised(result.failure())
        return value

    @wraps(function)
    async def call_async(*args: Any, **kwargs: Any) -> object:
        return finished(await function(*args, **kwargs))

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> object:
        return finished(function(*args, **kwargs))

    wrapper: Callable[..., Any] = call_async if is_async(function) else call
    vars(wrapper)[_IS_RAISING] = True
    return wrapper


# Exception handlers and middleware functions


def with_answers(
    handlers: Mapping[Any, Callable[..., Any]], answers: Answers
) -> dict[Any, Callable[..., Any]]:
    """Return exception handlers whose Failures are answered by the adapter.

    Raises:
        TypeError: The adapter does not cover an error that a handler is declared to return.
    """
    return {key: _answering(handler, answers, key) for key, handler in handlers.items()}


def _answering(handler: Callable[..., Any], answers: Answers, key: object) -> Callable[..., Any]:
    module = getattr(handler, '__module__', None) or ''
    if module.partition('.')[0] in _FRAMEWORKS:
        return handler
    check_function(handler, answers, 'exception handler')
    # Starlette raises the exception again after these handlers, and the server closes.
    is_for_defects = key in {Exception, 500}

    def finished(value: object, connection: HTTPConnection) -> object:
        response = _response(value, connection, answers, handler)
        if is_for_defects and isinstance(response, Response):
            response.raw_headers += closing_headers(connection.scope)
        return response

    @wraps(handler)
    async def call_async(connection: HTTPConnection, exception: Exception) -> object:
        return finished(await handler(connection, exception), connection)

    @wraps(handler)
    def call(connection: HTTPConnection, exception: Exception) -> object:
        return finished(handler(connection, exception), connection)

    return call_async if is_async(handler) else call


def _response(
    value: object, connection: HTTPConnection, answers: Answers, function: Callable[..., Any]
) -> object:
    result = as_result(value)
    if result is None:
        return value
    if type(result) is Failure and connection.scope['type'] == 'websocket':
        raise Raised(result.failure())
    exchange = exchange_of(connection.scope)
    with active(exchange):
        if type(result) is Failure:
            return CompleteResponse(answers.failure(result.failure(), exchange))
        outcome = checked_outcome(result.unwrap(), function)
        if isinstance(outcome.value, Response):
            return outcome.value
        response = CompleteResponse(written(outcome.value, answers.body, exchange))
        apply_outcome(response, outcome)
        return response


def with_answering_functions(
    middleware: Iterable[Middleware], answers: Answers
) -> Iterator[Middleware]:
    """Yield middleware; the Failures of `@app.middleware('http')` are answered by the adapter.

    Raises:
        TypeError: The adapter does not cover an error that a function is declared to return.
    """
    for item in middleware:
        class_: Callable[..., Any] = item.cls
        dispatch: Any = item.kwargs.get('dispatch')
        if class_ is BaseHTTPMiddleware and dispatch is not None:
            converted = _answering_dispatch(dispatch, answers)
            options: dict[str, Any] = {**item.kwargs, 'dispatch': converted}
            arguments: tuple[Any, ...] = item.args
            yield Middleware(class_, *arguments, **options)
        else:
            yield item


def _answering_dispatch(dispatch: Callable[..., Any], answers: Answers) -> Callable[..., Any]:
    check_function(dispatch, answers, 'middleware')

    @wraps(dispatch)
    async def call(request: Request, call_next: Callable[..., Any]) -> object:
        try:
            value = await dispatch(request, call_next)
        except Raised as raised:
            if not answers.covers(raised.error):
                raise
            value = Failure(raised.error)
        return _response(value, request, answers, dispatch)

    return call


# Events and other routes


def convert_events(app: Starlette) -> None:
    """Let a Failure of a function under `on_event` fail the start or the end."""
    for name in ('on_startup', 'on_shutdown'):
        functions: list[Callable[..., Any]] = getattr(app.router, name, [])
        functions[:] = [
            function if hasattr(function, _IS_RAISING) else raising(function)
            for function in functions
        ]


def convert_sockets(routes: Iterable[object]) -> None:
    """Let a Failure of a WebSocket handler of Starlette close the connection.

    Raises:
        TypeError: A handler is declared to return a Result, and Starlette would not see it.
    """
    for route in routes:
        if isinstance(route, (Mount, Host)) and isinstance(route.app, (Router, Starlette)):
            convert_sockets(route.app.routes)
        elif type(route) is WebSocketRoute:
            if getattr(route.app, '__code__', None) is _SESSION:
                if not hasattr(route.app, _IS_RAISING):
                    route.app = session = websocket_session(raising(route.endpoint))
                    vars(session)[_IS_RAISING] = True
            else:
                _refuse_results(route, 'raise the error with `or_raise`')
        elif type(route) is Route and Endpoint.of(route.endpoint) is None:
            _refuse_results(route, 'decorate it with `endpoint`')


def mounted_applications(routes: Iterable[object]) -> Iterator[Starlette]:
    """Yield the applications that routes mount, and those that they mount in turn."""
    for route in routes:
        if isinstance(route, (Mount, Host)) and isinstance(route.app, (Router, Starlette)):
            if isinstance(route.app, Starlette):
                yield route.app
            yield from mounted_applications(route.app.routes)


def _refuse_results(route: Route | WebSocketRoute, advice: str) -> None:
    function = route.endpoint
    functions: Iterable[tuple[str, Any]] = [('', function)]
    if isclass(function):
        functions = [
            (f'.{name}', item)
            for name in dir(function)
            if name in _METHODS and callable(item := getattr(function, name))
        ]
    for name, item in functions:
        if result_type(evaluated_signature(item).return_annotation) is not None:
            raise TypeError(
                f'{route.path}: {route.name}{name} returns a Result, and Starlette does not see '
                f'it; {advice}.'
            )


def check_function(function: Callable[..., Any], answers: Answers, kind: str) -> None:
    """Raise a TypeError if the adapter lacks an arm for the errors of a declared Result."""
    result = result_type(evaluated_signature(function).return_annotation)
    if result is not None:
        name = getattr(function, '__qualname__', type(function).__qualname__)
        check_arms(result.errors, answers, f'{kind} {name}')


def check_arms(errors: Iterable[type[TaggedError]], answers: Answers, place: str) -> None:
    """Raise a TypeError that names a place whose errors the adapter does not cover."""
    table = answers.table
    missing = [] if table is None else [e for e in errors if not issubclass(e, table.kinds)]
    if missing:
        names = ', '.join(error.__name__ for error in missing)
        raise TypeError(
            f'{place}: the adapter has no arm for {names}. '
            f'Add `on({missing[0].__name__}).responds(…)` to it.'
        )
