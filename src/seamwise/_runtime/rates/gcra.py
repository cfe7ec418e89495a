"""Generic cell rate algorithm (GCRA)."""

from contextlib import suppress
from math import floor, gcd

from typing_extensions import override

from seamwise._runtime.rates.meter import NANOSECONDS, Bucket, Meter, scaled_weight
from seamwise._runtime.wait_queue import Mutex
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
        scale: A multiple of `gcra_scale` for the limit and the period (None: the smallest one).
    """

    __slots__ = ('_call_weight', '_text', 'burst_weight')

    def __init__(
        self, limit: int, *, period: float, burst: int, world: World, scale: int | None = None
    ) -> None:
        if scale is None:
            scale = gcra_scale(limit, period, is_divisible=False)
        super().__init__(scale * NANOSECONDS, world)
        self._call_weight = round(period * NANOSECONDS) * scale // limit
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
        self._tat = gcra.last_time()

    @override
    def take(self, weight: int, now: int) -> int:
        # As `delay`, without a call: every call of a guard with keys runs this.
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


class SingleBucket(_GcraBucket):
    """The only bucket of a meter, for calls of one weight: `take_one` locks and reads the clock.

    Twin of `_GcraBucket.take` with `Meter.now`: `tests/policies/test_rate_limit_model.py` compares
    them.
    """

    __slots__ = (
        '_acquire', '_exact_room', '_gcra', '_release', '_room', '_scale', '_weight', '_world',
    )  # fmt: skip

    def __init__(self, gcra: Gcra, weight: int, mutex: Mutex) -> None:
        super().__init__(gcra)
        self._gcra = gcra
        self._scale = gcra.scale
        self._world = gcra.world
        self._weight = weight
        # Maximum time from now to the TAT before a call, without and with the tolerance.
        self._exact_room = self._burst_weight - weight
        self._room = self._exact_room + min(self._tolerance, weight >> 1)
        self.use_mutex(mutex)

    def use_mutex(self, mutex: Mutex) -> None:
        """Use another lock, in a forked process."""
        self._acquire, self._release = mutex.acquire, mutex.release

    def take_one(self) -> int:
        """Take a slot and return 0; or take nothing, and return the units until one is free.

        Behind waiters, it returns 1.
        """
        gcra = self._gcra
        # Variables: Python 3.11 calls what a slot contains slowly.
        acquire, release, clock = self._acquire, self._release, self._world.clock
        try:
            # `with` takes longer. An interrupt can come after any call, also after this one.
            acquire()
            now = floor(clock() * self._scale)
            if now < gcra.last_reading or gcra.set_back:
                now = gcra.now()
            else:
                gcra.last_reading = now
            tat = self._tat
            ahead = tat - now
            if self.head is not None:
                delay = 1
            elif ahead <= self._room:
                self._tat = (tat if ahead > 0 else now) + self._weight
                delay = 0
            else:
                delay = ahead - self._exact_room
            release()
        except BaseException:
            with suppress(RuntimeError):
                # The lock is released already, or not acquired yet.
                release()
            raise
        return delay


def gcra_scale(limit: int, period: float, *, is_divisible: bool) -> int:
    """Return the divisor of a nanosecond that makes the weight of one call a whole number.

    Small numbers are faster. Calls that can cost a fraction need the larger one.

    Args:
        limit: Calls per period.
        period: Seconds.
        is_divisible: Whether a call can cost a fraction of one.

    >>> gcra_scale(100, 1.0, is_divisible=False), gcra_scale(3, 1.0, is_divisible=False)
    (1, 3)
    """
    return limit if is_divisible else limit // gcd(limit, round(period * NANOSECONDS))


def count_calls(number: int) -> str:
    """Return a number of calls for descriptions."""
    return '1 call' if number == 1 else f'{number} calls'
