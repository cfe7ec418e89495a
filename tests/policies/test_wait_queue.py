"""Wait queue: order, weights, and waiting tasks and threads."""

import asyncio
import threading
import time
from threading import RLock

import pytest

from seamwise._runtime.wait_queue import Waiter, WaitQueue
from seamwise._runtime.world import REAL, World
from seamwise.testing import FakeWorld
from tests.policies.manual_time import settle_tasks


def new_waiter() -> Waiter:
    return Waiter(RLock(), 1)


def test_waiters_are_woken_in_order_of_arrival() -> None:
    queue = WaitQueue(RLock(), lambda: None)
    waiters = [queue.join(1) for _ in range(3)]
    for count, waiter in enumerate(waiters, 1):
        assert queue.wake_next() is waiter
        assert [item.is_woken for item in waiters] == [True] * count + [False] * (3 - count)
    assert queue.wake_next() is None


def test_queue_has_the_length_and_total_weight_of_its_waiters() -> None:
    queue = WaitQueue(RLock(), lambda: None)
    assert (len(queue), queue.weight) == (0, 0)
    _first, second, third = [queue.join(weight) for weight in (1, 20, 300)]
    assert (len(queue), queue.weight, second.weight) == (3, 321, 20)
    queue.leave(second)
    assert (len(queue), queue.weight) == (2, 301)
    queue.wake_next()
    assert (len(queue), queue.weight) == (1, 300)
    queue.leave(third)
    assert (len(queue), queue.weight) == (0, 0)


def test_leaving_twice_or_after_waking_has_no_effect() -> None:
    queue = WaitQueue(RLock(), lambda: None)
    first, second, third = [queue.join(weight) for weight in (1, 20, 300)]
    queue.wake_next()
    queue.leave(first)
    queue.leave(second)
    queue.leave(second)
    assert (len(queue), queue.weight) == (1, 300)
    assert queue.wake_next() is third


def test_waiter_woken_before_its_wait_does_not_wait() -> None:
    slept: list[float] = []
    waiter = new_waiter()
    assert waiter.wake()
    waiter.wait_sync(World(sleep_sync=slept.append), 5.0)
    assert slept == []

    async def run() -> None:
        await asyncio.wait_for(waiter.wait(FakeWorld(), None), 1.0)

    asyncio.run(run())


def test_task_waits_until_it_is_woken() -> None:
    async def run() -> None:
        waiter = new_waiter()
        task = asyncio.create_task(waiter.wait(FakeWorld(), None))
        await settle_tasks()
        assert not task.done()
        assert waiter.wake()
        assert waiter.is_woken
        await settle_tasks()
        assert task.done()

    asyncio.run(run())


def test_task_waits_for_the_given_time_and_is_not_woken() -> None:
    async def run() -> None:
        world, waiter = FakeWorld(), new_waiter()
        task = asyncio.create_task(waiter.wait(world, 3.0))
        await settle_tasks()
        world.advance(2.75)
        await settle_tasks()
        assert not task.done()
        world.advance(0.25)
        await settle_tasks()
        assert task.done()
        assert not waiter.is_woken
        # Waking it after its wait has no effect.
        assert waiter.wake()

    asyncio.run(run())


def test_task_can_be_woken_from_another_thread() -> None:
    async def run() -> None:
        waiter = new_waiter()
        task = asyncio.create_task(waiter.wait(REAL, None))
        await settle_tasks()
        caller = threading.Thread(target=waiter.wake)
        caller.start()
        caller.join(1)
        await asyncio.wait_for(task, 1.0)

    asyncio.run(run(), debug=True)


@pytest.mark.filterwarnings('ignore::ResourceWarning')
def test_next_waiter_is_woken_if_the_loop_of_the_first_is_closed() -> None:
    mutex = RLock()
    queue = WaitQueue(mutex, lambda: None)
    dead_waiter, next_waiter = queue.join(1), queue.join(20)
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    abandoned_task = loop.create_task(dead_waiter.wait(FakeWorld(), None))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    assert queue.wake_next() is next_waiter
    assert (dead_waiter.is_woken, next_waiter.is_woken) == (False, True)
    assert (len(queue), queue.weight) == (0, 0)
    assert not abandoned_task.done()


def test_thread_waits_until_it_is_woken() -> None:
    for seconds in (None, 60.0):
        waiter = new_waiter()
        caller = threading.Timer(0.002, waiter.wake)
        caller.start()
        started_at = time.monotonic()
        waiter.wait_sync(REAL, seconds)
        assert waiter.is_woken
        assert time.monotonic() - started_at < 30.0
        caller.join()


def test_thread_waits_for_the_given_time() -> None:
    waiter = new_waiter()
    started_at = time.monotonic()
    waiter.wait_sync(REAL, 0.005)
    assert 0.004 < time.monotonic() - started_at < 30.0
    assert not waiter.is_woken


def test_thread_uses_the_sleep_of_its_world() -> None:
    world = FakeWorld()
    new_waiter().wait_sync(world, 3.0)
    assert world.slept == [3.0]
