"""Runs the tool of a call inside the guards of that tool, and counts the attempts and the time that was only waited."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from time import monotonic
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from seamwise.catalog.tools import ToolError
from seamwise.containers import Failure, Result, Success
from seamwise.policies import GuardError
from seamwise.policies._engine.pipeline import Guard, identity
from seamwise.policies.deadline import remaining
from seamwise.policies.events import GuardEvent

V = TypeVar('V')


SHORTEST: Final = 0.001
"""In seconds: so long a tool may take at least."""


class TimedEvent(Struct, frozen=True):
    """What a guard told, and when."""

    at: datetime
    event: GuardEvent


class CallStats(Struct):
    """How a call went: how often its tool ran, the seconds that it waited in all, and what its guards told.

    No attempt was made where the call was refused: by a guard, or because it is none that its tool can take.
    """

    attempts: int = 0
    waited: float = 0.0
    events: list[TimedEvent] = []

    @property
    def waited_ms(self) -> int:
        """The waits in whole milliseconds."""
        return round(self.waited * 1000)


_TRIES: Final[ContextVar[CallStats | None]] = ContextVar('seamwise_tries', default=None)
"""Of the call that is being run: its guards serve other calls too."""


def time_left(timeout: float) -> float:
    """Give the seconds that a tool may take: its own timeout, or what a deadline around it leaves, where that is less.

    >>> time_left(10.0)
    10.0
    """
    # A timer that is set to nothing never rings.
    return max(remaining(timeout), SHORTEST)


def record_event(event: GuardEvent) -> None:
    """Keep what a guard tells with the call that it tells it of: the observer for all guards of a tool."""
    stats = _TRIES.get()
    if stats is not None:
        stats.events.append(TimedEvent(datetime.now(UTC), event))


class GuardedRunner:
    """The guards of each tool, by its name; a tool without any runs as it is.

    >>> stats = CallStats()
    >>> GuardedRunner().run('ping', lambda: Success('pong'), stats=stats), stats.attempts
    (<Success: pong>, 1)
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
        """Run an operation of a tool inside its guards, and note in `stats` how it went. What it raises passes.

        An error that tells of attempts (`attempts`) tells of all of them.
        """
        clock = self._clock
        worked = 0.0

        def attempt() -> Result[V, ToolError]:
            nonlocal worked
            stats.attempts += 1
            begun = clock()
            try:
                return operation()
            finally:
                worked += clock() - begun

        begun = clock()
        token = _TRIES.set(stats)
        try:
            result = self._guards.get(tool, identity).run_sync(attempt)
        finally:
            _TRIES.reset(token)
            stats.waited = max(clock() - begun - worked, 0.0)
        return (
            result
            if type(result) is Success
            else Failure(_counted(result.failure(), stats.attempts))
        )


def _counted(error: ToolError | GuardError, attempts: int) -> ToolError | GuardError:
    if attempts > 1 and 'attempts' in error.__struct_fields__:
        return msgspec.structs.replace(error, attempts=attempts)
    return error
