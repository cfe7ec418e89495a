"""A second try beside one that is late; the first success counts."""

import asyncio
from asyncio import Task
from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar, Never, TypeVar

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

_SAVED = 10.0
_ROUNDING = 1e-9


def hedge(
    *,
    after: float | Percentile,
    name: str,
    share: float = 0.1,
    observer: Observer | None = None,
    world: World = REAL,
) -> Guard[Never]:
    """Start a second try when the first is not back `after` so many seconds, and give the first success; the other try is cancelled.

    Only for what may be done twice at once: reads, and writes that are idempotent. `after` may be a `percentile(0.95)` of the
    latencies seen; until it has seen enough, nothing is hedged. At most a `share` (0 to 1) of the calls so far gets a second try,
    where what ten of them did not use is saved up, so that a service that is slow as a whole gets no more than that in addition.

    A failure waits for the other try, where one runs; where both fail it is the first try's. A defect ends the other try and is
    raised. Whoever loses has ended when the call returns. The observer is told `Recovered` or `GaveUp` of calls with two tries.
    Tries run in tasks, with copies of the caller's context. `run_sync` runs once. A number out of range is a ValueError.

    After J. Dean, L. A. Barroso, The Tail at Scale, 2013 ("hedged requests"), and the hedging of gRPC (proposal A6).

    >>> hedge(after=0.05, name='search').describe()
    'search: a second try after 0.05 s, for 10 % of calls'
    """
    return Hedge(name, after, share, observer, world)


class Hedge(Layer[Never]):
    """The layer that `hedge` makes."""

    is_bound: ClassVar[bool] = True

    def __init__(
        self,
        name: str,
        after: float | Percentile,
        share: float,
        observer: Observer | None,
        world: World,
    ) -> None:
        super().__init__(name)
        self.after = (
            after if isinstance(after, Percentile) else check_float('after', after, above=0.0)
        )
        self.share = check_float('share', share, above=0.0, most=1.0)
        self.tell = safe_observer(observer)
        self.world = check_world(world)
        self._saved = 0.0
        self._race = _Race(self)

    @override
    def enter(self) -> Decision:
        return self._race

    @override
    def limits(self) -> str:
        after = str(self.after) if isinstance(self.after, Percentile) else f'{self.after:g} s'
        return f'a second try after {after}, for {self.share * 100:g} % of calls'

    def earn(self) -> None:
        """Count a call, which earns its share of a second try."""
        self._saved = min(self._saved + self.share, _SAVED)

    def spend(self) -> bool:
        """Take a second try, or say that none is left."""
        if self._saved < 1.0 - _ROUNDING:
            return False
        self._saved -= 1.0
        return True


class _Race(Fork[Never]):
    """What all calls of one hedge run in. Tasks of one loop only, so that its counts need no lock."""

    __slots__ = ('_hedge',)

    def __init__(self, hedge: Hedge) -> None:
        self._hedge = hedge

    @override
    async def run(self, inside: Callable[[], Awaitable[Result[T, E]]], /) -> Result[T, E]:
        began = self._hedge.world.clock()
        self._hedge.earn()
        tries = [asyncio.create_task(_tried(inside))]
        try:
            if await self._is_late(tries[0]) and self._hedge.spend():
                tries.append(asyncio.create_task(_tried(inside)))
            outcome = await _first_success(tries)
        except BaseException as raised:
            try:
                await cancel_and_wait(tries, self._hedge.name, raised)
            finally:
                # They hold the defect, whose traceback holds this frame.
                tries.clear()
            raise
        elapsed = self._hedge.world.clock() - began
        self._see(tries[0], elapsed)
        if len(tries) > 1:
            await cancel_and_wait(tries, self._hedge.name)
            self._tell(outcome, elapsed)
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

    def _see(self, first: Task[Outcome], elapsed: float) -> None:
        """Count each first try once: how long it took, or how long it had taken when the second one was back."""
        after = self._hedge.after
        # One that failed says nothing of how long a success takes. One that lost took longer than the percentile, which is what counts.
        if isinstance(after, Percentile) and (not first.done() or type(first.result()) is Success):
            after.record(elapsed)

    def _tell(self, outcome: Outcome, elapsed: float) -> None:
        tell, name = self._hedge.tell, self._hedge.name
        if tell is None:
            return
        if isinstance(outcome, Success):
            tell(Recovered(name, 2, elapsed))
            return
        error = outcome.failure()
        if isinstance(error, TaggedError):
            tell(GaveUp(name, error, 2, elapsed, 'attempts'))


async def _tried(inside: Callable[[], Awaitable[Result[T, E]]]) -> Result[T, E]:
    # A task that is cancelled before it begins has then made no coroutine that nobody awaits.
    return await inside()


async def _first_success(tries: list[Task[Result[T, E]]]) -> Result[T, E]:
    while True:
        # Of two that end at once a defect comes before a success: it is raised here.
        outcomes = _outcomes(tries)
        for outcome in outcomes:
            if type(outcome) is Success:
                return outcome
        if len(outcomes) == len(tries):
            return outcomes[0]
        await asyncio.wait(
            [task for task in tries if not task.done()], return_when=asyncio.FIRST_COMPLETED
        )


def _outcomes(tries: list[Task[Result[T, E]]]) -> list[Result[T, E]]:
    """Give the outcomes of those that have ended, or raise what one raised: from a frame that does not hold it."""
    ended = [task for task in tries if task.done()]
    outcomes: list[Result[T, E]] = []
    while ended:
        outcomes.append(ended.pop(0).result())
    return outcomes
