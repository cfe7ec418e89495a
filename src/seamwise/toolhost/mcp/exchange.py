"""HTTP client that records why a request of MCP has failed.

The transport of the official package would end the whole connection when one request fails, and
reports every HTTP status as the same error.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final

import httpx2
import msgspec
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from typing_extensions import override

from seamwise.policies.hints import from_headers
from seamwise.toolhost.mcp.transports import MAX_MESSAGE, Http

_SESSION_HEADER: Final = 'mcp-session-id'

_NOTIFICATION_TIMEOUT: Final = 5.0
"""The time to deliver a notification, in seconds. The transport sends no other message before."""


class Exchange:
    """The HTTP part of one request.

    Attributes:
        error: The exception of the network, or None.
        is_too_large: Whether the response had more than `MAX_MESSAGE` bytes.
        status: The status of the response if it is an error without a JSON-RPC error, else None.
        retry_after: The delay that this response asks for, in seconds, or None.
        is_session_lost: Whether the server does not know the session any more.
        has_ended_early: Whether the response ended without an answer.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the request before: the client can send several ones for one operation."""
        self.error: httpx2.HTTPError | None = None
        self.is_too_large = False
        self.status: int | None = None
        self.retry_after: float | None = None
        self.is_session_lost = False
        self.has_ended_early = False


CURRENT_EXCHANGE: Final[ContextVar[Exchange | None]] = ContextVar('seamwise_mcp', default=None)
"""The exchange of the request that is sent in this context."""


@asynccontextmanager
async def open_http(server: Http, seconds: float) -> AsyncGenerator[TransportStreams]:
    """Open the transport to a server.

    Args:
        server: The server.
        seconds: The maximum time to connect, and to send a request.
    """
    # Responses have the timeout of their request; a stream of events can be silent for hours.
    limits = httpx2.Timeout(seconds, read=None)
    async with (
        _RecordingClient(headers=dict(server.headers), timeout=limits) as client,
        streamable_http_client(
            server.url, http_client=client, max_sse_event_size=MAX_MESSAGE
        ) as streams,
    ):
        yield streams


class _RecordingClient(httpx2.AsyncClient):
    """HTTP client whose requests do not raise network errors, but record them."""

    @override
    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; a network error is recorded, and looks like status 503."""
        exchange = CURRENT_EXCHANGE.get() if _expects_answer(request) else None
        if exchange is None:
            exchange = Exchange()
        exchange.reset()
        if request.method != 'GET' and not _expects_answer(request):
            request.extensions['timeout'] = httpx2.Timeout(_NOTIFICATION_TIMEOUT).as_dict()
        try:
            response = await super().send(request, **options)
        except httpx2.HTTPError as error:
            exchange.error = error
            return httpx2.Response(HTTPStatus.SERVICE_UNAVAILABLE, request=request)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            is_bounded = not response.headers.get('content-type', '').startswith('text/event-s')
            response.stream = _RecordingStream(response.stream, exchange, is_bounded=is_bounded)
        if response.is_error:
            exchange.is_session_lost = (
                response.status_code == HTTPStatus.NOT_FOUND and _SESSION_HEADER in request.headers
            )
            if not await _has_rpc_error(response):
                exchange.status = response.status_code
                exchange.retry_after = from_headers(response.headers, now=datetime.now(UTC))
        return response


class _RecordingStream(httpx2.AsyncByteStream):
    """The body of a response; network errors and too many bytes are recorded."""

    def __init__(
        self, stream: httpx2.AsyncByteStream, exchange: Exchange, *, is_bounded: bool
    ) -> None:
        self._stream = stream
        self._exchange = exchange
        # The client limits each event of a stream itself.
        self._is_bounded = is_bounded

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async for chunk in self._stream:
                size += len(chunk)
                if self._is_bounded and size > MAX_MESSAGE:
                    self._exchange.is_too_large = True
                    raise httpx2.StreamError('The response is too large.')
                yield chunk
        except httpx2.HTTPError as error:
            self._exchange.error = error
            # The client handles it for each way to read a response, unlike an error of the network.
            raise httpx2.StreamError(str(error)) from error
        self._exchange.has_ended_early = not self._is_bounded

    @override
    async def aclose(self) -> None:
        await self._stream.aclose()


async def _has_rpc_error(response: httpx2.Response) -> bool:
    try:
        body = await response.aread()
        message = msgspec.json.decode(body, type=_Message)
    except (httpx2.StreamError, msgspec.MsgspecError):
        return False
    return message.error is not None


class _Message(msgspec.Struct):
    id: str | int | None = None
    method: str | None = None
    error: dict[str, object] | None = None


def _expects_answer(request: httpx2.Request) -> bool:
    """Return whether a request is one of MCP, and not a notification, an answer or the end."""
    if request.method != 'POST':
        return False
    try:
        message = msgspec.json.decode(request.content, type=_Message)
    except msgspec.MsgspecError:
        return False
    return message.id is not None and message.method is not None
