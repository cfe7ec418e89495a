"""Decorator that turns functions returning a Result into handlers of Starlette and FastAPI."""

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from inspect import Parameter, Signature, iscoroutinefunction, signature
from typing import Any, Generic, Never, ParamSpec, TypeVar, final, overload

from seamwise.containers import Failure, Result, Success, as_result
from seamwise.seams.http.bodies import Body
from seamwise.seams.http.exchange import Exchange, exchange_of
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
        request_name = next(
            (
                parameter.name
                for parameter in handler_signature.parameters.values()
                if _is_request(parameter.annotation)
            ),
            None,
        )

        async def call_async(*args: Any, **kwargs: Any) -> Response:
            exchange = _exchange(request_name, args, kwargs)
            return self._response(await handler(*args, **kwargs), exchange)

        def call(*args: Any, **kwargs: Any) -> Response:
            exchange = _exchange(request_name, args, kwargs)
            return self._response(handler(*args, **kwargs), exchange)

        wrapper: Callable[..., Any] = call_async if _is_async(handler) else call
        update_wrapper(wrapper, handler)
        vars(wrapper)['__signature__'] = _framework_signature(handler_signature, request_name)
        return wrapper

    def _response(self, value: object, exchange: Exchange) -> Response:
        result = as_result(value)
        # An exception in here is a defect, raised before the response starts.
        content: object
        if type(result) is Failure:
            content = self._adapter(result.failure())
            if not isinstance(content, HttpError):
                raise TypeError(
                    'The adapter of an endpoint must return an HttpError, '
                    f'not {type(content).__name__}.'
                )
        elif type(result) is Success:
            content = result.unwrap()
        else:
            raise TypeError(
                f'A handler under `endpoint` must return a Result, not {type(value).__name__}.'
            )
        if isinstance(content, Response):
            content.headers.setdefault('x-request-id', exchange.request_id)
            response = content
        else:
            response = _CompleteResponse(
                raw_response(
                    content, request_id=exchange.request_id, body=self._body, accept=exchange.accept
                )
            )
        exchange.is_answered = True
        return response


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


def _exchange(name: str | None, args: tuple[object, ...], kwargs: dict[str, Any]) -> Exchange:
    """Return the exchange of the request in the arguments, without one that `endpoint` added."""
    keyword = kwargs.pop(_REQUEST_PARAMETER, None) if name is None else kwargs.get(name)
    for value in (keyword, *args):
        if isinstance(value, Request):
            return exchange_of(value.scope)
    raise TypeError('A handler under `endpoint` must be called with a Request of Starlette.')


def _is_async(handler: Callable[..., object]) -> bool:
    return iscoroutinefunction(handler) or iscoroutinefunction(getattr(handler, '__call__', None))  # noqa: B004 -- `callable` does not return the method


def _evaluated_signature(handler: Callable[..., object]) -> Signature:
    try:
        return signature(handler, eval_str=True)
    except NameError:
        # A name imported for type checkers only. FastAPI falls back in the same way.
        return signature(handler)


def _is_request(annotation: object) -> bool:
    if isinstance(annotation, str):
        return annotation.rpartition('.')[2] == Request.__name__
    return isinstance(annotation, type) and issubclass(annotation, Request)


def _framework_signature(handler_signature: Signature, request_name: str | None) -> Signature:
    """Return the signature for FastAPI: with a request, and a Response instead of the Result."""
    parameters = [*handler_signature.parameters.values()]
    if request_name is None:
        # A keyword-only parameter comes before `**kwargs`.
        index = next(
            (
                index
                for index, parameter in enumerate(parameters)
                if parameter.kind is Parameter.VAR_KEYWORD
            ),
            len(parameters),
        )
        request = Parameter(_REQUEST_PARAMETER, Parameter.KEYWORD_ONLY, annotation=Request)
        parameters.insert(index, request)
    return handler_signature.replace(parameters=parameters, return_annotation=Response)
