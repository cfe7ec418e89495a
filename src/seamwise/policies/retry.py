"""Retry: repeat a failed operation, with backoff, jitter and limits on attempts and time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, Never, TypeAlias, TypeVar

from typing_extensions import override

from seamwise._errors.errors import MAX_DELAY, TaggedError, retry_after
from seamwise._results.containers import Failure, Result
from seamwise._runtime.single_attempt import may_repeat
from seamwise._runtime.validation import check_callable, check_float, check_int, with_parentheses
from seamwise._runtime.world import REAL, World
from seamwise.policies._engine.observers import Observers, observers_of
from seamwise.policies._engine.permit import Permit, Waiting
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies._engine.predicates import retryable
from seamwise.policies._parts.backoff import Backoff, Jitter
from seamwise.policies._parts.budget import Budget
from seamwise.policies.deadline import remaining
from seamwise.policies.events import GaveUp, Observer, Recovered, Retrying

T = TypeVar('T')
E = TypeVar('E')

_Reason: TypeAlias = Literal['attempts', 'time', 'budget', 'retry_after', 'not_retryable']


@with_parentheses('retry()')
def retry(  # noqa: PLR0913 -- independent settings, each with a default
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
    """Build a guard that retries an operation while `when` returns True for its error.

    The delay before a retry is that of `backoff`, but at least the error's own `retry_after`. With
    jitter, up to as much again is added to this, at most `cap`: otherwise all clients that a server
    has refused would come back at the same time.

    The guard gives up immediately if a delay cannot end within `timeout`, or before the deadline of
    an enclosing guard, or if the budget is empty. It then returns the last failure unchanged.

    Only a `TaggedError` is retried. Exceptions propagate immediately, and a cancellation ends the
    delay.

    Args:
        attempts: Maximum number of calls, including the first.
        timeout: Time limit in seconds for all attempts and delays (None: no limit).
        base: Delay in seconds before the second attempt, before jitter.
        factor: Multiplier of the delay after each attempt.
        cap: Maximum backoff delay, in seconds.
        jitter: Random spread of the delays; see `backoff`.
        retry_after_cap: Maximum `retry_after` in seconds; a longer one ends the attempts.
        when: Returns whether to retry after an error.
        budget: Limit on retries that several guards can share.
        name: Name in events and descriptions.
        observer: Receives `Retrying`, `Recovered` and `GaveUp` events.
        world: Clock, sleep and randomness; a `FakeWorld` in tests.

    Raises:
        ValueError: An argument is out of range.
        TypeError: An argument has the wrong type.

    >>> from seamwise import Success
    >>> from seamwise.catalog.network import HostUnreachable
    >>> from seamwise.testing import FakeWorld
    >>> results = iter([Failure(HostUnreachable('db', 'connection refused')), Success('connected')])
    >>> world = FakeWorld(random=lambda: 0.5)
    >>> retry(base=1.0, world=world).run_sync(lambda: next(results)), world.slept
    (Success('connected'), [0.5])
    """
    check_callable('when', when, 'that accepts an error and returns whether to retry')
    if budget is not None and not isinstance(budget, Budget):
        raise TypeError(
            f'budget must be Budget.share(…), Budget.quota(…) or Budget.tokens(…), not {budget!r}.'
        )
    return RetryLayer(
        RetrySettings(
            name=name,
            attempts=check_int('attempts', attempts),
            timeout=None if timeout is None else check_float('timeout', timeout, above=0.0),
            backoff=Backoff(base=base, factor=factor, cap=cap, jitter=jitter, world=world),
            retry_after_cap=check_float('retry_after_cap', retry_after_cap, maximum=MAX_DELAY),
            when=when,
            budget=budget,
            observer=observers_of(observer),
            world=world,
        )
    )


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """Settings of a `retry`, shared by all its calls."""

    name: str
    attempts: int
    timeout: float | None
    backoff: Backoff
    retry_after_cap: float
    when: Callable[[TaggedError], bool]
    budget: Budget | None
    observer: Observers
    world: World


class RetryLayer(Layer[Never]):
    """Layer built by `retry`; the rules about the order of guards read its `settings`."""

    kind = 'retry'
    repeats = True

    def __init__(self, settings: RetrySettings, /) -> None:
        self.settings = settings
        self.observer = settings.observer
        self.world = settings.world
        super().__init__(settings.name)

    @override
    def reset(self) -> None:
        super().reset()
        if self.settings.budget is not None:
            self.settings.budget.reset()

    @override
    def enter(self) -> Permit:
        settings = self.settings
        if settings.budget is not None:
            settings.budget.on_call()
        # Without a timeout and an observer, the start time is not used.
        is_timed = settings.timeout is not None or settings.observer.is_used
        return _RetriedCall(settings, settings.world.clock() if is_timed else 0.0)

    @override
    def limits(self) -> str:
        settings, backoff = self.settings, self.settings.backoff
        attempts = '1 attempt' if settings.attempts == 1 else f'{settings.attempts} attempts'
        timeout = '' if settings.timeout is None else f' in {settings.timeout:g} s'
        budget = '' if settings.budget is None else f', {settings.budget.limits()}'
        return (
            f'{attempts}{timeout}, waits {backoff.base:g} s to {backoff.cap:g} s, '
            f'{_JITTER_NAMES[backoff.jitter]}{budget}'
        )


_JITTER_NAMES: Final = {
    'full': 'full jitter',
    'equal': 'equal jitter',
    'tenth': 'a tenth of jitter',
    'decorrelated': 'decorrelated jitter',
    'none': 'no jitter',
}


class _RetriedCall(Permit):
    """One call: number of attempts, start time, and the budget's receipt for its last retry."""

    __slots__ = ('attempt', 'attempt_started_at', 'delays', 'receipt', 'settings', 'started_at')

    def __init__(self, settings: RetrySettings, started_at: float) -> None:
        self.settings = settings
        self.started_at = started_at
        self.attempt_started_at = started_at
        self.attempt = 1
        self.delays: Iterator[float] | None = None
        self.receipt: float | None = None

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E] | Waiting:
        if type(outcome) is Failure:
            error = outcome.failure()
            return self._fail(outcome, error) if isinstance(error, TaggedError) else outcome
        settings = self.settings
        if settings.budget is not None:
            settings.budget.on_success(self.receipt)
        if self.attempt > 1 and settings.observer.is_used:
            settings.observer(Recovered(settings.name, self.attempt, self._elapsed()))
        return outcome

    def _fail(self, outcome: Result[T, E], error: TaggedError) -> Result[T, E] | Waiting:
        """Return the delay before a retry, or the outcome after giving up."""
        settings = self.settings
        if not (settings.when(error) and may_repeat()):
            return self._give_up(outcome, error, 'not_retryable')
        delay, reason, limit = self._next_delay(error)
        if settings.budget is not None:
            if reason is not None:
                settings.budget.on_give_up()
            elif (receipt := settings.budget.charge(error)) is None:
                reason = 'budget'
            else:
                self.receipt = receipt
        if reason is not None:
            return self._give_up(
                outcome, error, reason, delay=None if limit is None else delay, limit=limit
            )
        return _RetryDelay(self, error, delay)

    def _next_delay(self, error: TaggedError) -> tuple[float, _Reason | None, float | None]:
        """Return the delay in seconds, and the reason and the limit for not waiting, if any."""
        settings = self.settings
        if self.attempt >= settings.attempts:
            return 0.0, 'attempts', None
        requested_delay = retry_after(error)
        if requested_delay is not None and requested_delay > settings.retry_after_cap:
            return requested_delay, 'retry_after', settings.retry_after_cap
        if self.delays is None:
            self.delays = iter(settings.backoff)
        delay = next(self.delays)
        elapsed = self._elapsed() if settings.timeout is not None else 0.0
        own_time_left = None if settings.timeout is None else settings.timeout - elapsed
        time_left = remaining(own_time_left)
        if requested_delay is not None:
            earliest = max(delay, requested_delay)
            delay = max(delay, settings.backoff.spread(requested_delay))
            if time_left is not None and delay >= time_left:
                # The spread alone is no reason to give up.
                delay = earliest
        if time_left is None or delay < time_left:
            return delay, None, None
        # An enclosing deadline can leave less time than this retry has.
        return delay, 'time', settings.timeout if time_left == own_time_left else time_left

    def _give_up(
        self,
        outcome: Result[T, E],
        error: TaggedError,
        reason: _Reason,
        *,
        delay: float | None = None,
        limit: float | None = None,
    ) -> Result[T, E]:
        settings = self.settings
        if settings.observer.is_used:
            elapsed = self._elapsed()
            settings.observer(
                GaveUp(settings.name, error, self.attempt, elapsed, reason, delay, limit)
            )
        return outcome

    def _elapsed(self) -> float:
        return max(self.settings.world.clock() - self.started_at, 0.0)


class _RetryDelay(Waiting):
    """Delay between two attempts, after which the same call enters again."""

    __slots__ = ('_call', '_delay', '_error')

    def __init__(self, call: _RetriedCall, error: TaggedError, delay: float) -> None:
        self._call = call
        self._error = error
        self._delay = delay

    @override
    async def wait(self) -> Permit:
        self._notify()
        await self._call.settings.world.sleep(self._delay)
        return self._next_attempt()

    @override
    def wait_sync(self) -> Permit:
        self._notify()
        self._call.settings.world.sleep_sync(self._delay)
        return self._next_attempt()

    def _next_attempt(self) -> Permit:
        call, settings = self._call, self._call.settings
        call.attempt += 1
        if settings.observer.is_used:
            call.attempt_started_at = settings.world.clock()
        return call

    def _notify(self) -> None:
        call, settings = self._call, self._call.settings
        if settings.observer.is_used:
            backoff = settings.backoff
            event = Retrying(
                settings.name,
                self._error,
                call.attempt,
                settings.attempts,
                self._delay,
                duration=max(settings.world.clock() - call.attempt_started_at, 0.0),
                factor=None if backoff.jitter == 'decorrelated' else backoff.factor,
            )
            settings.observer(event)

    @override
    def withdraw(self) -> None:
        """Return the cost of a retry that does not take place."""
        call = self._call
        if call.settings.budget is not None and call.receipt is not None:
            call.settings.budget.refund(call.receipt)
