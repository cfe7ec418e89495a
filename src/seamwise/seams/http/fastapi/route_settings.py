"""Promises of a FastAPI route that a handler under `endpoint` keeps: model, class, status.

FastAPI applies them to values, but `endpoint` returns a complete response to it.
"""

import sys
from http import HTTPStatus
from typing import TYPE_CHECKING

from msgspec.structs import replace

from seamwise.seams.http.serving.exchange import Scope
from seamwise.seams.http.successes import Outcome
from seamwise.seams.rendering.errors import public_form

if TYPE_CHECKING:
    from fastapi.routing import APIRoute
    from starlette.responses import Response
    from typing_extensions import TypeIs


_STATUSES_WITHOUT_BODY = {
    HTTPStatus.NO_CONTENT,
    HTTPStatus.RESET_CONTENT,
    HTTPStatus.NOT_MODIFIED,
}
HEADERS_OF_BODY = {b'content-length', b'content-type'}


def route_of(scope: Scope) -> 'APIRoute | None':
    """Return the FastAPI route that serves a request, or None in another framework."""
    routing = sys.modules.get('fastapi.routing')
    route: APIRoute | None = scope.get('route')
    return route if routing is not None and isinstance(route, routing.APIRoute) else None


def serialized(value: object, route: 'APIRoute') -> object:
    """Return a value as the response model of a route declares it; unchanged without a model.

    Raises:
        ResponseValidationError: The value does not fit the model, as in FastAPI.
    """
    field = route.response_field
    if field is None:
        return value
    content, errors = field.validate(public_form(value), {}, loc=('response',))
    if errors:
        from fastapi.exceptions import ResponseValidationError  # noqa: PLC0415 -- FastAPI is optional

        raise ResponseValidationError(errors=errors, body=value)
    result: object = field.serialize(
        content,
        include=route.response_model_include,
        exclude=route.response_model_exclude,
        by_alias=route.response_model_by_alias,
        exclude_unset=route.response_model_exclude_unset,
        exclude_defaults=route.response_model_exclude_defaults,
        exclude_none=route.response_model_exclude_none,
    )
    return result


def plain_response_class(route: 'APIRoute') -> 'type[Response] | None':
    """Return the response class of a route if it is not JSON, such as `HTMLResponse`."""
    class_: object = route.response_class
    return class_ if _is_plain(class_) else None


def _is_plain(class_: object) -> 'TypeIs[type[Response]]':
    from starlette.responses import JSONResponse  # noqa: PLC0415 -- Starlette is optional

    # The default class is an object of FastAPI that holds a class.
    return isinstance(class_, type) and not issubclass(class_, JSONResponse)


def apply_settings(
    response: 'Response', outcome: Outcome, route: 'APIRoute | None', settings: 'Response | None'
) -> None:
    """Set the status of an outcome, a route or its injected response, and all their headers."""
    status = outcome.status or (settings.status_code if settings else None)
    if status is None and route is not None:
        status = route.status_code
    apply_outcome(response, replace(outcome, status=status))
    if settings:
        response.raw_headers.extend(settings.raw_headers)


def apply_outcome(response: 'Response', outcome: Outcome) -> None:
    """Set the status and the headers of an outcome; a status without body removes the body."""
    if outcome.status:
        response.status_code = outcome.status
    response.headers.update(outcome.headers)
    if response.status_code in _STATUSES_WITHOUT_BODY:
        response.body = b''
        # The list stays the same: `headers` of the response refers to it.
        response.raw_headers[:] = [
            item for item in response.raw_headers if item[0] not in HEADERS_OF_BODY
        ]
