"""So much time and no more: in a task the operation is cancelled, in a thread one that ends late has failed."""

from asyncio import CancelledError, Task
from collections.abc import Callable
from contextvars import ContextVar
from math import isnan
from typing import Any, Final, TypeVar, overload

from typing_extensions import override

from seamwise.categories import Category
from seamwise.containers import Failure, Result, quick_failure
from seamwise.errors import MAX_DELAY, TaggedError
from seamwise.policies._engine.observers import safe_observer
from seamwise.policies._engine.permit import Decision, Permit
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies._engine.validation import check_callable, check_float
from seamwise.policies._engine.world import REAL, Alarm, World, check_world
from seamwise.policies._parts.reentrancy import current_task_or_none
from seamwise.policies.events import Observer, Refused

T = TypeVar('T')
E = TypeVar('E')


class DeadlineExceeded(
    TaggedError, category=Category.TIMEOUT, message='{name} did not end within {timeout:g} s.'
):
    """The operation took too long, and was stopped; `timeout` is in seconds. The caller tries again."""

    name: str
    timeout: float
    attempts: int = 1
    retry_after: float | None = None


def deadline(
    seconds: float,
    *,
    at: Callable[[], float] | None = None,
    name: str = 'deadline',
    observer: Observer | None = None,
    world: World = REAL,
) -> Guard[DeadlineExceeded]:
    """Give an operation so many seconds, or the time until `at()` by the world's clock, or what a deadline around leaves: the least.

    Gives the operation's result, or DeadlineExceeded where it ended late or there was no time left to begin. In a task, the
    operation is cancelled when the time is over, and its end awaited; its own TimeoutError, what it raises while it is cancelled,
    and a cancellation of the caller pass as they are. `run_sync` cannot interrupt, nor can `run` outside of an asyncio task: there
    an operation that ends late has failed, whatever it gave. What the operation calls reads `remaining()`.

    The rules of cancellation are those of `asyncio.timeout`.

    >>> from seamwise import Success
    >>> deadline(2.0).run_sync(lambda: Success('in time'))
    <Success: in time>
    """
    return Deadline(seconds, at, name, observer, world)


class End(Permit):
    """When one call must end, by the clock of its world, and the end that was set around it; the permit of that call.

    `task` is the one that an alarm cancels then: this end's own, or that of a nearer end around. A call that gave its outcome in
    time binds nobody any more, as a task that it began and that goes on; what was left behind otherwise, as a thread, keeps its end.
    """

    __slots__ = ('_allowed', '_of', 'around', 'at', 'clock', 'is_kept', 'task')

    def __init__(
        self,
        of: 'Deadline',
        at: float,
        allowed: float,
        around: 'End | None',
        task: Task[Any] | None,
    ) -> None:
        self.clock = of.clock
        self.at = at
        self.around = around
        self.task = task
        self.is_kept = False
        self._of = of
        self._allowed = allowed

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E | DeadlineExceeded]:
        """Give the outcome, unless it is late."""
        self._unset()
        self.is_kept = self.clock() < self.at
        return outcome if self.is_kept else self._of.exceeded(self._allowed)

    @override
    def abort(self, raised: BaseException, /) -> Failure[object] | None:
        """Let it pass."""
        self._unset()
        return None

    def _unset(self) -> None:
        # A task that goes on has this in its context for ever, and is to keep nothing of the one that is done.
        self.task = None
        # Not by a token: whoever closes a coroutine may do it from another context, where this end was never set.
        if END.get() is self:
            END.set(self.around)


class _Alarmed(End):
    """The end of a call in a task, which an alarm of its own cancels."""

    __slots__ = ('_alarm', '_cancelling', '_has_rung', '_task')

    def watch(self, task: Task[Any], world: World) -> None:
        """Set the alarm."""
        self._task = task
        self._cancelling = task.cancelling()
        self._has_rung = False
        self._alarm: Alarm
        if world is REAL:
            # As `world.alarm` does it, in fewer steps.
            loop = task.get_loop()
            self._alarm = loop.call_at(loop.time() + self._allowed, self._ring)
        else:
            self._alarm = world.alarm(self._allowed, self._ring)

    def _ring(self) -> None:
        # Between two steps of the task, so that the cancellation comes up inside of the operation and nowhere else.
        self._has_rung = True
        self._task.cancel()

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E | DeadlineExceeded]:
        """Give the outcome, unless it is late: also one that swallowed the cancellation, whose request is taken back."""
        self._alarm.cancel()
        if not self._has_rung:
            return End.leave(self, outcome)
        self._task.uncancel()
        self._unset()
        return self._of.exceeded(self._allowed)

    @override
    def abort(self, raised: BaseException, /) -> Failure[object] | None:
        """Give the failure for a cancellation that was this deadline's own, and nobody else's; all else passes."""
        self._alarm.cancel()
        # Whatever came up, the request is taken back.
        is_own = self._has_rung and self._task.uncancel() <= self._cancelling
        self._unset()
        return (
            self._of.exceeded(self._allowed)
            if is_own and isinstance(raised, CancelledError)
            else None
        )

    @override
    def _unset(self) -> None:
        End._unset(self)
        del self._task


END: Final[ContextVar[End | None]] = ContextVar('seamwise_deadline', default=None)


def nearest() -> End | None:
    """Give the nearest end that a deadline has set around here."""
    end = END.get()
    while end is not None and end.is_kept:
        end = end.around
    return end


@overload
def remaining(most: float) -> float: ...
@overload
def remaining(most: float | None = None) -> float | None: ...
def remaining(most: float | None = None) -> float | None:
    """Give the seconds that the nearest deadline around here leaves, 0 when it is over; `most` where that is less, or there is none.

    For the `timeout` arguments of what is called inside. `asyncio.to_thread` carries the deadline into its thread.

    >>> remaining(), remaining(10.0)
    (None, 10.0)
    """
    end = nearest()
    if end is None:
        return most
    left = max(end.at - end.clock(), 0.0)
    return left if most is None else min(left, most)


class Deadline(Layer[DeadlineExceeded]):
    """The layer that `deadline` makes."""

    def __init__(
        self,
        seconds: float,
        at: Callable[[], float] | None,
        name: str,
        observer: Observer | None,
        world: World,
    ) -> None:
        super().__init__(name)
        if at is not None:
            check_callable('at', at, 'that gives a time by the clock')
        self.world = check_world(world)
        self.clock = world.clock
        self.seconds = check_float('seconds', seconds, above=0.0, most=MAX_DELAY)
        self._at = at
        self._tell = safe_observer(observer)

    @override
    def enter(self) -> Decision:
        now = self.clock()
        at = now + self.seconds
        allowed = self.seconds
        if self._at is not None and (given := self._given(self._at)) < at:
            at, allowed = given, given - now
        task = current_task_or_none()
        around = nearest()
        is_watched = False
        if around is not None:
            is_alike = around.clock is self.clock
            # Of another clock, only what is left can be compared.
            end = around.at if is_alike else now + (around.at - around.clock())
            if end <= at:
                at, allowed = end, end - now
                # Two alarms of one instant would ring in any order: the outer one rings.
                is_watched = is_alike and around.task is task
        if allowed <= 0.0:
            return self.exceeded(0.0)
        if task is None or is_watched:
            call = End(self, at, allowed, around, task)
        else:
            call = _Alarmed(self, at, allowed, around, task)
            call.watch(task, self.world)
        END.set(call)
        return call

    @override
    def limits(self) -> str:
        return (
            f'{self.seconds:g} s'
            if self._at is None
            else f'{self.seconds:g} s, or until an end that is given'
        )

    def exceeded(self, seconds: float) -> Failure[DeadlineExceeded]:
        """Give the failure of a call that was allowed so many seconds."""
        error = DeadlineExceeded(self.name, seconds)
        if self._tell is not None:
            self._tell(Refused(self.name, error))
        return quick_failure(error)

    def _given(self, end: Callable[[], float]) -> float:
        given = end()
        if isnan(given):
            raise ValueError(f'{self.name}: at() gave nan, which is no time.')
        return given
