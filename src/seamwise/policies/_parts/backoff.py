"""How long to wait before the next attempt: exponential, never above a cap, spread by chance so that callers do not come back at once."""

from collections.abc import Callable, Iterator
from typing import Final, Literal, TypeAlias, get_args

from seamwise.errors import MAX_DELAY
from seamwise.policies._engine.validation import check_choice, check_float
from seamwise.policies._engine.world import REAL, World, check_world

Jitter: TypeAlias = Literal['full', 'equal', 'tenth', 'decorrelated', 'none']
"""How the waits of many callers are spread."""

JITTERS: Final[tuple[str, ...]] = get_args(Jitter)


def backoff(
    *,
    base: float = 0.1,
    factor: float = 2.0,
    cap: float = 5.0,
    jitter: Jitter = 'full',
    world: World = REAL,
) -> Iterator[float]:
    """Give the delays before the second attempt, the third and so on, in seconds, without end; `retry` waits as long.

    The delay `d` before retry n is `min(cap, base * factor ** (n - 1))`, and what is waited, with U in [0, 1): `full` U * d,
    `equal` d/2 + U * d/2, `tenth` min(d, cap/1.1) * (0.9 + 0.2 * U), `none` d. `decorrelated` has no factor:
    min(cap, base + U * (3 * the delay before - base)), which begins at `base`. All are `cap` at most; all but `none`
    are still spread there, `decorrelated` only in part. A number that cannot be meant is a ValueError.

    The forms are those of Marc Brooker, "Exponential Backoff and Jitter" (AWS Architecture Blog, 2015).

    >>> from itertools import islice
    >>> list(islice(backoff(base=1.0, cap=5.0, jitter='none'), 5))
    [1.0, 2.0, 4.0, 5.0, 5.0]
    """
    return iter(Backoff(base=base, factor=factor, cap=cap, jitter=jitter, world=world))


class Backoff:
    """The settings of a backoff, checked once; each `iter` begins at the first retry."""

    __slots__ = ('_random', '_spread', 'base', 'cap', 'factor', 'jitter')

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
        self._random = check_world(world).random
        self._spread = _SPREAD.get(jitter)

    def __iter__(self) -> Iterator[float]:
        """Give the delays of one call."""
        return self._decorrelated() if self._spread is None else self._exponential(self._spread)

    def _exponential(self, spread: Callable[[float, float], float]) -> Iterator[float]:
        # What is added on top at the cap would be cut off, and everybody would come back at the same moment.
        highest = self.cap / _ABOVE if self.jitter == 'tenth' else self.cap
        step = self.base
        while True:
            # Cut before it is multiplied again: no retry is so late that a power overflows.
            step = min(step, highest)
            yield min(spread(step, self._random()), self.cap)
            step *= self.factor

    def _decorrelated(self) -> Iterator[float]:
        delay = self.base
        while True:
            delay = min(self.base + self._random() * (3 * delay - self.base), self.cap)
            yield delay


_BELOW: Final = 0.9
_ABOVE: Final = 1.1


def _full(step: float, chance: float) -> float:
    return chance * step


def _equal(step: float, chance: float) -> float:
    return step / 2 + chance * step / 2


def _tenth(step: float, chance: float) -> float:
    return step * (_BELOW + chance * (_ABOVE - _BELOW))


def _none(step: float, _chance: float) -> float:
    return step


_SPREAD: Final[dict[str, Callable[[float, float], float]]] = {
    'full': _full,
    'equal': _equal,
    'tenth': _tenth,
    'none': _none,
}
