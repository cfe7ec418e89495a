"""Percentile of the most recent latencies, used by `hedge` as its delay."""

from bisect import bisect_left, insort
from collections import deque
from math import ceil
from threading import Lock
from typing import final

from typing_extensions import override

from seamwise._runtime.registry import ProcessState, register
from seamwise._runtime.validation import check_float, check_int

_ROUNDING_ERROR = 1e-9


@final
class Percentile(ProcessState):
    """A running percentile of latencies in seconds; created by `percentile`. Thread-safe.

    Several guards can share one.
    """

    __slots__ = (
        '__weakref__',
        '_calls',
        '_latencies',
        '_lock',
        '_min_delay',
        '_minimum',
        '_rank',
        '_sorted',
    )

    def __init__(self, rank: float, *, min_delay: float, calls: int, minimum: int) -> None:
        self._rank = check_float('rank', rank, above=0.0, maximum=1.0)
        self._min_delay = check_float('min_delay', min_delay)
        self._calls = check_int('calls', calls)
        self._minimum = check_int('minimum', minimum)
        if minimum > calls:
            raise ValueError(f'minimum must be at most calls ({calls}), not {minimum}.')
        self._lock = Lock()
        self._latencies: deque[float] = deque()
        self._sorted: list[float] = []

    def record(self, seconds: float) -> None:
        """Add the latency of a call; a negative one, of a clock that went back, is ignored."""
        # Negated to ignore NaN too, which would break the order of the sorted list.
        if not seconds >= 0.0:
            return
        with self._lock:
            if len(self._latencies) == self._calls:
                del self._sorted[bisect_left(self._sorted, self._latencies.popleft())]
            self._latencies.append(seconds)
            insort(self._sorted, seconds)

    def after_fork(self) -> None:
        """Replace the lock in a forked process; the latencies stay."""
        self._lock = Lock()

    def reset(self) -> None:
        """Discard all latencies."""
        with self._lock:
            self._latencies.clear()
            self._sorted.clear()

    def seconds(self) -> float | None:
        """Return the percentile by nearest rank, or None while there are too few latencies."""
        with self._lock:
            count = len(self._sorted)
            if count < self._minimum:
                return None
            index = ceil(self._rank * count - _ROUNDING_ERROR) - 1
            return max(self._sorted[index], self._min_delay)

    @override
    def __str__(self) -> str:
        return (
            f'percentile {self._rank * 100:.4g} of the latencies (at least {self._min_delay:g} s)'
        )


def percentile(
    rank: float, *, min_delay: float = 0.01, calls: int = 1_000, minimum: int = 20
) -> Percentile:
    """Return a running percentile of latencies, for `hedge(after=percentile(0.95))`.

    It uses the nearest rank, without interpolation.

    Args:
        rank: Share of the latencies that do not exceed the percentile, above 0, at most 1.
        min_delay: Minimum of the result, in seconds.
        calls: Number of most recent latencies that are kept.
        minimum: Number of latencies before which there is no result.

    Raises:
        ValueError: A number is out of range.

    >>> latency = percentile(0.95, minimum=3)
    >>> for seconds in (0.1, 0.2, 0.3):
    ...     latency.record(seconds)
    >>> latency.seconds()
    0.3
    """
    return register(Percentile(rank, min_delay=min_delay, calls=calls, minimum=minimum))
