"""Adaptive concurrency limits of a bulkhead: raised while calls are fast, cut when they fail."""

from math import inf, sqrt
from typing import Literal, TypeAlias

from msgspec import Struct
from typing_extensions import override

from seamwise._errors.errors import MAX_DELAY
from seamwise._runtime.validation import check_choice, check_float, check_int

Algorithm: TypeAlias = Literal['aimd', 'gradient']
"""Algorithm of an adaptive limit: additive increase with multiplicative decrease, or gradient."""

ALGORITHMS: tuple[Algorithm, ...] = ('aimd', 'gradient')

SLOW_FACTOR = 2.0
"""A round is slow if its mean latency exceeds the usual one by this factor and `slow` is None."""

DECREASE_FACTOR = 0.9
"""Factor of the limit after a failure or a slow round."""

TOLERANCE = 1.5
"""The gradient algorithm ignores latencies below the usual one times this factor."""

MIN_GRADIENT = 0.5
"""Lower bound of the gradient of one round."""

SMOOTHING = 0.2
"""Weight of the new limit in the moving average of the gradient algorithm."""

MIN_ROUND_CALLS = 10
"""Minimum number of calls in a round: fewer latencies have too much variance."""

PROBE_INTERVAL = 50
"""Rounds between two probes. A probe round halves the limit, to measure the latency of calls that
do not queue. A limit of which less than half is in use is left alone.
"""


class Adaptive(Struct, frozen=True):
    """Settings of an adaptive limit; the bulkhead creates one limit for each of its keys."""

    minimum: int
    maximum: int
    by: Algorithm
    slow: float | None
    start: int

    def new_limit(self) -> 'AdaptiveLimit':
        """Return a limit that has not measured any call yet."""
        return _AimdLimit(self) if self.by == 'aimd' else _GradientLimit(self)

    @override
    def __str__(self) -> str:
        return f'{self.minimum} to {self.maximum} ({self.by})'


def adaptive(
    minimum: int,
    maximum: int,
    *,
    by: Algorithm = 'aimd',
    slow: float | None = None,
    start: int | None = None,
) -> Adaptive:
    """Return an adaptive limit for `bulkhead(limit=…)`, which follows the latency of the calls.

    The limit changes after each round. A round has as many calls as the limit, and at least ten.

    - `'aimd'` adds one after a fast round in which at least half of the limit was in use. It cuts
      the limit by a tenth after a slow round.
    - `'gradient'` multiplies the limit by the ratio of the usual latency to that of the round. It
      adds the square root of the limit as room for a queue.

    Both cut the limit by a tenth after a failure that counts against the called service, at most
    once per round. Other failures are ignored. The usual latency is that of the fastest round.
    Every fiftieth round measures it again, with half the limit if more than that is in use. Without
    these probes, the latency of a permanent queue would become the usual one.

    AIMD: Chiu and Jain 1989, RFC 5681 section 3.1. Latency as the signal: TCP Vegas, Brakmo and
    Peterson 1995. Gradient: Gradient2Limit of Netflix concurrency-limits, with the queue of its
    GradientLimit. Probing: BBR, Cardwell et al. 2016.

    Args:
        minimum: Smallest limit, in concurrent calls.
        maximum: Largest limit, in concurrent calls.
        by: Algorithm, `'aimd'` or `'gradient'`.
        slow: Mean latency in seconds above which a round is slow, for `'aimd'`. None: twice the
            usual latency.
        start: Initial limit. None: `minimum`.

    >>> str(adaptive(4, 64))
    '4 to 64 (aimd)'
    """
    check_int('minimum', minimum)
    check_int('maximum', maximum, minimum=minimum)
    check_choice('by', by, ALGORITHMS)
    if start is None:
        start = minimum
    elif not minimum <= check_int('start', start) <= maximum:
        raise ValueError(
            f'start must be between minimum and maximum ({minimum} to {maximum}), not {start!r}.'
        )
    if slow is not None:
        slow = check_float('slow', slow, above=0.0, maximum=MAX_DELAY)
        if by == 'gradient':
            raise ValueError("slow requires by='aimd': the gradient compares relative latencies.")
    return Adaptive(minimum, maximum, by, slow, start)


class AdaptiveLimit:
    """One adaptive limit, updated under the lock of its bulkhead."""

    __slots__ = (
        '_call_count',
        '_limit_after_probe',
        '_max_in_flight',
        '_maximum',
        '_minimum',
        '_round_count',
        '_round_started_at',
        '_total_latency',
        '_unrounded',
        '_usual_latency',
        'limit',
    )

    def __init__(self, settings: Adaptive) -> None:
        self._minimum = settings.minimum
        self._maximum = settings.maximum
        self._usual_latency = inf
        self._round_count = 0
        self._limit_after_probe: float | None = None
        self._max_in_flight = 0
        self._start_round(-inf, settings.start)

    def on_failure(self, started_at: float, ended_at: float) -> None:
        """Cut the limit after a failed call; times are clock readings in seconds."""
        if self._is_in_round(started_at, ended_at):
            self._limit_after_probe = None
            self._start_round(ended_at, self._unrounded * DECREASE_FACTOR)

    def on_success(self, started_at: float, ended_at: float, in_flight: int) -> None:
        """Add the latency of a successful call to the current round.

        Args:
            started_at: Clock reading in seconds.
            ended_at: Clock reading in seconds.
            in_flight: Number of calls in flight when the call ended, including itself.
        """
        # A clock that stood still or went back measured nothing.
        if not self._is_in_round(started_at, ended_at) or ended_at <= started_at:
            return
        self._total_latency += ended_at - started_at
        self._call_count += 1
        self._max_in_flight = max(self._max_in_flight, in_flight)
        if self._call_count >= max(self.limit, MIN_ROUND_CALLS):
            self._end_round(ended_at)

    def _next_limit(self, latency: float, *, is_in_use: bool) -> float:
        """Return the limit after a round with this mean latency in seconds."""
        raise NotImplementedError

    def _is_in_round(self, started_at: float, ended_at: float) -> bool:
        # Calls that started before the round ran under the previous limit.
        return started_at >= self._round_started_at or ended_at < self._round_started_at

    def _end_round(self, now: float) -> None:
        latency = self._total_latency / self._call_count
        if self._limit_after_probe is not None:
            self._usual_latency = latency
            limit, self._limit_after_probe = self._limit_after_probe, None
            self._start_round(now, limit)
            return
        self._usual_latency = min(self._usual_latency, latency)
        is_in_use = self._max_in_flight * 2 >= self._unrounded
        limit = self._next_limit(latency, is_in_use=is_in_use)
        self._round_count += 1
        if self._round_count % PROBE_INTERVAL == 0:
            if is_in_use:
                self._limit_after_probe = limit
                limit /= 2
            else:
                # Its calls did not queue for the limit, so this round is a probe already.
                self._usual_latency = latency
        self._start_round(now, limit)

    def _start_round(self, now: float, limit: float) -> None:
        self._unrounded = min(max(limit, self._minimum), self._maximum)
        self.limit = int(self._unrounded)
        self._round_started_at = now
        self._total_latency = 0.0
        self._call_count = 0
        self._max_in_flight = 0


class _AimdLimit(AdaptiveLimit):
    __slots__ = ('_slow',)

    def __init__(self, settings: Adaptive) -> None:
        super().__init__(settings)
        self._slow = settings.slow

    @override
    def _next_limit(self, latency: float, *, is_in_use: bool) -> float:
        slow = SLOW_FACTOR * self._usual_latency if self._slow is None else self._slow
        if latency > slow:
            return self._unrounded * DECREASE_FACTOR
        return self._unrounded + 1 if is_in_use else self._unrounded


class _GradientLimit(AdaptiveLimit):
    __slots__ = ()

    @override
    def _next_limit(self, latency: float, *, is_in_use: bool) -> float:
        if not is_in_use:
            return self._unrounded
        gradient = min(max(TOLERANCE * self._usual_latency / latency, MIN_GRADIENT), 1.0)
        target = self._unrounded * gradient + sqrt(self._unrounded)
        return self._unrounded * (1 - SMOOTHING) + target * SMOOTHING
