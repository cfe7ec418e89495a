"""At most so many calls at once: the guard, and what a caller is told for whom there is no room."""

from collections import OrderedDict
from collections.abc import Callable
from threading import RLock
from typing import Literal, TypeAlias, TypeVar

from typing_extensions import override

from seamwise.categories import Category
from seamwise.containers import Failure, Result, Success, quick_failure
from seamwise.errors import MAX_DELAY, TaggedError
from seamwise.policies._engine.observers import SafeObserver, safe_observer
from seamwise.policies._engine.permit import Decision, Outcome, Permit, Wait
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies._engine.predicates import counts_against
from seamwise.policies._engine.validation import (
    check_callable,
    check_choice,
    check_float,
    check_int,
    key_of,
)
from seamwise.policies._engine.wait_queue import Waiter, WaitQueue
from seamwise.policies._engine.world import REAL, World, check_world
from seamwise.policies._parts.adaptive_limit import Adaptive, AdaptiveLimit
from seamwise.policies._parts.reentrancy import Caller, OwnedPermit, current_caller
from seamwise.policies.deadline import remaining
from seamwise.policies.events import Observer, Refused

T = TypeVar('T')
E = TypeVar('E')

Scope: TypeAlias = Literal['tool', 'namespace', 'global']
"""Whose calls are counted together."""

SCOPES: tuple[Scope, ...] = ('tool', 'namespace', 'global')

LEARNED = 10_000
"""So many empty rooms are kept for what their limit has learned."""


class BulkheadFull(
    TaggedError, category=Category.CAPACITY, message='{name} does {limit} calls at once, no more.'
):
    """As many calls as are allowed are at work; `waited` is in seconds. The caller waits for one of them to end."""

    name: str
    scope: Scope
    namespace: str
    limit: int
    waited: float
    retry_after: float | None = None


def bulkhead(  # noqa: PLR0913 -- one guard, and all that can be said of it
    limit: int | Adaptive,
    *,
    name: str,
    scope: Scope = 'tool',
    queue: int | None = 0,
    key: Callable[[], str] | None = None,
    wait: float | None = 0.0,
    observer: Observer | None = None,
    world: World = REAL,
) -> Guard[BulkheadFull]:
    """Let `limit` calls work at once; `queue` more (None: any number) may wait for `wait` seconds (None: for ever), in order.

    Nobody waits unless both allow it. Whoever finds no room, or waits in vain, gets `BulkheadFull`, which says how many seconds it
    really waited. Who would wait for ever for a place that only itself can free, being inside with nobody else, is a RuntimeError.
    With a `key` each `key()` has a limit of its own, and stands in the error as its namespace; `scope` says in the
    error whose calls are counted together. A permit comes back after a success, a failure, a defect and a cancellation. In place of
    a number, `adaptive(…)` finds the limit by itself.

    The pattern: Nygard, Release It!; its measure on three levels: bulkheads of chuk-tool-processor.

    >>> from seamwise.containers import Success
    >>> guard = bulkhead(1, name='search')
    >>> guard.run_sync(lambda: guard.run_sync(lambda: Success('inside')))
    <Failure: search does 1 calls at once, no more.>
    """
    if key is not None:
        check_callable('key', key, 'that gives a string')
    check_choice('scope', scope, SCOPES)
    return Bulkhead(
        name,
        limit=limit if isinstance(limit, Adaptive) else check_int('limit', limit),
        scope=scope,
        queue=None if queue is None else check_int('queue', queue, least=0),
        key=key,
        wait=None if wait is None else check_float('wait', wait, most=MAX_DELAY),
        tell=safe_observer(observer),
        world=world,
    )


class Bulkhead(Layer[BulkheadFull]):
    """The layer that `bulkhead` makes."""

    is_bound = True

    def __init__(  # noqa: PLR0913 -- made in one place
        self,
        name: str,
        *,
        limit: int | Adaptive,
        scope: Scope,
        queue: int | None,
        key: Callable[[], str] | None,
        wait: float | None,
        tell: SafeObserver | None,
        world: World,
    ) -> None:
        super().__init__(name)
        self.mutex = RLock()
        self.world = check_world(world)
        self.wait = wait
        self._limit = limit
        self.most = limit if isinstance(limit, int) else limit.maximum
        self._scope: Scope = scope
        self._queue = queue
        self._key = key
        self._tell = tell
        self._rooms: dict[str, _Room] = {}
        self._learned: OrderedDict[str, AdaptiveLimit] = OrderedDict()
        self._only = self._made('')

    @override
    def enter(self) -> Decision:
        key = None if self._key is None else key_of(self._key)
        with self.mutex:
            room = self._only if key is None else self._room(key)
            if room.inside < room.limit:
                # Counted last: whoever is interrupted before has taken nothing.
                permit = room.permit()
                room.inside += 1
                return permit
            if self.wait != 0 and (self._queue is None or room.waiting < self._queue):
                return _Place(self, room)
        return self.refuse(room, 0.0)

    @override
    def limits(self) -> str:
        at_once = f'{self._limit} at once'
        if self.wait == 0 or self._queue == 0:
            return f'{at_once}, nobody waits'
        waits = 'any number wait' if self._queue is None else f'{self._queue} wait'
        return f'{at_once}, {waits}' + ('' if self.wait is None else f' up to {self.wait:g} s')

    def refuse(self, room: '_Room', waited: float) -> Failure[BulkheadFull]:
        """Give the failure of a caller who has waited so many seconds."""
        error = BulkheadFull(self.name, self._scope, room.key, room.limit, waited)
        if self._tell is not None:
            self._tell(Refused(self.name, error))
        return quick_failure(error)

    def close(self, room: '_Room') -> None:
        """Give up the room of a key, which is empty; what its limit has learned is kept."""
        if room is self._only:
            return
        del self._rooms[room.key]
        if room.learner is not None:
            self._learned[room.key] = room.learner
            if len(self._learned) > LEARNED:
                self._learned.popitem(last=False)

    def _room(self, key: str) -> '_Room':
        room = self._rooms.get(key)
        if room is None:
            room = self._rooms[key] = self._made(key)
        return room

    def _made(self, key: str) -> '_Room':
        if isinstance(self._limit, int):
            return _Room(self, key, self._limit, None)
        learner = self._learned.pop(key, None) or self._limit.new_limit()
        return _Room(self, key, learner.limit, learner)


class _Room(Permit):
    """The calls of one key that are at work, and those that wait. It is the permit of each of them, where none is to be timed.

    Nobody waits while there is room, so who comes has only to count.
    """

    __slots__ = ('_bulkhead', '_held', '_line', 'inside', 'key', 'learner', 'limit')

    def __init__(
        self, bulkhead: Bulkhead, key: str, limit: int, learner: AdaptiveLimit | None
    ) -> None:
        self.key = key
        self.limit = limit
        self.learner = learner
        self.inside = 0
        self._bulkhead = bulkhead
        self._line: WaitQueue | None = None
        # Only of calls for which others may wait for ever.
        self._held: dict[OwnedPermit, None] = {}

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E]:
        self.give_back()
        return outcome

    @override
    def abort(self, raised: BaseException, /) -> None:
        self.give_back()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return 0 if self._line is None else len(self._line)

    def permit(self) -> Permit:
        """Give the permit of a call; who calls this counts it."""
        permit: Permit = (
            self if self.learner is None else _Timed(self, self.learner, self._bulkhead)
        )
        return permit if self._bulkhead.wait is not None else OwnedPermit(permit, self._held)

    def is_all_of(self, waiting: Caller) -> bool:
        """Say whether one who waits is the only one at work, and would wait for itself."""
        with self._bulkhead.mutex:
            held = list(self._held)
            return len(held) == self.inside and all(one.owner == waiting for one in held)

    def join(self) -> Waiter:
        """Stand at the end of the line."""
        if self._line is None:
            self._line = WaitQueue(self._bulkhead.mutex)
        return self._line.join(1)

    def withdraw(self, turn: Waiter) -> None:
        """Go away: out of the line, or with the permit that one was just given."""
        with self._bulkhead.mutex:
            if turn.is_called:
                self.give_back()
            elif self._line is not None:
                self._line.leave(turn)

    def give_back(self) -> None:
        """Give a permit back: to those who wait, as many as there is room for."""
        with self._bulkhead.mutex:
            self.inside -= 1
            line = self._line
            if line is not None:
                while self.inside < self.limit and line.call_next():
                    self.inside += 1
            if not self.inside:
                self._bulkhead.close(self)


class _Timed(Permit):
    """The permit of a call from which its room's limit learns."""

    __slots__ = ('_began', '_bulkhead', '_learner', '_room')

    def __init__(self, room: _Room, learner: AdaptiveLimit, bulkhead: Bulkhead) -> None:
        self._room = room
        self._learner = learner
        self._bulkhead = bulkhead
        self._began = bulkhead.world.clock()

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E]:
        try:
            self._learn(outcome)
        finally:
            self._room.give_back()
        return outcome

    @override
    def abort(self, raised: BaseException, /) -> None:
        self._room.give_back()

    def _learn(self, outcome: Outcome) -> None:
        has_succeeded = type(outcome) is Success
        if not has_succeeded:
            error = outcome.failure()
            # Only such a failure speaks against what was called: the caller's own may come as quickly as it likes.
            if not isinstance(error, TaggedError) or not counts_against(error):
                return
        ended = self._bulkhead.world.clock()
        with self._bulkhead.mutex:
            if has_succeeded:
                self._learner.on_success(self._began, ended, self._room.inside)
            else:
                self._learner.on_failure(self._began, ended)
            self._room.limit = self._learner.limit


class _Place(Wait):
    """A caller in the line of a room, which is made under the lock."""

    __slots__ = ('_bulkhead', '_room', '_since', '_turn')

    def __init__(self, bulkhead: Bulkhead, room: _Room) -> None:
        self._bulkhead = bulkhead
        self._room = room
        self._turn = room.join()
        self._since = bulkhead.world.clock()

    @override
    async def wait(self) -> Permit | Failure[object]:
        try:
            self._see_for_whom()
            await self._turn.wait(self._bulkhead.world, self._bulkhead.wait)
        except BaseException:
            self._room.withdraw(self._turn)
            raise
        return self._served()

    @override
    def wait_sync(self) -> Permit | Failure[object]:
        try:
            self._see_for_whom()
            self._turn.wait_sync(self._bulkhead.world, remaining(self._bulkhead.wait))
        except BaseException:
            self._room.withdraw(self._turn)
            raise
        return self._served()

    def _see_for_whom(self) -> None:
        guard = self._bulkhead
        if guard.wait is None and remaining() is None and self._room.is_all_of(current_caller()):
            raise RuntimeError(
                f'{guard.name!r} is called in its own call, which takes up all its room: it would wait for itself for ever.'
            )

    def _served(self) -> Permit | Failure[object]:
        with self._bulkhead.mutex:
            if self._turn.is_called:
                return self._room.permit()
            self._room.withdraw(self._turn)
        return self._bulkhead.refuse(
            self._room, max(self._bulkhead.world.clock() - self._since, 0.0)
        )
