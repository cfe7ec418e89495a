"""Timing of the calls of a pipeline, for observers that ask for each call."""

from typing import TypeVar

from typing_extensions import override

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result
from seamwise._runtime.world import World
from seamwise.policies._engine.observers import Observers
from seamwise.policies._engine.permit import NotStarted, Permit
from seamwise.policies.events import CallOutcome, Completed

T = TypeVar('T')
E = TypeVar('E')


class CallTimer:
    """Sends a `Completed` event for each call of a pipeline.

    `enter` belongs before those of the layers, so that the time includes what they wait.
    """

    __slots__ = ('_name', '_observers', '_world')

    def __init__(self, name: str, observers: Observers, world: World) -> None:
        self._name = name
        self._observers = observers
        self._world = world

    def enter(self) -> Permit:
        """Start a call."""
        return _TimedCall(self, self._world.clock())

    def complete(
        self, outcome: CallOutcome, started_at: float, error: TaggedError | None = None
    ) -> None:
        """Report the end of a call."""
        # A clock can go back.
        elapsed = max(self._world.clock() - started_at, 0.0)
        self._observers(Completed(self._name, outcome, elapsed, error))


class _TimedCall(Permit):
    __slots__ = ('_started_at', '_timer')

    def __init__(self, timer: CallTimer, started_at: float) -> None:
        self._timer = timer
        self._started_at = started_at

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E]:
        if type(outcome) is Failure:
            error = outcome.failure()
            tagged_error = error if isinstance(error, TaggedError) else None
            self._timer.complete('failure', self._started_at, tagged_error)
        else:
            self._timer.complete('success', self._started_at)
        return outcome

    @override
    def abort(self, error: BaseException, /) -> None:
        self._timer.complete(
            'defect' if isinstance(error, Exception | NotStarted) else 'cancelled',
            self._started_at,
        )
