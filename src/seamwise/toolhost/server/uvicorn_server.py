"""uvicorn for a tool processor: connections with time limits, and an end that drains."""

import logging
import signal
from asyncio import TimerHandle, Transport, create_task, wait
from collections.abc import Generator
from contextlib import contextmanager
from math import ceil
from operator import itemgetter
from re import compile as pattern
from socket import socket
from types import FrameType
from typing import Any, Final

import h11
import uvicorn
from starlette.applications import Starlette
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from seamwise._defects.entries import entry_of
from seamwise.catalog.tools import ToolError
from seamwise.toolhost.processor import Processor

HEAD_SECONDS: Final = 10.0
"""In seconds: the maximum time for the head of a request, and for the rest of a refused body."""

MAX_HEAD: Final = 16 * 2**10
"""In bytes: the maximum size of the head of a request."""

WRITE_SECONDS: Final = 30.0
"""In seconds: the maximum time without progress of a client that reads a response."""

MAX_MESSAGE: Final = 2 * 2**20
"""In bytes: the maximum size of a message on a WebSocket, above that of the page."""

WEBSOCKET_PATH: Final = pattern(r'/v1/sessions/[^/]+/ws').fullmatch
"""Matches the paths with WebSockets. Elsewhere a request to upgrade is ignored (RFC 9110, 7.8)."""

MAX_CONNECTIONS: Final = 200
"""The number of connections at which requests are answered with 503.

The connection that has waited longest for a request is closed before.
"""


class TimedProtocol(H11Protocol):
    """HTTP/1.1 connection that is closed if the client sends or reads too slowly.

    uvicorn itself waits without a limit for the head of a request and for a client that reads.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_timer: TimerHandle | None = None
        self._write_timer: TimerHandle | None = None
        self._unsent = 0

    @override
    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # narrower, as in uvicorn
        super().connection_made(transport)
        self._time_head()
        if len(self.connections) >= MAX_CONNECTIONS:
            self._close_oldest_without_request()

    @override
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._time_head()

    @override
    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._time_head()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        self._stop_write_timer()
        super().connection_lost(exc)

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self._time_write()

    @override
    def resume_writing(self) -> None:
        self._stop_write_timer()
        super().resume_writing()

    @override
    def _should_upgrade(self) -> bool:
        has_room = len(self.connections) <= MAX_CONNECTIONS
        is_websocket = WEBSOCKET_PATH(self.scope['path']) is not None
        return has_room and is_websocket and super()._should_upgrade()

    def _close_oldest_without_request(self) -> None:
        """Close the connection that has waited longest for a request, other than this one.

        Otherwise clients that send no request, and need no token, would keep all others out.
        """
        waiting = [
            (connection._head_timer.when(), connection)
            for connection in self.connections
            if isinstance(connection, TimedProtocol)
            and connection is not self
            and connection._head_timer is not None
        ]
        if waiting:
            _, oldest = min(waiting, key=itemgetter(0))
            # At once: the loop calls `connection_lost` after this request may have been read.
            self.connections.discard(oldest)
            oldest.transport.abort()

    def _time_head(self) -> None:
        """Start the timer if the server waits for a request or for the rest of a refused body.

        Further bytes do not start it again.
        """
        is_waiting = self.conn.their_state is h11.IDLE or (
            self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY
        )
        if not is_waiting or self.transport.is_closing():
            self._stop_head_timer()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _time_write(self) -> None:
        self._unsent = self.transport.get_write_buffer_size()
        self._write_timer = self.loop.call_later(WRITE_SECONDS, self._check_progress)

    def _check_progress(self) -> None:
        if self.transport.get_write_buffer_size() < self._unsent:
            self._time_write()
        else:
            self.transport.abort()

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


class Server(uvicorn.Server):
    """Server that lets running calls end when it is stopped by a signal.

    Args:
        app: The application of the processor.
        processor: The processor.
        grace: The time for running calls at the end, in seconds.

    Attributes:
        signal_number: The signal that stopped the server, or None.
    """

    def __init__(self, app: Starlette, processor: Processor[ToolError], *, grace: float) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=TimedProtocol,
                h11_max_incomplete_event_size=MAX_HEAD,
                loop='asyncio',
                ws=WebSocketsSansIOProtocol,
                ws_max_size=MAX_MESSAGE,
                lifespan='on',
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=MAX_CONNECTIONS,
                # For running calls, for cancelled ones, and for the clients that read the outcomes.
                timeout_graceful_shutdown=ceil(2 * grace + WRITE_SECONDS),
            )
        )
        self._processor = processor
        self.signal_number: int | None = None

    def run_on(self, listener: socket) -> int | None:
        """Serve until a signal arrives, and return its number."""
        logger = logging.getLogger('uvicorn.error')
        logger.addFilter(_is_unreported)
        try:
            self.run([listener])
        finally:
            logger.removeFilter(_is_unreported)
        return self.signal_number

    @override
    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        # Beside the shutdown of uvicorn, which waits for the responses: a call that does not end
        # in time has an outcome too.
        closing = create_task(self._processor.close())
        try:
            await super().shutdown(sockets)
        finally:
            if self.force_exit:
                # The running calls are cancelled now, not after the time that they would have.
                closing.cancel()
            await wait([closing])
        if self.force_exit:
            # uvicorn omits it then, and would log a traceback of the cancelled lifespan.
            await self.lifespan.shutdown()
        else:
            closing.result()

    @contextmanager
    @override
    def capture_signals(self) -> Generator[None]:
        # uvicorn would raise the signals again at the end, where they look like a kill.
        handlers = {
            number: signal.signal(number, self.handle_exit)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            if signal.getsignal(number) is not signal.SIG_IGN
        }
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    @override
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.signal_number = sig
        super().handle_exit(sig, frame)


def _is_unreported(record: logging.LogRecord) -> bool:
    """Return False for a defect, which `SafeErrors` has logged, redacted and with a reference."""
    exception = record.exc_info[1] if record.exc_info else None
    return exception is None or entry_of(exception) is None
