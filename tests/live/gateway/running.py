"""Gateways under uvicorn, in the event loop of the test."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import httpx
import uvicorn
from msgspec import Struct
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp
from typing_extensions import override
from websockets.asyncio.client import ClientConnection, connect

from seamwise import Result, Success
from seamwise.catalog.access import AccessError
from seamwise.live import Event, EventLog, Principal, Session, gateway

ORIGIN = 'https://example.org'


async def do_nothing(session: Session) -> None:
    """Wait until the session is ended."""
    async for _ in session.received():
        pass


async def echo(session: Session) -> None:
    """Repeat what the user says, up to `user.cancel`."""
    async for event in session.received():
        if event.event == 'user.cancel':
            return
        await session.say(Event('agent.message', event.content, event.metadata))


def admit(_: object) -> Result[Principal, AccessError]:
    """Let everybody use all sessions."""
    return Success(Principal('anybody'))


class _Server(uvicorn.Server):
    @override
    def capture_signals(self) -> nullcontext[None]:  # type: ignore[override]  # no signals here
        return nullcontext()


class Address(Struct, frozen=True):
    """The address of a server."""

    port: int

    @property
    def url(self) -> str:
        """The address of the gateway."""
        return f'http://127.0.0.1:{self.port}/live'

    def http(self, **headers: str) -> httpx.AsyncClient:
        """Return a client for the routes of the gateway."""
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=5.0)

    def socket(self, session: str, query: str = '', **arguments: Any) -> connect:
        """Return a WebSocket of a session, which is not connected yet."""
        url = f'ws://127.0.0.1:{self.port}/live/v1/sessions/{session}/ws{query}'
        return connect(url, proxy=None, **arguments)


def create(log: EventLog, **settings: Any) -> Starlette:
    """Return a gateway with defaults for the settings that a test does not need."""
    defaults: dict[str, Any] = {'open': do_nothing, 'authorize': admit, 'origins': [ORIGIN]}
    return gateway(log, **{**defaults, **settings})


@asynccontextmanager
async def run_app(app: ASGIApp, **settings: Any) -> AsyncGenerator[Address]:
    """Run an application under uvicorn."""
    defaults: dict[str, Any] = {'log_config': None, 'ws': 'websockets-sansio'}
    config = uvicorn.Config(app, port=0, lifespan='off', **{**defaults, **settings})
    server = _Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 -- uvicorn has no event
        await asyncio.sleep(0.005)
    try:
        yield Address(server.servers[0].sockets[0].getsockname()[1])
    finally:
        server.should_exit = server.force_exit = True
        await running


@asynccontextmanager
async def run(log: EventLog, **settings: Any) -> AsyncGenerator[Address]:
    """Run a gateway that is mounted at `/live`."""
    async with run_app(Starlette(routes=[Mount('/live', create(log, **settings))])) as address:
        yield address


async def eventually(condition: Callable[[], bool], *, seconds: float = 5.0) -> None:
    """Wait until a condition is true."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 -- there is no event
            await asyncio.sleep(0.005)


async def close_of(socket: ClientConnection) -> tuple[int | None, str | None]:
    """Wait for the close frame, and return its code and its reason."""
    await socket.wait_closed()
    return socket.close_code, socket.close_reason
