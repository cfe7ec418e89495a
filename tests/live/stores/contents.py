"""Numbered events for tests of the event log, and what a log contains of them."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from seamwise import Success
from seamwise.live import Event, EventLog, LogLimits, Position
from seamwise.live.subscriptions import Subscription

SESSION = 's-1'

UNLIMITED = LogLimits(max_events=10**9, max_bytes=2**50, max_age=10.0**9)

T = TypeVar('T')


def numbered(number: int) -> Event:
    return Event('agent.partial', str(number))


async def begin(log: EventLog, session: str = SESSION) -> Position:
    return (await log.begin(session)).unwrap()


async def contents(
    log: EventLog, since: Position | None = None, session: str = SESSION
) -> list[str]:
    replay = (await log.replay(session, since)).unwrap()
    return [stored.event.content for stored in replay.events]


async def seqs(log: EventLog, since: Position | None = None, session: str = SESSION) -> list[int]:
    replay = (await log.replay(session, since)).unwrap()
    return [stored.position.seq for stored in replay.events]


async def take(subscription: Subscription, count: int) -> list[str]:
    """Wait for events, and return their contents."""
    items: list[str] = []
    while len(items) < count:
        result = await within(10.0, anext(subscription))
        assert type(result) is Success, result
        items.append(result.unwrap().event.content)
    return items


async def within(seconds: float, awaitable: Awaitable[T]) -> T:
    async with asyncio.timeout(seconds):
        return await awaitable
