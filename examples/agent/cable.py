"""A cable between a client and a server, which can be cut: a TCP proxy."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Self


class Cable:
    """A TCP proxy that aborts its connections on request.

    Attributes:
        url: The address of its end for clients.
    """

    def __init__(self, port: int) -> None:
        self.url = ''
        self._port = port
        self._writers: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def plugged_in(self) -> AsyncGenerator[Self]:
        """Accept connections while the block runs."""
        async with await asyncio.start_server(self._forward, '127.0.0.1', 0) as server:
            self.url = f'http://127.0.0.1:{server.sockets[0].getsockname()[1]}'
            try:
                yield self
            finally:
                self.cut()

    def cut(self) -> None:
        """Abort all connections, without a close frame."""
        for writer in self._writers:
            writer.transport.abort()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream, target = await asyncio.open_connection('127.0.0.1', self._port)
        self._writers |= {writer, target}
        try:
            await asyncio.gather(_pipe(reader, target), _pipe(upstream, writer))
        finally:
            self._writers -= {writer, target}


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    writer.transport.abort()
