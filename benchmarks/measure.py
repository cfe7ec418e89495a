"""Measurement of two sides in turns, so that a busy machine slows both, and their ratio stays."""

import gc
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import repeat
from statistics import median
from time import perf_counter_ns
from typing import TypeAlias

from msgspec import Struct

Timer: TypeAlias = Callable[[int], int]
"""Runs its work the given number of times, and returns the duration in nanoseconds."""

BATCH_NS = 1_000_000
"""Duration of a batch in nanoseconds: shorter than a time slice, so that most are undisturbed."""

_PASSES = 10
"""Number of parts of each comparison, so that a slow minute affects all rows, not one."""


class Comparison(Struct, frozen=True, kw_only=True):
    """A job and its peer.

    Args:
        job: Our side, in words.
        peer: The other side, in words.
        ours: Timer of our side.
        theirs: Timer of the other side.
        target: Maximum ratio of ours to theirs. None: no target.
        because: The main cost, to explain a missed target.
        rounds: Number of batches of each side.
    """

    job: str
    peer: str
    ours: Timer
    theirs: Timer
    target: float | None = None
    because: str = ''
    rounds: int = 300


class Measurement(Struct, frozen=True, kw_only=True):
    """Median durations of one call in nanoseconds, and the median of the ratios of all rounds."""

    comparison: Comparison
    ours_ns: float
    peer_ns: float
    ratio: float
    rounds: int

    @property
    def is_met(self) -> bool:
        """Whether the ratio is within its target, if it has one."""
        return self.comparison.target is None or self.ratio <= self.comparison.target


def timed(work: Callable[[Iterable[None]], object], /) -> Timer:
    """Return a timer for a function that works once per turn; each turn costs 10 ns itself."""

    def timer(times: int) -> int:
        turns = repeat(None, times)
        start = perf_counter_ns()
        work(turns)
        return perf_counter_ns() - start

    return timer


def measure(
    comparisons: Sequence[Comparison], /, *, rounds: int | None = None, batch_ns: int = BATCH_NS
) -> list[Measurement]:
    """Measure all comparisons in turns; a batch takes at least `batch_ns` nanoseconds."""
    races = [_Race(item, rounds or item.rounds, batch_ns) for item in comparisons]
    for number in range(_PASSES):
        for race in races:
            race.run(number)
    return [race.measurement() for race in races]


class _Race:
    """The two sides of a comparison, and their durations per call so far."""

    def __init__(self, comparison: Comparison, rounds: int, batch_ns: int) -> None:
        self._comparison = comparison
        self._rounds = rounds
        self._sides = [
            (timer, _batch(timer, batch_ns)) for timer in (comparison.ours, comparison.theirs)
        ]
        self._times: tuple[list[float], list[float]] = ([], [])

    def run(self, number: int) -> None:
        """Run this pass's share of the rounds; the sides take turns to be first."""
        start, end = (part * self._rounds // _PASSES for part in (number, number + 1))
        for round_number in range(start, end):
            with _no_collection():
                for side in (0, 1) if round_number % 2 else (1, 0):
                    timer, size = self._sides[side]
                    self._times[side].append(timer(size) / size)

    def measurement(self) -> Measurement:
        """Return the medians."""
        ours, theirs = self._times
        ratios = [our / their for our, their in zip(ours, theirs, strict=True)]
        return Measurement(
            comparison=self._comparison,
            ours_ns=median(ours),
            peer_ns=median(theirs),
            ratio=median(ratios),
            rounds=self._rounds,
        )


def _batch(timer: Timer, batch_ns: int) -> int:
    """Return the number of runs that fill a batch, after warming up."""
    size = 1
    # A first run may compile patterns, so a slow batch is repeated.
    while timer(size) < batch_ns or timer(size) < batch_ns:
        size *= 2
    return size


@contextmanager
def _no_collection() -> Generator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
