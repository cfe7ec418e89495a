"""TCP proxy in front of several servers, which can cut its connections."""

import asyncio
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Self

from tests.live.gateway.running import Address


class Proxy:
    """A proxy that connects each client to one of the servers, by chance.

    Attributes:
        address: The address of the proxy.
        cuts: The number of connections that were cut.
    """

    def __init__(self, servers: Sequence[Address], chance: random.Random) -> None:
        self.address = Address(0)
        self.cuts = 0
        self._servers = servers
        self._chance = chance
        self._pairs: list[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = []

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[Self]:
        """Listen while the block runs."""
        listener = await asyncio.start_server(self._forward, '127.0.0.1', 0, backlog=1000)
        self.address = Address(listener.sockets[0].getsockname()[1])
        try:
            yield self
        finally:
            listener.close()
            self.cut(len(self._pairs))

    def cut(self, count: int) -> None:
        """Cut some connections, by chance."""
        for pair in self._chance.sample(self._pairs, min(count, len(self._pairs))):
            self.cuts += 1
            for writer in pair:
                writer.transport.abort()

    async def cut_for(self, seconds: float, *, interval: float, share: float) -> None:
        """Cut a share of the connections after each interval; durations are in seconds."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while loop.time() < end:
            await asyncio.sleep(interval)
            expected = len(self._pairs) * share
            self.cut(int(expected) + (self._chance.random() < expected % 1))

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server = self._chance.choice(self._servers)
        try:
            upstream, target = await asyncio.open_connection('127.0.0.1', server.port)
        except OSError:
            writer.transport.abort()
            return
        pair = (writer, target)
        self._pairs.append(pair)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_pipe(reader, target))
                group.create_task(_pipe(upstream, writer))
        finally:
            self._pairs.remove(pair)


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    writer.transport.abort()
