"""Deadlines: cancel a late operation in a task; in a thread, fail when it has ended late."""

from asyncio import CancelledError, Task, sleep
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from math import isnan
from typing import Any, Final, TypeVar, overload

from typing_extensions import override

from seamwise._errors.errors import MAX_DELAY, TaggedError
from seamwise._results.containers import Failure, Result
from seamwise._runtime.validation import check_callable, check_float, with_parentheses
from seamwise._runtime.world import REAL, Alarm, World, check_world
from seamwise.policies._engine.event_loops import refuse_trio
from seamwise.policies._engine.observers import observers_of
from seamwise.policies._engine.permit import Admission, Permit
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies._parts.reentrancy import current_task_or_none
from seamwise.policies.errors import DeadlineExceeded
from seamwise.policies.events import Observer, Refused

T = TypeVar('T')
E = TypeVar('E')


@with_parentheses('deadline(2.0)')
def deadline(
    seconds: float,
    *,
    at: Callable[[], float] | None = None,
    name: str = 'deadline',
    observer: Observer | None = None,
    world: World = REAL,
) -> Guard[DeadlineExceeded]:
    """Build a guard that limits the duration of an operation.

    The deadline of a call is the earliest of: `seconds` from its start, the time that `at` returns,
    and the deadline of an enclosing guard. The guard returns `DeadlineExceeded` if the operation
    ends late, or if no time is left to start it; its `attempts` are then 0. The error has the name
    and the seconds of the deadline that was exceeded, which may be that of the enclosing guard.

    In a task, the guard cancels the operation at the deadline and waits until it ends. A
    TimeoutError of the operation, an exception that it raises while it is cancelled, and a
    cancellation of the caller propagate unchanged. The rules are those of `asyncio.timeout`.

    Neither `run_sync` nor `run` outside an asyncio task can interrupt an operation. An operation
    that ends late has then failed, even if it returns a success. It can call `remaining()` in order
    to end in time.

    Args:
        seconds: Maximum duration, in seconds.
        at: Returns an absolute deadline, by the clock of `world`.
        name: Name in errors, events and descriptions.
        observer: Receives `Refused` events.
        world: Clock and alarms; a `FakeWorld` in tests.

    >>> from seamwise import Success
    >>> deadline(2.0).run_sync(lambda: Success('in time'))
    Success('in time')
    """
    return DeadlineLayer(seconds, at, name, observer, world)


class DeadlineScope:
    """Deadline of one call, by the clock of its world, and the scope that encloses it.

    `task` is the task that an alarm cancels at this deadline: an alarm of this scope, or of an
    enclosing one that expires earlier. The scope ends with its call, in time or late. Code that
    the call has started and that still runs, such as a background task or a thread, is then not
    limited by it. Otherwise a worker that the first caller starts would inherit a deadline that
    expires for ever.

    `name` and `allowed` are those of the deadline that limits the call, for the error: this one,
    or an enclosing one.
    """

    __slots__ = ('allowed', 'at', 'clock', 'is_over', 'name', 'parent', 'task')

    def __init__(
        self,
        clock: Callable[[], float],
        at: float,
        name: str,
        allowed: float,
        parent: 'DeadlineScope | None',
        task: Task[Any] | None,
    ) -> None:
        # Not that of the world at a later time: `at` is a time of this clock.
        self.clock = clock
        self.at = at
        self.name = name
        self.allowed = allowed
        self.parent = parent
        self.task = task
        self.is_over = False

    def end(self) -> None:
        """End the scope with its call, in time or late."""
        self.is_over = True
        # A background task keeps this scope in its context: it must not keep a finished task alive.
        self.task = None
        # A token cannot be used: a coroutine may be closed in another context than its own, in
        # which this scope was never set.
        if CURRENT_SCOPE.get() is self:
            CURRENT_SCOPE.set(self.parent)


class _LayerScope(DeadlineScope, Permit):
    """Deadline of a call inside a guard."""

    __slots__ = ('_layer',)

    def __init__(
        self,
        layer: 'DeadlineLayer',
        at: float,
        name: str,
        allowed: float,
        parent: DeadlineScope | None,
        task: Task[Any] | None,
    ) -> None:
        DeadlineScope.__init__(self, layer.world.clock, at, name, allowed, parent, task)
        self._layer = layer

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E | DeadlineExceeded]:
        """Return the outcome, or the failure if it is late."""
        self.end()
        return outcome if self.clock() < self.at else self._fail(outcome)

    @override
    def abort(self, error: BaseException, /) -> Failure[object] | None:
        """Let the exception propagate."""
        self.end()
        return None

    def _fail(self, outcome: Result[object, object] | None = None) -> Failure[DeadlineExceeded]:
        late = outcome.failure() if type(outcome) is Failure else None
        if isinstance(late, DeadlineExceeded) and late.name == self.name and late.attempts:
            # A guard inside has reported that this deadline passed.
            return self._layer.fail(late)
        cause = late if isinstance(late, TaggedError) else None
        return self._layer.fail(DeadlineExceeded(self.name, self.allowed, cause=cause))


class _AlarmScope(_LayerScope):
    """Deadline of a call in a task, with an alarm that cancels the task."""

    __slots__ = ('_alarm', '_cancelled_task', '_cancelling', '_has_rung')

    def start_alarm(self, task: Task[Any], world: World, seconds: float) -> None:
        """Schedule the cancellation of the task after `seconds`."""
        self._cancelled_task = task
        self._cancelling = task.cancelling()
        self._has_rung = False
        self._alarm: Alarm
        if world is REAL and world.sleep is sleep:
            # Same as `world.alarm`, with fewer calls, unless REAL is replaced.
            loop = task.get_loop()
            self._alarm = loop.call_at(loop.time() + seconds, self._ring)
        else:
            self._alarm = world.alarm(seconds, self._ring)

    def _ring(self) -> None:
        # The loop runs this between two steps of the task, so the cancellation is raised inside
        # the operation and nowhere else.
        self._has_rung = True
        self._cancelled_task.cancel()

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E | DeadlineExceeded]:
        """Return the outcome, or the failure if it is late.

        It is late too if the operation swallowed the cancellation.
        """
        self._alarm.cancel()
        if not self._has_rung:
            return _LayerScope.leave(self, outcome)
        self._cancelled_task.uncancel()
        self.end()
        return self._fail(outcome)

    @override
    def abort(self, error: BaseException, /) -> Failure[object] | None:
        """Return the failure if this deadline alone cancelled the task, else None."""
        self._alarm.cancel()
        # Withdraw the request for every exception.
        is_own = self._has_rung and self._cancelled_task.uncancel() <= self._cancelling
        self.end()
        if is_own and isinstance(error, CancelledError):
            return self._fail()
        return None

    def stop_alarm(self) -> None:
        """Do not cancel the task, because the call continues outside of it."""
        self._alarm.cancel()

    @override
    def end(self) -> None:
        DeadlineScope.end(self)
        del self._cancelled_task


CURRENT_SCOPE: Final[ContextVar[DeadlineScope | None]] = ContextVar(
    'seamwise_deadline', default=None
)


def enclosing_scope() -> DeadlineScope | None:
    """Return the innermost scope whose call has not ended."""
    scope = CURRENT_SCOPE.get()
    while scope is not None and scope.is_over:
        scope = scope.parent
    return scope


@contextmanager
def without_deadline() -> Generator[None]:
    """Remove the deadline inside a `with` block, for work that several callers share."""
    scope = CURRENT_SCOPE.get()
    CURRENT_SCOPE.set(None)
    try:
        yield
    finally:
        CURRENT_SCOPE.set(scope)


def leave_scopes(outer: DeadlineScope | None) -> None:
    """Make `outer` the current scope, while the call of the scopes inside it continues elsewhere.

    Their deadlines no longer cancel the current task.
    """
    scope = CURRENT_SCOPE.get()
    while scope is not None and scope is not outer:
        if isinstance(scope, _AlarmScope):
            scope.stop_alarm()
        scope = scope.parent
    CURRENT_SCOPE.set(outer)


@overload
def remaining(maximum: float) -> float: ...
@overload
def remaining(maximum: float | None = None) -> float | None: ...
def remaining(maximum: float | None = None) -> float | None:
    """Return the seconds until the current deadline, at least 0 and at most `maximum`.

    Without a deadline, return `maximum`. Use it for the `timeout` arguments of calls inside an
    operation. `asyncio.to_thread` passes the deadline on to its thread, until the call has ended.

    >>> remaining(), remaining(10.0)
    (None, 10.0)
    """
    scope = enclosing_scope()
    if scope is None:
        return maximum
    seconds = max(scope.at - scope.clock(), 0.0)
    return seconds if maximum is None else min(seconds, maximum)


class DeadlineLayer(Layer[DeadlineExceeded]):
    """Layer built by `deadline`."""

    kind = 'deadline'

    def __init__(
        self,
        seconds: float,
        at: Callable[[], float] | None,
        name: str,
        observer: Observer | None,
        world: World,
    ) -> None:
        if at is not None:
            check_callable('at', at, 'that returns a time of the clock')
        self.world = check_world(world)
        self.seconds = check_float('seconds', seconds, above=0.0, maximum=MAX_DELAY)
        self._at = at
        self.observer = observers_of(observer)
        super().__init__(name)

    @override
    def enter(self) -> Admission:
        clock = self.world.clock
        now = clock()
        at, name, allowed = now + self.seconds, self.name, self.seconds
        if self._at is not None and (absolute := self._absolute_deadline(self._at)) < at:
            at, allowed = absolute, max(absolute - now, 0.0)
        task = current_task_or_none()
        if task is None:
            refuse_trio()
        parent = enclosing_scope()
        has_alarm = False
        if parent is not None:
            has_same_clock = parent.clock is clock
            # Times of different clocks cannot be compared, only the remaining durations.
            parent_at = parent.at if has_same_clock else now + (parent.at - parent.clock())
            if parent_at <= at:
                at, name, allowed = parent_at, parent.name, parent.allowed
                # Two alarms for the same time would ring in any order: only the outer one rings.
                has_alarm = has_same_clock and parent.task is task
        if at <= now:
            return self.fail(DeadlineExceeded(name, allowed, attempts=0))
        if task is None or has_alarm:
            scope = _LayerScope(self, at, name, allowed, parent, task)
        else:
            scope = _AlarmScope(self, at, name, allowed, parent, task)
            scope.start_alarm(task, self.world, at - now)
        CURRENT_SCOPE.set(scope)
        return scope

    @override
    def limits(self) -> str:
        absolute = '' if self._at is None else ', or until an absolute time'
        return f'{self.seconds:g} s{absolute}'

    def fail(self, error: DeadlineExceeded) -> Failure[DeadlineExceeded]:
        """Return the failure of a call, and notify the observer."""
        if self.observer.is_used:
            self.observer(Refused(self.name, error))
        return Failure(error)

    def _absolute_deadline(self, at: Callable[[], float]) -> float:
        time = at()
        if isnan(time):
            raise ValueError(f'{self.name}: at() must return a time, not nan.')
        return time
