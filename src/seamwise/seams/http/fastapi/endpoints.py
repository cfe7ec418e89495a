"""Decorator that turns functions returning a Result into handlers of Starlette and FastAPI."""

import sys
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import update_wrapper
from inspect import Parameter, Signature, iscoroutine, signature
from logging import Logger
from types import FunctionType
from typing import Any, Generic, Never, ParamSpec, TypeVar, final, overload

from typing_extensions import TypeIs

from seamwise._errors.causes import Raised
from seamwise._errors.type_hints import contains_result
from seamwise._results.containers import RESULT_TYPES, Failure, Result, as_result
from seamwise._results.signatures import DECORATED, coroutine_returned, is_bare, missing_parentheses
from seamwise.seams.http.bodies import Body, check_body
from seamwise.seams.http.fastapi.route_settings import (
    apply_settings,
    plain_response_class,
    route_of,
    serialized,
)
from seamwise.seams.http.fastapi.signatures import evaluated_signature, is_async, unwrapped
from seamwise.seams.http.negotiation import negotiated
from seamwise.seams.http.response import RawResponse
from seamwise.seams.http.serving.exchange import (
    Answers,
    Exchange,
    Scope,
    as_table,
    current_exchange,
    exchange_of,
    name_operation,
    written,
)
from seamwise.seams.http.shape import HttpError
from seamwise.seams.http.successes import Outcome, outcome_of
from seamwise.seams.reporting.failure_log import FailureLog, failure_log
from seamwise.seams.reporting.operations import active

try:
    from starlette.requests import Request
    from starlette.responses import Response

    from seamwise.seams.http.fastapi.background import report_failures
except ImportError as missing:
    raise ImportError("`endpoint` needs Starlette: pip install 'seamwise[http]'") from missing

P = ParamSpec('P')
E = TypeVar('E')
E_contra = TypeVar('E_contra', contravariant=True)

_REQUEST_PARAMETER = 'seamwise_request'
"""The parameter in which FastAPI passes the request if the handler has no parameter for it."""

_RESPONSE_PARAMETER = 'seamwise_response'
"""The same for the response on which handlers and dependencies set status, headers and cookies."""

_MARK = '__seamwise_endpoint__'
"""Attribute of a handler under `endpoint`."""


class CompleteResponse(Response):
    """A complete response, without the search for missing headers of Starlette's initializer."""

    def __init__(self, raw: RawResponse) -> None:
        self.background = None
        self.status_code, self.raw_headers, self.body = raw
        # In the order of Starlette.
        self.raw_headers.insert(0, (b'content-length', b'%d' % len(raw.body)))


def written_response(content: object, body: Body, scope: Scope) -> CompleteResponse:
    """Return the response for a value or an `HttpError` to a request."""
    return CompleteResponse(written(content, body, exchange_of(scope)))


@final
class Endpoint(Generic[E_contra]):
    """Decorator for functions whose errors one adapter covers. `endpoint` returns it."""

    __slots__ = ('answers',)

    def __init__(
        self, adapter: Callable[[E_contra], HttpError], body: Body, log: FailureLog
    ) -> None:
        self.answers = Answers(adapter, body, log)

    @overload
    def __call__(
        self, handler: Callable[P, Coroutine[object, Never, Result[object, E_contra]]], /
    ) -> Callable[P, Coroutine[object, Never, Response]]: ...
    @overload
    def __call__(
        self, handler: Callable[P, Result[object, E_contra]], /
    ) -> Callable[P, Response]: ...
    def __call__(self, handler: Callable[..., Any], /) -> Callable[..., Any]:
        """Return the handler: async for an async function, else sync (run in a thread)."""
        handler_signature = evaluated_signature(handler)
        request_name = _parameter_name(handler_signature, Request)
        response_name = _parameter_name(handler_signature, Response)

        def injected(args: tuple[object, ...], kwargs: dict[str, Any]) -> tuple[Request, Any]:
            request = _request(_argument(request_name, _REQUEST_PARAMETER, kwargs), args)
            return request, _argument(response_name, _RESPONSE_PARAMETER, kwargs)

        async def call_async(*args: Any, **kwargs: Any) -> Response:
            request, settings = injected(args, kwargs)
            kwargs, failure = unwrapped(kwargs)
            exchange = _exchange(request.scope)
            with _serving(exchange):
                try:
                    value = await handler(*args, **kwargs) if failure is None else failure
                except Raised as raised:
                    value = self._failure(raised)
                return self._response(value, handler, exchange, request.scope, settings)

        def call(*args: Any, **kwargs: Any) -> Response:
            request, settings = injected(args, kwargs)
            kwargs, failure = unwrapped(kwargs)
            exchange = _exchange(request.scope)
            with _serving(exchange):
                try:
                    value = handler(*args, **kwargs) if failure is None else failure
                except Raised as raised:
                    value = self._failure(raised)
                return self._response(value, handler, exchange, request.scope, settings)

        wrapper: Callable[..., Any] = call_async if is_async(handler) else call
        update_wrapper(wrapper, handler)
        additions: dict[str, type] = {}
        if request_name is None:
            additions[_REQUEST_PARAMETER] = Request
        if response_name is None:
            additions[_RESPONSE_PARAMETER] = Response
        framework_signature = _framework_signature(handler_signature, additions)
        if 'fastapi' in sys.modules:
            from seamwise.seams.http.fastapi.dependencies import (  # noqa: PLC0415 -- FastAPI is optional
                for_endpoint,
            )

            framework_signature = for_endpoint(
                framework_signature, self.answers, wrapper.__qualname__
            )
        vars(wrapper).update({'__signature__': framework_signature, _MARK: (self, wrapper)})
        return wrapper

    @staticmethod
    def of(handler: Callable[..., object]) -> 'Endpoint[Any] | None':
        """Return the decorator that was applied to a handler last, or None."""
        endpoint: Endpoint[Any] | None
        endpoint, wrapper = getattr(handler, _MARK, (None, None))
        # A decorator on top of it has copied the attribute (`functools.wraps`).
        return endpoint if wrapper is handler else None

    # seamwise: allow[SW106] `Raised` does not say which error it carries
    def _failure(self, raised: Raised) -> Failure[object]:
        """Return the failure of a covered error; raise an exception with another error again."""
        if self.answers.covers(raised.error):
            return Failure(raised.error)
        raise raised

    def _response(
        self,
        value: object,
        handler: Callable[..., object],
        exchange: Exchange,
        scope: Scope,
        settings: Response | None,
    ) -> Response:
        # An exception in here is a defect, raised before the response starts.
        result = as_result(value)
        if result is None:
            raise TypeError(not_a_result(value, handler))
        answers = self.answers.in_form_of(exchange.answers)
        if type(result) is Failure:
            return CompleteResponse(answers.failure(result.failure(), exchange))
        outcome = checked_outcome(result.unwrap(), handler)
        if isinstance(outcome.value, Response):
            outcome.value.headers.setdefault('x-request-id', exchange.request_id)
            report_failures(outcome.value, exchange, answers)
            return outcome.value
        return self._succeeded(outcome, answers.body, exchange, scope, settings)

    @staticmethod
    def _succeeded(
        outcome: Outcome, body: Body, exchange: Exchange, scope: Scope, settings: Response | None
    ) -> Response:
        route = route_of(scope)
        content = outcome.value if route is None else serialized(outcome.value, route)
        class_ = None if route is None else plain_response_class(route)
        if class_ is None:
            response: Response = CompleteResponse(written(content, body, exchange))
        else:
            response = class_(content)
            response.headers['x-request-id'] = exchange.request_id
        apply_settings(response, outcome, route, settings)
        return response


def endpoint(
    adapter: Callable[[E], HttpError],
    *,
    body: Body = negotiated,
    log: Logger | FailureLog | None = None,
) -> Endpoint[E]:
    """Return a decorator for functions that return Results, sync or async, as handlers.

    The value of a Success is sent in the body format; a response (a stream, a file) is sent as it
    is. An error that `adapter` does not cover is a type error. A sync function runs in a thread of
    the framework. `install` does the same for all routes of an application.

    >>> from seamwise import Failure
    >>> from seamwise.catalog.storage import RecordNotFound
    >>> from seamwise.seams.http.tables import STORAGE
    >>> @endpoint(STORAGE)
    ... async def show(request: Request) -> Result[str, RecordNotFound]:
    ...     return Failure(RecordNotFound('user', request.path_params['name']))
    >>> from starlette.applications import Starlette
    >>> from starlette.routing import Route
    >>> app = Starlette(routes=[Route('/users/{name}', show)])

    Args:
        adapter: Adapter or annotated function from the errors of the handler to an `HttpError`.
        body: Body format; by default it follows the `Accept` header of the request.
        log: Logger or `FailureLog` of the failures; by default the logger `seamwise`.

    Raises:
        TypeError: `adapter` is no function, or one without an annotation, or it raises for an
            example of an error class. Or `body` is no body format.
    """
    if not callable(adapter):
        raise TypeError(
            f'endpoint takes an adapter, such as `on(NotFound).responds(404, …)`, not {adapter!r}.'
        )
    if _is_handler(adapter):
        raise missing_parentheses(adapter, 'endpoint(adapter)')
    check_body(body)
    return Endpoint(as_table(adapter), body, failure_log(log))


def _is_handler(function: Callable[..., object]) -> bool:
    """Return whether a function is a handler, not one from an error to its answer."""
    if not isinstance(function, FunctionType):
        return isinstance(function, DECORATED)
    declared: object = None
    with suppress(NameError, ValueError):
        declared = signature(function, eval_str=True).return_annotation
    if declared is HttpError:
        return False
    return is_bare(function) or is_async(function) or contains_result(declared)


def _argument(name: str | None, added: str, kwargs: dict[str, Any]) -> object:
    """Return the argument of the handler's own parameter, else remove and return the added one."""
    return kwargs.pop(added, None) if name is None else kwargs.get(name)


def _request(keyword: object, args: tuple[object, ...]) -> Request:
    for value in (keyword, *args):
        if _is_request(value):
            return value
    raise TypeError('A handler under `endpoint` must be called with a Request of Starlette.')


def not_a_result(value: object, handler: Callable[..., object]) -> str:
    """Return the message for a handler that returned no Result."""
    name = getattr(handler, '__qualname__', type(handler).__qualname__)
    if iscoroutine(value):
        value.close()
        return coroutine_returned(name, is_async=is_async(handler))
    return f'{name} must return a Result, not {type(value).__name__}.'


def checked_outcome(value: object, handler: Callable[..., object]) -> Outcome:
    """Return the outcome of the value of a Success; raises TypeError for a result in a result."""
    outcome = outcome_of(value)
    if type(outcome.value) in RESULT_TYPES:
        name = getattr(handler, '__qualname__', type(handler).__qualname__)
        raise TypeError(f'{name} returned a result in a Success; return the inner result.')
    return outcome


def _exchange(scope: Scope) -> Exchange:
    """Return the exchange of a request, after checks of its route."""
    exchange = exchange_of(scope)
    name_operation(exchange, scope)
    if 'fastapi' in sys.modules:
        from seamwise.seams.http.fastapi.dependencies import (  # noqa: PLC0415 -- FastAPI is optional
            check_dependencies,
        )

        check_dependencies(scope)
    return exchange


def _serving(exchange: Exchange) -> AbstractContextManager[None]:
    return nullcontext() if current_exchange() is exchange else active(exchange)


def _is_request(value: object) -> TypeIs[Request]:
    return isinstance(value, Request)


def _parameter_name(handler_signature: Signature, class_: type) -> str | None:
    """Return the name of the parameter that is annotated with a class of Starlette."""
    for parameter in handler_signature.parameters.values():
        annotation = parameter.annotation
        if isinstance(annotation, str):
            is_match = annotation.rpartition('.')[2] == class_.__name__
        else:
            is_match = isinstance(annotation, type) and issubclass(annotation, class_)
        if is_match:
            return parameter.name
    return None


def _framework_signature(handler_signature: Signature, additions: Mapping[str, type]) -> Signature:
    """Return the signature for FastAPI: with additions, and a Response instead of the Result."""
    parameters = [*handler_signature.parameters.values()]
    # A keyword-only parameter comes before `**kwargs`.
    index = next(
        (
            index
            for index, parameter in enumerate(parameters)
            if parameter.kind is Parameter.VAR_KEYWORD
        ),
        len(parameters),
    )
    parameters[index:index] = [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=class_)
        for name, class_ in additions.items()
    ]
    return handler_signature.replace(parameters=parameters, return_annotation=Response)
