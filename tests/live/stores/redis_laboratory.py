"""Logs in one Redis for tests: each laboratory has a prefix of its own."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from time import time
from uuid import uuid4

from seamwise import Failure, Success
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live import EventLog, LogLimits, RedisLog, Stored
from tests.live.stores.contents import SESSION, numbered
from tests.policies.redis.servers import Server


async def append_until_stored(log: EventLog, number: int, *, session: str = SESSION) -> Stored:
    """Repeat an append until Redis is there again, as a writer does."""
    async with asyncio.timeout(20.0):
        while True:
            result = await log.append(session, numbered(number), batch_id=f'b-{number}')
            match result:
                case Success(stored):
                    return stored
                case Failure(error):
                    assert type(error) is StoreUnavailable
            await asyncio.sleep(0.01)


class RedisLaboratory:
    """Logs with the same Redis and the same prefix."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.prefix = f'{uuid4().hex}:'

    @property
    def url(self) -> str:
        return f'redis://127.0.0.1:{self.server.port}/0'

    def open(
        self, *, limits: LogLimits | None = None, clock: Callable[[], float] = time
    ) -> AbstractAsyncContextManager[EventLog]:
        return self.log(limits=limits, clock=clock)

    def log(
        self,
        *,
        limits: LogLimits | None = None,
        clock: Callable[[], float] = time,
        replicas: int = 0,
        timeout: float = 2.0,
    ) -> RedisLog:
        return RedisLog(
            self.url,
            prefix=self.prefix,
            limits=limits or LogLimits(),
            clock=clock,
            replicas=replicas,
            timeout=timeout,
        )

    def forget(self) -> None:
        """Delete the keys of the laboratory."""
        keys = self.server.execute('KEYS', f'{self.prefix}*')
        if keys:
            self.server.execute('DEL', *keys)
