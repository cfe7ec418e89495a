"""A limit of a bulkhead that finds itself: up while calls are as quick as usual, down when they fail or take longer."""

from math import inf, sqrt
from typing import Literal, TypeAlias

from msgspec import Struct
from typing_extensions import override

from seamwise.errors import MAX_DELAY
from seamwise.policies._engine.validation import check_choice, check_float, check_int

By: TypeAlias = Literal['aimd', 'gradient']
"""How a limit is found: by small steps up and large ones down, or by how much longer calls take than usual."""

METHODS: tuple[By, ...] = ('aimd', 'gradient')

TWICE = 2.0
"""Calls that take so many times as long as usual are slow, where nobody said which are."""

CUT = 0.9
"""What is left of a limit after a failure or a slow round."""

TOLERANCE = 1.5
"""By so much may calls take longer than usual before a gradient is one."""

STEEPEST = 0.5
"""What one round may do to a gradient."""

SMOOTHING = 0.2
"""How much of the new limit one round brings in."""

LEAST_ROUND = 10
"""A round is of as many calls as the limit allows, and of so many at least: one call alone says little."""

PROBE_EVERY = 50
"""After so many rounds one runs with half the limit, to see again what is usual where nobody queues."""


class Adaptive(Struct, frozen=True):
    """What `adaptive` was told; `bulkhead` makes the limits of it, one a key."""

    minimum: int
    maximum: int
    by: By
    slow: float | None
    start: int

    def new_limit(self) -> 'AdaptiveLimit':
        """Make a limit that has learned nothing yet."""
        return _Aimd(self) if self.by == 'aimd' else _Gradient(self)

    @override
    def __str__(self) -> str:
        return f'{self.minimum} to {self.maximum} ({self.by})'


def adaptive(
    minimum: int,
    maximum: int,
    *,
    by: By = 'aimd',
    slow: float | None = None,
    start: int | None = None,
) -> Adaptive:
    """Give a limit for `bulkhead` that finds itself between two numbers, beginning with `start` (None: the minimum).

    It is set anew after each round of as many calls as it allows. `aimd`: up by one after a round in time, where at least half of it
    was in use; a tenth off after a slow one, whose mean is over `slow` seconds (None: twice the usual time). `gradient`: it is
    multiplied by the usual time divided by the round's, and leaves the square root of itself for a queue. In both, a failure that
    speaks against what was called takes a tenth off, once a round; other failures teach nothing. The usual time is that of the
    quickest round; every fiftieth runs with half the limit to find it again, or else a queue that never ends would become usual.

    AIMD: Chiu and Jain 1989, RFC 5681 section 3.1; latency as the signal: TCP Vegas, Brakmo and Peterson 1995. Gradient: Gradient2Limit
    of Netflix concurrency-limits, with the queue of its GradientLimit. Probing: BBR, Cardwell et al. 2016.

    >>> str(adaptive(4, 64))
    '4 to 64 (aimd)'
    """
    check_int('minimum', minimum)
    check_int('maximum', maximum, minimum=minimum)
    check_choice('by', by, METHODS)
    if start is None:
        start = minimum
    elif not minimum <= check_int('start', start) <= maximum:
        raise ValueError(
            f'start must be between minimum and maximum, {minimum} and {maximum}, not {start!r}.'
        )
    if slow is not None:
        slow = check_float('slow', slow, above=0.0, maximum=MAX_DELAY)
        if by == 'gradient':
            raise ValueError('slow is for aimd: a gradient compares a call with the usual one.')
    return Adaptive(minimum, maximum, by, slow, start)


class AdaptiveLimit:
    """One limit that finds itself. It is told of calls that have ended_at, under its bulkhead's lock."""

    __slots__ = (
        '_before',
        '_busiest',
        '_count',
        '_exact',
        '_maximum',
        '_minimum',
        '_round_from',
        '_rounds',
        '_total',
        '_usual',
        'limit',
    )

    def __init__(self, told: Adaptive) -> None:
        self._minimum = told.minimum
        self._maximum = told.maximum
        self._usual = inf
        self._rounds = 0
        self._before: float | None = None
        self._busiest = 0
        self._begin(-inf, told.start)

    def on_failure(self, started_at: float, ended_at: float) -> None:
        """Learn of a call that failed: seconds of the clock."""
        if self._is_of_this_round(started_at, ended_at):
            self._before = None
            self._begin(ended_at, self._exact * CUT)

    def on_success(self, started_at: float, ended_at: float, inside: int) -> None:
        """Learn of a call that succeeded, when so many were at work, itself included."""
        # A clock that stood still or went back says nothing.
        if not self._is_of_this_round(started_at, ended_at) or ended_at <= started_at:
            return
        self._total += ended_at - started_at
        self._count += 1
        self._busiest = max(self._busiest, inside)
        if self._count >= max(self.limit, LEAST_ROUND):
            self._end_round(ended_at)

    def _next(self, took: float, *, is_in_use: bool) -> float:
        """Give the limit after a round of calls that took so many seconds each."""
        raise NotImplementedError

    def _is_of_this_round(self, started_at: float, ended_at: float) -> bool:
        # Calls that started_at before it ran under the former limit.
        return started_at >= self._round_from or ended_at < self._round_from

    def _end_round(self, ended_at: float) -> None:
        took = self._total / self._count
        if self._before is not None:
            self._usual = took
            before, self._before = self._before, None
            self._begin(ended_at, before)
            return
        self._usual = min(self._usual, took)
        exact = self._next(took, is_in_use=self._busiest * 2 >= self._exact)
        self._rounds += 1
        if self._rounds % PROBE_EVERY == 0:
            self._before = exact
            exact /= 2
        self._begin(ended_at, exact)

    def _begin(self, at: float, exact: float) -> None:
        self._exact = min(max(exact, self._minimum), self._maximum)
        self.limit = int(self._exact)
        self._round_from = at
        self._total = 0.0
        self._count = 0
        self._busiest = 0


class _Aimd(AdaptiveLimit):
    __slots__ = ('_slow',)

    def __init__(self, told: Adaptive) -> None:
        super().__init__(told)
        self._slow = told.slow

    @override
    def _next(self, took: float, *, is_in_use: bool) -> float:
        if took > (TWICE * self._usual if self._slow is None else self._slow):
            return self._exact * CUT
        return self._exact + 1 if is_in_use else self._exact


class _Gradient(AdaptiveLimit):
    __slots__ = ()

    @override
    def _next(self, took: float, *, is_in_use: bool) -> float:
        if not is_in_use:
            return self._exact
        gradient = min(max(TOLERANCE * self._usual / took, STEEPEST), 1.0)
        aim = self._exact * gradient + sqrt(self._exact)
        return self._exact * (1 - SMOOTHING) + aim * SMOOTHING
