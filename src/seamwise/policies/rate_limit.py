"""At most so many calls in so much time: the guard, and what a caller is told who comes too soon."""

from collections.abc import Callable
from threading import RLock

from typing_extensions import override

from seamwise.categories import Category
from seamwise.containers import Failure, quick_failure
from seamwise.errors import MAX_DELAY, TaggedError
from seamwise.policies._engine.observers import SafeObserver, safe_observer
from seamwise.policies._engine.permit import ADMITTED, Decision, Permit, Wait
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies._engine.validation import check_callable, check_float, check_int, key_of
from seamwise.policies._engine.world import REAL, World, check_world
from seamwise.policies._parts.gcra import Bucket, Buckets, Gcra
from seamwise.policies.deadline import remaining
from seamwise.policies.events import Observer, Refused

MOST_CALLS = 1_000_000_000
"""Who allows more calls than this in one period, or at once, has no limit in mind."""


class RateLimited(
    TaggedError,
    category=Category.RATE_LIMIT,
    message='{name} takes {limit} calls in {period:g} s, no more.',
):
    """The caller asked more often than it may; `period` and `retry_after` are in seconds. It waits."""

    name: str
    limit: int
    period: float
    retry_after: float


def rate_limit(  # noqa: PLR0913 -- one guard, and all that can be said of it
    limit: int,
    *,
    period: float = 1.0,
    name: str,
    burst: int | None = None,
    key: Callable[[], str] | None = None,
    keys: int = 10_000,
    cost: Callable[[], float] | float = 1.0,
    wait: float = 0.0,
    observer: Observer | None = None,
    world: World = REAL,
) -> Guard[RateLimited]:
    """Let through `limit` calls in each `period` of seconds, and `burst` (None: `limit`) at once after a pause.

    Over any half-open period at most limit + burst pass. Each `key()` has a limit of its own; `keys` of them are kept, and an idle
    one goes first. A call takes `cost` of the limit. Who may go within `wait` seconds waits, first come first served; who may not is
    refused at once with `RateLimited`, whose `retry_after` says when it would have been let through. A refusal and a cancelled
    wait take nothing. A clock that goes back gives nothing, and takes nothing away.

    The generic cell rate algorithm, virtual scheduling: ITU-T I.371 annex A, ATM Forum TM 4.1 section 4.4.2.

    >>> from seamwise.containers import Success
    >>> from seamwise.policies.testing import FakeWorld
    >>> world = FakeWorld()
    >>> guard = rate_limit(2, name='search', burst=1, world=world)
    >>> guard.run_sync(lambda: Success('found')), guard.run_sync(lambda: Success('found'))
    (<Success: found>, <Failure: search takes 2 calls in 1 s, no more.>)
    >>> world.advance(0.5)
    >>> guard.run_sync(lambda: Success('found'))
    <Success: found>
    """
    if key is not None:
        check_callable('key', key, 'that gives a string')
    _calls('limit', limit)
    period = check_float('period', period, least=1e-6, most=MAX_DELAY)
    burst = limit if burst is None else _calls('burst', burst)
    return RateLimit(
        name,
        told=(limit, period, burst),
        cost=cost if callable(cost) else check_float('cost', cost, above=0.0, most=burst),
        key=key,
        keys=check_int('keys', keys),
        wait=check_float('wait', wait, most=MAX_DELAY),
        tell=safe_observer(observer),
        world=world,
    )


class RateLimit(Layer[RateLimited]):
    """The layer that `rate_limit` makes."""

    is_bound = True

    def __init__(  # noqa: PLR0913 -- made in one place
        self,
        name: str,
        *,
        told: tuple[int, float, int],
        cost: Callable[[], float] | float,
        key: Callable[[], str] | None,
        keys: int,
        wait: float,
        tell: SafeObserver | None,
        world: World,
    ) -> None:
        super().__init__(name)
        world = check_world(world)
        self._limit, self._period, self._burst = told
        self.gcra = gcra = Gcra(
            self._limit, period=self._period, burst=self._burst, clock=world.clock
        )
        self.mutex = RLock()
        self.world = world
        self._bucket = Bucket()
        self._buckets = Buckets(keys, gcra)
        self._key = key
        self._cost = cost if callable(cost) else None
        self._weight = 0 if callable(cost) else gcra.weight(cost)
        self.wait = wait
        self._tell = tell

    @override
    def enter(self) -> Decision:
        weight = self._weight if self._cost is None else self._weighed(self._cost())
        key = None if self._key is None else key_of(self._key)
        with self.mutex:
            bucket = self._bucket if key is None else self._buckets.get(key)
            if bucket.head is None:
                delay = self.gcra.take(bucket, weight)
                if not delay:
                    return ADMITTED
            else:
                delay = self.gcra.delay(bucket, weight)
            if self.wait:
                most = self.gcra.units(remaining(self.wait))
                if delay <= most:
                    return _Place(self, bucket, weight, most)
        return self.refuse(delay)

    @override
    def limits(self) -> str:
        calls = 'call' if self._limit == 1 else 'calls'
        waits = f', waits up to {self.wait:g} s' if self.wait else ''
        return f'{self._limit} {calls} in {self._period:g} s, {self._burst} at once{waits}'

    def refuse(self, delay: int) -> Failure[RateLimited]:
        """Give the failure of a caller who would have passed in so many units."""
        seconds = self.gcra.seconds(delay)
        if seconds > MAX_DELAY:  # noqa: PLR1730 -- min() takes longer, and who is refused is to know it at once
            seconds = MAX_DELAY
        error = RateLimited(self.name, self._limit, self._period, seconds)
        if self._tell is not None:
            self._tell(Refused(self.name, error))
        return quick_failure(error)

    def _weighed(self, cost: float) -> int:
        return self.gcra.weight(check_float('cost', cost, most=self._burst))


class _Place(Wait):
    """A caller in the line of a bucket, which is made under the lock."""

    __slots__ = ('_bucket', '_guard', '_last', '_most', '_turn', '_until')

    def __init__(self, guard: RateLimit, bucket: Bucket, weight: int, most: int) -> None:
        self._guard = guard
        self._bucket = bucket
        self._turn = bucket.join(guard.mutex, weight)
        self._most = guard.gcra.seconds(most)
        self._until = guard.gcra.now() + most
        self._last: int | None = None

    @override
    async def wait(self) -> Permit | Failure[object]:
        try:
            await self._turn.wait(self._guard.world, self._most)
            while not isinstance(said := self._look(), (Permit, Failure)):
                await self._guard.world.sleep(said)
        except BaseException:
            self._leave()
            raise
        return said

    @override
    def wait_sync(self) -> Permit | Failure[object]:
        try:
            self._turn.wait_sync(self._guard.world, self._most)
            while not isinstance(said := self._look(), (Permit, Failure)):
                self._guard.world.sleep_sync(said)
        except BaseException:
            self._leave()
            raise
        return said

    def _look(self) -> Permit | Failure[object] | float:
        """Go in, or give up; or say how many seconds to sleep before the next look: only the head of the line does that."""
        guard, bucket, turn = self._guard, self._bucket, self._turn
        with guard.mutex:
            if turn.is_called:
                delay = guard.gcra.take(bucket, turn.weight)
                if not delay:
                    bucket.leave(turn)
                    return ADMITTED
                now = guard.gcra.now()
                # Where the clock stood still in a sleep, another sleep would not help.
                if now != self._last and now + delay <= self._until:
                    self._last = now
                    return guard.gcra.seconds(delay)
            bucket.leave(turn)
            delay = guard.gcra.delay(bucket, turn.weight)
        return guard.refuse(delay)

    def _leave(self) -> None:
        with self._guard.mutex:
            self._bucket.leave(self._turn)


def _calls(name: str, value: int) -> int:
    check_int(name, value)
    if value > MOST_CALLS:
        raise ValueError(f'{name} must be {MOST_CALLS:,} at most.')
    return value
