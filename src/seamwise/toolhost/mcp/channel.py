"""Streams of messages between the client of the official package and a transport."""

from types import TracebackType
from typing import Self

from mcp.client._transport import ReadStream, TransportStreams
from mcp.shared.message import SessionMessage


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
    """

    def __init__(self, stream: ReadStream[SessionMessage | Exception], state: ChannelState) -> None:
        self._stream = stream
        self._state = state

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        return await self._stream.receive()

    async def aclose(self) -> None:
        """Close the stream."""
        self._state.end()
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self._stream.__anext__()
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


def watch(streams: TransportStreams, state: ChannelState) -> TransportStreams:
    """Return the streams of a transport, with the end recorded in `state`."""
    read, write = streams
    return WatchedStream(read, state), write
