"""Sliding window: the exact limit in any period, which stores the calls of the last period."""

from collections import deque

from typing_extensions import override

from seamwise._runtime.rates.gcra import count_calls
from seamwise._runtime.rates.meter import CALL_WEIGHT, NANOSECONDS, Bucket, Meter, scaled_weight
from seamwise._runtime.world import World


class SlidingWindow(Meter):
    """At most `limit` calls in any period. The unit of time is a nanosecond divided by `scale`.

    Args:
        limit: Calls per period.
        period: Seconds.
        world: Clock.
        scale: Divisor of the unit.
    """

    __slots__ = ('_text', 'capacity', 'length')

    def __init__(self, limit: int, *, period: float, world: World, scale: int = 1) -> None:
        super().__init__(scale * NANOSECONDS, world)
        self.capacity = limit * CALL_WEIGHT
        self.length = round(period * NANOSECONDS) * scale
        self._text = f'{count_calls(limit)} in any {period:g} s'

    @override
    def new_bucket(self) -> Bucket:
        return _WindowBucket(self)

    @override
    def weight(self, cost: float) -> int:
        return scaled_weight(cost, CALL_WEIGHT)

    @override
    def __str__(self) -> str:
        return self._text


class _WindowBucket(Bucket):
    """Bucket with the times and weights of the calls of the last period, oldest first."""

    __slots__ = ('_calls', '_created_at', '_lifetime', '_total', '_window')

    def __init__(self, window: SlidingWindow) -> None:
        super().__init__()
        self._window = window
        # The clock can be read too early by its rounding error.
        self._lifetime = window.length - window.tolerance
        self._created_at = window.last_time()
        self._calls: deque[tuple[int, int]] = deque()
        self._total = 0

    @override
    def take(self, weight: int, now: int) -> int:
        delay = self.delay(weight, now)
        if delay:
            return delay
        self._calls.append((now, weight))
        self._total += weight
        return 0

    @override
    def delay(self, weight: int, now: int) -> int:
        if not weight:
            return 0
        window = self._window
        self._expire(now)
        # Waiters can weigh more than a window admits: each full window takes a whole period.
        periods, weight = divmod(weight - 1, window.capacity)
        excess = self._total + weight + 1 - window.capacity
        earliest = now
        for time, call_weight in self._calls:
            if excess <= 0:
                break
            excess -= call_weight
            earliest = time + window.length
        return max(earliest - now, 0) + periods * window.length

    @override
    def available(self, call_weight: int, now: int) -> int:
        self._expire(now)
        return (self._window.capacity - self._total) // call_weight

    @override
    def idle_at(self) -> int:
        return self._calls[-1][0] + self._lifetime if self._calls else self._created_at

    def _expire(self, now: int) -> None:
        end = now - self._lifetime
        while self._calls and self._calls[0][0] <= end:
            _, weight = self._calls.popleft()
            self._total -= weight
