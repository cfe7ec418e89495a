"""The bulkhead beside a slow, obvious model: for each key a list of who is inside and a list of who waits."""

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
End = Literal['success', 'failure', 'defect', 'cancelled']


class Caller:
    """One call of the model."""

    def __init__(self, key: str, came_at: Fraction) -> None:
        self.key = key
        self.came_at = came_at
        self.is_inside = False
        self.gate: asyncio.Future[Result[int, str]]
        self.task: asyncio.Task[Result[int, Any]]


class BulkheadMachine(RuleBasedStateMachine):
    """Callers come, work, end in every way, wait, are cancelled; time goes by, and the clock jumps."""

    def __init__(self) -> None:
        super().__init__()
        self.time = ManualTime()
        self.key = 'a'
        self.inside: dict[str, list[Caller]] = {'a': [], 'b': []}
        self.line: dict[str, list[Caller]] = {'a': [], 'b': []}

    @initialize(
        limit=st.integers(1, 3),
        queue=st.sampled_from([0, 1, 2, None]),
        wait=st.sampled_from([0, 1, 2, None]),
        is_keyed=st.booleans(),
    )
    def begin(self, limit: int, queue: int | None, wait: int | None, *, is_keyed: bool) -> None:
        self.limit, self.queue, self.wait, self.is_keyed = limit, queue, wait, is_keyed
        key = (lambda: self.key) if is_keyed else None
        self.guard = bulkhead(
            limit, name='x', queue=queue, wait=wait, key=key, world=self.time.world
        )

    async def _call(self, caller: Caller) -> Result[int, Any]:
        async def op() -> Result[int, str]:
            caller.is_inside = True
            return await caller.gate

        return await self.guard.run(op)

    @rule(key=st.sampled_from('ab'))
    def come(self, key: str) -> None:
        self.key = key
        key = key if self.is_keyed else 'a'
        caller = Caller(key, self.time.passed)
        caller.gate = self.time.loop.create_future()
        caller.task = self.time.start(self._call(caller))
        if len(self.inside[key]) < self.limit:
            self.inside[key].append(caller)
        elif self.wait != 0 and (self.queue is None or len(self.line[key]) < self.queue):
            self.line[key].append(caller)
        else:
            expected = BulkheadFull('x', 'tool', key if self.is_keyed else '', self.limit, 0.0)
            assert caller.task.result() == Failure(expected)

    def callers(self) -> list[Caller]:
        return [
            caller for callers in (*self.inside.values(), *self.line.values()) for caller in callers
        ]

    def serve(self, key: str) -> None:
        while self.line[key] and len(self.inside[key]) < self.limit:
            self.inside[key].append(self.line[key].pop(0))

    def finish(self, caller: Caller, how: End) -> None:
        if how == 'cancelled':
            caller.task.cancel()
        elif how == 'defect':
            caller.gate.set_exception(ZeroDivisionError())
        else:
            caller.gate.set_result(Success(1) if how == 'success' else Failure('down'))
        self.inside[caller.key].remove(caller)

    @precondition(lambda self: any(self.inside.values()))
    @rule(data=st.data(), how=st.sampled_from(['success', 'failure', 'defect', 'cancelled']))
    def end(self, data: st.DataObject, how: End) -> None:
        caller = data.draw(
            st.sampled_from([caller for callers in self.inside.values() for caller in callers])
        )
        self.time.do(lambda: self.finish(caller, how))
        self.serve(caller.key)
        assert caller.task.done()
        assert caller.task.cancelled() == (how == 'cancelled')
        if how == 'defect':
            assert isinstance(caller.task.exception(), ZeroDivisionError)

    @precondition(lambda self: any(self.line.values()))
    @rule(
        data=st.data(),
        how=st.sampled_from(['success', 'failure', 'defect', 'cancelled']),
        steps=st.integers(1, 4),
    )
    def end_and_cancel_who_is_served(self, data: st.DataObject, how: End, steps: int) -> None:
        key = data.draw(st.sampled_from([key for key, line in self.line.items() if line]))
        caller, served = self.inside[key][0], self.line[key][0]

        async def ending() -> None:
            self.finish(caller, how)
            for _ in range(steps):
                await asyncio.sleep(0)
            served.task.cancel()

        self.time.run(ending())
        self.line[key].remove(served)
        self.serve(key)
        assert served.task.cancelled()

    @precondition(lambda self: any(self.line.values()))
    @rule(data=st.data())
    def cancel_who_waits(self, data: st.DataObject) -> None:
        caller = data.draw(
            st.sampled_from([caller for line in self.line.values() for caller in line])
        )
        self.time.do(caller.task.cancel)
        self.line[caller.key].remove(caller)
        assert caller.task.cancelled()

    @rule(seconds=TIMES)
    def advance(self, seconds: Fraction) -> None:
        self.time.advance(seconds)
        if self.wait is None:
            return
        for line in self.line.values():
            for caller in [
                caller for caller in line if caller.came_at + self.wait <= self.time.passed
            ]:
                line.remove(caller)
                error = caller.task.result().swap().unwrap()
                assert error.waited >= 0
                assert error.limit == self.limit

    @rule(seconds=TIMES, way=st.sampled_from([-1, 1]))
    def jump(self, seconds: Fraction, way: int) -> None:
        self.time.jump(way * seconds)

    @invariant()
    def it_is_as_the_model_says(self) -> None:
        assert all(
            caller.is_inside and not caller.task.done()
            for callers in self.inside.values()
            for caller in callers
        )
        assert not any(
            caller.is_inside or caller.task.done() for line in self.line.values() for caller in line
        )
        (layer,) = getattr(self, 'guard', bulkhead(1, name='none'))._layers
        rooms = (
            dict(vars(layer)['_compartments'])
            if getattr(self, 'is_keyed', False)
            else {'a': vars(layer)['_default_compartment']}
        )
        for key, callers in self.inside.items():
            room = rooms.pop(key, None)
            found = (0, 0) if room is None else (room.in_flight, room.waiting)
            assert found == (len(callers), len(self.line[key]))
        assert not rooms, 'a room is left that nobody is in'

    @override
    def teardown(self) -> None:
        while any(self.inside.values()):
            for key, callers in self.inside.items():
                for caller in list(callers):
                    self.time.do(partial(self.finish, caller, 'success'))
                    self.serve(key)
                    assert caller.task.result() == Success(1)
        is_left = any(self.line.values())
        self.time.close()
        assert not is_left, 'somebody waits for ever'


BulkheadMachine.TestCase.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=20, suppress_health_check=CHECKS
)
TestBulkheadBesideItsModel: Any = BulkheadMachine.TestCase
