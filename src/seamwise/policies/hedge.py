"""Hedged requests: start another attempt when one is slow, and use the first success."""

import asyncio
from asyncio import Future, Task
from collections.abc import Awaitable, Callable
from functools import partial
from threading import Lock
from typing import Final, Literal, Never, ParamSpec, TypeVar

from typing_extensions import override

from seamwise._errors.errors import TaggedError, retry_after
from seamwise._results.containers import Result, Success
from seamwise._runtime.validation import check_callable, check_float, check_int, with_parentheses
from seamwise._runtime.world import REAL, World, check_world
from seamwise.policies._engine import activity
from seamwise.policies._engine.event_loops import refuse_trio
from seamwise.policies._engine.observers import observers_of
from seamwise.policies._engine.permit import Admission, Fork, Outcome
from seamwise.policies._engine.pipeline import Guard, Layer, abort_call
from seamwise.policies._engine.predicates import retryable
from seamwise.policies._parts.percentile import Percentile
from seamwise.policies._parts.single_flight import cancel_and_wait
from seamwise.policies.events import GaveUp, Observer, Recovered

T = TypeVar('T')
E = TypeVar('E')
E0 = TypeVar('E0', bound=TaggedError)
P = ParamSpec('P')

_MAX_CREDIT: Final = 10.0
"""Maximum number of further attempts that can be saved up."""

_DEFAULT_ATTEMPTS: Final = 2

_ROUNDING: Final = 1e-9


@with_parentheses('hedge(after=0.1, name=…)')
def hedge(  # noqa: PLR0913 -- independent settings, nearly all with a default
    *,
    after: float | Percentile,
    name: str,
    attempts: int = _DEFAULT_ATTEMPTS,
    when: Callable[[TaggedError], bool] = retryable,
    share: float = 0.1,
    observer: Observer | None = None,
    world: World = REAL,
) -> Guard[Never]:
    """Build a guard that starts another attempt if the last one has not returned after a delay.

    The first success is the result, and the other attempts are cancelled. Use it only for
    operations that can run several times at the same time: reads, and idempotent writes.

    A failure that `when` refuses is a definite answer: it is the result, as a success is. Another
    failure starts the next attempt immediately, unless it requests a delay by `retry_after`: then
    no further attempt starts. If no attempt is left and all have failed, the
    result is the failure of the first one. A defect cancels the other attempts and propagates. All
    attempts have ended when the call returns.

    Attempts run in tasks, with copies of the caller's context. `run_sync` makes one attempt only.

    After J. Dean, L. A. Barroso, The Tail at Scale, 2013 ("hedged requests"), and the hedging of
    gRPC (proposal A6).

    Args:
        after: Delay in seconds before each further attempt, or a `percentile(0.95)` of the measured
            latencies. Until the percentile has enough measurements, no call is hedged.
        name: Name in errors, events and descriptions.
        attempts: Maximum number of attempts of a call, including the first.
        when: Returns whether another attempt may succeed after an error.
        share: Maximum number of further attempts, relative to the number of calls (0 to 1), so that
            a slow service receives little additional load. Unused ones are saved up, at most ten.
        observer: Receives `GaveUp`, and `Recovered` after several attempts.
        world: Clock and alarms; a `FakeWorld` in tests.

    Raises:
        ValueError: An argument is out of range.

    >>> hedge(after=0.05, name='search').describe()
    "hedge 'search': a second attempt after 0.05 s, for 10 % of calls"
    """
    check_callable('when', when, 'that accepts an error and returns whether to try again')
    return HedgeLayer(
        name,
        after=after,
        attempts=check_int('attempts', attempts, minimum=2),
        when=when,
        share=share,
        observer=observer,
        world=world,
    )


class HedgeLayer(Layer[Never]):
    """Layer built by `hedge`."""

    kind = 'hedge'
    repeats = True

    def __init__(  # noqa: PLR0913 -- called in one place
        self,
        name: str,
        *,
        after: float | Percentile,
        attempts: int,
        when: Callable[[TaggedError], bool],
        share: float,
        observer: Observer | None,
        world: World,
    ) -> None:
        self.after = (
            after if isinstance(after, Percentile) else check_float('after', after, above=0.0)
        )
        self.attempts = attempts
        self.when = when
        self.share = check_float('share', share, above=0.0, maximum=1.0)
        self.observer = observers_of(observer)
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
    def after_fork(self) -> None:
        self._lock = Lock()

    @override
    async def run(
        self, op: Callable[P, Awaitable[Result[T, E0]]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Result[T, E0]:
        """Run an operation in the current task; see `Guard.run`."""
        if self._uses_loop or not activity.is_on:
            return await super().run(op, *args, **kwargs)
        refuse_trio()
        # As in `Layer.run`, which runs each attempt in a pipeline without layers.
        return await self._race.run(partial(self._run_attempt, op, args, kwargs))

    async def _run_attempt(
        self,
        op: Callable[..., Awaitable[Result[T, E0]]],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> Result[T, E0]:
        try:
            result: Result[T, E0] = await op(*args, **kwargs)
            if result.__class__ is not Success:
                result = self._expect_result(result)
        except BaseException as error:
            _ = abort_call([], error)
            raise
        return result

    @override
    def enter(self) -> Admission:
        return self._race

    @override
    def limits(self) -> str:
        after = str(self.after) if isinstance(self.after, Percentile) else f'{self.after:g} s'
        share = f'for {self.share * 100:g} % of calls'
        if self.attempts == _DEFAULT_ATTEMPTS:
            return f'a second attempt after {after}, {share}'
        return f'up to {self.attempts} attempts, one after every {after}, {share}'

    def delay(self) -> float | None:
        """Return the seconds before the next attempt, or None if calls are not hedged yet."""
        return self.after.seconds() if isinstance(self.after, Percentile) else self.after

    def is_definite(self, outcome: Outcome) -> bool:
        """Return whether no other attempt would have another outcome."""
        if type(outcome) is Success:
            return True
        error: object = outcome.failure()
        return not isinstance(error, TaggedError) or not self.when(error)

    def earn(self) -> None:
        """Add the share of a further attempt that each call earns."""
        with self._lock:
            self._credit = min(self._credit + self.share, _MAX_CREDIT)

    def spend(self) -> bool:
        """Take a further attempt, and return whether one was available."""
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
            outcome = await self._decide(operation, attempts)
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
        self._notify(outcome, len(attempts), elapsed)
        return outcome

    async def _decide(
        self,
        operation: Callable[[], Awaitable[Result[T, E]]],
        attempts: list[Task[Result[T, E]]],
    ) -> Result[T, E]:
        """Start further attempts in time, and return the outcome of the call."""
        hedge = self._hedge
        seconds = hedge.delay()
        limit = 1 if seconds is None else hedge.attempts
        failures = 0
        while True:
            # If several attempts end at the same time, a defect takes precedence: it is raised
            # here. Then a success does.
            outcomes = _outcomes(attempts)
            definite = [outcome for outcome in outcomes if hedge.is_definite(outcome)]
            for outcome in definite:
                if type(outcome) is Success:
                    return outcome
            if definite:
                return definite[0]
            has_failed, failures = len(outcomes) > failures, len(outcomes)
            if any(map(_asks_for_delay, outcomes)):
                limit = len(attempts)
            if seconds is not None and len(attempts) < limit:
                if has_failed or await self._are_late(attempts, seconds):
                    if hedge.spend():
                        attempts.append(asyncio.create_task(_attempt(operation)))
                    else:
                        limit = len(attempts)
            elif failures < len(attempts):
                await self._are_late(attempts, None)
            else:
                return outcomes[0]

    async def _are_late(self, attempts: list[Task[Result[T, E]]], seconds: float | None) -> bool:
        """Wait for an attempt, and return whether none has ended within `seconds`, if not None."""
        # As `asyncio.wait`, without its sets and its second future for the alarm.
        end: Future[None] = asyncio.get_running_loop().create_future()
        on_end, pending = partial(_settle, end), _pending(attempts)
        alarm = None if seconds is None else self._hedge.world.alarm(seconds, on_end)
        for task in pending:
            task.add_done_callback(on_end)
        try:
            await end
        finally:
            if alarm is not None:
                alarm.cancel()
            for task in pending:
                task.remove_done_callback(on_end)
        return len(_pending(attempts)) == len(pending)

    def _record_latency(self, first: Task[Outcome], elapsed: float) -> None:
        """Record the latency of the first attempt, or its duration when the second one returned."""
        after = self._hedge.after
        # A failure says nothing about the latency of a success. An attempt that lost took longer
        # than the percentile, and its exact latency has no effect.
        if isinstance(after, Percentile) and (not first.done() or type(first.result()) is Success):
            after.record(elapsed)

    def _notify(self, outcome: Outcome, attempts: int, elapsed: float) -> None:
        observer, name = self._hedge.observer, self._hedge.name
        if not observer.is_used:
            return
        if isinstance(outcome, Success):
            if attempts > 1:
                observer(Recovered(name, attempts, elapsed))
            return
        error = outcome.failure()
        if isinstance(error, TaggedError):
            why: Literal['not_retryable', 'attempts'] = (
                'not_retryable' if self._hedge.is_definite(outcome) else 'attempts'
            )
            observer(GaveUp(name, error, attempts, elapsed, why))


async def _attempt(operation: Callable[[], Awaitable[Result[T, E]]]) -> Result[T, E]:
    # Called in the task: one that is cancelled before its first step leaves no unawaited coroutine.
    return await operation()


def _settle(future: Future[None], _task: object = None) -> None:
    if not future.done():
        future.set_result(None)


def _pending(attempts: list[Task[T]]) -> list[Task[T]]:
    return [task for task in attempts if not task.done()]


def _asks_for_delay(outcome: Outcome) -> bool:
    if type(outcome) is Success:
        return False
    error: object = outcome.failure()
    return isinstance(error, TaggedError) and bool(retry_after(error))


def _outcomes(attempts: list[Task[Result[T, E]]]) -> list[Result[T, E]]:
    """Return the outcomes of the attempts that have ended, or raise the defect of one."""
    ended = [task for task in attempts if task.done()]
    outcomes: list[Result[T, E]] = []
    while ended:
        # `pop` removes the failed task from this frame, to which its traceback refers.
        outcomes.append(ended.pop(0).result())
    return outcomes


def without_hedges(guard: Guard[E], /) -> Guard[E]:
    """Return a pipeline without its hedges, for operations that must not run twice.

    >>> from seamwise.policies import retry
    >>> without_hedges(retry() >> hedge(after=0.1, name='search'))
    <guard retry>
    """
    layers = tuple(layer for layer in guard._layers if not isinstance(layer, HedgeLayer))
    return guard if layers == guard._layers else Guard(layers)
