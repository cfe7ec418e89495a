"""Two sides timed in turns: what a busy machine does to one it does to the other, and the ratio stays."""

import gc
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import repeat
from statistics import median
from time import perf_counter_ns
from typing import TypeAlias

from msgspec import Struct

Timer: TypeAlias = Callable[[int], int]
"""Runs so many times and gives the nanoseconds that all of them took."""

BATCH_NS = 1_000_000
"""A batch is shorter than the turn of another process on the same core, so that most batches are not disturbed."""

_PASSES = 10
"""Every comparison runs in so many parts: a slow minute of the machine belongs to all rows, not to one."""


class Comparison(Struct, frozen=True, kw_only=True):
    """What is compared with what; `target` is the highest ratio of ours to theirs, `because` what drives it."""

    job: str
    peer: str
    ours: Timer
    theirs: Timer
    target: float | None = None
    because: str = ''
    rounds: int = 300


class Measurement(Struct, frozen=True, kw_only=True):
    """The median times of one call in nanoseconds, and the median of the ratios of all rounds."""

    comparison: Comparison
    ours_ns: float
    peer_ns: float
    ratio: float
    rounds: int

    @property
    def is_met(self) -> bool:
        """Whether the ratio keeps within its target, if there is one."""
        return self.comparison.target is None or self.ratio <= self.comparison.target


def timed(work: Callable[[Iterable[None]], object], /) -> Timer:
    """Make a timer of a function that does its work once a turn; the turns themselves cost 10 ns each."""

    def timer(times: int) -> int:
        turns = repeat(None, times)
        start = perf_counter_ns()
        work(turns)
        return perf_counter_ns() - start

    return timer


def measure(
    comparisons: Sequence[Comparison], /, *, rounds: int | None = None, batch_ns: int = BATCH_NS
) -> list[Measurement]:
    """Time all comparisons in turns, in each round a batch of at least `batch_ns` nanoseconds of both sides."""
    races = [_Race(one, rounds or one.rounds, batch_ns) for one in comparisons]
    for number in range(_PASSES):
        for race in races:
            race.run(number)
    return [race.measurement() for race in races]


class _Race:
    """The two sides of a comparison, and the times of one call that each has shown so far."""

    def __init__(self, comparison: Comparison, rounds: int, batch_ns: int) -> None:
        self._comparison = comparison
        self._rounds = rounds
        self._sides = [
            (timer, _batch(timer, batch_ns)) for timer in (comparison.ours, comparison.theirs)
        ]
        self._times: tuple[list[float], list[float]] = ([], [])

    def run(self, number: int) -> None:
        """Run this pass's share of the rounds; who goes first, takes turns."""
        for played in range(
            number * self._rounds // _PASSES, (number + 1) * self._rounds // _PASSES
        ):
            with _no_collection():
                for side in (0, 1) if played % 2 else (1, 0):
                    timer, size = self._sides[side]
                    self._times[side].append(timer(size) / size)

    def measurement(self) -> Measurement:
        """Give the medians."""
        ours, theirs = self._times
        ratios = [one / other for one, other in zip(ours, theirs, strict=True)]
        return Measurement(
            comparison=self._comparison,
            ours_ns=median(ours),
            peer_ns=median(theirs),
            ratio=median(ratios),
            rounds=self._rounds,
        )


def _batch(timer: Timer, batch_ns: int) -> int:
    """Find how many runs fill a batch; warms up what is timed."""
    size = 1
    while timer(size) < batch_ns:
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
