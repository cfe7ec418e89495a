"""When a circuit opens: after failures in a row, or after too great a share of the calls, of the last ones or of the last seconds.

A trip is a description; each time a circuit closes, the trip makes a fresh counter for it. Only a failure trips: what a
success tells is no reason to close a road.
"""

from collections import deque
from typing import ClassVar, Final, TypeAlias, overload

from msgspec import Struct
from typing_extensions import override

from seamwise.policies._engine.validation import check_float, check_int

BUCKETS: Final = 10
"""A window of time is counted in so many parts (as Hystrix does), and forgotten a part at a time."""

MOST_CALLS: Final = 1_000_000
"""A window over more calls than this, a byte each, is a mistake."""


class Consecutive(Struct, frozen=True):
    """So many failures in a row; a success between them starts the count again."""

    failures: int

    def counter(self) -> 'RowCounter':
        """Begin to count."""
        return RowCounter(self.failures)

    @override
    def __str__(self) -> str:
        return f'{self.failures} failures in a row' if self.failures > 1 else 'one failure'


class RatioOfCalls(Struct, frozen=True):
    """A share of the last `calls` calls, of `minimum` calls at least."""

    share: float
    minimum: int
    calls: int

    def counter(self) -> 'RingCounter':
        """Begin to count."""
        return RingCounter(self)

    @override
    def __str__(self) -> str:
        return f'{self.share * 100:g} % failures in the last {self.calls} calls, of {self.minimum} at least'


class RatioInTime(Struct, frozen=True):
    """A share of the calls of the last `window` seconds, of `minimum` calls at least."""

    share: float
    minimum: int
    window: float

    def counter(self) -> 'WindowCounter':
        """Begin to count."""
        return WindowCounter(self)

    @override
    def __str__(self) -> str:
        return f'{self.share * 100:g} % failures in the calls of {self.window:g} s, of {self.minimum} at least'


Trip: TypeAlias = Consecutive | RatioOfCalls | RatioInTime
"""What opens a circuit."""


def consecutive(failures: int, /) -> Trip:
    """Open after so many failures in a row, as pybreaker, purgatory and gobreaker do.

    >>> consecutive(3)
    Consecutive(failures=3)
    """
    return Consecutive(check_int('consecutive(failures)', failures))


@overload
def ratio(share: float, /, *, minimum: int, window: float) -> Trip: ...
@overload
def ratio(share: float, /, *, minimum: int, calls: int) -> Trip: ...
def ratio(
    share: float, /, *, minimum: int, window: float | None = None, calls: int | None = None
) -> Trip:
    """Open where a share (above 0, at most 1) of the calls failed, once there are `minimum` calls to judge by.

    Over the calls of the last `window` seconds, which are forgotten a tenth of the window at a time (Hystrix, Polly); or over the
    last `calls` calls (resilience4j). What makes no sense is a ValueError, and so is a minimum that a window of calls never holds.

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
        raise TypeError(
            'ratio takes window=seconds or calls=n, one of them: which calls is the share of?'
        )
    if check_int('calls', calls, minimum=minimum) > MOST_CALLS:
        raise ValueError(f'calls must be {MOST_CALLS} at most, not {calls!r}.')
    return RatioOfCalls(share, minimum, calls)


class RowCounter:
    """Counts failures in a row."""

    __slots__ = ('_limit', 'failures', 'is_clean')

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.failures = 0
        self.is_clean = True
        """Whether a success would change nothing, so that nobody need tell of it."""

    def succeeded(self, _now: float, /) -> None:
        """Count a success."""
        self.failures = 0
        self.is_clean = True

    def failed(self, _now: float, /) -> bool:
        """Count a failure; says whether it is one too many."""
        self.is_clean = False
        self.failures += 1
        return self.failures >= self._limit


class RingCounter:
    """Counts over the last calls, of which a ring holds one byte each."""

    __slots__ = ('_calls', '_place', '_ring', '_trip', 'failures')

    is_clean: ClassVar[bool] = False

    def __init__(self, trip: RatioOfCalls) -> None:
        self._trip = trip
        self._ring = bytearray(trip.calls)
        self._place = 0
        self._calls = 0
        self.failures = 0

    def succeeded(self, _now: float, /) -> None:
        """Count a success."""
        self._note(0)

    def failed(self, _now: float, /) -> bool:
        """Count a failure; says whether it is one too many."""
        self._note(1)
        return self._calls >= self._trip.minimum and self.failures / self._calls >= self._trip.share

    def _note(self, failed: int) -> None:
        ring, place = self._ring, self._place
        self.failures += failed - ring[place]
        ring[place] = failed
        self._place = (place + 1) % len(ring)
        if self._calls < len(ring):
            self._calls += 1


class _Bucket:
    __slots__ = ('calls', 'failures', 'number')

    def __init__(self, number: float) -> None:
        self.number = number
        self.calls = 0
        self.failures = 0


class WindowCounter:
    """Counts over the last seconds, in a few buckets however many calls there are. Its clock only goes forward."""

    __slots__ = ('_buckets', '_calls', '_trip', '_width', 'failures')

    is_clean: ClassVar[bool] = False

    def __init__(self, trip: RatioInTime) -> None:
        self._trip = trip
        self._width = trip.window / BUCKETS
        self._buckets: deque[_Bucket] = deque()
        self._calls = 0
        self.failures = 0

    def succeeded(self, now: float, /) -> None:
        """Count a success."""
        self._note(now, 0)

    def failed(self, now: float, /) -> bool:
        """Count a failure; says whether it is one too many."""
        self._note(now, 1)
        return self._calls >= self._trip.minimum and self.failures / self._calls >= self._trip.share

    def _note(self, now: float, failed: int) -> None:
        buckets = self._buckets
        number = now // self._width
        if not buckets or buckets[-1].number < number:
            while buckets and buckets[0].number <= number - BUCKETS:
                gone = buckets.popleft()
                self._calls -= gone.calls
                self.failures -= gone.failures
            buckets.append(_Bucket(number))
        bucket = buckets[-1]
        bucket.calls += 1
        bucket.failures += failed
        self._calls += 1
        self.failures += failed


Counter: TypeAlias = RowCounter | RingCounter | WindowCounter
"""What counts for a circuit, from the moment it closes; whoever calls it holds the circuit's lock."""
