"""What guards know of time and chance: a clock, a sleep, a die. Tests hand in their own."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol


class Alarm(Protocol):
    """An alarm that has been set; `cancel` stops it, however often it is called."""

    def cancel(self) -> object:
        """Stop the alarm."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """What guards know of time and chance: seconds of a clock that only goes forward, two ways to sleep, numbers in [0, 1).

    >>> World(clock=lambda: 7.0).clock()
    7.0
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    sleep_sync: Callable[[float], object] = time.sleep
    random: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        for name in ('clock', 'sleep', 'sleep_sync', 'random'):
            if not callable(given := getattr(self, name)):
                raise TypeError(f'{name} of a World must be a function, not {given!r}.')

    def alarm(self, seconds: float, ring: Callable[[], object]) -> Alarm:
        """Call `ring` in so many seconds, from the running event loop; gives what stops it."""
        loop = asyncio.get_running_loop()
        if self.sleep is asyncio.sleep:
            return loop.call_later(seconds, ring)
        return loop.create_task(self._sleep_and_ring(seconds, ring))

    async def _sleep_and_ring(self, seconds: float, ring: Callable[[], object]) -> None:
        await self.sleep(seconds)
        ring()


REAL = World()
"""The machine's own monotonic clock, sleep and randomness."""


def check_world(world: World) -> World:
    """Give the world that a guard is made with; what is none is a TypeError."""
    if not isinstance(world, World):
        raise TypeError(f'world must be a World, not {world!r}.')
    return world
