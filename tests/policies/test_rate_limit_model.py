"""The rate limit beside a slow, obvious model: a bucket of tokens in exact fractions, and a list of who waits."""

import asyncio
import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from typing_extensions import override

from seamwise import Result, Success
from seamwise.policies._engine.world import World
from seamwise.policies.errors import RateLimited
from seamwise.policies.rate_limit import rate_limit
from tests.policies.manual_time import ManualTime

CHECKS = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)

EXAMPLES = 10_000 if os.environ.get('SEAMWISE_NIGHTLY') else 100

TIMES = st.integers(1, 24).map(lambda eighths: Fraction(eighths, 8))
COSTS = st.integers(1, 12).map(lambda quarters: Fraction(quarters, 4))
TINY = Fraction(3, 1_000_000)
"""What a clock in floats may be off, and the guard may be early."""


def holds_the_law(
    passed: list[tuple[Fraction, Fraction]], *, period: Fraction, most: Fraction
) -> bool:
    """Over any half-open period no more passed; the most that there is begins with a call."""
    return all(
        sum((cost for at, cost in passed if begin <= at < begin + period), Fraction(0)) <= most
        for begin, _ in passed
    )


@settings(max_examples=EXAMPLES)
@given(st.data())
def test_over_any_half_open_period_at_most_limit_and_burst_pass(data: st.DataObject) -> None:
    limit, burst = data.draw(st.integers(1, 5)), data.draw(st.none() | st.integers(1, 6))
    period = data.draw(st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3)]))
    capacity = limit if burst is None else burst
    shown = 1_700_000_000.0
    gone = Fraction(0)
    cost = Fraction(1)
    guard = rate_limit(
        limit,
        period=float(period),
        name='x',
        burst=burst,
        cost=lambda: float(cost),
        world=World(clock=lambda: shown),
    )
    passed: list[tuple[Fraction, Fraction]] = []
    steps = st.tuples(st.integers(0, 8), st.integers(1, 4 * capacity), st.booleans())
    for sixteenths, quarters, is_set_back in data.draw(st.lists(steps, max_size=60)):
        cost = Fraction(quarters, 4)
        shown += sixteenths / 16
        gone += Fraction(sixteenths, 16)
        if is_set_back:
            shown -= 1000.0
        if type(guard.run_sync(lambda: Success(None))) is Success:
            passed.append((gone, cost))
    assert holds_the_law(passed, period=period, most=Fraction(limit + capacity))


class Caller:
    """One call of the model."""

    def __init__(self, cost: Fraction, until: Fraction) -> None:
        self.cost = cost
        self.until = until
        self.passed_at: Fraction | None = None
        self.task: asyncio.Task[Result[None, RateLimited]]


class RateLimitMachine(RuleBasedStateMachine):
    """Callers come, wait, are cancelled; time goes by, and the clock jumps."""

    def __init__(self) -> None:
        super().__init__()
        self.time = ManualTime()
        self.cost = Fraction(1)
        self.line: list[Caller] = []
        self.passed: list[tuple[Fraction, Fraction]] = []
        self.is_clock_right = True

    @initialize(
        limit=st.integers(1, 4),
        burst=st.integers(3, 5),
        period=st.sampled_from([1, 2]),
        wait=st.sampled_from([0, 2, 20]),
    )
    def begin(self, limit: int, burst: int, period: int, wait: int) -> None:
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
        """Let flow in what has come until now, as far as readings have shown."""
        now = self.time.forward
        self.level = min(Fraction(self.burst), self.level + (now - self.filled_at) * self.rate)
        self.filled_at = now

    def entering(self, caller: Caller) -> Callable[[], Success[None]]:
        def op() -> Success[None]:
            self.fill()
            assert self.level >= caller.cost - TINY * self.rate, 'let in too soon'
            # Who gave up in this very step is still in the model's line.
            self.line = [one for one in self.line if one is caller or not one.task.done()]
            assert self.line[:1] in ([], [caller]), 'passed somebody who waits'
            self.level -= caller.cost
            self.line = self.line[1:]
            self.passed.append((self.time.forward, caller.cost))
            caller.passed_at = self.time.passed
            return Success(None)

        return op

    async def _call(self, caller: Caller) -> Result[None, RateLimited]:
        enter = self.entering(caller)

        async def op() -> Success[None]:
            return enter()

        return await self.guard.run(op)

    @rule(cost=COSTS)
    def come(self, cost: Fraction) -> None:
        self.fill()
        self.cost = cost
        lacks = sum((waiting.cost for waiting in self.line), cost) - self.level
        delay = max(lacks / self.rate, Fraction(0))
        caller = Caller(cost, self.time.forward + self.wait)
        # Where the clock leapt ahead, those in line may all pass, and still sleep: who comes now stands behind them.
        has_a_place = bool(self.line)
        if delay > TINY or has_a_place:
            self.line.append(caller)
        caller.task = self.time.start(self._call(caller))
        if delay <= TINY:
            assert caller.passed_at is not None or has_a_place, (
                'refused, or made to wait, without need'
            )
        elif delay <= self.wait:
            assert not caller.task.done(), 'refused where it might wait'
        else:
            self.line.remove(caller)
            error = caller.task.result().swap().unwrap()
            assert error.retry_after == pytest.approx(float(delay), abs=1e-5)

    @rule(seconds=TIMES)
    def advance(self, seconds: Fraction) -> None:
        self.time.advance(seconds)

    @rule(seconds=TIMES)
    def leap(self, seconds: Fraction) -> None:
        self.time.jump(seconds)
        self.is_clock_right = self.is_clock_right and not self.line

    @rule(seconds=TIMES)
    def set_back(self, seconds: Fraction) -> None:
        self.time.jump(-seconds)
        self.is_clock_right = self.is_clock_right and not self.line

    @precondition(lambda self: self.line)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        caller = data.draw(st.sampled_from(self.line))
        self.line.remove(caller)
        self.time.do(caller.task.cancel)
        assert caller.task.cancelled()

    @invariant()
    def the_law_holds(self) -> None:
        if self.passed:
            assert holds_the_law(
                self.passed,
                period=Fraction(self.period) - TINY,
                most=Fraction(self.limit + self.burst),
            )

    @invariant()
    def nobody_waits_longer_than_needed(self) -> None:
        """Who was refused while waiting goes out of the model's line; where the clock was right, nobody is."""
        if not self.line:
            self.is_clock_right = True
        for caller in [caller for caller in self.line if caller.task.done()]:
            assert not self.is_clock_right, 'refused after all'
            assert caller.task.result().swap().unwrap().retry_after >= 0
            self.line.remove(caller)
        if self.line and self.is_clock_right:
            self.fill()
            assert self.level < self.line[0].cost, 'the first one waits without need'
            assert all(self.time.forward <= caller.until + TINY for caller in self.line)

    @override
    def teardown(self) -> None:
        for _ in range(100):
            if not self.line:
                break
            self.time.advance(Fraction(5))
            self.nobody_waits_longer_than_needed()
        is_left = bool(self.line)
        self.time.close()
        assert not is_left, 'somebody waits for ever'


RateLimitMachine.TestCase.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=20, suppress_health_check=CHECKS
)
TestRateLimitBesideItsModel: Any = RateLimitMachine.TestCase
