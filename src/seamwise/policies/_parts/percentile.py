"""A percentile of the latencies that were seen last: the delay after which a call is late."""

from bisect import bisect_left, insort
from collections import deque
from math import ceil
from threading import Lock
from typing import final

from typing_extensions import override

from seamwise.policies._engine.validation import check_float, check_int

_ROUNDING = 1e-9


@final
class Percentile:
    """The latency in seconds under which a share of the last calls stayed; made by `percentile`, used by `hedge(after=…)`.

    It may be shared by guards, from any number of threads.
    """

    __slots__ = ('_calls', '_least', '_lock', '_minimum', '_rank', '_seen', '_sorted')

    def __init__(self, rank: float, *, least: float, calls: int, minimum: int) -> None:
        self._rank = check_float('rank', rank, above=0.0, maximum=1.0)
        self._least = check_float('least', least)
        self._calls = check_int('calls', calls)
        self._minimum = check_int('minimum', minimum)
        if minimum > calls:
            raise ValueError(
                f'minimum must be {calls} at most, as many as the calls that are kept, not {minimum}.'
            )
        self._lock = Lock()
        self._seen: deque[float] = deque()
        self._sorted: list[float] = []

    def record(self, seconds: float) -> None:
        """Take in how long a call took; what a clock that went backwards says is left out."""
        # Written so that NaN is left out too: one in a sorted list spoils its order.
        if not seconds >= 0.0:
            return
        with self._lock:
            if len(self._seen) == self._calls:
                del self._sorted[bisect_left(self._sorted, self._seen.popleft())]
            self._seen.append(seconds)
            insort(self._sorted, seconds)

    def seconds(self) -> float | None:
        """Give the percentile by the nearest rank, `least` at least; None while too few calls were seen."""
        with self._lock:
            many = len(self._sorted)
            if many < self._minimum:
                return None
            return max(self._sorted[ceil(self._rank * many - _ROUNDING) - 1], self._least)

    @override
    def __str__(self) -> str:
        return f'{self._rank:.4g} of the latencies seen ({self._least:g} s at least)'


def percentile(
    rank: float, *, least: float = 0.01, calls: int = 1_000, minimum: int = 20
) -> Percentile:
    """Follow the latency that a share `rank` of calls stays under, 0 to 1, of the last `calls`: by the nearest rank, no interpolation.

    It is `least` seconds at least, and there is none until `minimum` calls were seen. A number out of range is a ValueError.

    >>> late = percentile(0.95, minimum=3)
    >>> for latency in (0.1, 0.2, 0.3):
    ...     late.record(latency)
    >>> late.seconds()
    0.3
    """
    return Percentile(rank, least=least, calls=calls, minimum=minimum)
