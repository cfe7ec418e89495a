"""Buckets of a rate limit by key."""

from collections import OrderedDict
from itertools import islice
from typing import Final

from seamwise._runtime.rates.meter import Bucket, Meter

EVICTION_CANDIDATES: Final = 16
"""Number of least recently used buckets that are searched for an idle one to evict."""


class Buckets:
    """LRU map from keys to buckets; at capacity it evicts an idle bucket if possible."""

    __slots__ = ('_buckets', '_capacity', '_meter')

    def __init__(self, capacity: int, meter: Meter) -> None:
        self._capacity = capacity
        self._meter = meter
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def get(self, key: str) -> Bucket:
        """Return the bucket of a key, and create it if necessary."""
        bucket = self._buckets.get(key)
        if bucket is not None:
            self._buckets.move_to_end(key)
            return bucket
        while len(self._buckets) >= self._capacity and self._evict():
            pass
        bucket = self._buckets[key] = self._meter.new_bucket()
        return bucket

    def forget_waiters(self) -> None:
        """Remove all waiters without waking them: they are threads of another process."""
        for bucket in self._buckets.values():
            bucket.forget_waiters()

    def waiting(self) -> int:
        """Return the number of waiters of all keys."""
        return sum(bucket.waiting for bucket in self._buckets.values())

    def _evict(self) -> bool:
        """Evict the oldest idle bucket, else the oldest without waiters; return whether one was."""
        now = self._meter.now()
        candidates = list(islice(self._buckets.items(), EVICTION_CANDIDATES))
        evictable = [key for key, bucket in candidates if bucket.head is None]
        if evictable:
            idle = (key for key in evictable if self._buckets[key].is_idle(now))
            del self._buckets[next(idle, evictable[0])]
            return True
        for key, _ in candidates:
            # All candidates have waiters, so they count as recently used.
            self._buckets.move_to_end(key)
        return False
