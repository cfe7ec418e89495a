"""Gateway under uvicorn, behind a TCP proxy that can cut its connections."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any, Self

from starlette.routing import Mount, Router
from starlette.types import Receive, Scope, Send

from seamwise import Result
from seamwise.catalog.access import AccessError
from seamwise.live import EventLog, Principal
from tests.live.gateway.running import admit, create, run_app


class LiveServer:
    """A gateway on a log.

    Attributes:
        url: The address, through the proxy.
        connected: Set after the first connection.
    """

    def __init__(self, log: EventLog, settings: dict[str, Any]) -> None:
        self.url = ''
        self.connected = asyncio.Event()
        self._log = log
        self._settings = settings
        self._app = self._create()
        self._writers: set[asyncio.StreamWriter] = set()
        self._port = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    async def restart(self) -> None:
        """Ask the gateway to end, and start another one."""
        signal.raise_signal(signal.SIGTERM)
        self._app = self._create()
        # The gateway is notified in the next round of the event loop.
        await asyncio.sleep(0.05)

    def cut(self) -> None:
        """Cut all TCP connections."""
        for writer in [*self._writers]:
            writer.transport.abort()

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[Self]:
        """Run the server and the proxy."""
        # The handler of a server: without one, the signal ends the process.
        before = signal.signal(signal.SIGTERM, _ignore)
        async with run_app(self) as address:
            self._port = address.port
            proxy = await asyncio.start_server(self._forward, '127.0.0.1', 0)
            self.url = f'http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}/live'
            try:
                yield self
            finally:
                proxy.close()
                self.cut()
                signal.signal(signal.SIGTERM, before)

    def _create(self) -> Router:
        app = create(self._log, authorize=self._authorize, **self._settings)
        return Router(routes=[Mount('/live', app)])

    def _authorize(self, connection: object) -> Result[Principal, AccessError]:
        self.connected.set()
        return admit(connection)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream, target = await asyncio.open_connection('127.0.0.1', self._port)
        self._writers |= {writer, target}
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_pipe(reader, target))
                group.create_task(_pipe(upstream, writer))
        finally:
            self._writers -= {writer, target}


def _ignore(_: int, __: object) -> None:
    pass


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    writer.transport.abort()


@asynccontextmanager
async def live_server(log: EventLog, **settings: Any) -> AsyncGenerator[LiveServer]:
    """Run a gateway on a log."""
    async with LiveServer(log, settings).run() as server:
        yield server
