"""Buckets of a rate limit by key."""

from heapq import heappop, heappush, heapreplace

from seamwise._runtime.rates.meter import Bucket, Meter


class Buckets:
    """Map from keys to buckets, which never evicts a bucket that past calls still fill.

    At capacity, a new key replaces one that is idle. While no key is idle, all new keys share one
    bucket: the calls of a key can therefore never reset the limit of another key.
    """

    __slots__ = ('_buckets', '_capacity', '_idle_times', '_meter', '_shared')

    def __init__(self, capacity: int, meter: Meter) -> None:
        self._capacity = capacity
        self._meter = meter
        self._buckets: dict[str, Bucket] = {}
        # A heap with one entry for each key. A time is a lower bound: later calls of the key delay
        # it, which is noticed only when the entry reaches the top. Each correction therefore
        # belongs to a call, so that a new key takes logarithmic time on average.
        self._idle_times: list[tuple[int, str]] = []
        self._shared = meter.new_bucket()

    def __len__(self) -> int:
        return len(self._buckets)

    def get(self, key: str) -> Bucket:
        """Return the bucket of a key, and create it if possible, else the shared one."""
        bucket = self._buckets.get(key)
        if bucket is not None:
            return bucket
        now = self._meter.now()
        if len(self._buckets) >= self._capacity and not self._evict(now):
            return self._shared
        bucket = self._buckets[key] = self._meter.new_bucket()
        heappush(self._idle_times, (now, key))
        return bucket

    def forget_waiters(self) -> None:
        """Remove all waiters without waking them: they are threads of another process."""
        for bucket in (self._shared, *self._buckets.values()):
            bucket.forget_waiters()

    def waiting(self) -> int:
        """Return the number of waiters of all keys."""
        return self._shared.waiting + sum(bucket.waiting for bucket in self._buckets.values())

    def _evict(self, now: int) -> bool:
        """Evict an idle key, and return whether there was one."""
        while self._idle_times[0][0] <= now:
            key = self._idle_times[0][1]
            bucket = self._buckets[key]
            idle_at = bucket.idle_at()
            if bucket.head is not None:
                # Its waiters have yet to take their slots.
                idle_at = max(idle_at, now + self._meter.units(1.0))
            if idle_at <= now:
                heappop(self._idle_times)
                del self._buckets[key]
                return True
            heapreplace(self._idle_times, (idle_at, key))
        return False
