"""A whole answer: status, headers and body, for whatever server is to send it."""

from datetime import datetime
from typing import NamedTuple

from msgspec import Struct

from seamwise.seams.http.bodies import Body, envelope, problem
from seamwise.seams.http.negotiation import chosen, negotiated
from seamwise.seams.http.request_ids import request_id as checked
from seamwise.seams.http.shape import HttpError

_JSON = (b'content-type', b'application/json')
_PROBLEM = (b'content-type', b'application/problem+json')
# A cache must not give one client the form that another asked for (RFC 9110, 12.5.5).
_VARY = (b'vary', b'Accept')
_OURS = {'content-type', 'x-request-id'}


class HttpResponse(Struct, frozen=True):
    """An answer that is ready to send; header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class RawResponse(NamedTuple):
    """An answer as ASGI sends it."""

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
    """Answer with a value (200) or an `HttpError`; the request id stands in the header and in the body alike.

    `body` is the form; `negotiated` is the one that `accept`, the request's header, asks for.

    >>> response('pong', request_id='r-1').headers
    {'content-type': 'application/json', 'x-request-id': 'r-1'}
    """
    made = raw_response(x, request_id=checked(request_id), now=now, body=body, accept=accept)
    return HttpResponse(
        made.status,
        {name.decode('latin-1'): value.decode('latin-1') for name, value in made.headers},
        made.body,
    )


def raw_response(
    x: object, *, request_id: str, now: datetime | None = None, body: Body, accept: str | None
) -> RawResponse:
    """Answer as `response` does, to a request whose id is known to be harmless."""
    form = chosen(accept) if body is negotiated else body
    written = form(x, request_id=request_id, now=now)
    own_id = (b'x-request-id', request_id.encode('latin-1'))
    if not isinstance(x, HttpError):
        return RawResponse(200, [_JSON, own_id], written)
    headers: list[tuple[bytes, bytes]] = [_PROBLEM if form is problem else _JSON, own_id]
    if body is negotiated:
        headers.append(_VARY)
    for name, value in x.headers.items():
        if name.lower() not in _OURS:
            headers.append((name.lower().encode('latin-1'), value.encode('latin-1')))
    if x.retry_after_ms is not None and 'Retry-After' not in x.headers:
        headers.append((b'retry-after', b'%d' % -(-x.retry_after_ms // 1000)))
    return RawResponse(x.status, headers, written)
