"""Clock, sleep and randomness of the guards, which tests can replace."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol


class Alarm(Protocol):
    """A scheduled callback."""

    def cancel(self) -> object:
        """Cancel the callback; a second call has no effect."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """Sources of time and randomness for guards.

    Args:
        clock: Monotonic time in seconds.
        sleep: Sleep for a number of seconds, in a task.
        sleep_sync: Sleep for a number of seconds, in a thread.
        random: Random number in [0, 1).

    >>> World(clock=lambda: 7.0).clock()
    7.0
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    sleep_sync: Callable[[float], object] = time.sleep
    random: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        for name in ('clock', 'sleep', 'sleep_sync', 'random'):
            value = getattr(self, name)
            if not callable(value):
                raise TypeError(f'{name} of a World must be a function, not {value!r}.')

    def alarm(self, seconds: float, ring: Callable[[], object]) -> Alarm:
        """Schedule `ring` on the running event loop after `seconds`."""
        loop = asyncio.get_running_loop()
        if self.sleep is asyncio.sleep:
            return loop.call_later(seconds, ring)
        return loop.create_task(self._sleep_and_ring(seconds, ring))

    async def _sleep_and_ring(self, seconds: float, ring: Callable[[], object]) -> None:
        await self.sleep(seconds)
        ring()


REAL = World()
"""Monotonic clock, sleep and randomness of the machine."""


def check_world(world: World) -> World:
    """Return the argument, or raise a TypeError if it is not a World."""
    if not isinstance(world, World):
        raise TypeError(f'world must be a World, not {world!r}.')
    return world
