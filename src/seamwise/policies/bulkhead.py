"""Bulkhead: a limit on concurrent calls, with a queue for those that may wait."""

from __future__ import annotations

from asyncio import AbstractEventLoop, _get_running_loop
from collections import OrderedDict
from collections.abc import Callable
from threading import RLock
from typing import Final, TypeVar

from typing_extensions import override

from seamwise._errors.errors import MAX_DELAY, TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.validation import (
    call_key,
    check_callable,
    check_choice,
    check_float,
    check_int,
    with_parentheses,
)
from seamwise._runtime.wait_queue import Waiter, WaitQueue
from seamwise._runtime.world import REAL, World, check_world
from seamwise.policies._engine.observers import Observers, observers_of
from seamwise.policies._engine.permit import Admission, Outcome, Permit, Waiting
from seamwise.policies._engine.predicates import counts_against
from seamwise.policies._parts.adaptive_limit import Adaptive, AdaptiveLimit
from seamwise.policies._parts.limiter import Limiter
from seamwise.policies._parts.reentrancy import Caller, OwnedPermit, current_caller, is_stuck
from seamwise.policies.deadline import remaining
from seamwise.policies.errors import BulkheadFull, Scope
from seamwise.policies.events import Observer, Refused

T = TypeVar('T')
E = TypeVar('E')

_SCOPES: Final[tuple[Scope, ...]] = ('tool', 'namespace', 'global')

_NESTED: Final = (
    'is called inside its own calls, which have all its permits: the caller would wait for itself.'
)
_BLOCKED: Final = (
    'is called by run_sync in the thread of an event loop whose tasks would have to continue '
    'first: use `await guard.run(…)` instead.'
)
_SUSPENDED: Final = (
    'has no permit left, and all are held by tasks of an event loop that is not running: '
    'the caller would wait for ever.'
)

MAX_STORED_LIMITS: Final = 10_000
"""Maximum number of adaptive limits that are kept for keys without calls."""


@with_parentheses('bulkhead(10, name=…)')
def bulkhead(  # noqa: PLR0913 -- independent settings, nearly all with a default
    limit: int | Adaptive,
    *,
    name: str,
    scope: Scope = 'tool',
    queue: int | None = 0,
    key: Callable[[], str] | None = None,
    wait: float | None = 0.0,
    observer: Observer | None = None,
    world: World = REAL,
) -> Bulkhead:
    """Build a guard that limits the number of concurrent calls.

    A call that finds no permit waits in a FIFO queue, if both `queue` and `wait` allow it.
    Otherwise, or if the wait times out, it fails with `BulkheadFull`. A permit is released after
    a success, a failure, a defect and a cancellation.

    A caller that holds all permits itself, and waits without limit for another one, would
    deadlock: it gets a RuntimeError.

    The pattern is Michael Nygard's (*Release It!*). The three scopes are those of
    chuk-tool-processor.

    Args:
        limit: Maximum number of concurrent calls, or `adaptive(…)` to find it at run time.
        name: Name in errors, events and descriptions.
        scope: Calls that are counted together, as stated in the error.
        queue: Maximum number of waiting calls (None: unlimited).
        key: Returns a key for the current call. Each key has a limit of its own, and is the
            `namespace` of the error.
        wait: Maximum time to wait, in seconds (None: unlimited).
        observer: Receives `Refused` events.
        world: Clock and sleep; a `FakeWorld` in tests.

    >>> from seamwise import Success
    >>> guard = bulkhead(1, name='search')
    >>> result = guard.run_sync(lambda: guard.run_sync(lambda: Success('nested')))
    >>> print(result.failure())
    'search' is at its concurrency limit (1).
    """
    if key is not None:
        check_callable('key', key, 'that returns a string')
    check_choice('scope', scope, _SCOPES)
    return Bulkhead(
        name,
        limit=limit if isinstance(limit, Adaptive) else check_int('limit', limit),
        scope=scope,
        queue=None if queue is None else check_int('queue', queue, minimum=0),
        key=key,
        wait=None if wait is None else check_float('wait', wait, maximum=MAX_DELAY),
        observer=observers_of(observer),
        world=world,
    )


class Bulkhead(Limiter[BulkheadFull]):
    """A bulkhead, built by `bulkhead`, that can also be inspected."""

    kind = 'bulkhead'

    def __init__(  # noqa: PLR0913 -- called in one place
        self,
        name: str,
        *,
        limit: int | Adaptive,
        scope: Scope,
        queue: int | None,
        key: Callable[[], str] | None,
        wait: float | None,
        observer: Observers,
        world: World,
    ) -> None:
        self.mutex = RLock()
        self.world = check_world(world)
        self.wait = wait
        self._limit = limit
        self.maximum = limit if isinstance(limit, int) else limit.maximum
        self._scope: Scope = scope
        self._queue = queue
        self._key = key
        self.observer = observer
        self._compartments: dict[str, _Compartment] = {}
        self._stored_limits: OrderedDict[str, AdaptiveLimit] = OrderedDict()
        self._default_compartment = self._new_compartment('')
        super().__init__(name)

    @override
    def reset(self) -> None:
        super().reset()
        with self.mutex:
            # Calls in flight and waiting calls keep their compartments.
            self._compartments = {}
            self._stored_limits = OrderedDict()
            self._default_compartment = self._new_compartment('')

    @override
    def after_fork(self) -> None:
        self.mutex = RLock()
        for compartment in self._all_compartments():
            if compartment.adaptive_limit is not None:
                self._stored_limits[compartment.key] = compartment.adaptive_limit
        self._compartments = {}
        self._default_compartment = self._new_compartment('')

    @property
    def available(self) -> int:
        """Number of calls that would be admitted now; with keys, of the current call's key."""
        key = None if self._key is None else call_key(self._key)
        with self.mutex:
            if key is None:
                compartment = self._default_compartment
            elif key in self._compartments:
                compartment = self._compartments[key]
            else:
                stored = self._stored_limits.get(key)
                return self._limit_of_new_key() if stored is None else stored.limit
            return max(compartment.limit - compartment.in_flight, 0)

    @property
    def in_flight(self) -> int:
        """Number of admitted calls that have not ended, of all keys together."""
        with self.mutex:
            return sum(compartment.in_flight for compartment in self._all_compartments())

    @property
    def waiting(self) -> int:
        """Number of waiting calls, of all keys together."""
        with self.mutex:
            return sum(compartment.waiting for compartment in self._all_compartments())

    @override
    def enter(self) -> Admission:
        key = None if self._key is None else call_key(self._key)
        with self.mutex:
            compartment = self._default_compartment if key is None else self._compartment(key)
            if compartment.in_flight < compartment.limit:
                # Count last: a call interrupted before this line has acquired nothing.
                permit = compartment.new_permit()
                compartment.in_flight += 1
                return permit
            if self.wait != 0 and (self._queue is None or compartment.waiting < self._queue):
                return _QueueWait(self, compartment)
        return self.refuse(compartment, 0.0)

    @override
    def limits(self) -> str:
        concurrency = f'{self._limit} at a time'
        if self.wait == 0 or self._queue == 0:
            return f'{concurrency}, no queue'
        queue = 'unlimited queue' if self._queue is None else f'queue of {self._queue}'
        wait = '' if self.wait is None else f', waits up to {self.wait:g} s'
        return f'{concurrency}, {queue}{wait}'

    def refuse(self, compartment: _Compartment, waited: float) -> Failure[BulkheadFull]:
        """Return the failure of a call that waited for `waited` seconds."""
        error = BulkheadFull(self.name, self._scope, compartment.key, compartment.limit, waited)
        if self.observer.is_used:
            self.observer(Refused(self.name, error))
        return Failure(error)

    def close(self, compartment: _Compartment) -> None:
        """Remove the empty compartment of a key, but keep its adaptive limit."""
        # The default compartment, and those from before `reset`, are not in the map.
        if self._compartments.get(compartment.key) is not compartment:
            return
        del self._compartments[compartment.key]
        if compartment.adaptive_limit is not None:
            self._stored_limits[compartment.key] = compartment.adaptive_limit
            if len(self._stored_limits) > MAX_STORED_LIMITS:
                self._stored_limits.popitem(last=False)

    def _all_compartments(self) -> list[_Compartment]:
        return [self._default_compartment, *self._compartments.values()]

    def _limit_of_new_key(self) -> int:
        return self._limit if isinstance(self._limit, int) else self._limit.start

    def _compartment(self, key: str) -> _Compartment:
        compartment = self._compartments.get(key)
        if compartment is None:
            compartment = self._compartments[key] = self._new_compartment(key)
        return compartment

    def _new_compartment(self, key: str) -> _Compartment:
        if isinstance(self._limit, int):
            return _Compartment(self, key, self._limit, None)
        adaptive_limit = self._stored_limits.pop(key, None) or self._limit.new_limit()
        return _Compartment(self, key, adaptive_limit.limit, adaptive_limit)


class _Compartment(Permit):
    """Calls in flight and waiting calls of one key.

    It is also the permit of each of its calls, unless calls are timed or tracked by caller. No call
    waits while a permit is available, so `enter` only has to compare two counts.
    """

    __slots__ = (
        '_bulkhead',
        '_owned_permits',
        '_queue',
        'adaptive_limit',
        'in_flight',
        'key',
        'limit',
    )

    def __init__(
        self, bulkhead: Bulkhead, key: str, limit: int, adaptive_limit: AdaptiveLimit | None
    ) -> None:
        self.key = key
        self.limit = limit
        self.adaptive_limit = adaptive_limit
        self.in_flight = 0
        self._bulkhead = bulkhead
        self._queue: WaitQueue | None = None
        # Empty unless calls wait without limit: only these can deadlock.
        self._owned_permits: dict[OwnedPermit, None] = {}

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E]:
        self.release()
        return outcome

    @override
    def abort(self, error: BaseException, /) -> None:
        self.release()

    @property
    def waiting(self) -> int:
        """Number of waiting calls."""
        return 0 if self._queue is None else len(self._queue)

    def new_permit(self) -> Permit:
        """Return a permit for one call; the caller of this method counts it."""
        permit: Permit = (
            self
            if self.adaptive_limit is None
            else _TimedPermit(self, self.adaptive_limit, self._bulkhead)
        )
        if self._bulkhead.wait is not None:
            return permit
        return OwnedPermit(permit, self._owned_permits)

    def deadlock_of(self, waiting_caller: Caller, blocked_loop: AbstractEventLoop | None) -> str:
        """Return why a caller would wait without end, or an empty text.

        Args:
            waiting_caller: The caller.
            blocked_loop: The event loop that cannot run while the caller waits.
        """
        with self._bulkhead.mutex:
            # `list` copies the keys atomically; permits are removed without the lock.
            permits = list(self._owned_permits)
            owners = {permit.owner for permit in permits}
            is_complete = len(permits) == self.in_flight
            is_behind = (
                blocked_loop is not None
                and self._queue is not None
                and self._queue.has_waiter_of(blocked_loop)
            )
        if is_complete and owners == {waiting_caller}:
            return _NESTED
        if is_behind or (
            is_complete and all(is_stuck(owner, waiting_caller, blocked_loop) for owner in owners)
        ):
            return _BLOCKED if blocked_loop is not None else _SUSPENDED
        return ''

    def join_queue(self) -> Waiter:
        """Append a waiter to the queue."""
        if self._queue is None:
            self._queue = WaitQueue(self._bulkhead.mutex, self._wake_waiters)
        return self._queue.join(1)

    def withdraw(self, waiter: Waiter) -> None:
        """Remove a waiter from the queue, or release the permit that it has just received."""
        with self._bulkhead.mutex:
            if waiter.is_woken:
                self.release()
            elif self._queue is not None:
                self._queue.leave(waiter)

    def release(self) -> None:
        """Release a permit, and pass all available permits on to waiters."""
        with self._bulkhead.mutex:
            self.in_flight -= 1
            self._wake_waiters()
            if not self.in_flight:
                self._bulkhead.close(self)

    def _wake_waiters(self) -> None:
        queue = self._queue
        if queue is not None:
            while self.in_flight < self.limit and queue.wake_next():
                self.in_flight += 1


class _TimedPermit(Permit):
    """Permit that adapts the limit to the latency of its call."""

    __slots__ = ('_adaptive_limit', '_bulkhead', '_compartment', '_started_at')

    def __init__(
        self, compartment: _Compartment, adaptive_limit: AdaptiveLimit, bulkhead: Bulkhead
    ) -> None:
        self._compartment = compartment
        self._adaptive_limit = adaptive_limit
        self._bulkhead = bulkhead
        self._started_at = bulkhead.world.clock()

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E]:
        try:
            self._adapt(outcome)
        finally:
            self._compartment.release()
        return outcome

    @override
    def abort(self, error: BaseException, /) -> None:
        self._compartment.release()

    def _adapt(self, outcome: Outcome) -> None:
        has_succeeded = type(outcome) is Success
        if not has_succeeded:
            error = outcome.failure()
            # A mistake of the caller may fail quickly, and says nothing about the load.
            if not isinstance(error, TaggedError) or not counts_against(error):
                return
        ended_at = self._bulkhead.world.clock()
        with self._bulkhead.mutex:
            if has_succeeded:
                self._adaptive_limit.on_success(
                    self._started_at, ended_at, self._compartment.in_flight
                )
            else:
                self._adaptive_limit.on_failure(self._started_at, ended_at)
            self._compartment.limit = self._adaptive_limit.limit


class _QueueWait(Waiting):
    """Wait of a call in the queue of a compartment. It must be created under the lock."""

    __slots__ = ('_bulkhead', '_compartment', '_started_at', '_waiter')

    def __init__(self, bulkhead: Bulkhead, compartment: _Compartment) -> None:
        self._bulkhead = bulkhead
        self._compartment = compartment
        self._waiter = compartment.join_queue()
        self._started_at = bulkhead.world.clock()

    @override
    async def wait(self) -> Permit | Failure[object]:
        self._check_deadlock(None)
        await self._waiter.wait(self._bulkhead.world, self._bulkhead.wait)
        return self._result()

    @override
    def wait_sync(self) -> Permit | Failure[object]:
        self._check_deadlock(_get_running_loop())
        self._waiter.wait_sync(self._bulkhead.world, remaining(self._bulkhead.wait))
        return self._result()

    @override
    def withdraw(self) -> None:
        self._compartment.withdraw(self._waiter)

    def _check_deadlock(self, blocked_loop: AbstractEventLoop | None) -> None:
        guard = self._bulkhead
        if guard.wait is not None or remaining() is not None:
            return
        reason = self._compartment.deadlock_of(current_caller(), blocked_loop)
        if reason:
            raise RuntimeError(f'{guard.name!r} {reason}')

    def _result(self) -> Permit | Failure[object]:
        with self._bulkhead.mutex:
            if self._waiter.is_woken:
                return self._compartment.new_permit()
            self._compartment.withdraw(self._waiter)
        waited = max(self._bulkhead.world.clock() - self._started_at, 0.0)
        return self._bulkhead.refuse(self._compartment, waited)
