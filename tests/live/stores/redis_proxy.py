"""TCP proxy in front of a Redis, which can lose replies and cut connections."""

import asyncio
from asyncio import StreamReader, StreamWriter, Task
from types import TracebackType
from typing import Self


class Proxy:
    """A proxy that forwards every connection until the test interferes."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._writers: set[StreamWriter] = set()
        self._tasks: set[Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0
        self.is_losing_replies = False
        self.accepted = 0

    @property
    def url(self) -> str:
        return f'redis://127.0.0.1:{self.port}/0'

    def lead_to(self, port: int) -> None:
        """Forward new connections to another server, and break the present ones."""
        self._target = port
        self.cut()

    def cut(self) -> None:
        """Break all connections, with whatever they have not delivered."""
        for writer in [*self._writers]:
            writer.transport.abort()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, '127.0.0.1', 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
            self.cut()
            await self._server.wait_closed()
        if self._tasks:
            await asyncio.wait([*self._tasks])

    def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.accepted += 1
        task = asyncio.create_task(self._forward(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _forward(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._writers.add(writer)
        try:
            target_reader, target_writer = await asyncio.open_connection('127.0.0.1', self._target)
            self._writers.add(target_writer)
            try:
                await asyncio.gather(
                    self._copy(reader, target_writer),
                    self._copy(target_reader, writer, is_reply=True),
                )
            finally:
                self._writers.discard(target_writer)
                target_writer.transport.abort()
        except OSError:
            pass
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _copy(
        self, reader: StreamReader, writer: StreamWriter, *, is_reply: bool = False
    ) -> None:
        try:
            while data := await reader.read(65536):
                if is_reply and self.is_losing_replies:
                    break
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        writer.transport.abort()
