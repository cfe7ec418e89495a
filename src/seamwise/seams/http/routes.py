"""Route of FastAPI whose handler may return a Result; `install` uses it for all routes."""

import sys
from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import isasyncgenfunction, isgeneratorfunction, signature, unwrap
from typing import Any, NamedTuple

import fastapi.routing
from fastapi.datastructures import Default, DefaultPlaceholder
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import FastAPIError
from fastapi.requests import Request
from fastapi.routing import APIRoute
from fastapi.utils import create_model_field
from starlette.responses import Response

from seamwise.causes import Raised
from seamwise.containers import RESULT_TYPES, Failure, as_result
from seamwise.errors import TaggedError
from seamwise.seams.http.answers import Answers
from seamwise.seams.http.bodies import BodyFormat, json_as_value, value_media_type
from seamwise.seams.http.dependencies import (
    Overrides,
    Resolver,
    has_generators,
    resolve_dependencies,
)
from seamwise.seams.http.endpoints import CompleteResponse, Endpoint, call_finished
from seamwise.seams.http.exchange import Exchange, current_exchange, exchange_of
from seamwise.seams.http.fastapi_route import STATUSES_WITHOUT_BODY, remove_body
from seamwise.seams.http.fastapi_values import to_jsonable
from seamwise.seams.http.negotiation import negotiated
from seamwise.seams.http.result_types import ResultType, evaluated_signature, result_type
from seamwise.seams.http.successes import outcome_of


class ResultRoute(APIRoute):
    """Route whose handler and dependencies may return Results.

    FastAPI gets the value of a Success, so that everything that it promises for a value holds:
    response model, status, headers, cookies. The body format writes the result. A Failure ends the
    request with the answer of the adapter that was passed to `install`, or to `endpoint`.

    `install` converts the routes of an application, so this class is needed only for routers that
    an application includes after its start: `APIRouter(route_class=ResultRoute)`.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        own = Endpoint.of(endpoint)
        handler = endpoint if own is None else unwrap(endpoint)
        self.result = result_type(evaluated_signature(handler).return_annotation)
        self._own_answers = None if own is None else own.answers
        super().__init__(path, handler, **_options(options, self.result, path))
