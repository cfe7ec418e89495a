"""Additions of `install` to FastAPI: routes that answer Results, validation errors, OpenAPI."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

import fastapi.routing
from fastapi import FastAPI, WebSocket
from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from fastapi.routing import APIRoute, APIWebSocketRoute
from starlette.requests import Request
from starlette.responses import Response

from seamwise._errors.errors import TaggedError
from seamwise._errors.type_hints import struct_fields
from seamwise.seams.http.asgi.websockets import POLICY_VIOLATION
from seamwise.seams.http.fastapi.dependencies import resolve_dependencies, resolver
from seamwise.seams.http.fastapi.endpoints import written_response
from seamwise.seams.http.fastapi.result_types import result_type
from seamwise.seams.http.fastapi.routes import ResultRoute, convert
from seamwise.seams.http.fastapi.signatures import (
    evaluated_signature,
    is_async_generator,
    is_sync_generator,
)
from seamwise.seams.http.fastapi.user_functions import check_arms, mounted_applications
from seamwise.seams.http.openapi_documents.document import Operation, add_errors
from seamwise.seams.http.serving.exchange import NO_ARMS, Answers
from seamwise.seams.http.serving.framework_errors import from_validation_errors


def add_validation_handlers(app: FastAPI, answers: Answers) -> None:
    """Answer requests that are not valid, unless the application has own handlers for them."""

    async def refuse_request(request: Request, exception: RequestValidationError) -> Response:
        answer = from_validation_errors(exception.errors(), exception.body)
        return written_response(answer, answers.body, request.scope)

    async def refuse_connection(websocket: WebSocket, _: WebSocketRequestValidationError) -> None:
        # The reason of FastAPI contains the input, and may be longer than a reason can be.
        await websocket.close(POLICY_VIOLATION, 'INVALID_REQUEST')

    handlers: dict[Any, Any] = {
        RequestValidationError: refuse_request,
        WebSocketRequestValidationError: refuse_connection,
    }
    for kind, handler in handlers.items():
        current: Any = app.exception_handlers.get(kind)
        if current is None or current.__module__ == 'fastapi.exception_handlers':
            app.exception_handlers[kind] = handler


def prepare_routes(app: FastAPI, answers: Answers) -> None:
    """Convert the routes of an application and its routers, and check the arms of their errors.

    Raises:
        TypeError: The adapter does not cover an error that a handler is declared to return.
    """
    _convert_routes(app)
    for each in (app, *mounted_applications(app.routes)):
        if not isinstance(each, FastAPI):
            continue
        for route in effective_routes(each):
            if isinstance(route.original_route, APIWebSocketRoute):
                resolve_dependencies(route.dependant)
                # FastAPI drops what the handler returns; a Failure is raised instead.
                route.dependant.call = resolver(route.dependant.call)
    _check_arms(app, answers)


def check_types(app: FastAPI) -> None:
    """Check that the document of an application can describe the errors of its handlers.

    Raises:
        TypeError: The type of a field is unknown at run time.
    """
    if app.openapi_url is None:
        return
    for route in _result_routes(app):
        for kind in errors_of(route):
            struct_fields(kind)


def document_errors(app: FastAPI, answers: Answers) -> None:
    """Let the OpenAPI document of an application contain the errors of its routes."""
    generate = app.openapi
    documented: dict[str, Any] | None = None

    def openapi() -> dict[str, Any]:
        nonlocal documented
        _convert_routes(app)
        document = generate()
        # FastAPI keeps the document until a route is added.
        if document is not documented:
            _check_arms(app, answers)
            _add_errors(document, app, answers)
            documented = document
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # as the documentation of FastAPI has it


def _add_errors(document: dict[str, Any], app: FastAPI, answers: Answers) -> None:
    operations: defaultdict[int, list[Operation]] = defaultdict(list)
    adapters: dict[int, Answers] = {}
    for route in _result_routes(app):
        own = route.original_route.own_answers or answers
        adapters[id(own.adapter)] = own
        operations[id(own.adapter)] += _operations(route)
    for key, own in adapters.items():
        add_errors(document, operations[key], own.table or NO_ARMS, body=answers.body)


def _operations(route: Any) -> Iterator[Operation]:
    errors = tuple(errors_of(route))
    is_formatted = route.original_route.result is not None
    for method in route.methods or ():
        yield Operation(route.path_format, method.lower(), errors, is_formatted)


def _convert_routes(app: FastAPI) -> None:
    if app.router.route_class is APIRoute:
        app.router.route_class = ResultRoute
    _convert_all(app.router)


def _convert_all(router: fastapi.routing.APIRouter) -> None:
    has_converted = False
    for route in router.routes:
        if isinstance(route, APIRoute) and not isinstance(route, ResultRoute):
            convert(route)
            has_converted = True
        # An included router, whose routes FastAPI resolves late.
        elif (included := getattr(route, 'original_router', None)) is not None:
            _convert_all(included)
    if has_converted:
        # FastAPI resolves the routes and generates the document again.
        router._mark_routes_changed()


def effective_routes(app: FastAPI) -> Iterator[Any]:
    """Yield the routes of an application, with the prefixes and dependencies of their routers."""
    return fastapi.routing.iter_route_contexts(app.routes)


def _result_routes(app: FastAPI) -> Iterator[Any]:
    return (
        route for route in effective_routes(app) if isinstance(route.original_route, ResultRoute)
    )


def _check_arms(app: FastAPI, answers: Answers) -> None:
    for route in effective_routes(app):
        original = route.original_route
        if isinstance(original, ResultRoute):
            own = original.own_answers or answers
            place = f'{", ".join(sorted(route.methods or ()))} {route.path}'
            check_arms(errors_of(route), own, place)
            _refuse_result_items(original.endpoint, place)
        elif isinstance(original, APIWebSocketRoute):
            check_arms(errors_of(route), answers, f'WebSocket {route.path}')


def _refuse_result_items(endpoint: Callable[..., Any], place: str) -> None:
    if is_sync_generator(endpoint) or is_async_generator(endpoint):
        items = get_args(evaluated_signature(endpoint).return_annotation)
        if any(map(result_type, items)):
            raise TypeError(
                f'{place}: {endpoint.__qualname__} yields Results, and FastAPI cannot write them '
                'into a stream; yield the values, and raise errors with `or_raise`.'
            )


def errors_of(route: Any) -> Sequence[type[TaggedError]]:
    """Return the errors that a handler and its dependencies are declared to return, each once."""
    original = route.original_route
    if isinstance(original, ResultRoute):
        result = original.result
    else:
        result = result_type(evaluated_signature(original.endpoint).return_annotation)
    errors = [*(result.errors if result else ()), *_dependency_errors(route.dependant)]
    return [*dict.fromkeys(errors)]


def _dependency_errors(dependant: Any) -> Iterator[type[TaggedError]]:
    for dependency in dependant.dependencies:
        annotation = evaluated_signature(dependency.call).return_annotation
        if is_sync_generator(dependency.call) or is_async_generator(dependency.call):
            # The first argument of `Iterator`, `Generator` and the like is what a `yield` gives.
            annotation = next(iter(get_args(annotation)), None)
        result = result_type(annotation)
        yield from result.errors if result else ()
        yield from _dependency_errors(dependency)
