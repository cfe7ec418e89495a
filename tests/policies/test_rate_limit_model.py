"""Model-based test of the rate limit: a token bucket in exact fractions, and a list of waiters."""

import asyncio
import os
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from typing_extensions import override

from seamwise import Result, Success
from seamwise._runtime.world import World
from seamwise.policies.errors import RateLimited
from seamwise.policies.rate_limit import rate_limit
from tests.policies.manual_time import ManualTime

CHECKS = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)

EXAMPLES = 10_000 if os.environ.get('SEAMWISE_NIGHTLY') else 100

TIMES = st.integers(1, 24).map(lambda eighths: Fraction(eighths, 8))
COSTS = st.integers(1, 12).map(lambda quarters: Fraction(quarters, 4))
TOLERANCE = Fraction(3, 1_000_000)
"""Rounding error of the clock, plus the time by which the guard may be early, in seconds."""


def is_limited(
    admitted: list[tuple[Fraction, Fraction]], *, period: Fraction, maximum: Fraction
) -> bool:
    """Return whether the cost in any half-open period is limited.

    The periods that start with a call are sufficient: one of them has the highest cost.
    """
    return all(
        sum((cost for time, cost in admitted if start <= time < start + period), Fraction(0))
        <= maximum
        for start, _ in admitted
    )


@settings(max_examples=EXAMPLES)
@given(st.data())
def test_calls_in_any_half_open_period_do_not_exceed_limit_plus_burst(data: st.DataObject) -> None:
    limit, burst = data.draw(st.integers(1, 5)), data.draw(st.none() | st.integers(1, 6))
    period = data.draw(st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3)]))
    capacity = limit if burst is None else burst
    reading = 1_700_000_000.0
    time = Fraction(0)
    cost = Fraction(1)
    guard = rate_limit(
        limit,
        period=float(period),
        name='x',
        burst=burst,
        cost=lambda: float(cost),
        world=World(clock=lambda: reading),
    )
    admitted: list[tuple[Fraction, Fraction]] = []
    steps = st.tuples(st.integers(0, 8), st.integers(1, 4 * capacity), st.booleans())
    for sixteenths, quarters, is_set_back in data.draw(st.lists(steps, max_size=60)):
        cost = Fraction(quarters, 4)
        reading += sixteenths / 16
        time += Fraction(sixteenths, 16)
        if is_set_back:
            reading -= 1000.0
        if type(guard.run_sync(lambda: Success(None))) is Success:
            admitted.append((time, cost))
    assert is_limited(admitted, period=period, maximum=Fraction(limit + capacity))


@settings(max_examples=EXAMPLES)
@given(
    limit=st.sampled_from([1, 2, 3, 7, 1_000, 1_000_000_000]),
    period=st.sampled_from([1e-6, 0.1, 1.0, 1 / 3, 3600.0]),
    burst=st.none() | st.integers(1, 4),
    cost=st.sampled_from([1.0, 0.1, 0.5]),
    start=st.sampled_from([-5.0, 0.0, 1_700_000_000.0]),
    steps=st.lists(st.tuples(st.integers(-2, 8), st.booleans(), st.booleans()), max_size=60),
)
def test_single_bucket_decides_as_the_bucket_of_a_key(
    limit: int,
    period: float,
    burst: int | None,
    cost: float,
    start: float,
    steps: list[tuple[int, bool, bool]],
) -> None:
    reading = start
    world = World(clock=lambda: reading)
    build = partial(rate_limit, limit, period=period, burst=burst, cost=cost, name='x', world=world)
    single, keyed = build(), build(key=lambda: 'a')
    for parts, is_read, is_reset in steps:
        reading += parts * period / limit / 4
        if is_reset:
            single.reset()
            keyed.reset()
        if is_read:
            assert single.available == keyed.available
        outcomes = [guard.run_sync(lambda: Success(1)) for guard in (single, keyed)]
        assert outcomes[0] == outcomes[1]


class Caller:
    """One call of the model."""

    def __init__(self, cost: Fraction, until: Fraction) -> None:
        self.cost = cost
        self.until = until
        self.admitted_at: Fraction | None = None
        self.task: asyncio.Task[Result[None, RateLimited]]


class RateLimitComparison(RuleBasedStateMachine):
    """Calls, waiting and cancellation, and a clock that jumps."""

    def __init__(self) -> None:
        super().__init__()
        self.time = ManualTime()
        self.cost = Fraction(1)
        self.waiters: list[Caller] = []
        self.admitted: list[tuple[Fraction, Fraction]] = []
        self.is_clock_reliable = True

    @initialize(
        limit=st.integers(1, 4),
        burst=st.integers(3, 5),
        period=st.sampled_from([1, 2]),
        wait=st.sampled_from([0, 2, 20]),
    )
    def create(self, limit: int, burst: int, period: int, wait: int) -> None:
        self.limit, self.burst, self.period, self.wait = limit, burst, period, wait
        self.rate = Fraction(limit, period)
        self.level = Fraction(burst)
        self.filled_at = self.time.forward
        self.guard = rate_limit(
            limit,
            period=period,
            name='x',
            burst=burst,
            cost=lambda: float(self.cost),
            wait=wait,
            world=self.time.world,
        )

    def fill(self) -> None:
        """Refill the bucket until now, by the time that the guard could measure."""
        now = self.time.forward
        self.level = min(Fraction(self.burst), self.level + (now - self.filled_at) * self.rate)
        self.filled_at = now

    def operation(self, caller: Caller) -> Callable[[], Success[None]]:
        def op() -> Success[None]:
            self.fill()
            assert self.level >= caller.cost - TOLERANCE * self.rate, 'admitted too early'
            # A waiter that gave up in the same step is still in the model.
            self.waiters = [w for w in self.waiters if w is caller or not w.task.done()]
            assert self.waiters[:1] in ([], [caller]), 'admitted before an earlier waiter'
            self.level -= caller.cost
            self.waiters = self.waiters[1:]
            self.admitted.append((self.time.forward, caller.cost))
            caller.admitted_at = self.time.passed
            return Success(None)

        return op

    async def _call(self, caller: Caller) -> Result[None, RateLimited]:
        operation = self.operation(caller)

        async def op() -> Success[None]:
            return operation()

        return await self.guard.run(op)

    @rule(cost=COSTS)
    def call(self, cost: Fraction) -> None:
        self.fill()
        self.cost = cost
        missing = sum((waiter.cost for waiter in self.waiters), cost) - self.level
        delay = max(missing / self.rate, Fraction(0))
        caller = Caller(cost, self.time.forward + self.wait)
        # After the clock jumped ahead, all waiters may pass but still sleep. A new caller queues.
        has_waiters = bool(self.waiters)
        if delay > TOLERANCE or has_waiters:
            self.waiters.append(caller)
        caller.task = self.time.start(self._call(caller))
        if delay <= TOLERANCE:
            assert caller.admitted_at is not None or has_waiters, 'refused or delayed unnecessarily'
        elif not caller.task.done():
            assert delay <= self.wait + TOLERANCE, 'waits instead of being refused'
        else:
            assert delay > self.wait - TOLERANCE, 'refused instead of waiting'
            self.waiters.remove(caller)
            error = caller.task.result().swap().unwrap()
            assert error.retry_after == pytest.approx(float(delay), abs=1e-5)

    @rule(seconds=TIMES)
    def advance(self, seconds: Fraction) -> None:
        self.time.advance(seconds)

    @rule(seconds=TIMES)
    def jump_ahead(self, seconds: Fraction) -> None:
        self.time.shift_clock(seconds)
        self.is_clock_reliable = self.is_clock_reliable and not self.waiters

    @rule(seconds=TIMES)
    def set_back(self, seconds: Fraction) -> None:
        self.time.shift_clock(-seconds)
        self.is_clock_reliable = self.is_clock_reliable and not self.waiters

    @precondition(lambda self: self.waiters)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        caller = data.draw(st.sampled_from(self.waiters))
        self.waiters.remove(caller)
        self.time.run_callback(caller.task.cancel)
        assert caller.task.cancelled()

    @invariant()
    def check_limit(self) -> None:
        if self.admitted:
            assert is_limited(
                self.admitted,
                period=Fraction(self.period) - TOLERANCE,
                maximum=Fraction(self.limit + self.burst),
            )

    @invariant()
    def check_waiters(self) -> None:
        """Remove refused waiters from the model; none is refused while the clock is reliable."""
        if not self.waiters:
            self.is_clock_reliable = True
        for caller in [caller for caller in self.waiters if caller.task.done()]:
            assert not self.is_clock_reliable, 'a waiter was refused'
            assert caller.task.result().swap().unwrap().retry_after >= 0
            self.waiters.remove(caller)
        if self.waiters and self.is_clock_reliable:
            self.fill()
            # The guard sleeps in floats, and may wake a little later than the model.
            surplus = self.level - self.waiters[0].cost
            assert surplus < TOLERANCE * self.rate, 'the first waiter waits unnecessarily'
            assert all(self.time.forward <= caller.until + TOLERANCE for caller in self.waiters)

    @override
    def teardown(self) -> None:
        for _ in range(100):
            if not self.waiters:
                break
            self.time.advance(Fraction(5))
            self.check_waiters()
        is_waiting = bool(self.waiters)
        self.time.close()
        assert not is_waiting, 'a caller waits without end'


RateLimitComparison.TestCase.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=20, suppress_health_check=CHECKS
)
TestRateLimitModel: Any = RateLimitComparison.TestCase
