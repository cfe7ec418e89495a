"""Rate limiter (GCRA) with optional waiting, keys and costs."""

from collections.abc import Callable
from threading import RLock
from typing import Final, TypeVar

from msgspec import Struct
from typing_extensions import override

from seamwise.containers import Failure
from seamwise.errors import MAX_DELAY
from seamwise.policies._engine.observers import SafeObserver, safe_observer
from seamwise.policies._engine.permit import ADMITTED, Decision, Permit, Wait
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies._engine.validation import call_key, check_callable, check_float, check_int
from seamwise.policies._engine.world import REAL, World, check_world
from seamwise.policies._parts.gcra import Bucket, Buckets, Gcra
from seamwise.policies.deadline import remaining
from seamwise.policies.errors import RateLimited
from seamwise.policies.events import Observer, Refused

E_co = TypeVar('E_co', covariant=True)

MAX_LIMIT: Final = 1_000_000_000
"""Upper bound for `limit` and `burst`; larger values are rejected as mistakes."""


def rate_limit(  # noqa: PLR0913 -- independent settings, nearly all with a default
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
    """Build a guard that limits the number of calls per period.

    At most `limit` + `burst` calls pass in any half-open period. A call that can pass within `wait`
    seconds waits for its turn, in order of arrival. A call that would wait longer fails immediately
    with `RateLimited`; its `retry_after` says when a slot is free. Refusals and cancelled waits
    take no slot. A clock that goes back neither frees nor takes slots.

    The algorithm is GCRA, virtual scheduling: ITU-T I.371 annex A, ATM Forum TM 4.1 section 4.4.2.

    Args:
        limit: Maximum number of calls per period.
        period: Length of the period, in seconds.
        name: Name in errors, events and descriptions.
        burst: Maximum number of simultaneous calls after a pause (None: `limit`).
        key: Returns a key for the current call; each key has a limit of its own.
        keys: Maximum number of keys that are kept; idle ones are evicted first.
        cost: Number of slots that a call takes, or a function that returns it.
        wait: Maximum time to wait for a slot, in seconds.
        observer: Receives `Refused` events.
        world: Clock and sleep; a `FakeWorld` in tests.

    >>> from seamwise.containers import Success
    >>> from seamwise.policies.testing import FakeWorld
    >>> world = FakeWorld()
    >>> guard = rate_limit(2, name='search', burst=1, world=world)
    >>> load = lambda: Success('page')
    >>> guard.run_sync(load)
    Success('page')
    >>> print(guard.run_sync(load).failure())
    'search' is at its rate limit (2 per 1 s).
    >>> world.advance(0.5)
    >>> guard.run_sync(load)
    Success('page')
    """
    if key is not None:
        check_callable('key', key, 'that returns a string')
    _check_limit('limit', limit)
    period = check_float('period', period, minimum=1e-6, maximum=MAX_DELAY)
    burst = limit if burst is None else _check_limit('burst', burst)
    return RateLimitLayer(
        name,
        rate=_Rate(limit, period, burst),
        cost=cost if callable(cost) else check_float('cost', cost, above=0.0, maximum=burst),
        key=key,
        keys=check_int('keys', keys),
        wait=check_float('wait', wait, maximum=MAX_DELAY),
        observer=safe_observer(observer),
        world=world,
    )


class _Rate(Struct, frozen=True):
    limit: int
    period: float
    burst: int


class RateLayer(Layer[E_co]):
    """Base of the rate limits: of this process, and over Redis."""

    kind = 'rate limit'
    wait: float
    """Maximum time to wait for a slot, in seconds."""


class RateLimitLayer(RateLayer[RateLimited]):
    """Layer built by `rate_limit`."""

    def __init__(  # noqa: PLR0913 -- called in one place
        self,
        name: str,
        *,
        rate: _Rate,
        cost: Callable[[], float] | float,
        key: Callable[[], str] | None,
        keys: int,
        wait: float,
        observer: SafeObserver | None,
        world: World,
    ) -> None:
        world = check_world(world)
        self._rate = rate
        self.gcra = gcra = Gcra(rate.limit, period=rate.period, burst=rate.burst, world=world)
        self.mutex = RLock()
        self.world = world
        self._bucket = Bucket()
        self._keys = keys
        self._buckets = Buckets(keys, gcra)
        self._key = key
        self._cost = cost if callable(cost) else None
        self._weight = 0 if callable(cost) else gcra.weight(cost)
        self.wait = wait
        self._observer = observer
        super().__init__(name)

    @override
    def reset(self) -> None:
        super().reset()
        with self.mutex:
            # Waiting calls keep their bucket, and wake each other up there.
            self._bucket = Bucket()
            self._buckets = Buckets(self._keys, self.gcra)

    @override
    def enter(self) -> Decision:
        weight = self._weight if self._cost is None else self._weight_of(self._cost())
        key = None if self._key is None else call_key(self._key)
        with self.mutex:
            bucket = self._bucket if key is None else self._buckets.get(key)
            if bucket.head is None:
                delay = self.gcra.take(bucket, weight)
                if not delay:
                    return ADMITTED
            else:
                delay = self.gcra.delay(bucket, weight)
            if self.wait:
                max_delay = self.gcra.units(remaining(self.wait))
                if delay <= max_delay:
                    return _SlotWait(self, bucket, weight, max_delay)
        return self.refuse(delay)

    @override
    def limits(self) -> str:
        rate = self._rate
        calls = 'call' if rate.limit == 1 else 'calls'
        wait = f', waits up to {self.wait:g} s' if self.wait else ''
        return f'{rate.limit} {calls} in {rate.period:g} s, burst of {rate.burst}{wait}'

    def refuse(self, delay: int) -> Failure[RateLimited]:
        """Return the failure of a call that would pass after `delay` units."""
        seconds = self.gcra.seconds(delay)
        if seconds > MAX_DELAY:  # noqa: PLR1730 -- min() is slower, and refusals must be fast
            seconds = MAX_DELAY
        error = RateLimited(self.name, self._rate.limit, self._rate.period, seconds)
        if self._observer is not None:
            self._observer(Refused(self.name, error))
        return Failure(error)

    def _weight_of(self, cost: float) -> int:
        return self.gcra.weight(check_float('cost', cost, maximum=self._rate.burst))


class _SlotWait(Wait):
    """Wait of a call in the queue of a bucket. It must be created under the lock."""

    __slots__ = ('_bucket', '_guard', '_last_look', '_max_seconds', '_until', '_waiter')

    def __init__(self, guard: RateLimitLayer, bucket: Bucket, weight: int, max_delay: int) -> None:
        self._guard = guard
        self._bucket = bucket
        self._waiter = bucket.join(guard.mutex, weight)
        self._max_seconds = guard.gcra.seconds(max_delay)
        self._until = guard.gcra.now() + max_delay
        self._last_look: int | None = None

    @override
    async def wait(self) -> Permit | Failure[object]:
        try:
            await self._waiter.wait(self._guard.world, self._max_seconds)
            while not isinstance(decision := self._decide(), (Permit, Failure)):
                await self._guard.world.sleep(decision)
        except BaseException:
            self._withdraw()
            raise
        return decision

    @override
    def wait_sync(self) -> Permit | Failure[object]:
        try:
            self._waiter.wait_sync(self._guard.world, self._max_seconds)
            while not isinstance(decision := self._decide(), (Permit, Failure)):
                self._guard.world.sleep_sync(decision)
        except BaseException:
            self._withdraw()
            raise
        return decision

    def _decide(self) -> Permit | Failure[object] | float:
        """Return a permit, a failure, or the seconds to sleep before calling this again.

        Only the head of the queue sleeps.
        """
        guard, bucket, waiter = self._guard, self._bucket, self._waiter
        with guard.mutex:
            if waiter.is_woken:
                delay = guard.gcra.take(bucket, waiter.weight)
                if not delay:
                    bucket.leave(waiter)
                    return ADMITTED
                now = guard.gcra.now()
                # If the clock did not advance during a sleep, another sleep would not help.
                if now != self._last_look and now + delay <= self._until:
                    self._last_look = now
                    return guard.gcra.seconds(delay)
            bucket.leave(waiter)
            delay = guard.gcra.delay(bucket, waiter.weight)
        return guard.refuse(delay)

    def _withdraw(self) -> None:
        with self._guard.mutex:
            self._bucket.leave(self._waiter)


def _check_limit(name: str, value: int) -> int:
    check_int(name, value)
    if value > MAX_LIMIT:
        raise ValueError(f'{name} must be at most {MAX_LIMIT:,}, not {value:,}.')
    return value
