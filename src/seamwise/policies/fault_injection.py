"""Fault injection for tests: failures, defects and delays, planned or drawn from a seed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from random import Random
from threading import Lock
from typing import Generic, Never, TypeVar, overload

from typing_extensions import override

from seamwise._results.containers import Failure
from seamwise._runtime.validation import check_callable, check_float, with_parentheses
from seamwise._runtime.world import REAL, World, check_world
from seamwise.policies._engine.permit import ADMITTED, Admission, Outcome, Permit, Waiting
from seamwise.policies._engine.pipeline import Guard, Layer

E = TypeVar('E')
T = TypeVar('T')
T_co = TypeVar('T_co', covariant=True)


@dataclass(frozen=True, slots=True)
class FaultPlan(Generic[T_co]):
    """Faults for a sequence of calls, built by `of` or `rate`; several guards can share it.

    Args:
        draws: Returns an iterator with a function for each call, which returns the fault or None.
        description: Text for `describe`.
    """

    draws: Callable[[Random], Iterator[Callable[[], T_co | None]]]
    description: str

    @staticmethod
    def of(*faults: T | None) -> 'FaultPlan[T]':
        """Build a plan with a fault for the first call, the second, and so on.

        None, and every call after the last fault, is a call without a fault.

        >>> from seamwise import Success
        >>> broken = chaos(seed=1, failures=FaultPlan.of('first', None, 'third'))
        >>> [broken.run_sync(lambda: Success('ok')) for _ in range(4)]
        [Failure('first'), Success('ok'), Failure('third'), Success('ok')]
        """

        def draws(_random: Random) -> Iterator[Callable[[], T | None]]:
            return chain((_constant(fault) for fault in faults), repeat(_no_fault))

        calls = 'call' if len(faults) == 1 else 'calls'
        return FaultPlan(draws, f'planned for {len(faults)} {calls}')

    @staticmethod
    def rate(share: float, make: Callable[[], T]) -> 'FaultPlan[T]':
        """Build a plan with a fault from `make` for a random share of the calls (0 to 1).

        >>> from seamwise import Success
        >>> broken = chaos(seed=1, failures=FaultPlan.rate(0.5, lambda: 'no'))
        >>> [broken.run_sync(lambda: Success('ok')) for _ in range(4)]
        [Success('ok'), Failure('no'), Success('ok'), Failure('no')]
        """
        check_float('share', share, maximum=1.0)
        check_callable('make', make, 'that returns a fault')

        def draws(random: Random) -> Iterator[Callable[[], T | None]]:
            while True:
                yield make if random.random() < share else _no_fault

        return FaultPlan(draws, f'{share:.4g} of the calls')


def _constant(fault: T) -> Callable[[], T]:
    return lambda: fault


def _no_fault() -> None:
    return None


NEVER: FaultPlan[Never] = FaultPlan.of()
"""The plan without faults."""


@overload
def chaos(
    *,
    seed: int,
    defects: FaultPlan[Exception] = NEVER,
    delays: FaultPlan[float] = NEVER,
    world: World = REAL,
    name: str = 'chaos',
) -> Guard[Never]: ...
@overload
def chaos(
    *,
    seed: int,
    failures: FaultPlan[E],
    defects: FaultPlan[Exception] = NEVER,
    delays: FaultPlan[float] = NEVER,
    world: World = REAL,
    name: str = 'chaos',
) -> Guard[E]: ...
@with_parentheses('chaos(seed=1)')
def chaos(
    *,
    seed: int,
    failures: FaultPlan[object] = NEVER,
    defects: FaultPlan[Exception] = NEVER,
    delays: FaultPlan[float] = NEVER,
    world: World = REAL,
    name: str = 'chaos',
) -> Guard[object]:
    """Build a guard that injects delays, defects and failures, to test the guards outside it.

    A call first waits for its delay. Then it raises its defect, or returns its failure, or runs the
    operation. The same seed injects the same faults, in order of the calls. Each of the three plans
    has its own random stream, so adding one does not change the others.

    Args:
        seed: Seed of the random streams.
        failures: Errors to return in a Failure.
        defects: Exceptions to raise.
        delays: Delays in seconds.
        world: Sleep; a `FakeWorld` in tests.
        name: Name in descriptions.

    >>> from seamwise import Success
    >>> failures = FaultPlan.rate(0.3, lambda: 'down')
    >>> shaky = chaos(seed=7, failures=failures, delays=FaultPlan.of(0.001))
    >>> sum(shaky.run_sync(lambda: Success('ok')) == Success('ok') for _ in range(1000))
    669
    """
    return ChaosLayer(seed, failures, defects, delays, world, name)


class ChaosLayer(Layer[object]):
    """Layer built by `chaos`."""

    kind = 'chaos'

    def __init__(
        self,
        seed: int,
        failures: FaultPlan[object],
        defects: FaultPlan[Exception],
        delays: FaultPlan[float],
        world: World,
        name: str,
    ) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise TypeError(f'seed must be a whole number, not {seed!r}.')
        plans = {'failures': failures, 'defects': defects, 'delays': delays}
        for argument, value in plans.items():
            if not isinstance(value, FaultPlan):
                raise TypeError(
                    f'{argument} must be a plan, such as `FaultPlan.rate(0.1, make)` or '
                    f'`FaultPlan.of(first, second)`, not {value!r}.'
                )
        self.world = check_world(world)
        self._lock = Lock()
        self._failures = _Draws(seed, 'failures', failures)
        self._defects = _Draws(seed, 'defects', defects)
        self._delays = _Draws(seed, 'delays', delays)
        descriptions = (
            f'{argument} {value.description}'
            for argument, value in plans.items()
            if value is not NEVER
        )
        self._limits = ', '.join([f'seed {seed}', *descriptions])
        super().__init__(name)

    @override
    def reset(self) -> None:
        super().reset()
        with self._lock:
            for draws in (self._failures, self._defects, self._delays):
                draws.restart()

    @override
    def after_fork(self) -> None:
        self._lock = Lock()

    @override
    def enter(self) -> Admission:
        with self._lock:
            faults = _Faults(
                self.world, self._delays.next(), self._defects.next(), self._failures.next()
            )
        return faults.start()

    @override
    def limits(self) -> str:
        return self._limits


class _Draws(Generic[T_co]):
    """The faults of a plan, one for each call."""

    def __init__(self, seed: int, purpose: str, plan: FaultPlan[T_co]) -> None:
        self._seed = f'{purpose} {seed}'
        self._plan = plan
        self.restart()

    def restart(self) -> None:
        """Start again with the fault of the first call."""
        self._faults = self._plan.draws(Random(self._seed))  # noqa: S311 -- reproducible faults

    def next(self) -> Callable[[], T_co | None]:
        """Return a function that returns the fault of the next call, or None."""
        return next(self._faults)


@dataclass(frozen=True, slots=True)
class _Faults:
    """Faults of one call."""

    world: World
    delay: Callable[[], float | None]
    defect: Callable[[], Exception | None]
    failure: Callable[[], object]

    def start(self) -> Admission:
        """Return the delay if there is one, else the decision after it."""
        seconds = self.delay()
        if seconds is None:
            return self.after_delay()
        return _FaultDelay(self, check_float('delay', seconds))

    def after_delay(self) -> Permit | Failure[object]:
        """Raise the defect or return the failure if there is one, else admit the call."""
        defect = self.defect()
        if defect is not None:
            raise defect
        failure = self.failure()
        return ADMITTED if failure is None else Failure(failure)


class _FaultDelay(Waiting):
    __slots__ = ('_faults', '_seconds')

    def __init__(self, faults: _Faults, seconds: float) -> None:
        self._faults = faults
        self._seconds = seconds

    @override
    async def wait(self) -> Permit | Outcome:
        await self._faults.world.sleep(self._seconds)
        return self._faults.after_delay()

    @override
    def wait_sync(self) -> Permit | Outcome:
        self._faults.world.sleep_sync(self._seconds)
        return self._faults.after_delay()
