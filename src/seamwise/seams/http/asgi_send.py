"""ASGI `send` wrapper that adds the request id and converts error responses of frameworks."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Protocol, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from seamwise.seams.http.exchange import Message, Scope, Send, exchange_of, header
from seamwise.seams.http.framework import answered_by_framework
from seamwise.seams.http.negotiation import negotiated
from seamwise.seams.http.response import raw_response
from seamwise.seams.http.shape import HttpError

_FRAMEWORK_CONTENT_TYPES = {'', 'text/plain', 'application/json'}
_BODY_HEADERS = {b'content-type', b'content-length', b'content-encoding', b'transfer-encoding'}


class _BufferedResponse(Struct):
    """The start message of a response, and the part of its body received so far."""

    start: Message
    body: bytearray

    @property
    def status(self) -> int:
        """The HTTP status code."""
        status: int = self.start['status']
        return status


class Sender:
    """Replacement for the `send` of one request.

    An error response that may come from the framework (404, 405, 413, a validation error) is
    buffered until its body is complete, then sent in the form that the client accepts. Other
    responses are forwarded unchanged, apart from the `x-request-id` header.
    """

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._root_path = scope.get('root_path')
        self._exchange = exchange_of(scope)
        self._send = send
        self._buffered: _BufferedResponse | None = None
        self.has_started = False
        """Whether the start of a response was sent."""
        self.disconnect_error: OSError | None = None
        """The error with which the server reported that the client is disconnected."""

    async def __call__(self, message: Message) -> None:
        """Forward or buffer an ASGI message."""
        if message['type'] == 'http.response.start':
            if self._may_be_framework_error(message):
                self._buffered = _BufferedResponse(message, bytearray())
            else:
                await self._start(message)
        elif self._buffered is None:
            await self._forward(message)
        elif message['type'] == 'http.response.body':
            self._buffered.body += message.get('body', b'')
            is_complete = not message.get('more_body')
            # Keep a 500: a framework may send it first, and raise its cause afterwards.
            if is_complete and self._buffered.status != HTTPStatus.INTERNAL_SERVER_ERROR:
                await self.flush()
        else:
            # An extension such as `http.response.pathsend`: not an error page of a framework.
            await self._start_buffered()
            await self._forward(message)

    def _may_be_framework_error(self, start: Message) -> bool:
        status, headers = start['status'], start.get('headers', ())
        if self._exchange.is_answered or status < HTTPStatus.BAD_REQUEST:
            return False
        # Frameworks declare the length of their error pages. Without it, this is a stream.
        if header(headers, b'content-length') is None:
            return False
        if status == HTTPStatus.INTERNAL_SERVER_ERROR:
            return True
        content_type = header(headers, b'content-type') or ''
        media_type = content_type.partition(';')[0].strip().lower()
        is_encoded = header(headers, b'content-encoding') is not None
        return media_type in _FRAMEWORK_CONTENT_TYPES and not is_encoded

    async def flush(self) -> None:
        """Send the buffered response; convert it if a framework made it.

        A 500 of a framework stays in the buffer, until `send_error` replaces it.
        """
        if self._buffered is None:
            return
        error = self._framework_error()
        if error is None:
            body = await self._start_buffered()
            await self._forward({'type': 'http.response.body', 'body': body})
        elif error.status != HTTPStatus.INTERNAL_SERVER_ERROR:
            await self.send_error(error)

    def _framework_error(self) -> HttpError | None:
        """Return the error in the buffered response, or None if the application wrote it."""
        if self._buffered is None:
            return None
        headers = {
            name.decode('latin-1').lower(): value.decode('latin-1')
            for name, value in self._buffered.start.get('headers', ())
        }
        body = bytes(self._buffered.body)
        error = answered_by_framework(self._buffered.status, headers, body)
        if error is None or error.status != HTTPStatus.METHOD_NOT_ALLOWED:
            return error
        return self._with_allow_header(error, headers.get('allow', ''))

    def _with_allow_header(self, error: HttpError, allow: str) -> HttpError:
        """Return a 405 error with the methods of all routes of the path, added to `allow`."""
        methods = {method for item in allow.split(',') if (method := item.strip())}
        # A mounted application has a different path: the outer routes do not apply to it.
        if self._scope.get('root_path') == self._root_path:
            methods |= _allowed_methods(self._scope)
        return replace(error, headers={**error.headers, 'Allow': ', '.join(sorted(methods))})

    @property
    def unexplained_message(self) -> str | None:
        """The message of a buffered 500 response; None if no such response is buffered."""
        error = self._framework_error()
        return None if error is None else error.message

    async def _start_buffered(self) -> bytes:
        """Start to send the buffered response, and return its body."""
        if self._buffered is None:
            return b''
        buffered, self._buffered = self._buffered, None
        await self._start(buffered.start)
        return bytes(buffered.body)

    async def send_error(self, error: HttpError) -> None:
        """Send an error response in the form that the client accepts.

        The response replaces a buffered one, and keeps its headers (e.g. those of CORS), except
        those that describe the old body.
        """
        old_headers = self._buffered.start.get('headers', ()) if self._buffered else ()
        self._buffered = None
        response = raw_response(
            error,
            request_id=self._exchange.request_id,
            body=negotiated,
            accept=self._exchange.accept,
        )
        replaced = {*_BODY_HEADERS, *(name for name, _ in response.headers)}
        headers = [
            *((name, value) for name, value in old_headers if name.lower() not in replaced),
            *response.headers,
            (b'content-length', b'%d' % len(response.body)),
        ]
        await self._start(
            {'type': 'http.response.start', 'status': response.status, 'headers': headers}
        )
        await self._forward({'type': 'http.response.body', 'body': response.body})

    async def _start(self, start: Message) -> None:
        """Send the start of a response, with the request id."""
        headers = list(start.get('headers', ()))
        if not any(name.lower() == b'x-request-id' for name, _ in headers):
            headers.append((b'x-request-id', self._exchange.request_id.encode('latin-1')))
        self.has_started = True
        await self._forward({**start, 'headers': headers})

    async def _forward(self, message: Message) -> None:
        try:
            await self._send(message)
        except OSError as error:
            # ASGI HTTP spec 2.4: `send` raises OSError after the client has disconnected.
            self.disconnect_error = error
            raise


@runtime_checkable
class _Route(Protocol):
    """The attributes of a route of Starlette or FastAPI; a mount lacks `methods`."""

    methods: Iterable[str] | None

    def matches(self, scope: Scope, /) -> tuple[object, Scope]: ...


def _allowed_methods(scope: Scope) -> set[str]:
    """Return the methods of all routes for the path of a request (RFC 9110, 10.2.1).

    The `Allow` header of Starlette names only those of the first route. Without a known router,
    the set is empty.
    """
    routes: Iterable[object] = getattr(scope.get('router'), 'routes', ())
    return {
        method
        for route in routes
        if isinstance(route, _Route) and _matches_path(route, scope)
        for method in route.methods or ()
    }


def _matches_path(route: _Route, scope: Scope) -> bool:
    # Starlette's Match: 0 is none, 1 is partial (another method), 2 is full.
    match, _ = route.matches(dict(scope))
    return bool(getattr(match, 'value', 0))
