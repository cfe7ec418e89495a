"""Complete responses: status, headers and body, independent of the server."""

from datetime import datetime
from http import HTTPStatus
from typing import NamedTuple

from msgspec import Struct

from seamwise.seams.http.bodies import Body, envelope, problem
from seamwise.seams.http.exchange import request_id as safe_request_id
from seamwise.seams.http.negotiation import body_for, negotiated
from seamwise.seams.http.shape import HttpError

_OK = HTTPStatus.OK.value
_JSON = (b'content-type', b'application/json')
_PROBLEM = (b'content-type', b'application/problem+json')
# A cache must not serve one client the format that another one accepts (RFC 9110, 12.5.5).
_VARY = (b'vary', b'Accept')
_RESERVED_HEADERS = {'content-type', 'x-request-id'}


class HttpResponse(Struct, frozen=True):
    """A complete response; header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class RawResponse(NamedTuple):
    """A complete response with headers as ASGI sends them."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def response(
    x: object,
    *,
    request_id: str | None = None,
    now: datetime | None = None,
    body: Body = envelope,
    accept: str | None = None,
) -> HttpResponse:
    """Return the response for a value (200) or an `HttpError`.

    >>> response('pong', request_id='r-1').headers
    {'content-type': 'application/json', 'x-request-id': 'r-1'}

    Args:
        x: The value or the error.
        request_id: Id of the request, for header and body. An unsafe or absent id is replaced.
        now: Time of the response, with a time zone; by default the current time.
        body: The format. `negotiated` follows `accept`.
        accept: The `Accept` header of the request.
    """
    raw = raw_response(x, request_id=safe_request_id(request_id), now=now, body=body, accept=accept)
    return HttpResponse(
        raw.status,
        {name.decode('latin-1'): value.decode('latin-1') for name, value in raw.headers},
        raw.body,
    )


def raw_response(
    x: object, *, request_id: str, now: datetime | None = None, body: Body, accept: str | None
) -> RawResponse:
    """Return the response for a value or an `HttpError`; `request_id` must be a safe one."""
    body_format = body_for(accept) if body is negotiated else body
    content = body_format(x, request_id=request_id, now=now)
    id_header = (b'x-request-id', request_id.encode('latin-1'))
    if not isinstance(x, HttpError):
        return RawResponse(_OK, [_JSON, id_header], content)
    headers: list[tuple[bytes, bytes]] = [_PROBLEM if body_format is problem else _JSON, id_header]
    if body is negotiated:
        headers.append(_VARY)
    for name, value in x.headers.items():
        if name.lower() not in _RESERVED_HEADERS:
            headers.append((name.lower().encode('latin-1'), value.encode('latin-1')))
    if x.retry_after_ms is not None and 'Retry-After' not in x.headers:
        # Whole seconds, rounded up.
        headers.append((b'retry-after', b'%d' % -(-x.retry_after_ms // 1000)))
    return RawResponse(x.status, headers, content)
