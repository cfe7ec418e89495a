"""Results as complete responses, for any web framework."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from logging import Logger
from typing import Protocol, TypeVar

from seamwise._results.containers import RESULT_TYPES, Failure, Result, expect_result
from seamwise.seams.http.bodies import Body, check_body
from seamwise.seams.http.negotiation import locale_for, negotiated
from seamwise.seams.http.request_ids import request_id as safe_request_id
from seamwise.seams.http.response import HttpResponse
from seamwise.seams.http.serving.exchange import (
    Answers,
    Exchange,
    current_exchange,
    written,
)
from seamwise.seams.http.shape import HttpError
from seamwise.seams.http.successes import NoContent, outcome_of
from seamwise.seams.reporting.failure_log import FailureLog, failure_log
from seamwise.seams.reporting.operations import active
from seamwise.seams.reporting.request_context import current_request_id

E = TypeVar('E')


class Headers(Protocol):
    """The headers of a request in any framework; a name may occur more than once."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Return the names and values."""
        ...


def to_response(
    result: Result[object, E],
    adapter: Callable[[E], HttpError],
    *,
    headers: Headers,
    operation: str,
    body: Body = negotiated,
    log: Logger | FailureLog | None = None,
) -> HttpResponse:
    """Return the response for a result, and log a failure.

    The value of a success is sent with status 200, or with that of `Created`, `Accepted` and
    `NoContent`. The request id is that of the request which `SafeWsgi` or `SafeErrors` serves, else
    that of the client, else a new one.

    >>> from seamwise import Success
    >>> from seamwise.seams.http.tables import STORAGE
    >>> headers = {'X-Request-ID': 'r-1'}
    >>> response = to_response(Success('pong'), STORAGE, headers=headers, operation='GET /ping')
    >>> response.status, response.headers
    (200, {'content-type': 'application/json', 'x-request-id': 'r-1'})

    Args:
        result: The result of the handler.
        adapter: Function from the errors of the result to an `HttpError`.
        headers: Headers of the request. `Accept`, `Accept-Language`, `User-Agent` and
            `X-Request-ID` are read.
        operation: Method and route without ids, for the log: `GET /users/{id}`. The method also
            decides whether a retry is safe.
        body: Body format; by default it follows `Accept`.
        log: Logger or `FailureLog` of the failures; by default the logger `seamwise`.

    Raises:
        TypeError: `result` is no result, its value is one, or the adapter returns no `HttpError`.
    """
    check_body(body)
    result = expect_result(result, 'to_response')
    exchange = _exchange(headers, operation)
    is_served = current_request_id() is not None
    with nullcontext() if is_served else active(exchange):
        if type(result) is Failure:
            answers = Answers(adapter, body, failure_log(log))
            return answers.failure(result.failure(), exchange).decoded()
        return _succeeded(result.unwrap(), exchange, body)


def _exchange(headers: Headers, operation: str) -> Exchange:
    values: dict[str, str] = {}
    for key, value in headers.items():
        name = key.lower()
        # Several values are one list (RFC 9110, 5.3).
        values[name] = f'{values[name]}, {value}' if name in values else value
    served = current_exchange()
    return Exchange(
        has_end=True,
        request_id=current_request_id() or safe_request_id(values.get('x-request-id')),
        locale=locale_for(values.get('accept-language')),
        method=operation.partition(' ')[0],
        accept=values.get('accept'),
        operation=operation,
        # The start of the request is not known without the middleware.
        started=served.started if served else None,
        user_agent=values.get('user-agent'),
    )


def _succeeded(value: object, exchange: Exchange, body: Body) -> HttpResponse:
    outcome = outcome_of(value)
    if type(outcome.value) in RESULT_TYPES:
        raise TypeError(
            'to_response takes a result whose value is no result; pass the inner result.'
        )
    response = written(outcome.value, body, exchange).decoded()
    headers = {**response.headers, **outcome.headers}
    if outcome.status == NoContent.status:
        del headers['content-type']
        return HttpResponse(NoContent.status, headers, b'')
    return HttpResponse(outcome.status or response.status, headers, response.body)
