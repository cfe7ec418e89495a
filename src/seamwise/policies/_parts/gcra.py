"""The generic cell rate algorithm: one number a bucket, in whole numbers, so that no rounding ever adds up."""

from collections import OrderedDict
from collections.abc import Callable
from itertools import islice

from seamwise.policies._engine.wait_queue import Mutex, Waiter, WaitQueue

NANO = 1_000_000_000

SLACK = 1_000
"""Nanoseconds that a call may be early: two readings of a clock that counts from 1970 round by a quarter of that."""

LOOKED_AT = 16
"""So many of the oldest buckets are looked at, when one has to go, for one that is idle."""


class Bucket:
    """What one caller has taken: the theoretical arrival time of the next call, and who waits for it.

    The head of the line alone watches the clock; each of the others is called when the one before has gone.
    """

    __slots__ = ('_line', 'head', 'tat')

    def __init__(self) -> None:
        self.tat = 0
        self.head: Waiter | None = None
        self._line: WaitQueue | None = None

    @property
    def waiting(self) -> int:
        """What all who wait will take together."""
        return (
            0 if self.head is None or self._line is None else self.head.weight + self._line.weight
        )

    def join(self, mutex: Mutex, weight: int) -> Waiter:
        """Stand behind all who wait; who is alone is called at once."""
        line = self._line
        if line is None:
            line = self._line = WaitQueue(mutex)
        turn = line.join(weight)
        if self.head is None:
            self.head = line.wake_next()
        return turn

    def leave(self, turn: Waiter) -> None:
        """Go away, served or not; those behind move up. Nothing happens the second time."""
        line = self._line
        if line is None:
            return
        line.leave(turn)
        if turn is self.head:
            self.head = line.wake_next()


class Gcra:
    """A rate: what a call is worth, and when it may pass.

    Time counts from 0 in units of a nanosecond divided by `limit`, so that one call is worth one period of nanoseconds. It goes on
    with the clock, and stands still while that goes back. All that reads the clock is called under one lock: readings in another
    order than they were made would look like a clock that goes back.
    """

    __slots__ = ('_back', '_call', '_clock', '_depth', '_scale', '_seen', '_slack')

    def __init__(
        self, limit: int, *, period: float, burst: int, clock: Callable[[], float]
    ) -> None:
        self._clock = clock
        self._scale = float(limit * NANO)
        self._call = round(period * NANO)
        self._depth = burst * self._call
        self._slack = SLACK * limit
        self._seen = int(clock() * self._scale)
        self._back = self._seen

    def weight(self, cost: float) -> int:
        """Give what a call of this cost is worth, rounded up."""
        upper, lower = cost.as_integer_ratio()
        return -(-upper * self._call // lower)

    def units(self, seconds: float) -> int:
        """Give a time in units, the slack included that one of this length needs."""
        return round(seconds * self._scale) + self._slack

    def seconds(self, units: int) -> float:
        """Give the seconds of so many units."""
        return units / self._scale

    def now(self) -> int:
        """Read the clock."""
        seen = int(self._clock() * self._scale)
        if seen < self._seen:
            self._back -= self._seen - seen
        self._seen = seen
        return seen - self._back

    def take(self, bucket: Bucket, weight: int) -> int:
        """Take a call's weight and give 0; or give the units until it may pass, and take nothing."""
        now = self.now()
        tat = bucket.tat
        if tat < now:  # noqa: PLR1730 -- max() takes twice as long, and every call comes by here
            tat = now
        tat += weight
        early = tat - now - self._depth
        # Less than half of its own weight, so that whole calls never add up to one more.
        if early > 0 and (early > self._slack or early > weight >> 1):
            return early
        bucket.tat = tat
        return 0

    def delay(self, bucket: Bucket, weight: int) -> int:
        """Give the units until a call would pass that comes now and stands behind all who wait."""
        now = self.now()
        return max(max(bucket.tat, now) + bucket.waiting + weight - self._depth - now, 0)


class Buckets:
    """A bucket a key, those used last: where there are too many, an idle one goes, the one that was used longest ago."""

    __slots__ = ('_buckets', '_gcra', '_most')

    def __init__(self, most: int, gcra: Gcra) -> None:
        self._most = most
        self._gcra = gcra
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def get(self, key: str) -> Bucket:
        """Give the bucket of a key."""
        bucket = self._buckets.get(key)
        if bucket is not None:
            self._buckets.move_to_end(key)
            return bucket
        while len(self._buckets) >= self._most and self._drop_one():
            pass
        bucket = self._buckets[key] = Bucket()
        return bucket

    def _drop_one(self) -> bool:
        """Drop the oldest idle one, else the oldest for which nobody waits; says whether there was one."""
        now = self._gcra.now()
        oldest = list(islice(self._buckets.items(), LOOKED_AT))
        free = [key for key, bucket in oldest if bucket.head is None]
        if free:
            del self._buckets[next((key for key in free if self._buckets[key].tat <= now), free[0])]
            return True
        for key, _ in oldest:
            # It is in use, so not one of the oldest.
            self._buckets.move_to_end(key)
        return False
