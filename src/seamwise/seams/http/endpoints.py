"""Handlers that return results, as handlers of Starlette and FastAPI."""

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from inspect import Parameter, Signature, iscoroutinefunction, signature
from typing import Any, Generic, Never, ParamSpec, TypeVar, final, overload

from seamwise.containers import Failure, Result, Success
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

_REQUEST = 'seamwise_request'
"""The parameter by which FastAPI hands in the request where the handler does not ask for it itself."""


class _Answer(Response):
    """A response that is whole already: Starlette would look for headers that may be missing."""

    def __init__(self, made: RawResponse) -> None:
        self.background = None
        self.status_code, self.raw_headers, self.body = made
        self.raw_headers.append((b'content-length', b'%d' % len(made.body)))


@final
class Endpoint(Generic[E_contra]):
    """Makes handlers of functions whose errors one adapter covers; `endpoint` makes it."""

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
        """Make a handler: a coroutine function of a coroutine function, a function of a function (run in the framework's threads)."""
        seen = _evaluated(handler)
        own = next(
            (one.name for one in seen.parameters.values() if _is_request(one.annotation)), None
        )

        async def answer_async(*args: Any, **kwargs: Any) -> Response:
            exchange = _exchange(own, args, kwargs)
            return self._response(await handler(*args, **kwargs), exchange)

        def answer(*args: Any, **kwargs: Any) -> Response:
            exchange = _exchange(own, args, kwargs)
            return self._response(handler(*args, **kwargs), exchange)

        chosen: Callable[..., Any] = answer_async if _is_async(handler) else answer
        update_wrapper(chosen, handler)
        vars(chosen)['__signature__'] = _as_asked(seen, own)
        return chosen

    def _response(self, result: object, exchange: Exchange) -> Response:
        # Whatever raises here is a defect, met before a byte of the answer is sent.
        shown: object
        if type(result) is Failure:
            shown = self._adapter(result.failure())
            if not isinstance(shown, HttpError):
                raise TypeError(
                    f'The adapter of an endpoint makes an HttpError of an error, not {type(shown).__name__}.'
                )
        elif type(result) is Success:
            shown = result.unwrap()
        else:
            raise TypeError(
                f'A handler under `endpoint` returns a Result, not {type(result).__name__}.'
            )
        if isinstance(shown, Response):
            shown.headers.setdefault('x-request-id', exchange.request_id)
            answer = shown
        else:
            answer = _Answer(
                raw_response(
                    shown, request_id=exchange.request_id, body=self._body, accept=exchange.accept
                )
            )
        exchange.is_answered = True
        return answer


def endpoint(adapter: Callable[[E], HttpError], *, body: Body = negotiated) -> Endpoint[E]:
    """Make a decorator for handlers of Starlette and FastAPI that return Results; an error that `adapter` lacks is a type error.

    A Success is answered with its value in the envelope, or with the response (a stream, a file) that it holds; a Failure
    with what the adapter makes of it, in the form of `body`: by default the one that the request's `Accept` asks for.
    Coroutine functions and functions will do; the framework runs the latter in its threads.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> from seamwise.seams.http.tables import STORAGE
    >>> @endpoint(STORAGE)
    ... async def show(request: Request) -> Result[str, RecordNotFound]:
    ...     return Failure(RecordNotFound('user', request.path_params['name']))
    >>> from starlette.applications import Starlette
    >>> from starlette.routing import Route
    >>> app = Starlette(routes=[Route('/users/{name}', show)])
    """
    return Endpoint(adapter, body)


def _exchange(own: str | None, args: tuple[object, ...], kwargs: dict[str, Any]) -> Exchange:
    given = kwargs.pop(_REQUEST, None) if own is None else kwargs.get(own)
    for request in (given, *args):
        if isinstance(request, Request):
            return exchange_of(request.scope)
    raise TypeError('A handler under `endpoint` is called with a request of Starlette.')


def _is_async(handler: Callable[..., object]) -> bool:
    return iscoroutinefunction(handler) or iscoroutinefunction(getattr(handler, '__call__', None))  # noqa: B004 -- it is read, not asked for


def _evaluated(handler: Callable[..., object]) -> Signature:
    try:
        return signature(handler, eval_str=True)
    except NameError:
        # A name that is there for type checkers only; FastAPI does as much.
        return signature(handler)


def _is_request(annotation: object) -> bool:
    if isinstance(annotation, str):
        return annotation.rpartition('.')[2] == Request.__name__
    return isinstance(annotation, type) and issubclass(annotation, Request)


def _as_asked(seen: Signature, own: str | None) -> Signature:
    """Give the signature that FastAPI reads: with a request, and without the Result, of which it would make a model."""
    parameters = [*seen.parameters.values()]
    if own is None:
        at = next(
            (number for number, one in enumerate(parameters) if one.kind is Parameter.VAR_KEYWORD),
            len(parameters),
        )
        parameters.insert(at, Parameter(_REQUEST, Parameter.KEYWORD_ONLY, annotation=Request))
    return seen.replace(parameters=parameters, return_annotation=Response)
