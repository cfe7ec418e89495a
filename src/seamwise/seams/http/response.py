"""Complete responses: status, headers and body, independent of the server."""

from collections.abc import Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final, NamedTuple

from msgspec import Struct

from seamwise.seams.http.bodies import Body, check_body, envelope, error_bytes, value_media_type
from seamwise.seams.http.negotiation import Negotiated
from seamwise.seams.http.request_ids import request_id as safe_request_id
from seamwise.seams.http.shape import HttpError
from seamwise.seams.rendering.values import in_utc

_OK = HTTPStatus.OK.value
_VARIES = {
    (False, False): b'',
    (False, True): b'Accept-Language',
    (True, False): b'Accept',
    (True, True): b'Accept, Accept-Language',
}
"""The request headers on which an error depends: whether it is negotiated, and localized."""

REQUEST_ID: Final = b'x-request-id'
"""Name of the last header of a complete response: a response that ends with it has its id."""

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

    def decoded(self) -> HttpResponse:
        """Return the response with headers as text."""
        headers = {name.decode('latin-1'): value.decode('latin-1') for name, value in self.headers}
        return HttpResponse(self.status, headers, self.body)


def response(
    content: object,
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
        content: The value or the error.
        request_id: Id of the request, for header and body. An unsafe or absent id is replaced.
        now: Time of the response, with a time zone; by default the current time.
        body: The format. `negotiated` follows `accept`.
        accept: The `Accept` header of the request.
    """
    check_body(body)
    id_ = safe_request_id(request_id)
    return raw_response(content, request_id=id_, now=now, body=body, accept=accept).decoded()


def raw_response(
    content: object,
    *,
    request_id: str,
    now: datetime | None = None,
    body: Body,
    accept: str | None,
    is_localized: bool = False,
) -> RawResponse:
    """Return the response for a value or an `HttpError`.

    Args:
        content: The value or the error.
        request_id: A safe request id.
        now: Time of the response; by default the current time.
        body: The format.
        accept: The `Accept` header of the request.
        is_localized: Whether the message of an error depends on the language of the client.
    """
    body_format = body.for_accept(accept) if isinstance(body, Negotiated) else body
    now = datetime.now(UTC) if now is None else in_utc(now)
    id_header = (REQUEST_ID, request_id.encode('latin-1'))
    if not isinstance(content, HttpError):
        content_type = (b'content-type', value_media_type(body_format).encode('latin-1'))
        content = body_format.value(content, request_id=request_id, now=now)
        return RawResponse(_OK, [content_type, id_header], content)
    headers = [(b'content-type', body_format.media_type.encode('latin-1'))]
    # A cache must not serve one client the form that another one accepts (RFC 9110, 12.5.5).
    varies = _VARIES[body_format is not body, is_localized]
    if content.headers:
        headers += _own_headers(content, varies)
    elif varies:
        headers.append((b'vary', varies))
    if content.retry_after_ms is not None and not _has_delay(content):
        # Whole seconds, rounded up.
        headers.append((b'retry-after', b'%d' % -(-content.retry_after_ms // 1000)))
    headers.append(id_header)
    return RawResponse(
        content.status, headers, error_bytes(body_format, content, request_id=request_id, now=now)
    )


def _own_headers(content: HttpError, varies: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the headers of an error, with all values of Vary in the first one."""
    own = [(name.lower(), value.encode('latin-1')) for name, value in content.headers.items()]
    if varies:
        yield b'vary', b', '.join([*(value for name, value in own if name == 'vary'), varies])
    for name, value in own:
        if name not in _RESERVED_HEADERS and not (varies and name == 'vary'):
            yield name.encode('latin-1'), value


def _has_delay(content: HttpError) -> bool:
    return any(name.lower() == 'retry-after' for name in content.headers)
