"""Rate limiter for several processes: they share its buckets in Redis."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from typing_extensions import override

from seamwise._errors.errors import MAX_DELAY
from seamwise._results.containers import Failure
from seamwise._runtime.rates.meter import scaled_weight
from seamwise._runtime.validation import call_key, check_float, with_parentheses
from seamwise._runtime.world import REAL, World
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies._engine.observers import Observers, observers_of
from seamwise.policies._engine.permit import ADMITTED, Outcome, Permit, Waiting
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.deadline import remaining
from seamwise.policies.errors import RateLimited
from seamwise.policies.events import Observer, Refused
from seamwise.policies.rate_limit import Kind, RateLayer, RateLimit
from seamwise.policies.rate_limit import rate_limit as local_rate_limit
from seamwise.policies.redis.availability import OutageMode
from seamwise.policies.redis.bucket_queues import BucketQueues
from seamwise.policies.redis.clients import Client, check_clients
from seamwise.policies.redis.gcra_script import GCRA
from seamwise.policies.redis.outage_fallback import OutageFallback
from seamwise.policies.redis.store import MAX_BOUND, Store
from seamwise.policies.redis.window_script import WINDOW

_CALL_WEIGHT: Final = 1_000_000
"""Weight of one call. The weight of a billion calls, the maximum, is exact in a double of Lua."""

_SCRIPTS: Final = {'bucket': ('rate', GCRA), 'window': ('window', WINDOW)}
"""Part of the keys in Redis, and script, of each algorithm."""


class _Rate(NamedTuple):
    kind: Kind
    limit: int
    period: float
    burst: int

    def arguments(self, weight: int, weight_ahead: int) -> tuple[str, ...]:
        """Return the arguments of the script for a call."""
        burst, limit = self.burst * _CALL_WEIGHT, self.limit * _CALL_WEIGHT
        return str(weight), str(weight_ahead), str(burst), str(limit), repr(self.period * 1e6)

    @override
    def __str__(self) -> str:
        if self.kind == 'window':
            return f'{self.limit} in any {self.period:g} s'
        return f'{self.limit} in {self.period:g} s, burst of {self.burst}'


@with_parentheses('shared_rate_limit(10, redis=…, name=…)')
def shared_rate_limit(  # noqa: PLR0913 -- settings, each with a default
    limit: int,
    *,
    redis: Client,
    period: float = 1.0,
    name: str,
    kind: Kind = 'bucket',
    burst: int | None = None,
    key: Callable[[], str] | None = None,
    cost: Callable[..., float] | float = 1.0,
    wait: float = 0.0,
    bound: float = 0.05,
    away: OutageMode = 'local',
    observer: Observer | None = None,
    world: World = REAL,
) -> Guard[RateLimited | StoreUnavailable]:
    """Build a rate limit that all processes with the same `name` and the same Redis share.

    It works like `seamwise.policies.rate_limit`. Pass the same settings in all
    processes. Otherwise each process applies its own rate to the shared buckets. Redis 5 or later
    is required.

    Each call sends one command to Redis, and another one after each wait for a slot. Waiting calls
    are served in order within a process, but in no order between processes. A call that is
    interrupted while it waits for Redis may have taken its slot.

    Args:
        limit: Maximum number of calls per period of all processes together.
        redis: A redis.asyncio.Redis for `run`, a redis.Redis for `run_sync`, or `Clients` of both.
            A RedisCluster of either kind works too.
        period: Length of the period, in seconds.
        name: Name in errors, events and descriptions, and part of the keys in Redis.
        kind: Algorithm. A `'window'` stores the times of the calls of the last period in Redis.
        burst: Maximum number of simultaneous calls after a pause (None: `limit`). Only for
            `'bucket'`.
        key: Returns a key for the current call; each key has a limit of its own.
        cost: Number of slots that a call takes, or a function that returns it. A function with
            parameters receives the arguments of the call.
        wait: Maximum time to wait for a slot, in seconds.
        bound: Seconds after which a reply of Redis is late, at most 60. They count from the time at
            which the request was written.
        away: Behaviour while Redis is unavailable: `'local'` applies the limit in this process
            alone, `'open'` admits all calls, `'closed'` refuses all with `StoreUnavailable`.
        observer: Receives `Refused`, `StoreAway` and `StoreBack` events.
        world: Sleep for the slots, and clock of the pauses after an outage; a `FakeWorld` in
            tests. The rate is measured by the clock of Redis.

    Raises:
        ValueError: A setting is out of range.
        TypeError: `redis` is not a client.

    A call raises an error of redis-py if Redis rejects it, e.g. because of a wrong password.

    >>> from redis import Redis
    >>> shared_rate_limit(100, redis=Redis(), name='search', burst=10).name
    'search'
    """
    clients = check_clients(redis)
    bound = check_float('bound', bound, above=0.0, maximum=MAX_BOUND)
    local = local_rate_limit(
        limit,
        period=period,
        name=name,
        kind=kind,
        burst=burst,
        key=key,
        cost=cost,
        wait=wait,
        observer=observer,
        world=world,
    )
    observers = observers_of(observer)
    return _SharedRateLimit(
        name,
        rate=_Rate(kind, limit, float(period), limit if burst is None else burst),
        key=key,
        cost=cost,
        max_wait=float(wait),
        local=local,
        store=Store(name, clients, _SCRIPTS[kind][1], observer=observers, bound=bound, world=world),
        fallback=OutageFallback(away, local, bound=bound),
        observer=observers,
        world=world,
    )


class _SharedRateLimit(RateLayer[RateLimited | StoreUnavailable]):
    def __init__(  # noqa: PLR0913 -- called only by `shared_rate_limit`
        self,
        name: str,
        *,
        rate: _Rate,
        key: Callable[[], str] | None,
        cost: Callable[..., float] | float,
        max_wait: float,
        local: RateLimit,
        store: Store,
        fallback: OutageFallback,
        observer: Observers,
        world: World,
    ) -> None:
        self.world = world
        self.queues = BucketQueues()
        self._rate = rate
        self._bucket = f'seamwise:{{{name}}}:{_SCRIPTS[rate.kind][0]}'
        self._key = key
        self._local = local
        self.call_cost = local.call_cost
        self.takes_arguments = local.takes_arguments
        self._weight = 0 if callable(cost) else scaled_weight(float(cost), _CALL_WEIGHT)
        self.wait = max_wait
        self._store = store
        self._fallback = fallback
        self.observer = observer
        super().__init__(name)

    @override
    def reset(self) -> None:
        """Discard the state of this process; the buckets in Redis stay as they are."""
        super().reset()
        self._fallback.reset()
        self._store.reset()
        # Waiting calls keep their queue, and wake each other up there.
        self.queues = BucketQueues()

    @override
    def after_fork(self) -> None:
        self._fallback.after_fork()
        self._store.after_fork()
        # The waiting calls are those of the parent process.
        self.queues = BucketQueues()

    @override
    def enter(self) -> Waiting:
        return self.enter_call((), {})

    @override
    def enter_call(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Waiting:
        weight = self._weight
        if self.call_cost is not None:
            weight = scaled_weight(self.call_cost(*args, **kwargs), _CALL_WEIGHT)
        bucket = self._bucket if self._key is None else f'{self._bucket}:{call_key(self._key)}'
        return _SlotWait(self, _encodable(bucket), weight)

    @override
    def limits(self) -> str:
        wait = f', waits up to {self.wait:g} s' if self.wait else ''
        return f'{self._rate}{wait}; shared over Redis, {self._fallback.limits()}'

    def max_wait(self) -> float:
        """Return the seconds that a call may wait for its slot, limited by enclosing deadlines."""
        return remaining(self.wait) if self.wait else 0.0

    async def take(self, bucket: str, weight: int, *, weight_ahead: int = 0) -> float | None:
        """Take a slot if it is free.

        Args:
            bucket: Key of the bucket in Redis.
            weight: Weight of the call.
            weight_ahead: Weight of the waiters before it. If there are any, no slot is taken.

        Returns:
            The seconds until the call would pass, 0 if it has taken its slot, or None during an
            outage.
        """
        ticket = self._store.backoff.try_acquire()
        if ticket is None:
            return None
        arguments = self._rate.arguments(weight, weight_ahead)
        reply = await self._store.call(ticket, bucket, *arguments)
        return None if reply is None else reply[0] / 1e6

    def take_sync(self, bucket: str, weight: int, *, weight_ahead: int = 0) -> float | None:
        """Do the same as `take`, in a thread."""
        ticket = self._store.backoff.try_acquire()
        if ticket is None:
            return None
        arguments = self._rate.arguments(weight, weight_ahead)
        reply = self._store.call_sync(ticket, bucket, *arguments)
        return None if reply is None else reply[0] / 1e6

    async def fallback_decision(self, weight: int) -> Permit | Outcome:
        """Decide on a call without Redis."""
        decision = await self._fallback.admit(lambda: self._local.admit(weight / _CALL_WEIGHT))
        return self._store.refuse() if decision is None else decision

    def fallback_decision_sync(self, weight: int) -> Permit | Outcome:
        """Do the same as `fallback_decision`, in a thread."""
        decision = self._fallback.admit_sync(lambda: self._local.admit(weight / _CALL_WEIGHT))
        return self._store.refuse() if decision is None else decision

    def decision(self, delay: float) -> Permit | Failure[RateLimited]:
        """Return a permit if `delay` is 0, else a refusal with `retry_after=delay`, in seconds."""
        return self.refuse(delay) if delay else ADMITTED

    def refuse(self, delay: float) -> Failure[RateLimited]:
        """Return the failure of a call that would pass in `delay` seconds."""
        error = RateLimited(self.name, self._rate.limit, self._rate.period, min(delay, MAX_DELAY))
        if self.observer.is_used:
            self.observer(Refused(self.name, error))
        return Failure(error)


def _encodable(key: str) -> str:
    """Return a key in which lone surrogates are escaped: Redis stores bytes, here in UTF-8."""
    return key.encode(errors='backslashreplace').decode()


class _SlotWait(Waiting):
    """A new call, with its weight."""

    __slots__ = ('_bucket', '_guard', '_weight')

    def __init__(self, guard: _SharedRateLimit, bucket: str, weight: int) -> None:
        self._guard = guard
        self._bucket = bucket
        self._weight = weight

    @override
    async def wait(self) -> Permit | Outcome:
        guard, max_wait = self._guard, self._guard.max_wait()
        if max_wait:
            delay = await self._wait_in_queue(max_wait)
        else:
            delay = await guard.take(self._bucket, self._weight)
        return (
            await guard.fallback_decision(self._weight) if delay is None else guard.decision(delay)
        )

    @override
    def wait_sync(self) -> Permit | Outcome:
        guard, max_wait = self._guard, self._guard.max_wait()
        if max_wait:
            delay = self._wait_in_queue_sync(max_wait)
        else:
            delay = guard.take_sync(self._bucket, self._weight)
        return (
            guard.fallback_decision_sync(self._weight) if delay is None else guard.decision(delay)
        )

    async def _wait_in_queue(self, max_wait: float) -> float | None:
        """Wait for the head of the queue, then for a slot; return the last result of `take`."""
        guard, world = self._guard, self._guard.world
        queue = guard.queues.get(self._bucket)
        started_at = world.clock()
        waiter, weight_ahead = queue.join(self._weight)
        try:
            if weight_ahead:
                delay = await guard.take(self._bucket, self._weight, weight_ahead=weight_ahead)
                if delay is None or delay > max_wait:
                    return delay
                await waiter.wait(world, max_wait)
            while waiter.is_woken:
                delay = await guard.take(self._bucket, self._weight)
                if not delay or world.clock() - started_at + delay > max_wait:
                    return delay
                await world.sleep(delay)
        finally:
            queue.leave(waiter)
        weight_ahead = queue.waiting_weight()
        return await guard.take(self._bucket, self._weight, weight_ahead=weight_ahead)

    def _wait_in_queue_sync(self, max_wait: float) -> float | None:
        """Do the same as `_wait_in_queue`, in a thread."""
        guard, world = self._guard, self._guard.world
        queue = guard.queues.get(self._bucket)
        started_at = world.clock()
        waiter, weight_ahead = queue.join(self._weight)
        try:
            if weight_ahead:
                delay = guard.take_sync(self._bucket, self._weight, weight_ahead=weight_ahead)
                if delay is None or delay > max_wait:
                    return delay
                waiter.wait_sync(world, max_wait)
            while waiter.is_woken:
                delay = guard.take_sync(self._bucket, self._weight)
                if not delay or world.clock() - started_at + delay > max_wait:
                    return delay
                world.sleep_sync(delay)
        finally:
            queue.leave(waiter)
        weight_ahead = queue.waiting_weight()
        return guard.take_sync(self._bucket, self._weight, weight_ahead=weight_ahead)
