"""The world for tests: time passes when somebody says so, and what is due on the way comes to pass there."""

import asyncio
import math
import random
import threading
import time
from functools import partial

import pytest

from seamwise.policies._engine.world import REAL, World
from seamwise.policies.testing import FakeWorld


def test_its_time_stands_still_until_somebody_sleeps_or_moves_it() -> None:
    world = FakeWorld()
    assert (world.now, world.clock(), world.slept, world.random()) == (0.0, 0.0, [], 0.5)
    world.advance(1.5)
    world.sleep_sync(2.0)
    asyncio.run(_sleep(world, 0.5))
    assert (world.now, world.clock(), world.slept) == (4.0, 4.0, [2.0, 0.5])


async def _sleep(world: World, seconds: float) -> None:
    await world.sleep(seconds)


def test_two_worlds_have_nothing_in_common() -> None:
    first, second = FakeWorld(), FakeWorld(random=lambda: 0.25)
    first.advance(1.0)
    assert (second.now, second.random()) == (0.0, 0.25)
    assert first != second


def test_it_never_goes_backwards() -> None:
    world = FakeWorld()
    world.advance(2.0)
    world.sleep_sync(-1.0)
    asyncio.run(_sleep(world, -1.0))
    assert (world.now, world.slept) == (2.0, [-1.0, -1.0])


def test_its_clock_may_be_put_back_by_hand() -> None:
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
def test_no_clock_goes_on_for_ever(seconds: float) -> None:
    world = FakeWorld()
    with pytest.raises(ValueError, match='seconds must be a finite number, not'):
        world.advance(seconds)
    assert world.now == 0.0


def test_alarms_ring_in_the_order_of_their_times_and_at_them() -> None:
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


def test_an_alarm_that_is_due_rings_after_whoever_is_at_work() -> None:
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


def test_an_alarm_that_is_due_when_it_is_set_waits_for_no_time_to_pass() -> None:
    world = FakeWorld()
    rung: list[str] = []

    async def main() -> None:
        world.alarm(0.0, lambda: rung.append('now'))
        world.alarm(-1.0, lambda: rung.append('overdue'))
        world.alarm(0.5, lambda: rung.append('later'))
        await asyncio.sleep(0)

    asyncio.run(main())
    assert rung == ['now', 'overdue']


def test_whoever_is_woken_on_the_way_sees_the_time_of_the_alarm() -> None:
    world = FakeWorld()
    seen: list[float] = []

    async def main() -> None:
        for seconds in (1.0, 2.0, 5.0):
            world.alarm(seconds, lambda: seen.append(world.now))
        await world.sleep(3.0)

    asyncio.run(main())
    assert (seen, world.now) == ([1.0, 2.0], 3.0)


def test_while_somebody_sleeps_others_go_on() -> None:
    world = FakeWorld()
    gone_on: list[str] = []

    async def goes_on() -> None:
        gone_on.append('on')

    async def main() -> None:
        task = asyncio.create_task(goes_on())
        await world.sleep(1.0)
        assert gone_on == ['on']
        await task

    asyncio.run(main())


def test_time_that_passes_in_a_thread_rings_in_the_loop() -> None:
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


def test_the_real_world_is_the_machines() -> None:
    assert (REAL.clock, REAL.sleep, REAL.sleep_sync, REAL.random) == (
        time.monotonic,
        asyncio.sleep,
        time.sleep,
        random.random,
    )


def test_the_real_world_rings_and_is_stopped() -> None:
    rung: list[str] = []

    async def main() -> None:
        REAL.alarm(0.0, lambda: rung.append('rung'))
        REAL.alarm(0.0, lambda: rung.append('stopped')).cancel()
        await asyncio.sleep(0.002)

    asyncio.run(main())
    assert rung == ['rung']


def test_a_world_with_a_sleep_of_its_own_rings_by_it_and_leaves_no_task() -> None:
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
