"""Rate limiter with optional waiting, keys and costs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import signature
from math import lcm
from threading import RLock
from typing import Final, Literal, ParamSpec, TypeAlias, TypeVar

from msgspec import Struct
from typing_extensions import override

from seamwise._errors.errors import MAX_DELAY, TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.rates.buckets import Buckets
from seamwise._runtime.rates.combined_rates import CombinedRates
from seamwise._runtime.rates.gcra import Gcra, SingleBucket, gcra_scale
from seamwise._runtime.rates.meter import Bucket, Meter
from seamwise._runtime.rates.sliding_window import SlidingWindow
from seamwise._runtime.validation import (
    call_key,
    check_callable,
    check_choice,
    check_float,
    check_int,
    with_parentheses,
)
from seamwise._runtime.world import REAL, World, check_world
from seamwise.policies._engine import activity
from seamwise.policies._engine.observers import Observers, observers_of
from seamwise.policies._engine.permit import ADMITTED, Admission, Permit, Waiting
from seamwise.policies._engine.pipeline import abort_call
from seamwise.policies._parts.limiter import Limiter
from seamwise.policies.deadline import remaining
from seamwise.policies.errors import RateLimited
from seamwise.policies.events import Observer, Refused

T = TypeVar('T')
E0 = TypeVar('E0', bound=TaggedError)
E_co = TypeVar('E_co', covariant=True)
P = ParamSpec('P')

MAX_LIMIT: Final = 1_000_000_000
"""Upper bound for `limit` and `burst`; larger values are rejected as mistakes."""


Kind: TypeAlias = Literal['bucket', 'window']
"""Algorithm of a rate limit: a bucket that is refilled steadily, or an exact sliding window."""

KINDS: Final[tuple[Kind, ...]] = ('bucket', 'window')


class RateLimitFactory:
    """Type of `rate_limit`: a function for one rate, with the method `all` for several."""

    @with_parentheses('rate_limit(10, name=…)')
    def __call__(  # noqa: PLR0913 -- independent settings, nearly all with a default
        self,
        limit: int,
        *,
        period: float = 1.0,
        name: str,
        kind: Kind = 'bucket',
        burst: int | None = None,
        key: Callable[[], str] | None = None,
        keys: int = 10_000,
        cost: Callable[..., float] | float = 1.0,
        wait: float = 0.0,
        observer: Observer | None = None,
        world: World = REAL,
    ) -> RateLimit:
        """Build a guard that limits the number of calls per period.

        With `kind='bucket'`, at most `limit` + `burst` calls pass in any half-open period: a burst,
        and what is refilled meanwhile. With `kind='window'`, at most `limit` calls pass in any
        period; this stores the times of the calls of the last period for each key.

        The calls of a key never reset the limit of another one. While `keys` keys have calls that
        still count, all other keys share one limit; set `keys` to the number of keys that call
        within the time that a limit needs to recover.

        A call that can pass within `wait` seconds waits for its turn, in order of arrival. A call
        that would wait longer fails immediately with `RateLimited`; its `retry_after` says when a
        slot is free. Refusals and cancelled waits take no slot. A clock that goes back neither
        frees nor takes slots.

        The algorithm of `'bucket'` is GCRA, virtual scheduling: ITU-T I.371 annex A, ATM Forum
        TM 4.1 section 4.4.2.

        Args:
            limit: Maximum number of calls per period.
            period: Length of the period, in seconds.
            name: Name in errors, events and descriptions.
            kind: Algorithm.
            burst: Maximum number of simultaneous calls after a pause (None: `limit`). Only for
                `'bucket'`.
            key: Returns a key for the current call; each key has a limit of its own.
            keys: Maximum number of keys that are kept; only idle ones are evicted.
            cost: Number of slots that a call takes, or a function that returns it. A function with
                parameters receives the arguments of the call.
            wait: Maximum time to wait for a slot, in seconds.
            observer: Receives `Refused` events.
            world: Clock and sleep; a `FakeWorld` in tests.

        >>> from seamwise import Success
        >>> from seamwise.testing import FakeWorld
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
        check_choice('kind', kind, KINDS)
        if burst is not None and kind == 'window':
            raise ValueError("burst is only for kind='bucket': a window has no burst.")
        rate = check_rate(limit, period)
        capacity = limit if burst is None else _check_limit('burst', burst)
        if not callable(cost):
            cost = check_float('cost', cost, above=0.0, maximum=capacity)
        world = check_world(world)
        return RateLimit(
            name,
            rates=(rate,),
            meter=_meter(rate, kind, capacity, world, _scale(rate, kind, cost)),
            capacity=capacity,
            cost=cost,
            key=key,
            keys=keys,
            wait=wait,
            observer=observer,
            world=world,
        )

    def all(  # noqa: PLR0913 -- independent settings, nearly all with a default
        self,
        *rates: tuple[int, float],
        name: str,
        kind: Kind = 'bucket',
        key: Callable[[], str] | None = None,
        keys: int = 10_000,
        cost: Callable[..., float] | float = 1.0,
        wait: float = 0.0,
        observer: Observer | None = None,
        world: World = REAL,
    ) -> RateLimit:
        """Build a guard with several rates at once, such as 10 per second and 100 per minute.

        A call takes a slot in all rates or in none. A refusal names the rate that admits the call
        last. The other arguments are those of `rate_limit`.

        Args:
            *rates: Pairs of a limit and a period in seconds.
            name: Name in errors, events and descriptions.
            kind: Algorithm of all rates.
            key: Returns a key for the current call; each key has limits of its own.
            keys: Maximum number of keys that are kept; only idle ones are evicted.
            cost: Number of slots that a call takes in each rate, or a function that returns it. A
                function with parameters receives the arguments of the call.
            wait: Maximum time to wait for the slots, in seconds.
            observer: Receives `Refused` events.
            world: Clock and sleep; a `FakeWorld` in tests.

        >>> rate_limit.all((10, 1.0), (100, 60.0), name='mail', kind='window').describe()
        "rate limit 'mail': 10 calls in any 1 s and 100 calls in any 60 s"
        """
        check_choice('kind', kind, KINDS)
        if not rates:
            raise TypeError('rate_limit.all needs at least one rate, e.g. (100, 60.0).')
        checked = tuple(check_rate(limit, period) for limit, period in rates)
        capacity = min(rate.limit for rate in checked)
        if not callable(cost):
            cost = check_float('cost', cost, above=0.0, maximum=capacity)
        world = check_world(world)
        scale = lcm(*(_scale(rate, kind, cost) for rate in checked))
        meters = [_meter(rate, kind, rate.limit, world, scale) for rate in checked]
        return RateLimit(
            name,
            rates=checked,
            meter=CombinedRates(meters, world=world, scale=scale),
            capacity=capacity,
            cost=cost,
            key=key,
            keys=keys,
            wait=wait,
            observer=observer,
            world=world,
        )


rate_limit: Final = RateLimitFactory()
"""Build a guard that limits the number of calls per period; see `RateLimitFactory`."""


class Rate(Struct, frozen=True):
    """A number of calls per `period` seconds."""

    limit: int
    period: float


class RateLayer(Limiter[E_co]):
    """Base of the rate limits: of this process, and over Redis."""

    kind = 'rate limit'
    call_cost: CallCost | None = None
    """Cost of each call, if a function returns it."""

    wait: float
    """Maximum time to wait for a slot, in seconds."""


class CallCost:
    """Checked cost of each call, from a function.

    Attributes:
        takes_arguments: Whether the function receives the arguments of the call.
    """

    def __init__(self, function: Callable[..., float], *, maximum: int) -> None:
        self._function = function
        self._maximum = maximum
        try:
            self.takes_arguments = bool(signature(function).parameters)
        except (TypeError, ValueError):
            # A function in C without a signature, such as the `get` of a ContextVar.
            self.takes_arguments = False

    def __call__(self, *args: object, **kwargs: object) -> float:
        """Return the cost of a call."""
        try:
            cost = self._function(*args, **kwargs)
        except TypeError as error:
            # An error without further frames comes from the call itself: a wrong signature.
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                error.add_note(
                    '`cost` has parameters, so it receives the arguments of the call: pass them to '
                    '`run`, `run_sync`, `acquire` or the decorated function.'
                )
            raise
        return check_float('cost', cost, maximum=self._maximum)


class RateLimit(RateLayer[RateLimited]):
    """A rate limit, built by `rate_limit`, that can also be inspected."""

    def __init__(  # noqa: PLR0913 -- called in one place
        self,
        name: str,
        *,
        rates: tuple[Rate, ...],
        meter: Meter,
        capacity: int,
        cost: Callable[..., float] | float,
        key: Callable[[], str] | None,
        keys: int,
        wait: float,
        observer: Observer | None,
        world: World,
    ) -> None:
        if key is not None:
            check_callable('key', key, 'that returns a string')
        self.meter = meter
        self.mutex = RLock()
        self.world = world
        self._rates = rates
        self._keys = check_int('keys', keys)
        self._buckets = Buckets(self._keys, meter)
        self._key = key
        self._weight = 0
        if callable(cost):
            self.call_cost = CallCost(cost, maximum=capacity)
            self.takes_arguments = self.call_cost.takes_arguments
        else:
            self._weight = meter.weight(cost)
        self.wait = check_float('wait', wait, maximum=MAX_DELAY)
        self.observer = observers_of(observer)
        self._bucket = self._new_bucket()
        self._direct: SingleBucket | None = None
        super().__init__(name)
        self._update_direct()

    @override
    def time_calls(self, observers: Observers) -> None:
        super().time_calls(observers)
        self._update_direct()

    @override
    async def run(
        self, op: Callable[P, Awaitable[Result[T, E0]]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Result[T, E0 | RateLimited]:
        """Run an operation in the current task; see `Guard.run`."""
        single = self._direct
        if single is None or not activity.is_on:
            return await super().run(op, *args, **kwargs)
        # As in `Layer.run`, without a decision object.
        delay = single.take_one()
        if delay:
            if self.wait:
                return await super().run(op, *args, **kwargs)
            return self.refuse(single, self._weight, delay)
        try:
            result: Result[T, E0] = await op(*args, **kwargs)
            if result.__class__ is not Success:
                result = self._expect_result(result)
        except BaseException as error:
            _ = abort_call([], error)
            raise
        return result

    @override
    def run_sync(
        self, op: Callable[P, Result[T, E0]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Result[T, E0 | RateLimited]:
        """Run an operation in the current thread; see `Guard.run_sync`."""
        single = self._direct
        if single is None or not activity.is_on:
            return super().run_sync(op, *args, **kwargs)
        delay = single.take_one()
        if delay:
            if self.wait:
                return super().run_sync(op, *args, **kwargs)
            return self.refuse(single, self._weight, delay)
        try:
            result: Result[T, E0] = op(*args, **kwargs)
            if result.__class__ is not Success:
                result = self._expect_result(result)
        except BaseException as error:
            _ = abort_call([], error)
            raise
        return result

    def _new_bucket(self) -> Bucket:
        """Return the bucket of the calls without a key."""
        if self._key is None and self.call_cost is None and isinstance(self.meter, Gcra):
            return SingleBucket(self.meter, self._weight, self.mutex)
        return self.meter.new_bucket()

    def _update_direct(self) -> None:
        """Set the bucket that decides on a call alone, if there is one."""
        bucket = self._bucket
        self._direct = None
        if isinstance(bucket, SingleBucket) and not self._uses_loop:
            self._direct = bucket

    @override
    def reset(self) -> None:
        super().reset()
        with self.mutex:
            # Waiting calls keep their bucket, and wake each other up there.
            self._bucket = self._new_bucket()
            self._buckets = Buckets(self._keys, self.meter)
        self._update_direct()

    @override
    def after_fork(self) -> None:
        self.mutex = RLock()
        if isinstance(self._bucket, SingleBucket):
            self._bucket.use_mutex(self.mutex)
        self._bucket.forget_waiters()
        self._buckets.forget_waiters()

    @property
    def available(self) -> int:
        """Number of calls that would pass now; with keys, of the current call's key."""
        key = None if self._key is None else call_key(self._key)
        with self.mutex:
            bucket = self._bucket if key is None else self._buckets.get(key)
            if bucket.head is not None:
                return 0
            return bucket.available(self.meter.weight(1.0), self.meter.now())

    @property
    def waiting(self) -> int:
        """Number of waiting calls, of all keys together."""
        with self.mutex:
            return self._bucket.waiting + self._buckets.waiting()

    @override
    def enter(self) -> Admission:
        return self.enter_call((), {})

    @override
    def enter_call(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Admission:
        if self.call_cost is None:
            return self._admit(self._weight)
        return self.admit(self.call_cost(*args, **kwargs))

    def admit(self, cost: float) -> Admission:
        """Return the decision for a call with a cost."""
        return self._admit(self.meter.weight(cost))

    def _admit(self, weight: int) -> Admission:
        key = None if self._key is None else call_key(self._key)
        with self.mutex:
            bucket = self._bucket if key is None else self._buckets.get(key)
            now = self.meter.now()
            if bucket.head is None:
                delay = bucket.take(weight, now)
                if not delay:
                    return ADMITTED
            else:
                delay = bucket.delay_behind_waiters(weight, now)
            if self.wait:
                max_delay = self.meter.units(remaining(self.wait))
                if delay <= max_delay:
                    return _SlotWait(self, bucket, weight, max_delay)
        return self.refuse(bucket, weight, delay)

    @override
    def limits(self) -> str:
        wait = f', waits up to {self.wait:g} s' if self.wait else ''
        return f'{self.meter}{wait}'

    def refuse(self, bucket: Bucket, weight: int, delay: int) -> Failure[RateLimited]:
        """Return the failure of a call that would pass after `delay` units."""
        rate = self._rates[0]
        if len(self._rates) > 1:
            with self.mutex:
                rate = self._rates[bucket.limiting_rate(weight, self.meter.now())]
        seconds = self.meter.seconds(delay)
        if seconds > MAX_DELAY:  # noqa: PLR1730 -- min() is slower, and refusals must be fast
            seconds = MAX_DELAY
        error = RateLimited(self.name, rate.limit, rate.period, seconds)
        if self.observer.is_used:
            self.observer(Refused(self.name, error))
        return Failure(error)


class _SlotWait(Waiting):
    """Wait of a call in the queue of a bucket. It must be created under the lock."""

    __slots__ = ('_bucket', '_guard', '_last_look', '_max_seconds', '_until', '_waiter')

    def __init__(self, guard: RateLimit, bucket: Bucket, weight: int, max_delay: int) -> None:
        self._guard = guard
        self._bucket = bucket
        self._waiter = bucket.join(guard.mutex, weight)
        self._max_seconds = guard.meter.seconds(max_delay)
        self._until = guard.meter.now() + max_delay
        self._last_look: int | None = None

    @override
    async def wait(self) -> Permit | Failure[object]:
        await self._waiter.wait(self._guard.world, self._max_seconds)
        while not isinstance(decision := self._decide(), (Permit, Failure)):
            await self._guard.world.sleep(decision)
        return decision

    @override
    def wait_sync(self) -> Permit | Failure[object]:
        self._waiter.wait_sync(self._guard.world, self._max_seconds)
        while not isinstance(decision := self._decide(), (Permit, Failure)):
            self._guard.world.sleep_sync(decision)
        return decision

    def _decide(self) -> Permit | Failure[object] | float:
        """Return a permit, a failure, or the seconds to sleep before calling this again.

        Only the head of the queue sleeps.
        """
        guard, bucket, waiter = self._guard, self._bucket, self._waiter
        with guard.mutex:
            if waiter.is_woken:
                now = guard.meter.now()
                delay = bucket.take(waiter.weight, now)
                if not delay:
                    bucket.leave(waiter)
                    return ADMITTED
                # If the clock did not advance during a sleep, another sleep would not help.
                if now != self._last_look and now + delay <= self._until:
                    self._last_look = now
                    return guard.meter.seconds(delay)
            bucket.leave(waiter)
            delay = bucket.delay_behind_waiters(waiter.weight, guard.meter.now())
        return guard.refuse(bucket, waiter.weight, delay)

    @override
    def withdraw(self) -> None:
        with self._guard.mutex:
            self._bucket.leave(self._waiter)


def check_rate(limit: int, period: float) -> Rate:
    """Check the limit and the period of a rate, or raise a ValueError."""
    _check_limit('limit', limit)
    return Rate(limit, check_float('period', period, minimum=1e-6, maximum=MAX_DELAY))


def _scale(rate: Rate, kind: Kind, cost: Callable[..., float] | float) -> int:
    if kind == 'window':
        return 1
    is_whole = not callable(cost) and float(cost).is_integer()
    return gcra_scale(rate.limit, rate.period, is_divisible=not is_whole)


def _meter(rate: Rate, kind: Kind, burst: int, world: World, scale: int) -> Meter:
    if kind == 'window':
        return SlidingWindow(rate.limit, period=rate.period, world=world, scale=scale)
    return Gcra(rate.limit, period=rate.period, burst=burst, world=world, scale=scale)


def _check_limit(name: str, value: int) -> int:
    check_int(name, value)
    if value > MAX_LIMIT:
        raise ValueError(f'{name} must be at most {MAX_LIMIT:,}, not {value:,}.')
    return value
