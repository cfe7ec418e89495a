"""Which client of Redis a guard asks by: one for tasks, one for threads, or both."""

from typing import Protocol, TypeAlias

import redis.asyncio
from msgspec import Struct
from redis.asyncio.connection import AbstractConnection


class Clients(Struct, frozen=True, kw_only=True):
    """A client for each way that a guard is called: `asyncio` for `run`, `sync` for `run_sync`."""

    asyncio: redis.asyncio.Redis | None = None
    sync: redis.Redis | None = None


Client: TypeAlias = redis.asyncio.Redis | redis.Redis | Clients
"""What a guard takes as `redis=`."""


class AsyncLine(Protocol):
    """A connection for tasks, as redis-py makes it, as far as it is used here."""

    async def send_command(self, *args: str) -> None:
        """Send a command. Whatever interrupts it ends the connection."""
        ...

    async def read_response(self, disable_decoding: bool = False) -> object:  # noqa: FBT001, FBT002 -- as redis-py has it
        """Read one whole reply. Whatever interrupts it ends the connection, so that no later command reads half a reply."""
        ...


class AsyncLines(Protocol):
    """A pool of them."""

    max_connections: int

    async def get_connection(self) -> AbstractConnection:
        """Give one that is connected."""
        ...

    async def release(self, connection: AbstractConnection) -> None:
        """Take one back."""
        ...


def both(given: Client) -> Clients:
    """Give the clients that a guard is made with, each on its side; anything else is a TypeError that shows no address."""
    if isinstance(given, redis.asyncio.Redis):
        return Clients(asyncio=given)
    if isinstance(given, redis.Redis):
        return Clients(sync=given)
    if not isinstance(given, Clients):
        raise TypeError(
            f'redis must be a redis.asyncio.Redis, a redis.Redis, or Clients(asyncio=…, sync=…), not {type(given).__name__}.'
        )
    if given.asyncio is None and given.sync is None:
        raise TypeError(
            'Clients() has no client: give asyncio=redis.asyncio.Redis(…) for run, sync=redis.Redis(…) for run_sync, or both.'
        )
    if not isinstance(given.asyncio, redis.asyncio.Redis | None):
        raise TypeError(
            f'Clients(asyncio=…) must be a redis.asyncio.Redis, not {type(given.asyncio).__name__}.'
        )
    if not isinstance(given.sync, redis.Redis | None):
        raise TypeError(f'Clients(sync=…) must be a redis.Redis, not {type(given.sync).__name__}.')
    return given
