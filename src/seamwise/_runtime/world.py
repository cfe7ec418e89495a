"""Clock, sleep and randomness of the guards, which tests can replace."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from threading import Lock
from typing import Final, Protocol


class Alarm(Protocol):
    """A scheduled callback."""

    def cancel(self) -> object:
        """Cancel the callback; a second call has no effect."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """Sources of time and randomness for guards.

    A guard reads `world.clock` and the others at each use, and does not store the functions:
    `replace_real` exchanges those of `REAL`.

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
        if self is REAL and _replacements:
            return _replacements[-1].alarm(seconds, ring)
        loop = asyncio.get_running_loop()
        if self.sleep is asyncio.sleep:
            return loop.call_later(seconds, ring)
        return loop.create_task(self._sleep_and_ring(seconds, ring))

    async def _sleep_and_ring(self, seconds: float, ring: Callable[[], object]) -> None:
        await self.sleep(seconds)
        ring()


REAL: Final = World()
"""Monotonic clock, sleep and randomness of the machine."""

_MACHINE: Final = World()
_replacements: Final[list[World]] = []
_replacements_lock: Final = Lock()


@contextmanager
def replace_real(world: World) -> Generator[None]:
    """Make all guards built with `REAL` use another world inside a `with` block.

    It applies to the whole process: to guards that exist already and to new ones, in all threads
    and event loops. Blocks can be nested; the most recent one that is still active applies.

    Raises:
        ValueError: `world` is `REAL` itself.

    >>> with replace_real(World(clock=lambda: 7.0)):
    ...     REAL.clock()
    7.0
    """
    if check_world(world) is REAL:
        raise ValueError('world must be another world than REAL, such as a FakeWorld.')
    with _replacements_lock:
        _replacements.append(world)
        _update_real()
    try:
        yield
    finally:
        with _replacements_lock:
            # By identity, from the end: blocks of several threads can end in any order.
            index = max(i for i, active in enumerate(_replacements) if active is world)
            del _replacements[index]
            _update_real()


def _update_real() -> None:
    # The fields of REAL itself are exchanged, so that reading the clock costs no further call.
    current = _replacements[-1] if _replacements else _MACHINE
    for field in fields(World):
        object.__setattr__(REAL, field.name, getattr(current, field.name))


def check_world(world: World) -> World:
    """Return the argument, or raise a TypeError if it is not a World."""
    if not isinstance(world, World):
        raise TypeError(f'world must be a World, not {world!r}.')
    return world
