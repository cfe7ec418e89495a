"""Exponential backoff with a cap, and with jitter so that callers do not retry in lockstep."""

from collections.abc import Callable, Iterator
from typing import Final, Literal, TypeAlias, get_args

from seamwise._errors.errors import MAX_DELAY
from seamwise._runtime.validation import check_choice, check_float
from seamwise._runtime.world import REAL, World, check_world

Jitter: TypeAlias = Literal['full', 'equal', 'tenth', 'decorrelated', 'none']
"""Random spread of the delays; see `backoff`."""

JITTERS: Final[tuple[str, ...]] = get_args(Jitter)


def backoff(
    *,
    base: float = 0.1,
    factor: float = 2.0,
    cap: float = 5.0,
    jitter: Jitter = 'full',
    world: World = REAL,
) -> Iterator[float]:
    """Return an endless iterator over the delays before the second attempt, the third, and so on.

    The delays are in seconds; `retry` uses the same ones. Before jitter, the delay before retry n
    is `d = min(cap, base * factor ** (n - 1))`. With a random U in [0, 1), the jittered delay is:

    - `'full'`: U * d
    - `'equal'`: d/2 + U * d/2
    - `'tenth'`: min(d, cap/1.1) * (0.9 + 0.2 * U)
    - `'decorrelated'`: min(cap, base + U * (3 * previous delay - base)), without a factor; the
      first previous delay is `base`
    - `'none'`: d

    No delay exceeds `cap`. Delays at the cap still vary, except with `'none'`; those of
    `'decorrelated'` vary only in part. The formulas are those of Marc Brooker, "Exponential
    Backoff and Jitter" (AWS Architecture Blog, 2015).

    Args:
        base: Delay before the first retry, in seconds.
        factor: Growth of the delay per retry, at least 1.
        cap: Maximum delay in seconds, at least `base`.
        jitter: Random spread of the delays.
        world: Source of randomness.

    Raises:
        ValueError: A number is out of range, or the jitter is unknown.

    >>> from itertools import islice
    >>> list(islice(backoff(base=1.0, cap=5.0, jitter='none'), 5))
    [1.0, 2.0, 4.0, 5.0, 5.0]
    """
    return iter(Backoff(base=base, factor=factor, cap=cap, jitter=jitter, world=world))


class Backoff:
    """Validated settings of a backoff; each `iter()` starts at the first retry."""

    __slots__ = ('_apply_jitter', '_world', 'base', 'cap', 'factor', 'jitter')

    def __init__(
        self, *, base: float, factor: float, cap: float, jitter: Jitter, world: World
    ) -> None:
        check_choice('jitter', jitter, JITTERS)
        self.base = check_float('base', base, maximum=MAX_DELAY)
        self.factor = check_float('factor', factor, minimum=1.0)
        self.cap = check_float('cap', cap, maximum=MAX_DELAY)
        if self.cap < self.base:
            raise ValueError(f'cap must be base ({self.base:g} s) or more, not {cap!r}.')
        self.jitter = jitter
        self._world = check_world(world)
        self._apply_jitter = _JITTER_FUNCTIONS.get(jitter)

    def __iter__(self) -> Iterator[float]:
        """Yield the delays of one call, in seconds."""
        if self._apply_jitter is None:
            return self._decorrelated()
        return self._exponential(self._apply_jitter)

    def spread(self, seconds: float) -> float:
        """Return a delay of at least `seconds`, for clients that were told the same delay.

        At most `seconds` and at most the cap are added; nothing without jitter.
        """
        if self.jitter == 'none':
            return seconds
        return seconds + self._world.random() * min(seconds, self.cap)

    def _exponential(self, apply_jitter: Callable[[float, float], float]) -> Iterator[float]:
        # Leave room for the jitter below the cap. Otherwise `min` would cut off the upper half,
        # and half of the callers would retry at the same time.
        highest = self.cap / _TENTH_HIGH if self.jitter == 'tenth' else self.cap
        delay = self.base
        while True:
            # Limited before each multiplication, so that it never overflows.
            delay = min(delay, highest)
            yield min(apply_jitter(delay, self._world.random()), self.cap)
            delay *= self.factor

    def _decorrelated(self) -> Iterator[float]:
        delay = self.base
        while True:
            delay = min(self.base + self._world.random() * (3 * delay - self.base), self.cap)
            yield delay


_TENTH_LOW: Final = 0.9
_TENTH_HIGH: Final = 1.1


_JITTER_FUNCTIONS: Final[dict[str, Callable[[float, float], float]]] = {
    'full': lambda delay, random: random * delay,
    'equal': lambda delay, random: delay / 2 + random * delay / 2,
    'tenth': lambda delay, random: delay * (_TENTH_LOW + random * (_TENTH_HIGH - _TENTH_LOW)),
    'none': lambda delay, _: delay,
}
