"""Events of a subscription for a client, with signs of life while there is none."""

from asyncio import sleep, timeout
from collections.abc import Awaitable, Callable

from seamwise._results.containers import Result
from seamwise.live.events import Stored
from seamwise.live.server.settings import TURN
from seamwise.live.subscriptions import Interruption, Subscription


async def next_event(
    subscription: Subscription, *, heartbeat: float, keep_alive: Callable[[], Awaitable[None]]
) -> Result[Stored, Interruption] | None:
    """Wait for the next event.

    Args:
        subscription: The subscription.
        heartbeat: The time between two signs of life, in seconds.
        keep_alive: Sends a sign of life.

    Returns:
        The event or the interruption; None after the last event.
    """
    if not subscription.position.seq % TURN:
        # Other connections have their turn in a long replay.
        await sleep(0)
    while True:
        if (result := subscription.take()) is not None:
            return result
        try:
            async with timeout(heartbeat):
                return await anext(subscription, None)
        except TimeoutError:
            await keep_alive()
