"""Delays between the attempts of a client to connect."""

from collections.abc import Callable, Iterator
from typing import Final

from seamwise._runtime.world import World

RESTART_DELAY: Final = 1.0
"""The maximum delay after a restart of the gateway, in seconds."""


class ReconnectDelays:
    """Delays before the attempts to connect; they begin again after a connection that worked.

    Args:
        backoff: Returns the delays from the first attempt on, in seconds.
        world: Source of randomness.
    """

    def __init__(self, backoff: Callable[[], Iterator[float]], world: World) -> None:
        self._backoff = backoff
        self._delays = backoff()
        self._is_fresh = True
        self._world = world

    def reset(self) -> None:
        """Begin again with the shortest delay."""
        self._delays = self._backoff()
        self._is_fresh = True

    def next(self, retry_after: float | None) -> float | None:
        """Return the delay before the next attempt, or None after the last attempt.

        Args:
            retry_after: The delay that the gateway requests, in seconds. Up to the same time is
                added, so that its clients do not return all at once.
        """
        self._is_fresh = False
        delay = next(self._delays, None)
        if delay is None or retry_after is None:
            return delay
        return max(delay, retry_after * (1 + self._world.random()))

    def next_after_restart(self, retry_after: float | None) -> float | None:
        """Return the delay after a restart of the gateway: short, but not the same for all clients.

        Another process of the gateway can answer at once. Only the first attempt is early: a
        gateway that always restarts is as slow as one that always fails.
        """
        if not self._is_fresh:
            return self.next(retry_after)
        delay = self.next(None)
        return None if delay is None else min(delay, self._world.random() * RESTART_DELAY)
