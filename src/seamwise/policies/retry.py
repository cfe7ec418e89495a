"""Tries again what failed for a while: a bounded number of times, in a bounded time, with waits that spread."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, Never, TypeAlias, TypeVar

from typing_extensions import override

from seamwise.containers import Failure, Result
from seamwise.errors import MAX_DELAY, TaggedError, retry_after
from seamwise.policies._engine.observers import SafeObserver, safe_observer
from seamwise.policies._engine.permit import Permit, Wait
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies._engine.predicates import retryable
from seamwise.policies._engine.validation import check_callable, check_float, check_int
from seamwise.policies._engine.world import REAL, World
from seamwise.policies._parts.backoff import Backoff, Jitter
from seamwise.policies._parts.budget import Budget
from seamwise.policies.deadline import remaining
from seamwise.policies.events import GaveUp, Observer, Recovered, Retrying

T = TypeVar('T')
E = TypeVar('E')

Why: TypeAlias = Literal['attempts', 'time', 'budget', 'retry_after', 'not_retryable']


def retry(  # noqa: PLR0913 -- each is a number that somebody tunes
    *,
    attempts: int = 3,
    timeout: float | None = 45.0,
    base: float = 0.1,
    factor: float = 2.0,
    cap: float = 5.0,
    jitter: Jitter = 'full',
    retry_after_cap: float = 60.0,
    when: Callable[[TaggedError], bool] = retryable,
    budget: Budget | None = None,
    name: str = 'retry',
    observer: Observer | None = None,
    world: World = REAL,
) -> Guard[Never]:
    """Make a guard that calls an operation up to `attempts` times, the first included, while `when` says yes to its error.

    Between two attempts it waits as `backoff` says, and never less than the error's own `retry_after`: one above
    `retry_after_cap` seconds ends the attempts. So does a wait that cannot end within `timeout` seconds of the first attempt
    (None: no limit), or before the nearest `deadline` around, and a `budget` that is empty: nobody waits in vain.

    Gives the last failure unchanged. What is raised passes at once, a cancellation ends a wait, and only a `TaggedError` is
    ever tried again. The observer hears `Retrying` before each wait, `Recovered` after a success that was not the first
    attempt, and `GaveUp` with the reason. A setting that cannot be meant is a ValueError or a TypeError.

    >>> from seamwise import Success
    >>> from seamwise.catalog.network import HostUnreachable
    >>> from seamwise.policies.testing import FakeWorld
    >>> answers = iter([Failure(HostUnreachable('db', 'connection refused')), Success('here')])
    >>> world = FakeWorld(random=lambda: 0.5)
    >>> retry(base=1.0, world=world).run_sync(lambda: next(answers)), world.slept
    (<Success: here>, [0.5])
    """
    check_callable('when', when, 'that takes an error and says whether to try again')
    if budget is not None and not isinstance(budget, Budget):
        raise TypeError(
            f'budget must be made by Budget.share, Budget.quota or Budget.tokens, not {budget!r}.'
        )
    return Retry(
        Settings(
            name=name,
            attempts=check_int('attempts', attempts),
            timeout=None if timeout is None else check_float('timeout', timeout, above=0.0),
            backoff=Backoff(base=base, factor=factor, cap=cap, jitter=jitter, world=world),
            retry_after_cap=check_float('retry_after_cap', retry_after_cap, most=MAX_DELAY),
            when=when,
            budget=budget,
            tell=safe_observer(observer),
            world=world,
        )
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """What all calls through one `retry` share."""

    name: str
    attempts: int
    timeout: float | None
    backoff: Backoff
    retry_after_cap: float
    when: Callable[[TaggedError], bool]
    budget: Budget | None
    tell: SafeObserver | None
    world: World


class Retry(Layer[Never]):
    """The layer that `retry` makes; whoever describes a pipeline reads its `settings`."""

    def __init__(self, settings: Settings, /) -> None:
        super().__init__(settings.name)
        self.settings = settings
        self._clock = settings.world.clock
        # Nobody asks for the time of a call that has no end and no observer.
        self._is_timed = settings.timeout is not None or settings.tell is not None

    @override
    def enter(self) -> Permit:
        settings = self.settings
        if settings.budget is not None:
            settings.budget.on_call()
        return _Call(settings, self._clock() if self._is_timed else 0.0)

    @override
    def limits(self) -> str:
        settings, backoff = self.settings, self.settings.backoff
        tries = '1 attempt' if settings.attempts == 1 else f'{settings.attempts} attempts'
        time = '' if settings.timeout is None else f' in {settings.timeout:g} s'
        budget = '' if settings.budget is None else f', {settings.budget.limits()}'
        return f'{tries}{time}, waits {backoff.base:g} s to {backoff.cap:g} s, {_SPREADS[backoff.jitter]}{budget}'


_SPREADS: Final = {
    'full': 'full jitter',
    'equal': 'equal jitter',
    'tenth': 'a tenth of jitter',
    'decorrelated': 'decorrelated jitter',
    'none': 'no jitter',
}


class _Call(Permit):
    """One call: how often it was tried, since when, and the receipt of its last retry."""

    __slots__ = ('attempt', 'began', 'delays', 'receipt', 'settings')

    def __init__(self, settings: Settings, began: float) -> None:
        self.settings = settings
        self.began = began
        self.attempt = 1
        self.delays: Iterator[float] | None = None
        self.receipt: float | None = None

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E] | Wait:
        if type(outcome) is Failure:
            error = outcome.failure()
            return self._failed(outcome, error) if isinstance(error, TaggedError) else outcome
        settings = self.settings
        if settings.budget is not None:
            settings.budget.on_success(self.receipt)
        if self.attempt > 1 and settings.tell is not None:
            settings.tell(Recovered(settings.name, self.attempt, self._elapsed()))
        return outcome

    def _failed(self, outcome: Result[T, E], error: TaggedError) -> Result[T, E] | Wait:
        settings = self.settings
        if not settings.when(error):
            return self._given_up(outcome, error, 'not_retryable')
        delay, why = self._next(error)
        if settings.budget is not None:
            if why is not None:
                settings.budget.on_give_up()
            elif (receipt := settings.budget.charge(error)) is None:
                why = 'budget'
            else:
                self.receipt = receipt
        return _Pause(self, error, delay) if why is None else self._given_up(outcome, error, why)

    def _next(self, error: TaggedError) -> tuple[float, Why | None]:
        """Give the seconds to wait, and what forbids it."""
        settings = self.settings
        if self.attempt >= settings.attempts:
            return 0.0, 'attempts'
        asked = retry_after(error)
        if asked is not None and asked > settings.retry_after_cap:
            return asked, 'retry_after'
        if self.delays is None:
            self.delays = iter(settings.backoff)
        delay = max(next(self.delays), asked or 0.0)
        left = remaining(None if settings.timeout is None else settings.timeout - self._elapsed())
        return delay, None if left is None or delay < left else 'time'

    def _given_up(self, outcome: Result[T, E], error: TaggedError, why: Why) -> Result[T, E]:
        settings = self.settings
        if settings.tell is not None:
            settings.tell(GaveUp(settings.name, error, self.attempt, self._elapsed(), why))
        return outcome

    def _elapsed(self) -> float:
        return max(self.settings.world.clock() - self.began, 0.0)


class _Pause(Wait):
    """The wait between two attempts, after which the same call goes in again."""

    __slots__ = ('_call', '_delay', '_error')

    def __init__(self, call: _Call, error: TaggedError, delay: float) -> None:
        self._call = call
        self._error = error
        self._delay = delay

    @override
    async def wait(self) -> Permit:
        try:
            self._tell()
            await self._call.settings.world.sleep(self._delay)
        except BaseException:
            self._undo()
            raise
        self._call.attempt += 1
        return self._call

    @override
    def wait_sync(self) -> Permit:
        try:
            self._tell()
            self._call.settings.world.sleep_sync(self._delay)
        except BaseException:
            self._undo()
            raise
        self._call.attempt += 1
        return self._call

    def _tell(self) -> None:
        call = self._call
        if call.settings.tell is not None:
            call.settings.tell(
                Retrying(
                    call.settings.name,
                    self._error,
                    call.attempt,
                    call.settings.attempts,
                    self._delay,
                )
            )

    def _undo(self) -> None:
        call = self._call
        if call.settings.budget is not None and call.receipt is not None:
            call.settings.budget.refund(call.receipt)
