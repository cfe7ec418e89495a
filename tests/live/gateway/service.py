"""Service with a gateway, for a process of its own.

`uvicorn --factory tests.live.gateway.service:create_app` runs it.

| variable | meaning |
| --- | --- |
| `LIVE_LOG` | URL of Redis, or the path of a file |
| `LIVE_LEASE` | duration of the leases, in seconds |
| `LIVE_MAX_EVENTS` | maximum number of events of a session |
"""

import os
from asyncio import sleep
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount

from seamwise.live import Event, LogLimits, RedisLog, Session, SqliteLog
from seamwise.live.server import connections, hosting
from tests.live.gateway.running import create


def create_log() -> RedisLog | SqliteLog:
    """Return the log of the environment."""
    address = os.environ['LIVE_LOG']
    limits = LogLimits(max_events=int(os.environ['LIVE_MAX_EVENTS']), max_bytes=2**30)
    if address.startswith('redis://'):
        return RedisLog(address, limits=limits)
    return SqliteLog(address, limits=limits)


async def answer(session: Session) -> None:
    """Do what the user says: count, or repeat it."""
    async for event in session.received():
        if event.event == 'user.cancel':
            return
        if event.event == 'user.count':
            await count(session, **event.metadata)
        else:
            await session.say(Event('agent.message', event.content, {'process': os.getpid()}))


async def count(session: Session, **metadata: Any) -> None:
    """Say numbers, with a pause after each."""
    for number in range(metadata['to']):
        (await session.say(Event('agent.number', str(number)))).unwrap()
        await sleep(metadata['pause'])


def create_app() -> Starlette:
    """Return the application."""
    seconds = float(os.environ['LIVE_LEASE'])
    # Read at each use.
    constants = {
        (hosting, 'LEASE_SECONDS'): seconds,
        (hosting, 'RENEWAL_SECONDS'): seconds / 4,
        (connections, 'CHECK_SECONDS'): min(1.0, seconds / 4),
    }
    for (module, name), value in constants.items():
        setattr(module, name, value)
    log = create_log()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with log:
            yield

    gateway = create(log, open=answer, messages_per_second=1000.0)
    return Starlette(routes=[Mount('/live', gateway)], lifespan=lifespan)
