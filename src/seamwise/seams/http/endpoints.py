"""Decorator that turns functions returning a Result into handlers of Starlette and FastAPI."""

from collections.abc import Callable, Coroutine, Mapping
from functools import update_wrapper
from inspect import Parameter, Signature, iscoroutine, iscoroutinefunction, signature
from typing import Any, Generic, Never, ParamSpec, TypeVar, final, overload

from typing_extensions import TypeIs

from seamwise.containers import RESULT_TYPES, Failure, Result, Success, as_result
from seamwise.seams.http.bodies import Body
from seamwise.seams.http.exchange import Exchange, Scope, exchange_of
from seamwise.seams.http.fastapi_route import (
    apply_settings,
    plain_response_class,
    route_of,
    serialized,
)
from seamwise.seams.http.negotiation import negotiated
from seamwise.seams.http.response import RawResponse, raw_response
from seamwise.seams.http.shape import HttpError

try:
    from starlette.requests import Request
    from starlette.responses import Response
except ImportError as missing:
    raise ImportError("`endpoint` needs Starlette: pip install 'seamwise[http]'") from missing

P = ParamSpec('P')
E = TypeVar('E')
E_contra = TypeVar('E_contra', contravariant=True)

_REQUEST_PARAMETER = 'seamwise_request'
"""The parameter in which FastAPI passes the request if the handler has no parameter for it."""

_RESPONSE_PARAMETER = 'seamwise_response'
"""The same for the response on which handlers and dependencies set status, headers and cookies."""


class _CompleteResponse(Response):
    """A complete response, without the search for missing headers of Starlette's initializer."""

    def __init__(self, raw: RawResponse) -> None:
        self.background = None
        self.status_code, self.raw_headers, self.body = raw
        self.raw_headers.append((b'content-length', b'%d' % len(raw.body)))


@final
class Endpoint(Generic[E_contra]):
    """Decorator for functions whose errors one adapter covers. `endpoint` returns it."""

    __slots__ = ('_adapter', '_body')

    def __init__(self, adapter: Callable[[E_contra], HttpError], body: Body) -> None:
        self._adapter = adapter
        self._body = body

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
        handler_signature = _evaluated_signature(handler)
        request_name = _parameter_name(handler_signature, Request)
        response_name = _parameter_name(handler_signature, Response)

        def injected(args: tuple[object, ...], kwargs: dict[str, Any]) -> tuple[Request, Any]:
            request = _request(_argument(request_name, _REQUEST_PARAMETER, kwargs), args)
            return request, _argument(response_name, _RESPONSE_PARAMETER, kwargs)

        async def call_async(*args: Any, **kwargs: Any) -> Response:
            request, settings = injected(args, kwargs)
            return self._response(await handler(*args, **kwargs), request, settings)

        def call(*args: Any, **kwargs: Any) -> Response:
            request, settings = injected(args, kwargs)
            return self._response(handler(*args, **kwargs), request, settings)

        wrapper: Callable[..., Any] = call_async if _is_async(handler) else call
        update_wrapper(wrapper, handler)
        additions: dict[str, type] = {}
        if request_name is None:
            additions[_REQUEST_PARAMETER] = Request
        if response_name is None:
            additions[_RESPONSE_PARAMETER] = Response
        vars(wrapper)['__signature__'] = _framework_signature(handler_signature, additions)
        return wrapper

    def _response(self, value: object, request: Request, settings: Response | None) -> Response:
        result = as_result(value)
        exchange = exchange_of(request.scope)
        # An exception in here is a defect, raised before the response starts.
        if type(result) is Failure:
            response = self._failed(result.failure(), exchange)
        elif type(result) is Success:
            response = self._succeeded(result.unwrap(), request.scope, settings)
        else:
            raise TypeError(_not_a_result(value))
        exchange.is_answered = True
        return response

    def _failed(self, error: Any, exchange: Exchange) -> Response:
        content = self._adapter(error)
        if not isinstance(content, HttpError):
            raise TypeError(
                'The adapter of an endpoint must return an HttpError, '
                f'not {type(content).__name__}.'
            )
        return self._complete(content, exchange)

    def _succeeded(self, value: object, scope: Scope, settings: Response | None) -> Response:
        exchange = exchange_of(scope)
        if type(value) in RESULT_TYPES:
            raise TypeError(
                f'A handler under `endpoint` returned Success({value!r}); return the inner result.'
            )
        if isinstance(value, Response):
            value.headers.setdefault('x-request-id', exchange.request_id)
            return value
        route = route_of(scope)
        if route is None:
            return self._complete(value, exchange)
        content = serialized(value, route)
        class_ = plain_response_class(route)
        if class_ is None:
            response = self._complete(content, exchange)
        else:
            response = class_(content)
            response.headers['x-request-id'] = exchange.request_id
        apply_settings(response, route, settings)
        return response

    def _complete(self, content: object, exchange: Exchange) -> Response:
        return _CompleteResponse(
            raw_response(
                content, request_id=exchange.request_id, body=self._body, accept=exchange.accept
            )
        )


def endpoint(adapter: Callable[[E], HttpError], *, body: Body = negotiated) -> Endpoint[E]:
    """Return a decorator for functions that return Results, sync or async, as handlers.

    The value of a Success is sent in the envelope; a response (a stream, a file) is sent as it is.
    An error that `adapter` does not cover is a type error. A sync function runs in a thread of the
    framework.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> from seamwise.seams.http.tables import STORAGE
    >>> @endpoint(STORAGE)
    ... async def show(request: Request) -> Result[str, RecordNotFound]:
    ...     return Failure(RecordNotFound('user', request.path_params['name']))
    >>> from starlette.applications import Starlette
    >>> from starlette.routing import Route
    >>> app = Starlette(routes=[Route('/users/{name}', show)])

    Args:
        adapter: Function from the errors of the handler to an `HttpError`.
        body: Body format; by default it follows the `Accept` header of the request.
    """
    return Endpoint(adapter, body)


def _argument(name: str | None, added: str, kwargs: dict[str, Any]) -> object:
    """Return the argument of the handler's own parameter, else remove and return the added one."""
    return kwargs.pop(added, None) if name is None else kwargs.get(name)


def _request(keyword: object, args: tuple[object, ...]) -> Request:
    for value in (keyword, *args):
        if _is_request(value):
            return value
    raise TypeError('A handler under `endpoint` must be called with a Request of Starlette.')


def _not_a_result(value: object) -> str:
    if iscoroutine(value):
        name = value.__qualname__
        value.close()
        return f'{name} under `endpoint` returned a coroutine; declare it with `async def`.'
    return f'A handler under `endpoint` must return a Result, not {type(value).__name__}.'


def _is_request(value: object) -> TypeIs[Request]:
    return isinstance(value, Request)


def _is_async(handler: Callable[..., object]) -> bool:
    return iscoroutinefunction(handler) or iscoroutinefunction(getattr(handler, '__call__', None))  # noqa: B004 -- `callable` does not return the method


def _evaluated_signature(handler: Callable[..., object]) -> Signature:
    try:
        return signature(handler, eval_str=True)
    except NameError:
        # A name imported for type checkers only. FastAPI falls back in the same way.
        return signature(handler)


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
