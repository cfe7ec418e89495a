"""Generic cell rate algorithm (GCRA), in integers, so that rounding errors cannot add up."""

from collections import OrderedDict
from itertools import islice

from seamwise.policies._engine.wait_queue import Mutex, Waiter, WaitQueue
from seamwise.policies._engine.world import World

NANOSECONDS = 1_000_000_000

TOLERANCE = 1_000
"""Nanoseconds by which a call may be early. The difference of two readings of a clock that counts
from 1970 has a rounding error of a quarter of that.
"""

EVICTION_CANDIDATES = 16
"""Number of least recently used buckets that are searched for an idle one to evict."""


class Bucket:
    """State of one key: the theoretical arrival time (TAT) of its next call, and its waiters.

    Only the waiter at the head of the queue watches the clock; it wakes the next one when it
    leaves.
    """

    __slots__ = ('_queue', 'head', 'tat')

    def __init__(self) -> None:
        self.tat = 0
        self.head: Waiter | None = None
        self._queue: WaitQueue | None = None

    @property
    def waiting_weight(self) -> int:
        """Total weight of the waiters."""
        if self.head is None or self._queue is None:
            return 0
        return self.head.weight + self._queue.weight

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

    def _wake_head(self) -> None:
        if self.head is None and self._queue is not None:
            self.head = self._queue.wake_next()


class Gcra:
    """A rate of `limit` calls per period, with a burst.

    The unit of time is a nanosecond divided by `limit`, counted from 0. The weight of one call is
    thus one period in nanoseconds. Time does not change when the clock goes back.

    All methods that read the clock are called under one lock. Otherwise two readings could be used
    in reverse order, which looks like a clock that goes back.

    Args:
        limit: Calls per period.
        period: Seconds.
        burst: Calls that may pass together after a pause.
        world: Clock.
    """

    __slots__ = (
        '_burst_weight',
        '_call_weight',
        '_last_reading',
        '_scale',
        '_tolerance',
        '_world',
        '_zero',
    )

    def __init__(self, limit: int, *, period: float, burst: int, world: World) -> None:
        self._world = world
        self._scale = float(limit * NANOSECONDS)
        self._call_weight = round(period * NANOSECONDS)
        self._burst_weight = burst * self._call_weight
        self._tolerance = TOLERANCE * limit
        self._last_reading = int(world.clock() * self._scale)
        self._zero = self._last_reading

    def weight(self, cost: float) -> int:
        """Return the weight of a call that costs `cost` calls, rounded up."""
        numerator, denominator = cost.as_integer_ratio()
        return -(-numerator * self._call_weight // denominator)

    def units(self, seconds: float) -> int:
        """Convert a waiting time to units, and add the tolerance."""
        return round(seconds * self._scale) + self._tolerance

    def seconds(self, units: int) -> float:
        """Convert units to seconds."""
        return units / self._scale

    def now(self) -> int:
        """Return the current time in units."""
        reading = int(self._world.clock() * self._scale)
        if reading < self._last_reading:
            self._zero -= self._last_reading - reading
        self._last_reading = reading
        return reading - self._zero

    def take(self, bucket: Bucket, weight: int) -> int:
        """Take `weight` and return 0; or take nothing and return the units until it is free."""
        now = self.now()
        tat = bucket.tat
        if tat < now:  # noqa: PLR1730 -- max() takes twice as long, and every call runs this
            tat = now
        tat += weight
        delay = tat - now - self._burst_weight
        # At most half of the call's weight, so that the tolerances of several calls never add up
        # to an additional call.
        if delay > 0 and (delay > self._tolerance or delay > weight >> 1):
            return delay
        bucket.tat = tat
        return 0

    def delay(self, bucket: Bucket, weight: int) -> int:
        """Return the units until a new call would pass, after all waiters."""
        now = self.now()
        tat = max(bucket.tat, now) + bucket.waiting_weight + weight
        return max(tat - self._burst_weight - now, 0)


class Buckets:
    """LRU map from keys to buckets; at capacity it evicts an idle bucket if possible."""

    __slots__ = ('_buckets', '_capacity', '_gcra')

    def __init__(self, capacity: int, gcra: Gcra) -> None:
        self._capacity = capacity
        self._gcra = gcra
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def get(self, key: str) -> Bucket:
        """Return the bucket of a key, and create it if necessary."""
        bucket = self._buckets.get(key)
        if bucket is not None:
            self._buckets.move_to_end(key)
            return bucket
        while len(self._buckets) >= self._capacity and self._evict():
            pass
        bucket = self._buckets[key] = Bucket()
        return bucket

    def _evict(self) -> bool:
        """Evict the oldest idle bucket, else the oldest without waiters; return whether one was."""
        now = self._gcra.now()
        candidates = list(islice(self._buckets.items(), EVICTION_CANDIDATES))
        evictable = [key for key, bucket in candidates if bucket.head is None]
        if evictable:
            idle = (key for key in evictable if self._buckets[key].tat <= now)
            del self._buckets[next(idle, evictable[0])]
            return True
        for key, _ in candidates:
            # All candidates have waiters, so they count as recently used.
            self._buckets.move_to_end(key)
        return False
