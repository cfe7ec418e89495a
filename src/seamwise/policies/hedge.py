"""Hedged requests: start a second attempt when the first one is slow, and use the first success."""

import asyncio
from asyncio import Task
from collections.abc import Awaitable, Callable
from functools import partial
from threading import Lock
from typing import Final, Never, TypeVar

from typing_extensions import override

from seamwise.containers import Result, Success
from seamwise.errors import TaggedError
from seamwise.policies._engine.observers import safe_observer
from seamwise.policies._engine.permit import Decision, Fork, Outcome
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies._engine.validation import check_float
from seamwise.policies._engine.world import REAL, World, check_world
from seamwise.policies._parts.percentile import Percentile
from seamwise.policies._parts.single_flight import cancel_and_wait
from seamwise.policies.events import GaveUp, Observer, Recovered

T = TypeVar('T')
E = TypeVar('E')

_MAX_CREDIT: Final = 10.0
"""Maximum number of second attempts that can be saved up."""

_ROUNDING: Final = 1e-9


def hedge(
    *,
    after: float | Percentile,
    name: str,
    share: float = 0.1,
    observer: Observer | None = None,
    world: World = REAL,
) -> Guard[Never]:
    """Build a guard that starts a second attempt if the first one has not returned after a delay.

    The first success is the result, and the other attempt is cancelled. Use it only for operations
    that can run twice at the same time: reads, and idempotent writes.

    A failure waits for the other attempt, if one is running. If both fail, the result is the
    failure of the first attempt. A defect cancels the other attempt and propagates. Both attempts
    have ended when the call returns.

    Attempts run in tasks, with copies of the caller's context. `run_sync` makes one attempt only.

    After J. Dean, L. A. Barroso, The Tail at Scale, 2013 ("hedged requests"), and the hedging of
    gRPC (proposal A6).

    Args:
        after: Delay in seconds before the second attempt, or a `percentile(0.95)` of the measured
            latencies. Until the percentile has enough measurements, no call is hedged.
        name: Name in errors, events and descriptions.
        share: Maximum share of calls with a second attempt (0 to 1), so that a slow service
            receives little additional load. Unused second attempts are saved up, at most ten.
        observer: Receives `Recovered` and `GaveUp` events of calls with two attempts.
        world: Clock and alarms; a `FakeWorld` in tests.

    Raises:
        ValueError: An argument is out of range.

    >>> hedge(after=0.05, name='search').describe()
    "hedge 'search': a second attempt after 0.05 s, for 10 % of calls"
    """
    return HedgeLayer(name, after, share, observer, world)


class HedgeLayer(Layer[Never]):
    """Layer built by `hedge`."""

    kind = 'hedge'

    def __init__(
        self,
        name: str,
        after: float | Percentile,
        share: float,
        observer: Observer | None,
        world: World,
    ) -> None:
        self.after = (
            after if isinstance(after, Percentile) else check_float('after', after, above=0.0)
        )
        self.share = check_float('share', share, above=0.0, maximum=1.0)
        self.observer = safe_observer(observer)
        self.world = check_world(world)
        # Tasks of several event loops share the credit.
        self._lock = Lock()
        self._credit = 0.0
        self._race = _Race(self)
        super().__init__(name)

    @override
    def reset(self) -> None:
        super().reset()
        with self._lock:
            self._credit = 0.0
        if isinstance(self.after, Percentile):
            self.after.reset()

    @override
    def enter(self) -> Decision:
        return self._race

    @override
    def limits(self) -> str:
        after = str(self.after) if isinstance(self.after, Percentile) else f'{self.after:g} s'
        return f'a second attempt after {after}, for {self.share * 100:g} % of calls'

    def earn(self) -> None:
        """Add the share of a second attempt that each call earns."""
        with self._lock:
            self._credit = min(self._credit + self.share, _MAX_CREDIT)

    def spend(self) -> bool:
        """Take a second attempt, and return whether one was available."""
        with self._lock:
            if self._credit < 1.0 - _ROUNDING:
                return False
            self._credit -= 1.0
            return True


class _Race(Fork[Never]):
    """Runs the calls of one hedge."""

    __slots__ = ('_hedge',)

    def __init__(self, hedge: HedgeLayer) -> None:
        self._hedge = hedge

    @override
    async def run(self, operation: Callable[[], Awaitable[Result[T, E]]], /) -> Result[T, E]:
        started_at = self._hedge.world.clock()
        self._hedge.earn()
        attempts = [asyncio.create_task(_attempt(operation))]
        try:
            if await self._is_late(attempts[0]) and self._hedge.spend():
                attempts.append(asyncio.create_task(_attempt(operation)))
            outcome = await _first_success(attempts)
        except BaseException as error:
            try:
                await cancel_and_wait(attempts, self._hedge.name, error)
            finally:
                # The tasks refer to the defect, and its traceback refers to this frame.
                attempts.clear()
            raise
        elapsed = self._hedge.world.clock() - started_at
        self._record_latency(attempts[0], elapsed)
        if len(attempts) > 1:
            await cancel_and_wait(attempts, self._hedge.name)
            self._notify(outcome, elapsed)
        return outcome

    async def _is_late(self, first: Task[Outcome]) -> bool:
        after = self._hedge.after
        seconds = after.seconds() if isinstance(after, Percentile) else after
        if seconds is None:
            return False
        late: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        alarm = self._hedge.world.alarm(seconds, partial(late.set_result, None))
        try:
            await asyncio.wait((first, late), return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
        return not first.done()

    def _record_latency(self, first: Task[Outcome], elapsed: float) -> None:
        """Record the latency of the first attempt, or its duration when the second one returned."""
        after = self._hedge.after
        # A failure says nothing about the latency of a success. An attempt that lost took longer
        # than the percentile, and its exact latency has no effect.
        if isinstance(after, Percentile) and (not first.done() or type(first.result()) is Success):
            after.record(elapsed)

    def _notify(self, outcome: Outcome, elapsed: float) -> None:
        observer, name = self._hedge.observer, self._hedge.name
        if observer is None:
            return
        if isinstance(outcome, Success):
            observer(Recovered(name, 2, elapsed))
            return
        error = outcome.failure()
        if isinstance(error, TaggedError):
            observer(GaveUp(name, error, 2, elapsed, 'attempts'))


async def _attempt(operation: Callable[[], Awaitable[Result[T, E]]]) -> Result[T, E]:
    # Called in the task: one that is cancelled before its first step leaves no unawaited coroutine.
    return await operation()


async def _first_success(attempts: list[Task[Result[T, E]]]) -> Result[T, E]:
    while True:
        # If both attempts end at the same time, a defect takes precedence: it is raised here.
        outcomes = _outcomes(attempts)
        for outcome in outcomes:
            if type(outcome) is Success:
                return outcome
        if len(outcomes) == len(attempts):
            return outcomes[0]
        await asyncio.wait(
            [task for task in attempts if not task.done()], return_when=asyncio.FIRST_COMPLETED
        )


def _outcomes(attempts: list[Task[Result[T, E]]]) -> list[Result[T, E]]:
    """Return the outcomes of the attempts that have ended, or raise the defect of one."""
    ended = [task for task in attempts if task.done()]
    outcomes: list[Result[T, E]] = []
    while ended:
        # `pop` removes the failed task from this frame, to which its traceback refers.
        outcomes.append(ended.pop(0).result())
    return outcomes
