"""Those who wait for a bulkhead are let in in the order of coming, and whoever is cancelled, when ever, hands its permit on."""

import asyncio
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from seamwise import Failure, Result, Success
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies._engine.world import World
from seamwise.policies._parts.adaptive_limit import adaptive
from seamwise.policies.bulkhead import bulkhead
from seamwise.policies.errors import BulkheadFull
from seamwise.policies.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.manual_time import settle_tasks


async def ok() -> Success[int]:
    return Success(1)


def ok_sync() -> Success[int]:
    return Success(1)


class Inside:
    """Calls that stay inside until the test lets them go; `order` says who went in."""

    def __init__(self, guard: Guard[BulkheadFull]) -> None:
        self.guard = guard
        self.order: list[str] = []
        self.tasks: dict[str, asyncio.Task[Result[int, Any]]] = {}
        self.gates: dict[str, asyncio.Future[Result[int, str]]] = {}

    async def come(self, *names: str) -> None:
        for name in names:
            self.tasks[name] = asyncio.create_task(self._call(name))
            await settle_tasks()

    async def _call(self, name: str) -> Result[int, Any]:
        async def op() -> Result[int, str]:
            self.order.append(name)
            return await gate

        gate: asyncio.Future[Result[int, str]] = asyncio.get_running_loop().create_future()
        self.gates[name] = gate
        return await self.guard.run(op)

    async def end(
        self,
        name: str,
        how: Callable[['asyncio.Future[Result[int, str]]'], object] = lambda gate: gate.set_result(
            Success(1)
        ),
    ) -> None:
        how(self.gates[name])
        await settle_tasks()


def test_tasks_are_let_in_in_the_order_of_coming() -> None:
    async def run() -> None:
        calls = Inside(bulkhead(2, name='x', queue=None, wait=None))
        await calls.come(*'abcde')
        assert calls.order == ['a', 'b']
        await calls.end('b')
        assert calls.order == ['a', 'b', 'c']
        await calls.end('a', lambda gate: gate.set_result(Failure('down')))
        await calls.end('c', lambda gate: gate.set_exception(ZeroDivisionError()))
        assert calls.order == ['a', 'b', 'c', 'd', 'e']
        await calls.end('d')
        await calls.end('e')
        outcomes = await asyncio.gather(*calls.tasks.values(), return_exceptions=True)
        assert outcomes[:2] + outcomes[3:] == [Failure('down'), *[Success(1)] * 3]
        assert isinstance(outcomes[2], ZeroDivisionError)

    asyncio.run(run())


def test_the_queue_is_as_long_as_it_may_be() -> None:
    async def run() -> None:
        calls = Inside(bulkhead(1, name='x', queue=2, wait=None))
        await calls.come(*'abcd')
        assert [task.done() for task in calls.tasks.values()] == [False, False, False, True]
        assert calls.tasks['d'].result() == Failure(BulkheadFull('x', 'tool', '', 1, 0.0))
        await calls.end('a')
        await calls.come('e')
        assert not calls.tasks['e'].done()
        for name in 'bce':
            await calls.end(name)
        assert calls.order == ['a', 'b', 'c', 'e']

    asyncio.run(run())


@pytest.mark.parametrize('gone', ['b', 'c', 'd', 'bd', 'cb', 'bcd'])
def test_who_is_cancelled_while_it_waits_leaves_the_line(gone: str) -> None:
    async def run() -> None:
        calls = Inside(bulkhead(1, name='x', queue=3, wait=None))
        await calls.come(*'abcd')
        for name in gone:
            calls.tasks[name].cancel()
        await settle_tasks()
        assert all(calls.tasks[name].cancelled() for name in gone)
        await calls.come('e')
        rest = [name for name in 'abcde' if name not in gone]
        for name in rest:
            await calls.end(name)
        assert calls.order == rest
        assert await calls.guard.run(ok) == Success(1)

    asyncio.run(run())


def test_who_is_cancelled_when_it_has_just_been_served_hands_on_at_once() -> None:
    async def run() -> None:
        calls = Inside(bulkhead(1, name='x', queue=None, wait=None))
        await calls.come(*'abc')
        calls.gates['a'].set_result(Success(1))
        while not calls.tasks['a'].done():  # noqa: ASYNC110 -- an event would come a step later
            await asyncio.sleep(0)
        # `b` has the permit now, and has not gone on.
        calls.tasks['b'].cancel()
        await settle_tasks()
        assert calls.tasks['b'].cancelled()
        assert calls.order == ['a', 'c']
        await calls.end('c')
        assert await calls.guard.run(ok) == Success(1)

    asyncio.run(run())


def test_who_is_cancelled_inside_gives_its_permit_back() -> None:
    async def run() -> None:
        calls = Inside(bulkhead(1, name='x', queue=None, wait=None))
        await calls.come('a', 'b')
        calls.tasks['a'].cancel()
        await settle_tasks()
        assert calls.order == ['a', 'b']
        await calls.end('b')

    asyncio.run(run())


@pytest.mark.parametrize('limit', [1, adaptive(1, 1)])
def test_cancelled_at_any_await_no_permit_is_lost_and_nobody_left(limit: Any) -> None:
    async def run() -> None:
        world = FakeWorld()
        guard = bulkhead(limit, name='x', queue=5, wait=60.0, world=world)

        async def busy() -> Success[int]:
            await asyncio.sleep(0)
            return Success(1)

        async def three() -> None:
            async with asyncio.TaskGroup() as group:
                for _ in range(3):
                    group.create_task(guard.run(busy))

        async def waits() -> Result[int, BulkheadFull]:
            holder = asyncio.ensure_future(guard.run(busy))
            await asyncio.sleep(0)
            try:
                return await guard.run(busy)
            finally:
                holder.cancel()
                await asyncio.wait([holder])

        async def after() -> None:
            assert await guard.run(ok) == Success(1)
            (layer,) = guard._layers
            assert vars(layer)['_default_compartment'].in_flight == 0
            assert vars(layer)['_default_compartment'].waiting == 0

        assert await cancel_at_each_await(lambda: guard.run(busy), after) == 1
        assert await cancel_at_each_await(three, after) >= 1
        assert await cancel_at_each_await(waits, after) >= 3

    asyncio.run(run())


def test_who_waits_in_vain_is_told_how_long() -> None:
    async def run() -> None:
        world = FakeWorld()
        calls = Inside(bulkhead(1, name='x', queue=5, wait=3.0, world=world))
        await calls.come('a', 'b')
        world.advance(1.0)
        await calls.come('c')
        first, second = calls.tasks['b'], calls.tasks['c']
        world.advance(1.999)
        await settle_tasks()
        assert not first.done()
        world.advance(0.001)
        await settle_tasks()
        assert first.result().swap().unwrap().waited == pytest.approx(3.0)
        assert not second.done()
        await calls.end('a')
        assert calls.order == ['a', 'c']
        await calls.end('c')
        world.advance(100.0)
        assert await second == Success(1)

    asyncio.run(run())


def test_who_is_called_when_its_time_is_over_is_let_in() -> None:
    async def run() -> None:
        world = FakeWorld()
        calls = Inside(bulkhead(1, name='x', queue=5, wait=3.0, world=world))
        await calls.come('a', 'b')
        calls.gates['a'].set_result(Success(1))
        world.advance(3.0)
        await settle_tasks()
        assert calls.order == ['a', 'b']
        await calls.end('b')
        assert await calls.tasks['b'] == Success(1)
        assert await calls.guard.run(ok) == Success(1)

    asyncio.run(run())


def test_an_alarm_is_stopped_when_it_is_not_needed() -> None:
    async def run() -> None:
        async def sleep(_seconds: float) -> None:
            await asyncio.Event().wait()

        calls = Inside(bulkhead(1, name='x', queue=5, wait=3.0, world=World(sleep=sleep)))
        await calls.come('a', 'b', 'c')
        calls.tasks['c'].cancel()
        await calls.end('a')
        await calls.end('b')
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())


def test_when_the_limit_rises_as_many_are_let_in_as_there_is_room_for() -> None:
    async def run() -> None:
        world = FakeWorld()
        calls = Inside(bulkhead(adaptive(1, 2), name='x', queue=None, wait=None, world=world))

        def op() -> Success[int]:
            world.advance(1.0)
            return Success(1)

        for _ in range(9):
            assert calls.guard.run_sync(op) == Success(1)
        await calls.come(*'abcd')
        world.advance(1.0)
        await calls.end('a')
        assert calls.order == ['a', 'b', 'c']
        for name in 'bcd':
            await calls.end(name)
        assert calls.order == ['a', 'b', 'c', 'd']

    asyncio.run(run())


def test_each_key_has_a_line_of_its_own() -> None:
    async def run() -> None:
        user = ['a']
        calls = Inside(bulkhead(1, name='x', key=lambda: user[0], queue=1, wait=None))
        await calls.come('a1')
        await calls.come('a2')
        user[0] = 'b'
        await calls.come('b1')
        assert calls.order == ['a1', 'b1']
        await calls.end('b1')
        assert calls.order == ['a1', 'b1']
        await calls.end('a1')
        await calls.end('a2')
        (layer,) = calls.guard._layers
        assert vars(layer)['_compartments'] == {}

    asyncio.run(run())


def test_a_task_is_let_in_by_a_thread_and_a_thread_by_a_task() -> None:
    async def run() -> list[object]:
        guard = bulkhead(1, name='x', queue=None, wait=2.0)
        go, is_inside = threading.Event(), threading.Event()

        def blocks() -> Success[int]:
            is_inside.set()
            go.wait(2)
            return Success(1)

        loop = asyncio.get_running_loop()
        first = loop.run_in_executor(None, guard.run_sync, blocks)
        await loop.run_in_executor(None, is_inside.wait, 2)
        second = asyncio.create_task(guard.run(ok))
        await asyncio.sleep(0)
        third = loop.run_in_executor(None, guard.run_sync, ok_sync)
        go.set()
        return list(await asyncio.gather(first, second, third))

    # In this mode a loop complains of whoever touches it from another thread.
    assert asyncio.run(run(), debug=True) == [Success(1)] * 3


def test_a_second_loop_is_refused() -> None:
    guard = bulkhead(1, name='x')
    assert asyncio.run(guard.run(ok)) == Success(1)
    with pytest.raises(RuntimeError, match='another event loop'):
        asyncio.run(guard.run(ok))
    assert guard.run_sync(ok_sync) == Success(1)


@pytest.mark.filterwarnings('ignore::ResourceWarning')
def test_who_was_left_in_a_closed_loop_holds_nobody_up() -> None:
    guard = bulkhead(1, name='x', queue=None, wait=2.0)
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda loop, context: None)

    def in_the_way() -> Success[int]:
        left: list[Any] = [loop.create_task(guard.run(ok)) for _ in range(3)]
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        del left[:]
        thread.start()
        time.sleep(0.005)
        return Success(1)

    outcomes: list[object] = []
    thread = threading.Thread(target=lambda: outcomes.append(guard.run_sync(ok_sync)))
    assert guard.run_sync(in_the_way) == Success(1)
    thread.join(2)
    assert outcomes == [Success(1)]
    assert guard.run_sync(ok_sync) == Success(1)


@pytest.mark.parametrize('limit', [1, 3])
def test_threads_and_tasks_that_come_and_go_never_are_more_than_the_limit(limit: int) -> None:
    guard = bulkhead(limit, name='x', queue=None, wait=None)
    lock = threading.Lock()
    now, most, ended = 0, 0, 0

    def count(change: int) -> None:
        nonlocal now, most, ended
        with lock:
            now += change
            most = max(most, now)
            ended += change < 0

    def in_a_thread() -> Success[int]:
        count(+1)
        time.sleep(0)
        count(-1)
        return Success(1)

    async def in_a_task() -> Success[int]:
        count(+1)
        try:
            await asyncio.sleep(0)
        finally:
            count(-1)
        return Success(1)

    async def run() -> None:
        dice = random.Random(7)  # noqa: S311 -- no secret is made of it
        loop = asyncio.get_running_loop()
        threads = [
            loop.run_in_executor(None, lambda: [guard.run_sync(in_a_thread) for _ in range(40)])
            for _ in range(4)
        ]
        tasks = [asyncio.create_task(guard.run(in_a_task)) for _ in range(400)]
        for task in dice.sample(tasks, 100):
            await asyncio.sleep(0)
            task.cancel()
        done, _ = await asyncio.wait(tasks)
        for outcomes in await asyncio.gather(*threads):
            assert outcomes == [Success(1)] * 40
        assert all(task.cancelled() or task.result() == Success(1) for task in done)
        assert sum(not task.cancelled() for task in done) >= 300

    asyncio.run(asyncio.wait_for(run(), 20))
    assert most == limit
    assert now == 0
    assert ended >= 300 + 160
    (layer,) = guard._layers
    assert vars(layer)['_default_compartment'].in_flight == 0
    assert vars(layer)['_default_compartment'].waiting == 0


def test_thousands_that_are_cancelled_from_the_middle_hold_nobody_up() -> None:
    async def run() -> None:
        calls = Inside(bulkhead(1, name='x', queue=None, wait=None))
        await calls.come('a')
        tasks = [asyncio.create_task(calls.guard.run(ok)) for _ in range(2000)]
        await settle_tasks()
        for task in tasks[500:1500]:
            task.cancel()
        await calls.end('a')
        assert await asyncio.gather(*tasks[:500], *tasks[1500:]) == [Success(1)] * 1000
        assert all(task.cancelled() for task in tasks[500:1500])

    asyncio.run(run())
