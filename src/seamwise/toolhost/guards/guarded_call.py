"""Execution of a tool inside its guards, with statistics of attempts and waiting time."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from time import monotonic
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.tools import CommandTimedOut, ToolError
from seamwise.policies import DeadlineExceeded, Guard, GuardError, identity
from seamwise.policies.deadline import remaining
from seamwise.policies.events import GuardEvent, Observer, Retrying

V = TypeVar('V')

MIN_TIMEOUT: Final = 0.001
"""In seconds: the minimum time for a tool."""


class TimedEvent(Struct, frozen=True):
    """An event of a guard and its time."""

    at: datetime
    event: GuardEvent


class CallStats(Struct):
    """Statistics of one call.

    Attributes:
        attempts: The number of times the tool ran; 0 if a guard refused the call or its
            arguments were invalid.
        waited: The total waiting time in seconds.
        events: The events of the guards.
        may_have_taken_effect: As in the outcome of a processor.
    """

    attempts: int = 0
    waited: float = 0.0
    events: list[TimedEvent] = []
    may_have_taken_effect: bool = False

    @property
    def waited_ms(self) -> int:
        """The waiting time in milliseconds, rounded."""
        return round(self.waited * 1000)


_CURRENT_STATS: Final[ContextVar[CallStats | None]] = ContextVar('seamwise_stats', default=None)
"""The statistics of the current call. Guards are shared between calls and cannot store them."""


_CURRENT_OBSERVER: Final[ContextVar[Observer | None]] = ContextVar(
    'seamwise_call_observer', default=None
)


@contextmanager
def recording(stats: CallStats, observer: Observer | None = None) -> Generator[None]:
    """Record the guard events of the calls that begin in the block.

    Args:
        stats: Receives the events.
        observer: Receives each event as soon as it happens.
    """
    stats_token = _CURRENT_STATS.set(stats)
    observer_token = _CURRENT_OBSERVER.set(observer)
    try:
        yield
    finally:
        _CURRENT_OBSERVER.reset(observer_token)
        _CURRENT_STATS.reset(stats_token)


def failed_attempts(stats: CallStats | None = None) -> int:
    """Return the number of attempts that failed and were retried; by default of this call."""
    stats = _CURRENT_STATS.get() if stats is None else stats
    return 0 if stats is None else sum(type(item.event) is Retrying for item in stats.events)


def time_left(timeout: float) -> float:
    """Return the seconds that a tool may take: its timeout, or less if a deadline is nearer.

    >>> time_left(10.0)
    10.0
    """
    # setitimer(0) would disable the timer.
    return max(remaining(timeout), MIN_TIMEOUT)


def record_event(event: GuardEvent) -> None:
    """Record an event on the current call; this is the observer of all guards of tools."""
    stats = _CURRENT_STATS.get()
    if stats is not None:
        stats.events.append(TimedEvent(datetime.now(UTC), event))
    observer = _CURRENT_OBSERVER.get()
    if observer is not None:
        observer(event)


class GuardedRunner:
    """The guards of each tool, by its name; a tool without guards runs directly.

    >>> stats = CallStats()
    >>> GuardedRunner().run('ping', lambda: Success('pong'), stats=stats), stats.attempts
    (Success('pong'), 1)
    """

    def __init__(
        self,
        guards: Mapping[str, Guard[GuardError]] | None = None,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._guards = guards or {}
        self._clock = clock

    def run(
        self, tool: str, operation: Callable[[], Result[V, ToolError]], *, stats: CallStats
    ) -> Result[V, ToolError | GuardError]:
        """Run an operation inside the guards of a tool; exceptions propagate unchanged.

        Args:
            tool: The name of the tool.
            operation: The work of one attempt.
            stats: The statistics to update.

        Returns:
            The result. If the error has a field `attempts`, it contains the total number. A command
            that a deadline has killed fails with its own error, which has its output.
        """
        clock = self._clock
        working_time = 0.0

        def attempt() -> Result[V, ToolError]:
            nonlocal working_time
            stats.attempts += 1
            started_at = clock()
            try:
                return operation()
            finally:
                working_time += clock() - started_at

        started_at = clock()
        token = _CURRENT_STATS.set(stats)
        try:
            result = self._guards.get(tool, identity).run_sync(attempt)
        finally:
            _CURRENT_STATS.reset(token)
            stats.waited = max(clock() - started_at - working_time, 0.0)
        if type(result) is Success:
            return result
        error = result.failure()
        if isinstance(error, DeadlineExceeded) and isinstance(error.cause, CommandTimedOut):
            error = msgspec.structs.replace(error.cause, timeout=error.timeout)
        return Failure(_with_attempts(error, stats.attempts))


def _with_attempts(error: ToolError | GuardError, attempts: int) -> ToolError | GuardError:
    if attempts > 1 and 'attempts' in error.__struct_fields__:
        return msgspec.structs.replace(error, attempts=attempts)
    return error
