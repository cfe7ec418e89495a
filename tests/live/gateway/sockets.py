"""WebSockets of a client that speaks the frames of the gateway itself."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from seamwise.live import Position
from tests.live.gateway.running import Address

CONNECT = {'event': 'user.connect'}


def reconnect(position: Position) -> dict[str, object]:
    """Return the frame that asks for the events after a position."""
    metadata = {'epoch': position.epoch, 'last_seq': position.seq}
    return {'event': 'user.reconnect_with_state', 'metadata': metadata}


def acknowledge(position: Position) -> dict[str, object]:
    """Return the frame that acknowledges the events up to a position."""
    metadata = {'epoch': position.epoch, 'seq': position.seq}
    return {'event': 'user.ack', 'metadata': metadata}


def say(content: str = 'Hi') -> dict[str, object]:
    """Return the frame of a message."""
    return {'event': 'user.message', 'content': content}


class Socket:
    """An open WebSocket."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def send(self, frame: object) -> None:
        """Send a frame."""
        await self.connection.send(json.dumps(frame))

    async def next(self) -> Any:
        """Return the next frame that is no heartbeat."""
        while True:
            frame = json.loads(await self.connection.recv())
            if frame['event'] != 'system.heartbeat':
                return frame

    async def take(self, count: int) -> list[Any]:
        """Return the next frames that are no heartbeats."""
        return [await self.next() for _ in range(count)]

    async def seqs(self, count: int) -> list[int]:
        """Return the numbers of the next frames."""
        return [frame['seq'] for frame in await self.take(count)]

    async def closed(self) -> int | None:
        """Wait for the close frame, and return its code."""
        await self.connection.wait_closed()
        return self.connection.close_code

    async def rest(self) -> tuple[list[Any], int | None]:
        """Return the frames up to the close frame, and its code."""
        frames: list[Any] = []
        with suppress(ConnectionClosed):
            while True:
                frames.append(await self.next())
        return frames, await self.closed()


@asynccontextmanager
async def open_socket(
    address: Address, session: str, first: object = None, query: str = '', **arguments: Any
) -> AsyncGenerator[Socket]:
    """Connect a WebSocket, and send the first frame if there is one."""
    async with address.socket(session, query, **arguments) as connection:
        socket = Socket(connection)
        if first is not None:
            # A refusal may be earlier.
            with suppress(ConnectionClosed):
                await socket.send(first)
        yield socket
