"""Trip conditions of a circuit: consecutive failures, or a failure ratio over calls or seconds.

A trip condition is immutable; it creates a counter each time the circuit closes. The circuit can
open only on a failure: a success is no reason to open it.
"""

from collections import deque
from typing import ClassVar, Final, TypeAlias, overload

from msgspec import Struct
from typing_extensions import override

from seamwise._runtime.validation import check_float, check_int

BUCKETS: Final = 10
"""Number of buckets of a time window (as in Hystrix); calls expire one bucket at a time."""

MAX_CALLS: Final = 1_000_000
"""Upper bound of `ratio(calls=…)`, at one byte per call; larger values are rejected as mistakes."""


class ConsecutiveFailures(Struct, frozen=True):
    """Trip after `failures` failures without a success in between."""

    failures: int

    def counter(self) -> 'ConsecutiveCounter':
        """Return a new counter."""
        return ConsecutiveCounter(self.failures)

    @override
    def __str__(self) -> str:
        return f'{self.failures} failures in a row' if self.failures > 1 else 'one failure'


class RatioOfCalls(Struct, frozen=True):
    """Trip at a failure ratio over the last `calls` calls, after at least `minimum` calls."""

    share: float
    minimum: int
    calls: int

    def counter(self) -> 'CountWindow':
        """Return a new counter."""
        return CountWindow(self)

    @override
    def __str__(self) -> str:
        return (
            f'{self.share * 100:g} % failures in the last {self.calls} calls, '
            f'with at least {self.minimum} calls'
        )


class RatioInTime(Struct, frozen=True):
    """Trip at a failure ratio over the last `window` seconds, after at least `minimum` calls."""

    share: float
    minimum: int
    window: float

    def counter(self) -> 'TimeWindow':
        """Return a new counter."""
        return TimeWindow(self)

    @override
    def __str__(self) -> str:
        return (
            f'{self.share * 100:g} % failures in the last {self.window:g} s, '
            f'with at least {self.minimum} calls'
        )


Trip: TypeAlias = ConsecutiveFailures | RatioOfCalls | RatioInTime
"""Condition under which a circuit opens; see `consecutive` and `ratio`."""


def consecutive(failures: int, /) -> Trip:
    """Return a condition that opens a circuit after `failures` consecutive failures.

    It is the condition of pybreaker, purgatory and gobreaker.

    >>> consecutive(3)
    ConsecutiveFailures(failures=3)
    """
    return ConsecutiveFailures(check_int('consecutive(failures)', failures))


@overload
def ratio(share: float, /, *, minimum: int, window: float) -> Trip: ...
@overload
def ratio(share: float, /, *, minimum: int, calls: int) -> Trip: ...
def ratio(
    share: float, /, *, minimum: int, window: float | None = None, calls: int | None = None
) -> Trip:
    """Return a condition that opens a circuit when the share of failed calls reaches `share`.

    Pass either `window` or `calls`.

    Args:
        share: Failed calls divided by all calls, above 0, at most 1.
        minimum: Number of calls before which the circuit does not open.
        window: Count the calls of the last `window` seconds. Calls expire in steps of a tenth of
            the window (Hystrix, Polly).
        calls: Count the last `calls` calls (resilience4j); at least `minimum`.

    Raises:
        ValueError: A number is out of range.
        TypeError: Neither `window` nor `calls` was passed, or both.

    >>> ratio(0.5, minimum=20, window=30)
    RatioInTime(share=0.5, minimum=20, window=30.0)
    >>> ratio(0.5, minimum=20, calls=100)
    RatioOfCalls(share=0.5, minimum=20, calls=100)
    """
    share = check_float('ratio(share)', share, above=0.0, maximum=1.0)
    minimum = check_int('minimum', minimum)
    if window is not None and calls is None:
        return RatioInTime(
            share, minimum, check_float('window', window, minimum=0.001, maximum=1e9)
        )
    if calls is None or window is not None:
        raise TypeError('ratio() requires either window=seconds or calls=n.')
    if check_int('calls', calls, minimum=minimum) > MAX_CALLS:
        raise ValueError(f'calls must be at most {MAX_CALLS}, not {calls!r}.')
    return RatioOfCalls(share, minimum, calls)


class ConsecutiveCounter:
    """Counter of consecutive failures."""

    __slots__ = ('_limit', 'failures', 'is_clean')

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.failures = 0
        self.is_clean = True
        """Whether a success would change nothing, so that the circuit need not count it."""

    def count_success(self, _now: float, /) -> None:
        """Count a success."""
        self.failures = 0
        self.is_clean = True

    def count_failure(self, _now: float, /) -> bool:
        """Count a failure, and return whether the circuit opens."""
        self.is_clean = False
        self.failures += 1
        return self.failures >= self._limit


class CountWindow:
    """Counter over the last calls: a ring buffer with one byte per call."""

    __slots__ = ('_calls', '_index', '_ring', '_trip', 'failures')

    is_clean: ClassVar[bool] = False

    def __init__(self, trip: RatioOfCalls) -> None:
        self._trip = trip
        self._ring = bytearray(trip.calls)
        self._index = 0
        self._calls = 0
        self.failures = 0

    def count_success(self, _now: float, /) -> None:
        """Count a success."""
        self._count(0)

    def count_failure(self, _now: float, /) -> bool:
        """Count a failure, and return whether the circuit opens."""
        self._count(1)
        return self._calls >= self._trip.minimum and self.failures / self._calls >= self._trip.share

    def _count(self, failed: int) -> None:
        ring, index = self._ring, self._index
        self.failures += failed - ring[index]
        ring[index] = failed
        self._index = (index + 1) % len(ring)
        if self._calls < len(ring):
            self._calls += 1


class _Bucket:
    __slots__ = ('calls', 'failures', 'number')

    def __init__(self, number: float) -> None:
        self.number = number
        self.calls = 0
        self.failures = 0


class TimeWindow:
    """Counter over the last seconds, in a fixed number of buckets. Expects a monotonic clock."""

    __slots__ = ('_buckets', '_calls', '_trip', '_width', 'failures')

    is_clean: ClassVar[bool] = False

    def __init__(self, trip: RatioInTime) -> None:
        self._trip = trip
        self._width = trip.window / BUCKETS
        self._buckets: deque[_Bucket] = deque()
        self._calls = 0
        self.failures = 0

    def count_success(self, now: float, /) -> None:
        """Count a success."""
        self._count(now, 0)

    def count_failure(self, now: float, /) -> bool:
        """Count a failure, and return whether the circuit opens."""
        self._count(now, 1)
        return self._calls >= self._trip.minimum and self.failures / self._calls >= self._trip.share

    def _count(self, now: float, failed: int) -> None:
        buckets = self._buckets
        number = now // self._width
        if not buckets or buckets[-1].number < number:
            while buckets and buckets[0].number <= number - BUCKETS:
                expired = buckets.popleft()
                self._calls -= expired.calls
                self.failures -= expired.failures
            buckets.append(_Bucket(number))
        bucket = buckets[-1]
        bucket.calls += 1
        bucket.failures += failed
        self._calls += 1
        self.failures += failed


Counter: TypeAlias = ConsecutiveCounter | CountWindow | TimeWindow
"""Counter of a closed circuit; its methods are called under the lock of the circuit."""
