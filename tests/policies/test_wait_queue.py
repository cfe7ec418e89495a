"""A line of those who wait: who is called, who is not, and what all of them weigh."""

import asyncio
import threading
import time
from threading import RLock

import pytest

from seamwise.policies._engine.wait_queue import Waiter, WaitQueue
from seamwise.policies._engine.world import REAL, World
from seamwise.policies.testing import FakeWorld
from tests.policies.manual_time import settle_tasks


def turn() -> Waiter:
    return Waiter(RLock(), 1)


def test_turns_are_called_in_the_order_of_coming() -> None:
    line = WaitQueue(RLock())
    turns = [line.join(1) for _ in range(3)]
    for place, each in enumerate(turns, 1):
        assert line.wake_next() is each
        assert [one.is_woken for one in turns] == [True] * place + [False] * (3 - place)
    assert line.wake_next() is None


def test_a_line_is_as_long_and_as_heavy_as_those_who_stand_in_it() -> None:
    line = WaitQueue(RLock())
    assert (len(line), line.weight) == (0, 0)
    _first, second, third = [line.join(weight) for weight in (1, 20, 300)]
    assert (len(line), line.weight, second.weight) == (3, 321, 20)
    line.leave(second)
    assert (len(line), line.weight) == (2, 301)
    line.wake_next()
    assert (len(line), line.weight) == (1, 300)
    line.leave(third)
    assert (len(line), line.weight) == (0, 0)


def test_to_leave_twice_or_after_the_call_changes_nothing() -> None:
    line = WaitQueue(RLock())
    first, second, third = [line.join(weight) for weight in (1, 20, 300)]
    line.wake_next()
    line.leave(first)
    line.leave(second)
    line.leave(second)
    assert (len(line), line.weight) == (1, 300)
    assert line.wake_next() is third


def test_who_was_called_before_it_waits_does_not_wait() -> None:
    slept: list[float] = []
    called = turn()
    assert called.wake()
    called.wait_sync(World(sleep_sync=slept.append), 5.0)
    assert slept == []

    async def run() -> None:
        await asyncio.wait_for(called.wait(FakeWorld(), None), 1.0)

    asyncio.run(run())


def test_a_task_waits_until_it_is_called() -> None:
    async def run() -> None:
        waiting = turn()
        task = asyncio.create_task(waiting.wait(FakeWorld(), None))
        await settle_tasks()
        assert not task.done()
        assert waiting.wake()
        assert waiting.is_woken
        await settle_tasks()
        assert task.done()

    asyncio.run(run())


def test_a_task_waits_so_long_and_no_longer_and_is_not_called_then() -> None:
    async def run() -> None:
        world, waiting = FakeWorld(), turn()
        task = asyncio.create_task(waiting.wait(world, 3.0))
        await settle_tasks()
        world.advance(2.75)
        await settle_tasks()
        assert not task.done()
        world.advance(0.25)
        await settle_tasks()
        assert task.done()
        assert not waiting.is_woken
        # Who calls it now comes too late to wake it, and does no harm.
        assert waiting.wake()

    asyncio.run(run())


def test_a_task_is_woken_from_another_thread() -> None:
    async def run() -> None:
        waiting = turn()
        task = asyncio.create_task(waiting.wait(REAL, None))
        await settle_tasks()
        caller = threading.Thread(target=waiting.wake)
        caller.start()
        caller.join(1)
        await asyncio.wait_for(task, 1.0)

    asyncio.run(run(), debug=True)


@pytest.mark.filterwarnings('ignore::ResourceWarning')
def test_whose_loop_is_closed_can_not_be_called_and_the_next_one_is() -> None:
    mutex = RLock()
    line = WaitQueue(mutex)
    gone, next_one = line.join(1), line.join(20)
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    left = loop.create_task(gone.wait(FakeWorld(), None))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    assert line.wake_next() is next_one
    assert (gone.is_woken, next_one.is_woken) == (False, True)
    assert (len(line), line.weight) == (0, 0)
    assert not left.done()


def test_a_thread_waits_until_it_is_called() -> None:
    for seconds in (None, 5.0):
        waiting = turn()
        caller = threading.Timer(0.002, waiting.wake)
        caller.start()
        began = time.monotonic()
        waiting.wait_sync(REAL, seconds)
        assert waiting.is_woken
        assert time.monotonic() - began < 2.0
        caller.join()


def test_a_thread_waits_so_long_and_no_longer() -> None:
    waiting = turn()
    began = time.monotonic()
    waiting.wait_sync(REAL, 0.005)
    assert 0.004 < time.monotonic() - began < 2.0
    assert not waiting.is_woken


def test_in_another_world_a_thread_sleeps_as_long_as_that_world_says() -> None:
    world = FakeWorld()
    turn().wait_sync(world, 3.0)
    assert world.slept == [3.0]
