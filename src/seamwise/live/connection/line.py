"""WebSocket of a client, over the package `websockets`."""

from asyncio import timeout
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from ssl import SSLContext
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct
from typing_extensions import override
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as connect_websocket
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.secrets import Secret
from seamwise.live.connection.losses import ABNORMAL, Closed
from seamwise.live.connection.tracker import MAX_RETRY_AFTER
from seamwise.live.wire import INVALID_DATA
from seamwise.policies.hints import from_headers

OPEN_TIMEOUT: Final = 10.0
"""The maximum time for the TCP connection, TLS and the handshake, in seconds."""

_CLOSE_TIMEOUT: Final = 1.0
_MAX_REASON: Final = 200
_PORTS: Final = {'ws': 80, 'wss': 443}


class LineSettings(Struct, frozen=True):
    """Settings of the WebSocket.

    Attributes:
        url: The address, with a query.
        token: The token for the header `Authorization`.
        ssl: Settings of TLS; None for those of Python.
        max_message: The maximum length of a frame, in bytes.
    """

    url: str
    token: Secret[str] | None
    ssl: SSLContext | None
    max_message: int


class Line:
    """An open WebSocket. Its methods return a failure when it is lost, and raise nothing."""

    def __init__(self, websocket: ClientConnection) -> None:
        self._websocket = websocket

    async def receive(self, *, silence: float) -> Result[str | bytes, Closed]:
        """Wait for a frame.

        Args:
            silence: The time without a frame after which the connection is lost, in seconds.
        """
        try:
            async with timeout(silence):
                return Success(await self._websocket.recv())
        except TimeoutError as error:
            self.abort()
            return Failure(Closed(ABNORMAL, f'no data for {silence:g} s', cause=error))
        except ConnectionClosed as error:
            return Failure(_closed(error))

    async def send(self, frame: str, *, silence: float) -> Result[None, Closed]:
        """Send a frame, and wait until there is room for the next one."""
        try:
            async with timeout(silence):
                await self._websocket.send(frame)
        except TimeoutError as error:
            self.abort()
            return Failure(Closed(ABNORMAL, f'no room to send for {silence:g} s', cause=error))
        except ConnectionClosed as error:
            return Failure(_closed(error))
        return Success(None)

    async def close(self, code: int = 1000) -> None:
        """Close the WebSocket, and free the socket in any case."""
        try:
            await self._websocket.close(code)
        finally:
            self.abort()

    async def refuse_data(self) -> None:
        """Close the WebSocket because its frames are damaged."""
        await self.close(INVALID_DATA)

    def abort(self) -> None:
        """Free the socket without a close frame."""
        self._websocket.transport.abort()


async def open_line(
    settings: LineSettings, *, attempt: int, silence: float, now: float
) -> Result[Line, Closed]:
    """Open a WebSocket.

    Redirects are followed, without the token to another origin, and never from TLS to plain text.
    Proxies come from the environment (`https_proxy`, `no_proxy`).

    Args:
        settings: The address and its settings.
        attempt: The number of the attempt. The gateway compares it with those of the same client.
        silence: The maximum time of the attempt, in seconds, if it is less than 10 s.
        now: The Unix time, for a date in a header.
    """
    headers: dict[str, str] = {}
    if settings.token is not None:
        headers['Authorization'] = f'Bearer {settings.token.reveal()}'
    connector = partial(
        _Connector,
        f'{settings.url}&attempt={attempt}',
        additional_headers=headers,
        open_timeout=min(OPEN_TIMEOUT, silence),
        close_timeout=_CLOSE_TIMEOUT,
        # The gateway sends heartbeats; a silent line is detected by `receive`.
        ping_interval=None,
        max_size=settings.max_message,
    )
    try:
        if settings.ssl is None:
            return Success(Line(await connector()))
        return Success(Line(await connector(ssl=settings.ssl)))
    except InvalidStatus as error:
        return Failure(_refused(error, now))
    except (OSError, EOFError, WebSocketException) as error:
        reason = str(error) or type(error).__name__
        return Failure(Closed(ABNORMAL, reason[:_MAX_REASON], cause=error))


class _Connector(connect_websocket):
    """Connector that keeps the token from other origins, as not every `websockets` does."""

    @override
    def process_redirect(self, exc: Exception) -> Exception | str:
        before = self.uri
        try:
            target = super().process_redirect(exc)
        except (ValueError, WebSocketException):
            return exc
        if isinstance(target, str) and _origin(target) != _origin(before):
            self.additional_headers = None
        return target


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _refused(error: InvalidStatus, now: float) -> Closed:
    status = error.response.status_code
    headers: Mapping[str, str] = dict(error.response.headers.raw_items())
    retry_after = from_headers(headers, now=datetime.fromtimestamp(now, UTC))
    try:
        phrase = f' {HTTPStatus(status).phrase}'
    except ValueError:
        phrase = ''
    return Closed(
        ABNORMAL,
        f'HTTP {status}{phrase}',
        status=status,
        retry_after=None if retry_after is None else min(retry_after, MAX_RETRY_AFTER),
        cause=error,
    )


def _closed(error: ConnectionClosed) -> Closed:
    # Without a close frame of the server, the one that the client sent says why it closed.
    close = error.rcvd or error.sent
    if close is None:
        reason = str(error.__cause__ or '') or 'no close frame'
        return Closed(ABNORMAL, reason[:_MAX_REASON], cause=error)
    return Closed(close.code, close.reason, cause=error)
