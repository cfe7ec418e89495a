"""`FakeWorld`, whose time passes only by sleeping and advancing, and alarms of all worlds."""

import asyncio
import math
import random
import threading
import time
from functools import partial

import pytest

from seamwise._runtime.world import REAL, World
from seamwise.testing import FakeWorld


def test_time_passes_only_by_sleeping_and_advancing() -> None:
    world = FakeWorld()
    assert (world.now, world.clock(), world.slept, world.random()) == (0.0, 0.0, [], 0.5)
    world.advance(1.5)
    world.sleep_sync(2.0)
    asyncio.run(_sleep(world, 0.5))
    assert (world.now, world.clock(), world.slept) == (4.0, 4.0, [2.0, 0.5])


async def _sleep(world: World, seconds: float) -> None:
    await world.sleep(seconds)


def test_two_worlds_are_independent() -> None:
    first, second = FakeWorld(), FakeWorld(random=lambda: 0.25)
    first.advance(1.0)
    assert (second.now, second.random()) == (0.0, 0.25)
    assert first != second


def test_sleeping_never_sets_the_clock_back() -> None:
    world = FakeWorld()
    world.advance(2.0)
    world.sleep_sync(-1.0)
    asyncio.run(_sleep(world, -1.0))
    assert (world.now, world.slept) == (2.0, [-1.0, -1.0])


def test_negative_advance_sets_the_clock_back() -> None:
    world = FakeWorld()
    world.advance(2.0)
    world.advance(-3.0)
    assert (world.now, world.slept) == (-1.0, [])
    world.advance(0.0)
    assert world.now == -1.0
    world.advance(1.5)
    assert world.now == 0.5
    world.advance(-0.25)
    assert world.now == 0.25


@pytest.mark.parametrize('seconds', [math.inf, -math.inf, math.nan])
def test_advance_by_a_number_that_is_not_finite_is_a_value_error(seconds: float) -> None:
    world = FakeWorld()
    with pytest.raises(ValueError, match='seconds must be a finite number, not'):
        world.advance(seconds)
    assert world.now == 0.0


def test_alarms_ring_in_order_at_their_times() -> None:
    world = FakeWorld()
    rung: list[tuple[str, float]] = []

    def ring(name: str) -> None:
        rung.append((name, world.now))

    async def main() -> None:
        for name, seconds in (('late', 3.0), ('early', 1.0), ('second early', 1.0), ('never', 5.0)):
            world.alarm(seconds, partial(ring, name))
        world.alarm(2.0, lambda: rung.append(('stopped', 0.0))).cancel()
        await world.sleep(3.0)
        await asyncio.sleep(0)

    asyncio.run(main())
    assert rung == [('early', 1.0), ('second early', 1.0), ('late', 3.0)]
    assert world.slept == [3.0]


def test_due_alarm_rings_after_the_running_task() -> None:
    world = FakeWorld()
    rung: list[str] = []

    async def main() -> None:
        world.alarm(0.0, lambda: rung.append('at once'))
        world.alarm(1.0, lambda: rung.append('due'))
        stopped = world.alarm(1.0, lambda: rung.append('stopped'))
        world.advance(1.0)
        stopped.cancel()
        assert rung == []
        await asyncio.sleep(0)

    asyncio.run(main())
    assert rung == ['at once', 'due']


def test_alarm_without_delay_rings_without_an_advance() -> None:
    world = FakeWorld()
    rung: list[str] = []

    async def main() -> None:
        world.alarm(0.0, lambda: rung.append('now'))
        world.alarm(-1.0, lambda: rung.append('overdue'))
        world.alarm(0.5, lambda: rung.append('later'))
        await asyncio.sleep(0)

    asyncio.run(main())
    assert rung == ['now', 'overdue']


def test_task_woken_by_an_alarm_reads_the_time_of_the_alarm() -> None:
    world = FakeWorld()
    times: list[float] = []

    async def main() -> None:
        for seconds in (1.0, 2.0, 5.0):
            world.alarm(seconds, lambda: times.append(world.now))
        await world.sleep(3.0)

    asyncio.run(main())
    assert (times, world.now) == ([1.0, 2.0], 3.0)


def test_other_tasks_run_while_one_sleeps() -> None:
    world = FakeWorld()
    gone_on: list[str] = []

    async def other_task() -> None:
        gone_on.append('on')

    async def main() -> None:
        task = asyncio.create_task(other_task())
        await world.sleep(1.0)
        assert gone_on == ['on']
        await task

    asyncio.run(main())


def test_alarm_rings_in_its_loop_if_a_thread_advances_the_clock() -> None:
    world = FakeWorld()
    rang_in: list[threading.Thread] = []

    async def main() -> None:
        rung = asyncio.Event()

        def ring() -> None:
            rang_in.append(threading.current_thread())
            rung.set()

        world.alarm(1.0, ring)
        await asyncio.to_thread(world.sleep_sync, 1.0)
        await rung.wait()

    asyncio.run(main())
    assert rang_in == [threading.current_thread()]


def test_real_world_uses_the_clock_sleep_and_randomness_of_the_machine() -> None:
    assert (REAL.clock, REAL.sleep, REAL.sleep_sync, REAL.random) == (
        time.monotonic,
        asyncio.sleep,
        time.sleep,
        random.random,
    )


def test_alarm_of_the_real_world_rings_unless_it_is_cancelled() -> None:
    rung: list[str] = []

    async def main() -> None:
        REAL.alarm(0.0, lambda: rung.append('rung'))
        REAL.alarm(0.0, lambda: rung.append('stopped')).cancel()
        await asyncio.sleep(0.002)

    asyncio.run(main())
    assert rung == ['rung']


def test_alarm_of_a_world_with_its_own_sleep_uses_it_and_leaves_no_task() -> None:
    rung: list[str] = []
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(0)

    async def main() -> None:
        world = World(sleep=sleep)
        world.alarm(7.0, lambda: rung.append('rung'))
        world.alarm(8.0, lambda: rung.append('stopped')).cancel()
        for _ in range(4):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert (rung, slept) == (['rung'], [7.0])
