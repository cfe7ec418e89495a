"""Generic cell rate algorithm (GCRA)."""

from typing_extensions import override

from seamwise._runtime.rates.meter import NANOSECONDS, Bucket, Meter, scaled_weight
from seamwise._runtime.world import World


class Gcra(Meter):
    """A rate of `limit` calls per period, with a burst.

    The unit of time is a nanosecond divided by `scale`. The weight of one call is the time after
    which it is earned back, which `scale` makes a whole number.

    Args:
        limit: Calls per period.
        period: Seconds.
        burst: Calls that may pass together after a pause.
        world: Clock.
        scale: A multiple of `limit` (None: `limit`).
    """

    __slots__ = ('_call_weight', '_text', 'burst_weight')

    def __init__(
        self, limit: int, *, period: float, burst: int, world: World, scale: int | None = None
    ) -> None:
        scale = limit if scale is None else scale
        super().__init__(scale * NANOSECONDS, world)
        self._call_weight = round(period * NANOSECONDS) * (scale // limit)
        self.burst_weight = burst * self._call_weight
        self._text = f'{count_calls(limit)} in {period:g} s, burst of {burst}'

    @override
    def new_bucket(self) -> Bucket:
        return _GcraBucket(self)

    @override
    def weight(self, cost: float) -> int:
        return scaled_weight(cost, self._call_weight)

    @override
    def __str__(self) -> str:
        return self._text


class _GcraBucket(Bucket):
    """Bucket with the theoretical arrival time (TAT) of its next call."""

    __slots__ = ('_burst_weight', '_tat', '_tolerance')

    def __init__(self, gcra: Gcra) -> None:
        super().__init__()
        self._burst_weight = gcra.burst_weight
        self._tolerance = gcra.tolerance
        self._tat = 0

    @override
    def take(self, weight: int, now: int) -> int:
        # As `delay`, without a call: every call of the guard runs this.
        tat = self._tat
        if tat < now:  # noqa: PLR1730 -- max() takes twice as long
            tat = now
        tat += weight
        delay = tat - now - self._burst_weight
        if delay > 0 and (delay > self._tolerance or delay > weight >> 1):
            return delay
        self._tat = tat
        return 0

    @override
    def delay(self, weight: int, now: int) -> int:
        delay = max(self._tat, now) + weight - now - self._burst_weight
        # At most half of the call's weight, so that the tolerances of several calls never add up
        # to an additional call.
        if delay > 0 and (delay > self._tolerance or delay > weight >> 1):
            return delay
        return 0

    @override
    def available(self, call_weight: int, now: int) -> int:
        used = max(self._tat - now, 0)
        return (self._burst_weight - used + self._tolerance) // call_weight

    @override
    def idle_at(self) -> int:
        return self._tat


def count_calls(number: int) -> str:
    """Return a number of calls for descriptions."""
    return '1 call' if number == 1 else f'{number} calls'
