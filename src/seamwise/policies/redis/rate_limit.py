"""A rate limit for many processes: each bucket is a number in Redis, and together they let through what one process would."""

from collections.abc import Callable
from math import ceil
from typing import NamedTuple

from typing_extensions import override

from seamwise.containers import Failure, quick_failure
from seamwise.errors import MAX_DELAY
from seamwise.policies._engine.observers import SafeObserver, safe_observer
from seamwise.policies._engine.permit import ADMITTED, Outcome, Permit, Wait
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies._engine.validation import call_key, check_float
from seamwise.policies._engine.world import REAL, World
from seamwise.policies.deadline import remaining
from seamwise.policies.errors import RateLimited
from seamwise.policies.events import Observer, Refused
from seamwise.policies.rate_limit import rate_limit as local_rate_limit
from seamwise.policies.redis.availability import OutageMode
from seamwise.policies.redis.clients import Client, both
from seamwise.policies.redis.gcra_script import GCRA
from seamwise.policies.redis.outage_fallback import OutageFallback
from seamwise.policies.redis.queue import Queues
from seamwise.policies.redis.store import LONGEST_BOUND, Store


class _Rate(NamedTuple):
    limit: int
    period: float
    burst: int


def rate_limit(  # noqa: PLR0913 -- one guard, and all that can be said of it
    limit: int,
    *,
    redis: Client,
    period: float = 1.0,
    name: str,
    burst: int | None = None,
    key: Callable[[], str] | None = None,
    cost: Callable[[], float] | float = 1.0,
    wait: float = 0.0,
    bound: float = 0.05,
    away: OutageMode = 'local',
    observer: Observer | None = None,
    world: World = REAL,
) -> Guard[RateLimited]:
    """Let through `limit` calls in each `period` of seconds of all processes together that say the same `name` to the same Redis.

    As `seamwise.policies.rate_limit.rate_limit`, whose settings these are; all processes should say the same, else each takes from
    the one bucket by its own measure. Each call asks Redis once, `bound` seconds at most, and again after each wait for a slot;
    those who wait are served in the order of their coming in one process, and in no order between processes. A call that is
    interrupted while Redis is asked may have taken its slot. While Redis is away, `away` says what is done: 'local' keeps the limit
    in this process alone, 'open' lets all pass, 'closed' refuses all. It needs Redis 5 or later.

    `redis` is a redis.asyncio.Redis for `run`, a redis.Redis for `run_sync`, or `Clients` of both. What Redis refuses as wrong, such
    as a password, is raised. `world` waits for slots and says when Redis is tried again; the limit keeps the time of Redis.

    >>> from redis import Redis
    >>> rate_limit(100, redis=Redis(), name='search', burst=10).name
    'search'
    """
    clients = both(redis)
    bound = check_float('bound', bound, above=0.0, maximum=LONGEST_BOUND)
    local = local_rate_limit(
        limit,
        period=period,
        name=name,
        burst=burst,
        key=key,
        cost=cost,
        wait=wait,
        observer=observer,
        world=world,
    )
    return _SharedRateLimit(
        name,
        rate=_Rate(limit, float(period), limit if burst is None else burst),
        key=key,
        cost=cost,
        wait=float(wait),
        store=Store(name, clients, GCRA, bound=bound, world=world),
        elsewhere=OutageFallback(away, local, bound=bound),
        tell=safe_observer(observer),
        world=world,
    )


class _SharedRateLimit(Layer[RateLimited]):
    is_bound = True

    def __init__(  # noqa: PLR0913 -- made in one place
        self,
        name: str,
        *,
        rate: _Rate,
        key: Callable[[], str] | None,
        cost: Callable[[], float] | float,
        wait: float,
        store: Store,
        elsewhere: OutageFallback,
        tell: SafeObserver | None,
        world: World,
    ) -> None:
        super().__init__(name)
        self.world = world
        self.queues = Queues()
        self._rate = rate
        self._call = rate.period * 1e6 / rate.limit
        self._burst = repr(rate.burst * self._call)
        self._bucket = f'seamwise:{{{name}}}:rate'
        self._key = key
        self._cost = cost
        self._wait = wait
        self._store = store
        self._elsewhere = elsewhere
        self._tell = tell

    @override
    def enter(self) -> Wait:
        cost = (
            check_float('cost', self._cost(), maximum=self._rate.burst)
            if callable(self._cost)
            else self._cost
        )
        if self._key is None:
            return _Asking(self, self._bucket, cost * self._call)
        return _Asking(self, f'{self._bucket}:{call_key(self._key)}', cost * self._call)

    @override
    def limits(self) -> str:
        limit, period, burst = self._rate
        waits = f', waits up to {self._wait:g} s' if self._wait else ''
        return f'{limit} in {period:g} s, {burst} at once{waits}; over Redis, {self._elsewhere.limits()}'

    def patience(self) -> float:
        """Give the seconds that a call may wait for its slot: less where a deadline around it is nearer."""
        return remaining(self._wait) if self._wait else 0.0

    async def ask(self, bucket: str, cost: float, *, ahead: int = 0) -> float | None:
        """Give the seconds until a call may pass, 0 where it has taken its slot, None where Redis is away."""
        asked = self._store.away.may_ask()
        if asked is None:
            return None
        reply = await self._store.ask(asked, bucket, repr(cost), self._burst, str(ahead))
        return None if reply is None else reply[0] / 1e6

    def ask_sync(self, bucket: str, cost: float, *, ahead: int = 0) -> float | None:
        """Likewise, in a thread."""
        asked = self._store.away.may_ask()
        if asked is None:
            return None
        reply = self._store.ask_sync(asked, bucket, repr(cost), self._burst, str(ahead))
        return None if reply is None else reply[0] / 1e6

    async def without(self) -> Permit | Outcome:
        """Do without Redis."""
        said = await self._elsewhere.wait()
        return self.refuse(self._store.away.left()) if said is None else said

    def without_sync(self) -> Permit | Outcome:
        """Likewise, in a thread."""
        said = self._elsewhere.wait_sync()
        return self.refuse(self._store.away.left()) if said is None else said

    def said(self, left: float) -> Permit | Failure[RateLimited]:
        """Let a call in whose slot is there, or refuse one that would have passed in so many seconds."""
        return self.refuse(left) if left else ADMITTED

    def refuse(self, left: float) -> Failure[RateLimited]:
        """Give the failure of a caller who would have passed in so many seconds."""
        error = RateLimited(self.name, self._rate.limit, self._rate.period, min(left, MAX_DELAY))
        if self._tell is not None:
            self._tell(Refused(self.name, error))
        return quick_failure(error)


class _Asking(Wait):
    """A call that comes, with the microseconds that it costs."""

    __slots__ = ('_bucket', '_cost', '_guard')

    def __init__(self, guard: _SharedRateLimit, bucket: str, cost: float) -> None:
        self._guard = guard
        self._bucket = bucket
        self._cost = cost

    @override
    async def wait(self) -> Permit | Outcome:
        guard, patience = self._guard, self._guard.patience()
        left = await (self._in_line(patience) if patience else guard.ask(self._bucket, self._cost))
        return await guard.without() if left is None else guard.said(left)

    @override
    def wait_sync(self) -> Permit | Outcome:
        guard, patience = self._guard, self._guard.patience()
        left = (
            self._in_line_sync(patience) if patience else guard.ask_sync(self._bucket, self._cost)
        )
        return guard.without_sync() if left is None else guard.said(left)

    async def _in_line(self, patience: float) -> float | None:
        """Wait for the turn, then for the slot, as long as it may be; gives what Redis said last."""
        guard, world, queue = self._guard, self._guard.world, self._guard.queues.of(self._bucket)
        began = world.clock()
        turn, ahead = queue.join(ceil(self._cost))
        try:
            if ahead:
                left = await guard.ask(self._bucket, self._cost, ahead=ahead)
                if left is None or left > patience:
                    return left
                await turn.wait(world, patience)
            while turn.is_woken:
                left = await guard.ask(self._bucket, self._cost)
                if not left or world.clock() - began + left > patience:
                    return left
                await world.sleep(left)
        finally:
            queue.leave(turn)
        return await guard.ask(self._bucket, self._cost, ahead=queue.ahead())

    def _in_line_sync(self, patience: float) -> float | None:
        guard, world, queue = self._guard, self._guard.world, self._guard.queues.of(self._bucket)
        began = world.clock()
        turn, ahead = queue.join(ceil(self._cost))
        try:
            if ahead:
                left = guard.ask_sync(self._bucket, self._cost, ahead=ahead)
                if left is None or left > patience:
                    return left
                turn.wait_sync(world, patience)
            while turn.is_woken:
                left = guard.ask_sync(self._bucket, self._cost)
                if not left or world.clock() - began + left > patience:
                    return left
                world.sleep_sync(left)
        finally:
            queue.leave(turn)
        return guard.ask_sync(self._bucket, self._cost, ahead=queue.ahead())
