"""Streams of messages between the client of the official package and a transport."""

from collections.abc import Awaitable, Callable
from math import inf
from types import TracebackType
from typing import Any, Final, Self

import anyio
from mcp.client._transport import ReadStream, TransportStreams, WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
)

UNREADABLE_RESPONSE: Final = 'The response cannot be read.'
"""The text of the error that replaces a response which is no message of JSON-RPC."""

_PROBE: Final = 'server/discover'

Rewrite = Callable[[dict[str, Any]], dict[str, Any]]


def unreadable_response(request_id: str | int) -> SessionMessage:
    """Return the answer to a request whose response cannot be read."""
    error = ErrorData(code=PARSE_ERROR, message=UNREADABLE_RESPONSE)
    return SessionMessage(JSONRPCError(jsonrpc='2.0', id=request_id, error=error))


class ChannelState:
    """The end of a channel, and its reason.

    Attributes:
        has_ended: Whether the server can send no more messages.
        reason: Why the channel has ended, or None.
        cause: The exception that ended it, or None.
    """

    def __init__(self) -> None:
        self.has_ended = False
        self.reason: str | None = None
        self.cause: BaseException | None = None

    def end(self, reason: str | None = None, cause: BaseException | None = None) -> None:
        """Record the end; the first reason is kept."""
        self.has_ended = True
        if self.reason is None:
            self.reason, self.cause = reason, cause


class WatchedStream:
    """The messages of a server; the end of the stream is recorded.

    The client reports a closed connection with a code that a server can send too.

    Args:
        stream: The messages.
        state: Where the end is recorded.
        probe_seconds: The maximum time for the answer to the first request of the client, which
            servers of earlier revisions can ignore. The client itself waits for ten seconds.
        rewrite: Returns the result of a response as the client gets it.
    """

    def __init__(
        self,
        stream: ReadStream[SessionMessage | Exception],
        state: ChannelState,
        *,
        probe_seconds: float,
        rewrite: Rewrite,
    ) -> None:
        self._stream = stream
        self._state = state
        self._probe_seconds = probe_seconds
        self._rewrite = rewrite
        self._probe: str | int | None = None
        self._probe_end = inf
        self._waiting: anyio.CancelScope | None = None

    def expect_answer(self, message: SessionMessage) -> None:
        """Limit the time for the answer if a message of the client is the probe."""
        request = message.message
        if isinstance(request, JSONRPCRequest) and request.method == _PROBE:
            self._probe = request.id
            self._probe_end = anyio.current_time() + self._probe_seconds
            if self._waiting is not None:
                self._waiting.deadline = self._probe_end

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        return await self._next(self._stream.receive)

    async def aclose(self) -> None:
        """Close the stream."""
        self._state.end()
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self._next(self._stream.__anext__)
        except BaseException:
            self._state.end()
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _next(
        self, receive: Callable[[], Awaitable[SessionMessage | Exception]]
    ) -> SessionMessage | Exception:
        with anyio.CancelScope(deadline=self._probe_end) as self._waiting:
            item = await receive()
            return self._checked(item)
        # The time for the answer to the probe is over.
        probe, self._probe, self._probe_end = self._probe, None, inf
        error = ErrorData(code=REQUEST_TIMEOUT, message=f'{_PROBE} was not answered')
        return SessionMessage(JSONRPCError(jsonrpc='2.0', id=probe, error=error))

    def _checked(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        message = item.message if isinstance(item, SessionMessage) else None
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id == self._probe:
            self._probe, self._probe_end = None, inf
        if isinstance(message, JSONRPCResponse):
            message.result = self._rewrite(message.result)
        return item


class _Writer:
    """The messages to a server; the stream of its answers learns of the probe."""

    def __init__(self, stream: WriteStream[SessionMessage], answers: WatchedStream) -> None:
        self._stream = stream
        self._answers = answers

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        self._answers.expect_answer(item)
        await self._stream.send(item)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


def watch(
    streams: TransportStreams, state: ChannelState, *, probe_seconds: float, rewrite: Rewrite
) -> TransportStreams:
    """Return the streams of a transport, watched as `WatchedStream` says."""
    read, write = streams
    answers = WatchedStream(read, state, probe_seconds=probe_seconds, rewrite=rewrite)
    return answers, _Writer(write, answers)
