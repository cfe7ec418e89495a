"""Servers of the programs, in the same process."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp


@asynccontextmanager
async def served(app: ASGIApp) -> AsyncGenerator[str]:
    """Run an application under uvicorn, with its lifespan, and yield its host and port."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None))
    running = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 -- uvicorn has no event
        await asyncio.sleep(0.01)
    try:
        yield f'127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}'
    finally:
        server.should_exit = True
        await running
