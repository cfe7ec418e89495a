"""Model-based test of the bulkhead: the model has lists of admitted and waiting calls."""

import asyncio
import os
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from typing_extensions import override

from seamwise import Failure, Result, Success
from seamwise.policies.bulkhead import bulkhead
from seamwise.policies.errors import BulkheadFull
from tests.policies.manual_time import ManualTime

CHECKS = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)

EXAMPLES = 10_000 if os.environ.get('SEAMWISE_NIGHTLY') else 100

TIMES = st.integers(1, 24).map(lambda eighths: Fraction(eighths, 8))
Outcome = Literal['success', 'failure', 'defect', 'cancelled']


class Caller:
    """One call of the model."""

    def __init__(self, key: str, started_at: Fraction) -> None:
        self.key = key
        self.started_at = started_at
        self.is_running = False
        self.gate: asyncio.Future[Result[int, str]]
        self.task: asyncio.Task[Result[int, Any]]


class BulkheadComparison(RuleBasedStateMachine):
    """Calls with all outcomes, waiting and cancellation, and a clock that jumps."""

    def __init__(self) -> None:
        super().__init__()
        self.time = ManualTime()
        self.key = 'a'
        self.running: dict[str, list[Caller]] = {'a': [], 'b': []}
        self.waiting: dict[str, list[Caller]] = {'a': [], 'b': []}

    @initialize(
        limit=st.integers(1, 3),
        queue=st.sampled_from([0, 1, 2, None]),
        wait=st.sampled_from([0, 1, 2, None]),
        is_keyed=st.booleans(),
    )
    def create(self, limit: int, queue: int | None, wait: int | None, *, is_keyed: bool) -> None:
        self.limit, self.queue, self.wait, self.is_keyed = limit, queue, wait, is_keyed
        key = (lambda: self.key) if is_keyed else None
        self.guard = bulkhead(
            limit, name='x', queue=queue, wait=wait, key=key, world=self.time.world
        )

    async def _call(self, caller: Caller) -> Result[int, Any]:
        async def op() -> Result[int, str]:
            caller.is_running = True
            return await caller.gate

        return await self.guard.run(op)

    @rule(key=st.sampled_from('ab'))
    def call(self, key: str) -> None:
        self.key = key
        key = key if self.is_keyed else 'a'
        caller = Caller(key, self.time.passed)
        caller.gate = self.time.loop.create_future()
        caller.task = self.time.start(self._call(caller))
        if len(self.running[key]) < self.limit:
            self.running[key].append(caller)
        elif self.wait != 0 and (self.queue is None or len(self.waiting[key]) < self.queue):
            self.waiting[key].append(caller)
        else:
            expected = BulkheadFull('x', 'tool', key if self.is_keyed else '', self.limit, 0.0)
            assert caller.task.result() == Failure(expected)

    def callers(self) -> list[Caller]:
        return [
            caller
            for callers in (*self.running.values(), *self.waiting.values())
            for caller in callers
        ]

    def admit_waiters(self, key: str) -> None:
        while self.waiting[key] and len(self.running[key]) < self.limit:
            self.running[key].append(self.waiting[key].pop(0))

    def finish(self, caller: Caller, outcome: Outcome) -> None:
        if outcome == 'cancelled':
            caller.task.cancel()
        elif outcome == 'defect':
            caller.gate.set_exception(ZeroDivisionError())
        else:
            caller.gate.set_result(Success(1) if outcome == 'success' else Failure('down'))
        self.running[caller.key].remove(caller)

    @precondition(lambda self: any(self.running.values()))
    @rule(data=st.data(), outcome=st.sampled_from(['success', 'failure', 'defect', 'cancelled']))
    def end(self, data: st.DataObject, outcome: Outcome) -> None:
        caller = data.draw(
            st.sampled_from([caller for callers in self.running.values() for caller in callers])
        )
        self.time.run_callback(lambda: self.finish(caller, outcome))
        self.admit_waiters(caller.key)
        assert caller.task.done()
        assert caller.task.cancelled() == (outcome == 'cancelled')
        if outcome == 'defect':
            assert isinstance(caller.task.exception(), ZeroDivisionError)

    @precondition(lambda self: any(self.waiting.values()))
    @rule(
        data=st.data(),
        outcome=st.sampled_from(['success', 'failure', 'defect', 'cancelled']),
        steps=st.integers(1, 4),
    )
    def end_and_cancel_the_next_waiter(
        self, data: st.DataObject, outcome: Outcome, steps: int
    ) -> None:
        key = data.draw(st.sampled_from([key for key, callers in self.waiting.items() if callers]))
        caller, waiter = self.running[key][0], self.waiting[key][0]

        async def end_and_cancel() -> None:
            self.finish(caller, outcome)
            for _ in range(steps):
                await asyncio.sleep(0)
            waiter.task.cancel()

        self.time.run(end_and_cancel())
        self.waiting[key].remove(waiter)
        self.admit_waiters(key)
        assert waiter.task.cancelled()

    @precondition(lambda self: any(self.waiting.values()))
    @rule(data=st.data())
    def cancel_waiter(self, data: st.DataObject) -> None:
        caller = data.draw(
            st.sampled_from([caller for callers in self.waiting.values() for caller in callers])
        )
        self.time.run_callback(caller.task.cancel)
        self.waiting[caller.key].remove(caller)
        assert caller.task.cancelled()

    @rule(seconds=TIMES)
    def advance(self, seconds: Fraction) -> None:
        self.time.advance(seconds)
        if self.wait is None:
            return
        for callers in self.waiting.values():
            for caller in [
                caller for caller in callers if caller.started_at + self.wait <= self.time.passed
            ]:
                callers.remove(caller)
                error = caller.task.result().swap().unwrap()
                assert error.waited >= 0
                assert error.limit == self.limit

    @rule(seconds=TIMES, direction=st.sampled_from([-1, 1]))
    def jump(self, seconds: Fraction, direction: int) -> None:
        self.time.shift_clock(direction * seconds)

    @invariant()
    def check_state(self) -> None:
        assert all(
            caller.is_running and not caller.task.done()
            for callers in self.running.values()
            for caller in callers
        )
        assert not any(
            caller.is_running or caller.task.done()
            for callers in self.waiting.values()
            for caller in callers
        )
        (layer,) = getattr(self, 'guard', bulkhead(1, name='none'))._layers
        rooms = (
            dict(vars(layer)['_compartments'])
            if getattr(self, 'is_keyed', False)
            else {'a': vars(layer)['_default_compartment']}
        )
        for key, callers in self.running.items():
            room = rooms.pop(key, None)
            counts = (0, 0) if room is None else (room.in_flight, room.waiting)
            assert counts == (len(callers), len(self.waiting[key]))
        assert not rooms, 'an empty room is left'

    @override
    def teardown(self) -> None:
        while any(self.running.values()):
            for key, callers in self.running.items():
                for caller in list(callers):
                    self.time.run_callback(partial(self.finish, caller, 'success'))
                    self.admit_waiters(key)
                    assert caller.task.result() == Success(1)
        is_waiting = any(self.waiting.values())
        self.time.close()
        assert not is_waiting, 'a caller waits without end'


BulkheadComparison.TestCase.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=20, suppress_health_check=CHECKS
)
TestBulkheadModel: Any = BulkheadComparison.TestCase
