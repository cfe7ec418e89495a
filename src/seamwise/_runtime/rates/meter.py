"""Base of the algorithms of rate limits: a clock in integer units, and a bucket for each key.

Integers are used so that rounding errors cannot add up.
"""

from abc import ABC, abstractmethod
from decimal import Decimal
from math import floor
from typing import Final

from typing_extensions import override

from seamwise._runtime.wait_queue import Mutex, Waiter, WaitQueue
from seamwise._runtime.world import World

NANOSECONDS: Final = 1_000_000_000

CALL_WEIGHT: Final = 1_000_000_000
"""Weight of one call where it is not a time: costs are fractions of it."""

TOLERANCE: Final = 1_000
"""Nanoseconds by which a call may be early. The difference of two readings of a clock that counts
from 1970 has a rounding error of a quarter of that.
"""


class Bucket(ABC):
    """State of one key: the calls that have passed, and its waiters.

    Only the waiter at the head of the queue watches the clock; it wakes the next one when it
    leaves.
    """

    __slots__ = ('_queue', 'head')

    def __init__(self) -> None:
        self.head: Waiter | None = None
        self._queue: WaitQueue | None = None

    @abstractmethod
    def take(self, weight: int, now: int) -> int:
        """Take `weight` and return 0; or take nothing and return the units until it is free."""

    @abstractmethod
    def delay(self, weight: int, now: int) -> int:
        """Return the units until a call of `weight` would pass."""

    @abstractmethod
    def available(self, call_weight: int, now: int) -> int:
        """Return the number of calls of `call_weight` that would pass now."""

    @abstractmethod
    def idle_at(self) -> int:
        """Return the time from which no past call affects a new one: its state can be discarded."""

    def limiting_rate(self, weight: int, now: int) -> int:  # noqa: ARG002 -- for subclasses
        """Return the index of the rate that admits a call of `weight` last."""
        return 0

    @property
    def waiting(self) -> int:
        """Number of waiters."""
        if self.head is None or self._queue is None:
            return 0
        return 1 + len(self._queue)

    def delay_behind_waiters(self, weight: int, now: int) -> int:
        """Return the units until a new call would pass, after all waiters."""
        if self.head is None or self._queue is None:
            return self.delay(weight, now)
        return self.delay(self.head.weight + self._queue.weight + weight, now)

    def join(self, mutex: Mutex, weight: int) -> Waiter:
        """Return a new waiter at the end of the queue; it is woken immediately if it is alone."""
        queue = self._queue
        if queue is None:
            queue = self._queue = WaitQueue(mutex, self._wake_head)
        waiter = queue.join(weight)
        self._wake_head()
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """Remove a waiter, served or not; no effect if it has left already."""
        queue = self._queue
        if queue is None:
            return
        queue.leave(waiter)
        if waiter is self.head:
            self.head = None
            self._wake_head()

    def forget_waiters(self) -> None:
        """Remove all waiters without waking them: they are threads of another process."""
        self.head = None
        self._queue = None

    def _wake_head(self) -> None:
        if self.head is None and self._queue is not None:
            self.head = self._queue.wake_next()


class Meter(ABC):
    """Algorithm and settings of a rate limit; it creates the buckets.

    Time is counted in units of `1 / units_per_second`. It does not change when the clock goes back.
    Its methods are called under one lock. Otherwise two readings of the clock could be used in
    reverse order, which looks like a clock that goes back.
    """

    __slots__ = ('last_reading', 'scale', 'set_back', 'tolerance', 'world')

    def __init__(self, units_per_second: int, world: World) -> None:
        self.world = world
        self.scale = float(units_per_second)
        self.last_reading = floor(world.clock() * self.scale)
        # Units by which the clock has gone back so far.
        self.set_back = 0
        self.tolerance = TOLERANCE * (units_per_second // NANOSECONDS)

    @abstractmethod
    def new_bucket(self) -> Bucket:
        """Return the bucket of a key without past calls."""

    @abstractmethod
    def weight(self, cost: float) -> int:
        """Return the weight of a call that costs `cost` calls."""

    @override
    @abstractmethod
    def __str__(self) -> str:
        """Return the rate for descriptions."""

    def units(self, seconds: float) -> int:
        """Convert a waiting time to units, and add the tolerance."""
        return round(seconds * self.scale) + self.tolerance

    def seconds(self, units: int) -> float:
        """Convert units to seconds."""
        return units / self.scale

    def now(self) -> int:
        """Return the current time in units."""
        reading = floor(self.world.clock() * self.scale)
        if reading < self.last_reading:
            self.set_back += self.last_reading - reading
        self.last_reading = reading
        return reading + self.set_back

    def last_time(self) -> int:
        """Return the time of the last reading of the clock, in units."""
        return self.last_reading + self.set_back


def scaled_weight(cost: float, call_weight: int) -> int:
    """Return `cost * call_weight` without its fraction, at least 1 for a cost above 0.

    It is rounded down, and from the shortest decimal number of the float: otherwise ten calls that
    cost 0.1, or three that cost a third, would be more than one call.

    >>> scaled_weight(0.1, 10), scaled_weight(1 / 3, 100)
    (1, 33)
    """
    if cost.is_integer():
        return int(cost) * call_weight
    numerator, denominator = Decimal(repr(cost)).as_integer_ratio()
    return max(numerator * call_weight // denominator, 1)
