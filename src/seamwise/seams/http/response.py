"""A whole answer: status, headers and body, for whatever server is to send it."""

from datetime import datetime
from typing import Protocol

from msgspec import Struct

from seamwise.seams.http.bodies import envelope, problem
from seamwise.seams.http.request_ids import request_id as checked
from seamwise.seams.http.shape import HttpError


class Body(Protocol):
    """Writes a value or an `HttpError`: `envelope`, `problem`, `named` or `tagged`."""

    def __call__(self, x: object, /, *, request_id: str | None, now: datetime | None = None) -> bytes:
        """Give the body of an answer to the request of this id."""
        ...


class HttpResponse(Struct, frozen=True):
    """An answer that is ready to send; header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


def response(x: object, *, request_id: str | None = None, now: datetime | None = None, body: Body = envelope) -> HttpResponse:
    """Answer with a value (200) or an `HttpError`; the request id stands in the header and in the body alike.

    >>> response('pong', request_id='r-1').headers
    {'content-type': 'application/json', 'x-request-id': 'r-1'}
    """
    given = checked(request_id)
    written = body(x, request_id=given, now=now)
    if not isinstance(x, HttpError):
        return HttpResponse(200, _headers('application/json', given), written)
    kind = 'application/problem+json' if body is problem else 'application/json'
    own = {name.lower(): value for name, value in x.headers.items()}
    return HttpResponse(x.status, {**own, **_headers(kind, given)}, written)


def _headers(content_type: str, request_id: str) -> dict[str, str]:
    return {'content-type': content_type, 'x-request-id': request_id}
