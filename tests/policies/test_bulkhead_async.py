"""Bulkheads in tasks: order of admission, and permits after cancellations."""

import asyncio
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from seamwise import Failure, Result, Success
from seamwise._runtime.world import World
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies._parts.adaptive_limit import adaptive
from seamwise.policies.bulkhead import bulkhead
from seamwise.policies.errors import BulkheadFull
from seamwise.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.manual_time import settle_tasks


async def ok() -> Success[int]:
    return Success(1)


def ok_sync() -> Success[int]:
    return Success(1)


class GatedCalls:
    """Calls that run until the test ends them; `order` lists them in order of admission."""

    def __init__(self, guard: Guard[BulkheadFull]) -> None:
        self.guard = guard
        self.order: list[str] = []
        self.tasks: dict[str, asyncio.Task[Result[int, Any]]] = {}
        self.gates: dict[str, asyncio.Future[Result[int, str]]] = {}

    async def start(self, *names: str) -> None:
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
        complete: Callable[['asyncio.Future[Result[int, str]]'], object] = lambda gate: (
            gate.set_result(Success(1))
        ),
    ) -> None:
        complete(self.gates[name])
        await settle_tasks()


def test_waiting_tasks_are_admitted_in_order_of_arrival() -> None:
    async def run() -> None:
        calls = GatedCalls(bulkhead(2, name='x', queue=None, wait=None))
        await calls.start(*'abcde')
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


def test_call_is_refused_when_the_queue_is_full() -> None:
    async def run() -> None:
        calls = GatedCalls(bulkhead(1, name='x', queue=2, wait=None))
        await calls.start(*'abcd')
        assert [task.done() for task in calls.tasks.values()] == [False, False, False, True]
        assert calls.tasks['d'].result() == Failure(BulkheadFull('x', 'tool', '', 1, 0.0))
        await calls.end('a')
        await calls.start('e')
        assert not calls.tasks['e'].done()
        for name in 'bce':
            await calls.end(name)
        assert calls.order == ['a', 'b', 'c', 'e']

    asyncio.run(run())


@pytest.mark.parametrize('cancelled_names', ['b', 'c', 'd', 'bd', 'cb', 'bcd'])
def test_waiting_task_leaves_the_queue_when_it_is_cancelled(cancelled_names: str) -> None:
    async def run() -> None:
        calls = GatedCalls(bulkhead(1, name='x', queue=3, wait=None))
        await calls.start(*'abcd')
        for name in cancelled_names:
            calls.tasks[name].cancel()
        await settle_tasks()
        assert all(calls.tasks[name].cancelled() for name in cancelled_names)
        await calls.start('e')
        remaining_names = [name for name in 'abcde' if name not in cancelled_names]
        for name in remaining_names:
            await calls.end(name)
        assert calls.order == remaining_names
        assert await calls.guard.run(ok) == Success(1)

    asyncio.run(run())


def test_task_cancelled_just_after_it_received_a_permit_passes_it_on() -> None:
    async def run() -> None:
        calls = GatedCalls(bulkhead(1, name='x', queue=None, wait=None))
        await calls.start(*'abc')
        calls.gates['a'].set_result(Success(1))
        while not calls.tasks['a'].done():  # noqa: ASYNC110 -- an event would be set one step later
            await asyncio.sleep(0)
        # `b` has the permit, but has not run since.
        calls.tasks['b'].cancel()
        await settle_tasks()
        assert calls.tasks['b'].cancelled()
        assert calls.order == ['a', 'c']
        await calls.end('c')
        assert await calls.guard.run(ok) == Success(1)

    asyncio.run(run())


def test_permit_is_released_when_the_operation_is_cancelled() -> None:
    async def run() -> None:
        calls = GatedCalls(bulkhead(1, name='x', queue=None, wait=None))
        await calls.start('a', 'b')
        calls.tasks['a'].cancel()
        await settle_tasks()
        assert calls.order == ['a', 'b']
        await calls.end('b')

    asyncio.run(run())


@pytest.mark.parametrize('limit', [1, adaptive(1, 1)])
def test_cancellation_at_any_await_loses_no_permit_and_leaves_no_waiter(limit: Any) -> None:
    async def run() -> None:
        world = FakeWorld()
        guard = bulkhead(limit, name='x', queue=5, wait=60.0, world=world)

        async def busy() -> Success[int]:
            await asyncio.sleep(0)
            return Success(1)

        async def run_three() -> None:
            async with asyncio.TaskGroup() as group:
                for _ in range(3):
                    group.create_task(guard.run(busy))

        async def wait_for_holder() -> Result[int, BulkheadFull]:
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
        assert await cancel_at_each_await(run_three, after) >= 1
        assert await cancel_at_each_await(wait_for_holder, after) >= 3

    asyncio.run(run())


def test_refusal_after_a_wait_states_the_waiting_time() -> None:
    async def run() -> None:
        world = FakeWorld()
        calls = GatedCalls(bulkhead(1, name='x', queue=5, wait=3.0, world=world))
        await calls.start('a', 'b')
        world.advance(1.0)
        await calls.start('c')
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


def test_task_woken_at_the_end_of_its_wait_is_admitted() -> None:
    async def run() -> None:
        world = FakeWorld()
        calls = GatedCalls(bulkhead(1, name='x', queue=5, wait=3.0, world=world))
        await calls.start('a', 'b')
        calls.gates['a'].set_result(Success(1))
        world.advance(3.0)
        await settle_tasks()
        assert calls.order == ['a', 'b']
        await calls.end('b')
        assert await calls.tasks['b'] == Success(1)
        assert await calls.guard.run(ok) == Success(1)

    asyncio.run(run())


def test_alarm_is_cancelled_when_the_wait_ends() -> None:
    async def run() -> None:
        async def sleep(_seconds: float) -> None:
            await asyncio.Event().wait()

        calls = GatedCalls(bulkhead(1, name='x', queue=5, wait=3.0, world=World(sleep=sleep)))
        await calls.start('a', 'b', 'c')
        calls.tasks['c'].cancel()
        await calls.end('a')
        await calls.end('b')
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())


def test_waiting_tasks_are_admitted_up_to_a_raised_limit() -> None:
    async def run() -> None:
        world = FakeWorld()
        calls = GatedCalls(bulkhead(adaptive(1, 2), name='x', queue=None, wait=None, world=world))

        def op() -> Success[int]:
            world.advance(1.0)
            return Success(1)

        for _ in range(9):
            assert calls.guard.run_sync(op) == Success(1)
        await calls.start(*'abcd')
        world.advance(1.0)
        await calls.end('a')
        assert calls.order == ['a', 'b', 'c']
        for name in 'bcd':
            await calls.end(name)
        assert calls.order == ['a', 'b', 'c', 'd']

    asyncio.run(run())


def test_each_key_has_a_separate_queue() -> None:
    async def run() -> None:
        user = ['a']
        calls = GatedCalls(bulkhead(1, name='x', key=lambda: user[0], queue=1, wait=None))
        await calls.start('a1')
        await calls.start('a2')
        user[0] = 'b'
        await calls.start('b1')
        assert calls.order == ['a1', 'b1']
        await calls.end('b1')
        assert calls.order == ['a1', 'b1']
        await calls.end('a1')
        await calls.end('a2')
        (layer,) = calls.guard._layers
        assert vars(layer)['_compartments'] == {}

    asyncio.run(run())


def test_task_and_thread_pass_permits_on_to_each_other() -> None:
    async def run() -> list[object]:
        guard = bulkhead(1, name='x', queue=None, wait=2.0)
        may_return, has_started = threading.Event(), threading.Event()

        def block() -> Success[int]:
            has_started.set()
            may_return.wait(2)
            return Success(1)

        loop = asyncio.get_running_loop()
        first = loop.run_in_executor(None, guard.run_sync, block)
        await loop.run_in_executor(None, has_started.wait, 2)
        second = asyncio.create_task(guard.run(ok))
        await asyncio.sleep(0)
        third = loop.run_in_executor(None, guard.run_sync, ok_sync)
        may_return.set()
        return list(await asyncio.gather(first, second, third))

    # In debug mode, a loop raises if another thread calls it directly.
    assert asyncio.run(run(), debug=True) == [Success(1)] * 3


def test_bulkhead_serves_several_event_loops_one_after_the_other() -> None:
    guard = bulkhead(1, name='x')
    assert asyncio.run(guard.run(ok)) == asyncio.run(guard.run(ok)) == Success(1)
    assert guard.run_sync(ok_sync) == Success(1)


def test_tasks_of_two_running_event_loops_wait_for_each_other() -> None:
    guard = bulkhead(1, name='x', queue=None, wait=None)
    running, most = 0, 0

    async def op() -> Success[int]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return Success(1)

    async def call() -> list[object]:
        return [*await asyncio.gather(*(guard.run(op) for _ in range(20)))]

    outcomes: list[object] = []
    threads = [
        threading.Thread(target=lambda: outcomes.extend(asyncio.run(call(), debug=True)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert (outcomes, most) == ([Success(1)] * 60, 1)


def test_waiter_of_a_suspended_loop_is_passed_over_until_the_loop_runs_again() -> None:
    guard = bulkhead(1, name='x', queue=None, wait=30.0)
    first, second = asyncio.new_event_loop(), asyncio.new_event_loop()

    async def start_waiting() -> 'asyncio.Task[object]':
        task = asyncio.create_task(guard.run(ok))
        await asyncio.sleep(0)
        return task

    async def hold() -> Success[int]:
        # The first loop runs inside this call, in another thread, and is suspended then.
        with ThreadPoolExecutor() as executor:
            suspended.append(executor.submit(first.run_until_complete, start_waiting()).result())
        following = asyncio.create_task(guard.run(ok))
        await asyncio.sleep(0)
        tasks.append(following)
        return Success(1)

    async def main() -> None:
        assert await guard.run(hold) == Success(1)
        assert await tasks[0] == Success(1)
        assert await guard.run(ok) == Success(1)

    suspended: list[asyncio.Task[object]] = []
    tasks: list[asyncio.Task[object]] = []
    try:
        second.run_until_complete(asyncio.wait_for(main(), 10.0))
        assert not suspended[0].done()
        assert first.run_until_complete(asyncio.wait_for(suspended[0], 10.0)) == Success(1)
        assert guard.run_sync(ok_sync) == Success(1)
    finally:
        first.close()
        second.close()


@pytest.mark.filterwarnings('ignore::ResourceWarning')
def test_waiter_of_a_closed_loop_does_not_block_the_queue() -> None:
    guard = bulkhead(1, name='x', queue=None, wait=2.0)
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda loop, context: None)

    def hold_permit() -> Success[int]:
        abandoned_tasks: list[Any] = [loop.create_task(guard.run(ok)) for _ in range(3)]
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        del abandoned_tasks[:]
        thread.start()
        time.sleep(0.005)
        return Success(1)

    outcomes: list[object] = []
    thread = threading.Thread(target=lambda: outcomes.append(guard.run_sync(ok_sync)))
    assert guard.run_sync(hold_permit) == Success(1)
    thread.join(2)
    assert outcomes == [Success(1)]
    assert guard.run_sync(ok_sync) == Success(1)


@pytest.mark.parametrize('limit', [1, 3])
def test_concurrent_threads_and_tasks_never_exceed_the_limit(limit: int) -> None:
    guard = bulkhead(limit, name='x', queue=None, wait=None)
    lock = threading.Lock()
    in_flight, max_in_flight, finished = 0, 0, 0

    def count(change: int) -> None:
        nonlocal in_flight, max_in_flight, finished
        with lock:
            in_flight += change
            max_in_flight = max(max_in_flight, in_flight)
            finished += change < 0

    def thread_operation() -> Success[int]:
        count(+1)
        time.sleep(0)
        count(-1)
        return Success(1)

    async def task_operation() -> Success[int]:
        count(+1)
        try:
            await asyncio.sleep(0)
        finally:
            count(-1)
        return Success(1)

    async def run() -> None:
        random_source = random.Random(7)  # noqa: S311 -- not for secrets
        loop = asyncio.get_running_loop()
        threads = [
            loop.run_in_executor(
                None, lambda: [guard.run_sync(thread_operation) for _ in range(40)]
            )
            for _ in range(4)
        ]
        tasks = [asyncio.create_task(guard.run(task_operation)) for _ in range(400)]
        for task in random_source.sample(tasks, 100):
            await asyncio.sleep(0)
            task.cancel()
        done, _ = await asyncio.wait(tasks)
        for outcomes in await asyncio.gather(*threads):
            assert outcomes == [Success(1)] * 40
        assert all(task.cancelled() or task.result() == Success(1) for task in done)
        assert sum(not task.cancelled() for task in done) >= 300

    asyncio.run(asyncio.wait_for(run(), 20))
    assert max_in_flight == limit
    assert in_flight == 0
    assert finished >= 300 + 160
    (layer,) = guard._layers
    assert vars(layer)['_default_compartment'].in_flight == 0
    assert vars(layer)['_default_compartment'].waiting == 0


def test_thousand_cancellations_in_the_middle_do_not_block_the_queue() -> None:
    async def run() -> None:
        calls = GatedCalls(bulkhead(1, name='x', queue=None, wait=None))
        await calls.start('a')
        tasks = [asyncio.create_task(calls.guard.run(ok)) for _ in range(2000)]
        await settle_tasks()
        for task in tasks[500:1500]:
            task.cancel()
        await calls.end('a')
        assert await asyncio.gather(*tasks[:500], *tasks[1500:]) == [Success(1)] * 1000
        assert all(task.cancelled() for task in tasks[500:1500])

    asyncio.run(run())
