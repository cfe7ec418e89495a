"""A guard for tests that fails by plan or by chance: failures, defects and delays, each from one seed, and the same each time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from random import Random
from threading import Lock
from typing import Generic, Never, TypeVar, overload

from typing_extensions import override

from seamwise.containers import Failure, quick_failure
from seamwise.policies._engine.permit import ADMITTED, Decision, Outcome, Permit, Wait
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies._engine.validation import check_callable, check_float
from seamwise.policies._engine.world import REAL, World, check_world

E = TypeVar('E')
T = TypeVar('T')
T_co = TypeVar('T_co', covariant=True)


@dataclass(frozen=True, slots=True)
class Plan(Generic[T_co]):
    """What happens to each call in turn, or None for nothing; made by `rate` or `plan`. It keeps no count: one may serve many guards."""

    draws: Callable[[Random], Iterator[Callable[[], T_co | None]]]
    words: str


def plan(*happens: T | None) -> Plan[T]:
    """Say what happens to the first call, the second and so on; None, and what comes after the last, is nothing.

    >>> from seamwise import Success
    >>> broken = chaos(seed=1, failures=plan('first', None, 'third'))
    >>> [broken.run_sync(lambda: Success('ok')) for _ in range(4)]
    [<Failure: first>, <Success: ok>, <Failure: third>, <Success: ok>]
    """

    def draws(_random: Random) -> Iterator[Callable[[], T | None]]:
        return chain((_given(one) for one in happens), repeat(_nothing))

    return Plan(draws, f'as planned for {len(happens)} calls')


def _given(one: T) -> Callable[[], T]:
    return lambda: one


def _nothing() -> None:
    return None


def rate(share: float, make: Callable[[], T]) -> Plan[T]:
    """Let something happen to a share of the calls, 0 to 1, drawn from the seed; `make` makes it anew each time.

    >>> from seamwise import Success
    >>> broken = chaos(seed=1, failures=rate(0.5, lambda: 'no'))
    >>> [broken.run_sync(lambda: Success('ok')) for _ in range(4)]
    [<Success: ok>, <Failure: no>, <Success: ok>, <Failure: no>]
    """
    check_float('share', share, most=1.0)
    check_callable('make', make, 'that makes what happens')

    def draws(random: Random) -> Iterator[Callable[[], T | None]]:
        while True:
            yield make if random.random() < share else _nothing

    return Plan(draws, f'{share:.4g} of the calls')


NEVER: Plan[Never] = plan()
"""Nothing happens to any call."""


@overload
def chaos(
    *,
    seed: int,
    defects: Plan[Exception] = NEVER,
    delays: Plan[float] = NEVER,
    world: World = REAL,
    name: str = 'chaos',
) -> Guard[Never]: ...
@overload
def chaos(
    *,
    seed: int,
    failures: Plan[E],
    defects: Plan[Exception] = NEVER,
    delays: Plan[float] = NEVER,
    world: World = REAL,
    name: str = 'chaos',
) -> Guard[E]: ...
def chaos(
    *,
    seed: int,
    failures: Plan[object] = NEVER,
    defects: Plan[Exception] = NEVER,
    delays: Plan[float] = NEVER,
    world: World = REAL,
    name: str = 'chaos',
) -> Guard[object]:
    """Let calls fail, raise and wait as planned, to see in a test what the guards around make of it.

    A call waits first, for so many seconds; then it raises a defect, or gives a failure, instead of calling the operation; or it
    goes in. Gives the operation's result, or a planned failure. The same seed gives the same calls the same fate, in the order in
    which they come. Each of the three has a stream of chances of its own: a plan that is added for one changes nothing of another.

    >>> from seamwise import Success
    >>> shaky = chaos(seed=7, failures=rate(0.3, lambda: 'down'), delays=plan(0.001))
    >>> sum(shaky.run_sync(lambda: Success('ok')) == Success('ok') for _ in range(1000))
    669
    """
    return Chaos(seed, failures, defects, delays, world, name)


class Chaos(Layer[object]):
    """The layer that `chaos` makes."""

    def __init__(
        self,
        seed: int,
        failures: Plan[object],
        defects: Plan[Exception],
        delays: Plan[float],
        world: World,
        name: str,
    ) -> None:
        super().__init__(name)
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise TypeError(f'seed must be a whole number, not {seed!r}.')
        plans = {'failures': failures, 'defects': defects, 'delays': delays}
        for argument, one in plans.items():
            if not isinstance(one, Plan):
                raise TypeError(
                    f'{argument} must be a plan, as `rate(0.1, make)` or `plan(first, second)`, not {one!r}.'
                )
        self.world = check_world(world)
        self._lock = Lock()
        self._failures = failures.draws(_stream(seed, 'failures'))
        self._defects = defects.draws(_stream(seed, 'defects'))
        self._delays = delays.draws(_stream(seed, 'delays'))
        self._words = ', '.join(
            [
                f'seed {seed}',
                *(f'{argument} {one.words}' for argument, one in plans.items() if one is not NEVER),
            ]
        )

    @override
    def enter(self) -> Decision:
        with self._lock:
            fate = _Fate(self.world, next(self._delays), next(self._defects), next(self._failures))
        return fate.begun()

    @override
    def limits(self) -> str:
        return self._words


def _stream(seed: int, of: str) -> Random:
    return Random(f'{of} {seed}')  # noqa: S311 -- what is drawn has to be known beforehand


@dataclass(frozen=True, slots=True)
class _Fate:
    """What happens to one call."""

    world: World
    delay: Callable[[], float | None]
    defect: Callable[[], Exception | None]
    failure: Callable[[], object]

    def begun(self) -> Decision:
        """Wait, where there is a delay, and then see."""
        seconds = self.delay()
        return self.ended() if seconds is None else _Delay(self, check_float('a delay', seconds))

    def ended(self) -> Permit | Failure[object]:
        """Go in, unless there is something to raise or to give."""
        defect = self.defect()
        if defect is not None:
            raise defect
        failure = self.failure()
        return ADMITTED if failure is None else quick_failure(failure)


class _Delay(Wait):
    __slots__ = ('_fate', '_seconds')

    def __init__(self, fate: _Fate, seconds: float) -> None:
        self._fate = fate
        self._seconds = seconds

    @override
    async def wait(self) -> Permit | Outcome:
        await self._fate.world.sleep(self._seconds)
        return self._fate.ended()

    @override
    def wait_sync(self) -> Permit | Outcome:
        self._fate.world.sleep_sync(self._seconds)
        return self._fate.ended()
