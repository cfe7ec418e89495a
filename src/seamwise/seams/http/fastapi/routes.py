"""Route of FastAPI whose handler and dependencies may return Results."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import aclosing
from functools import lru_cache, wraps
from http import HTTPStatus
from inspect import signature
from typing import Any, TypeAlias

import fastapi.routing
from fastapi.datastructures import Default, DefaultPlaceholder
from fastapi.exceptions import FastAPIError
from fastapi.requests import Request
from fastapi.routing import APIRoute
from fastapi.utils import create_model_field, is_body_allowed_for_status_code
from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response
from typing_extensions import override

from seamwise._errors.causes import Raised
from seamwise._results.containers import RESULT_TYPES, Failure, as_result
from seamwise.seams.http.bodies import (
    JSON,
    Body,
    BodyFormat,
    json_as_value,
    to_jsonable,
    value_media_type,
)
from seamwise.seams.http.fastapi.background import report_failures
from seamwise.seams.http.fastapi.dependencies import Overrides, has_generators, resolve_dependencies
from seamwise.seams.http.fastapi.endpoints import (
    CompleteResponse,
    Endpoint,
    checked_outcome,
    not_a_result,
)
from seamwise.seams.http.fastapi.plain_models import may_hold_errors
from seamwise.seams.http.fastapi.result_types import ResultType, result_type
from seamwise.seams.http.fastapi.route_settings import apply_outcome
from seamwise.seams.http.fastapi.signatures import (
    evaluated_signature,
    is_async,
    is_async_generator,
    is_sync_generator,
)
from seamwise.seams.http.response import REQUEST_ID, RawResponse
from seamwise.seams.http.serving.exchange import (
    Answers,
    Exchange,
    current_exchange,
    exchange_of,
    mount_path,
)
from seamwise.seams.http.successes import STATUS_VALUES, Outcome
from seamwise.seams.rendering.errors import public_form, public_in_pydantic
from seamwise.seams.rendering.values import in_utc
from seamwise.seams.reporting.operations import active

_PLAIN = Outcome(None)
"""The outcome of a value without a status or headers of its own."""

_SPECIAL = (*STATUS_VALUES, *RESULT_TYPES, Response)
_MODEL_OPTIONS = (
    'response_model_include',
    'response_model_exclude',
    'response_model_exclude_unset',
    'response_model_exclude_defaults',
    'response_model_exclude_none',
)
_TELEMETRY = 'fastapi.telemetry'
_JSON_HEADER = (b'content-type', JSON.encode())

Handler: TypeAlias = Callable[[Request], Coroutine[Any, Any, Response]]
DirectAnswer: TypeAlias = Callable[[object, Exchange], Response | None]


class ResultRoute(APIRoute):
    """Route whose handler and dependencies may return Results.

    FastAPI gets the value of a Success, so that its promises for values hold: response model,
    status, headers, cookies, OpenAPI. Then the body format writes it. A Failure ends the request
    with the answer of the adapter that was passed to `install`, or to `endpoint`.

    `install` converts all routes when an application starts. This class is needed only for the
    routers of routes that are added later: `APIRouter(route_class=ResultRoute)`.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        own = Endpoint.of(endpoint)
        handler = endpoint if own is None else endpoint.__wrapped__  # type: ignore[attr-defined]  # set by `endpoint`
        self.own_answers = None if own is None else own.answers
        self.result = result_type(evaluated_signature(handler).return_annotation)
        super().__init__(path, handler, **_options(path, options, self.result))

    @override
    def get_route_handler(self) -> Handler:
        """Return the function that answers a request; FastAPI calls it for each inclusion."""
        route = _effective_route(self)
        resolve_dependencies(route.dependant)
        owner = route.dependency_overrides_provider
        if owner is not None and not isinstance(owner, Overrides):
            route.dependency_overrides_provider = Overrides(owner)
        field = route.response_field
        is_searched = field is not None and may_hold_errors(self.response_model)
        if is_sync_generator(self.endpoint) or is_async_generator(self.endpoint):
            route.dependant.call = _public_stream(route.dependant.call)
        else:
            route.dependant.call = _finishing(
                route.dependant.call,
                is_declared=self.result is not None,
                is_raising=has_generators(route.dependant),
                form=_form_of(has_model=field is not None, is_searched=is_searched),
                direct=_by_framework if is_searched else _direct_answer(route),
            )
        if is_searched:
            route.response_field = _PublicField(field)
        try:
            handle = super().get_route_handler()
        finally:
            # Documents read the field itself.
            route.response_field = field
        return self._answering(handle, route.path_format, route.dependency_overrides_provider)

    def _answering(self, handle: Handler, path: str, owner: Any) -> Handler:
        async def answer(request: Request) -> Response:
            scope = request.scope
            exchange = exchange_of(scope)
            mount = mount_path(scope, self) if scope.get('root_path') else ''
            exchange.operation = f'{exchange.method} {mount}{path}'
            # An override may take the response, and FastAPI makes a span when it writes a value.
            exchange.is_direct = _TELEMETRY not in scope and not (
                owner and owner.dependency_overrides
            )
            answers = exchange.answers
            if answers is None or self.own_answers is not None:
                exchange.answers = answers = self._answers(answers)
            if current_exchange() is exchange:
                response = await handle(request)
            else:
                with active(exchange):
                    response = await handle(request)
            if answers is None:
                return response
            if exchange.outcome is not None:
                response = _written(response, exchange, exchange.outcome, answers.body)
                exchange.outcome = None
            if response.background is not None:
                report_failures(response, exchange, answers)
            return response

        return answer

    def _answers(self, installed: Answers | None) -> Answers | None:
        own = self.own_answers
        if own is not None:
            return own if installed is None else own.in_form_of(installed)
        # Without a result, another application that has this route too was passed to `install`.
        if installed is None and self.result is not None:
            raise RuntimeError(
                f'{self.path} is a ResultRoute, but its application has no adapter: call '
                '`seamwise.seams.http.install(app, adapter)`.'
            )
        return installed


def convert(route: APIRoute) -> None:
    """Make a route a `ResultRoute` with its settings; one of an own class keeps its methods."""
    names = signature(APIRoute.__init__).parameters.keys() - {'self', 'path', 'endpoint'}
    options = {name: getattr(route, name) for name in names if hasattr(route, name)}
    is_of_endpoint = Endpoint.of(route.endpoint) is not None and not route.response_model
    if is_of_endpoint or result_type(route.response_model) is not None:
        options['response_model'] = Default(None)
    own: Any = type(route)
    class_: Any = ResultRoute if own is APIRoute else type(own.__name__, (ResultRoute, own), {})
    route.__class__ = class_
    class_.__init__(route, route.path, route.endpoint, **options)


def _options(path: str, options: dict[str, Any], result: ResultType | None) -> dict[str, Any]:
    """Return the options of a route, with the model and the status of its Result."""
    if result is None:
        return options
    model = options.get('response_model', Default(None))
    if isinstance(model, DefaultPlaceholder):
        model = result.value if _is_model(path, result.value) else None
    status = options.get('status_code') or result.status
    return {**options, 'response_model': model, 'status_code': status}


def _is_model(path: str, type_: Any) -> bool:
    """Return whether pydantic has a schema for a type; it has none for a Struct of msgspec."""
    if type_ is None:
        return False
    try:
        create_model_field(name=f'Response_{path}', type_=type_, mode='serialization')
    except FastAPIError:
        return False
    return True


def _effective_route(route: ResultRoute) -> Any:
    """Return the state of a route in a router that is being included, or the route itself."""
    variable = getattr(fastapi.routing, '_effective_route_context_var', None)
    context = None if variable is None else variable.get()
    return route if context is None or context.original_route is not route else context


def _finishing(
    handler: Callable[..., Any],
    *,
    is_declared: bool,
    is_raising: bool,
    form: Callable[[object], object],
    direct: DirectAnswer,
) -> Callable[..., Any]:
    """Return a handler that returns the value of a Success, and the response for a Failure.

    Args:
        handler: The handler.
        is_declared: Whether it is declared to return a Result.
        is_raising: Whether a Failure is raised: a dependency has a `yield`, and can undo what it
            has done.
        form: Returns the form of the value of a Success in which FastAPI can write it.
        direct: Answers the value of a Success without FastAPI, if it can.
    """

    def finished(value: object) -> object:
        result = as_result(value)
        if result is None:
            if is_declared:
                raise TypeError(not_a_result(value, handler))
            return value if isinstance(value, Response) else form(value)
        exchange = _served()
        if type(result) is Failure:
            error = result.failure()
            if is_raising or exchange.answers is None:
                raise Raised(error)
            return CompleteResponse(exchange.answers.failure(error, exchange))
        content: Any = result.unwrap()
        outcome = _PLAIN
        # A class can be hashed, which mypy does not see.
        kind: Any = content.__class__
        if _is_special(kind):
            outcome = checked_outcome(content, handler)
            content = outcome.value
            if isinstance(content, Response):
                return content
        exchange.outcome = outcome
        response = direct(content, exchange)
        return form(content) if response is None else response

    @wraps(handler)
    async def call_async(*args: Any, **kwargs: Any) -> object:
        return finished(await handler(*args, **kwargs))

    @wraps(handler)
    def call(*args: Any, **kwargs: Any) -> object:
        return finished(handler(*args, **kwargs))

    return call_async if is_async(handler) else call


def _public_stream(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return a generator whose items have their tagged errors in the public form."""

    @wraps(handler)
    async def stream_async(*args: Any, **kwargs: Any) -> AsyncGenerator[object]:
        async with aclosing(handler(*args, **kwargs)) as items:
            async for item in items:
                yield public_form(item)

    @wraps(handler)
    def stream(*args: Any, **kwargs: Any) -> Generator[object]:
        yield from map(public_form, handler(*args, **kwargs))

    return stream_async if is_async_generator(handler) else stream


def _form_of(*, has_model: bool, is_searched: bool) -> Callable[[object], object]:
    """Return the function from the value of a Success to its form that FastAPI can write."""
    if not has_model:
        return to_jsonable
    return public_form if is_searched else _same


def _same(value: object) -> object:
    return value


def _served() -> Exchange:
    """Return the request whose route has called the running function."""
    exchange = current_exchange()
    if exchange is None:
        raise RuntimeError('The handler of a route can only run in a request.')
    return exchange


@lru_cache(maxsize=1024)
def _is_special(kind: type[Any]) -> bool:
    """Return whether the values of a class have a status of their own, or are no values."""
    return issubclass(kind, _SPECIAL)


class _PublicField:
    """Response field of FastAPI that writes tagged errors in their public form."""

    def __init__(self, field: Any) -> None:
        self._field = field

    def __getattr__(self, name: str) -> Any:
        return getattr(self._field, name)

    def serialize_json(self, value: object, **options: Any) -> bytes:
        """Return the JSON of a value."""
        with public_in_pydantic():
            content: bytes = self._field.serialize_json(value, **options)
        return content


def _direct_answer(route: Any) -> DirectAnswer:
    """Return a function that answers the value of a Success as FastAPI would, in less time.

    The function returns None for what it leaves to FastAPI: a value that does not fit the model,
    and an answer that depends on more than the value, such as an injected response.
    """
    adapter: TypeAdapter[Any] | None = getattr(route.response_field, '_type_adapter', None)
    status: int = route.status_code or HTTPStatus.OK
    by_alias: bool = route.response_model_by_alias
    if (
        adapter is None
        or any(getattr(route, name) for name in _MODEL_OPTIONS)
        or not isinstance(route.response_class, DefaultPlaceholder)
        or not is_body_allowed_for_status_code(status)
        or _takes_response(route.dependant)
    ):
        return _by_framework

    def answer(value: object, exchange: Exchange) -> Response | None:
        answers = exchange.answers
        is_plain = exchange.is_direct and exchange.outcome is _PLAIN
        if not is_plain or answers is None or not isinstance(answers.body, BodyFormat):
            return None
        try:
            value = adapter.validator.validate_python(value, from_attributes=True)
        except ValidationError:
            return None
        content = json_as_value(
            answers.body,
            adapter.serializer.to_json(value, by_alias=by_alias),
            request_id=exchange.request_id,
            now=in_utc(None),
        )
        exchange.outcome = None
        headers = [_JSON_HEADER, (REQUEST_ID, exchange.request_id.encode('latin-1'))]
        return CompleteResponse(RawResponse(status, headers, content))

    return answer


def _by_framework(_value: object, _exchange: Exchange) -> None:
    """Leave all answers to FastAPI."""


def _takes_response(dependant: Any) -> bool:
    """Return whether a handler or one of its dependencies sets headers of the response."""
    return dependant.response_param_name is not None or any(
        map(_takes_response, dependant.dependencies)
    )


def _written(response: Response, exchange: Exchange, outcome: Outcome, body: Body) -> Response:
    """Return the response that FastAPI has made for the value of a Success, in the body format."""
    if outcome.status is not None:
        apply_outcome(response, outcome)
    content: bytes | None = getattr(response, 'body', None)
    if not content or (isinstance(body, BodyFormat) and not body.has_envelope):
        return response
    if _JSON_HEADER not in response.raw_headers:
        return response
    content = json_as_value(body, bytes(content), request_id=exchange.request_id, now=in_utc(None))
    response.body = content
    for index, (name, _) in enumerate(response.raw_headers):
        if name == b'content-length':
            response.raw_headers[index] = (name, b'%d' % len(content))
        elif name == b'content-type' and not isinstance(body, BodyFormat):
            response.raw_headers[index] = (name, value_media_type(body).encode('latin-1'))
    return response
