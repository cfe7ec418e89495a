"""Deadlines in deadlines, and ends that are given."""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise import Failure, Result
from seamwise.policies._engine.world import Alarm, World
from seamwise.policies.deadline import deadline, remaining
from seamwise.policies.events import GuardEvent, Refused
from seamwise.policies.testing import FakeWorld
from tests.policies.deadline_helpers import (
    DONE,
    assert_nothing_pending,
    deadline_exceeded,
    run_in_event_loop,
    sleep_operation,
)
from tests.policies.errors import Down


@run_in_event_loop
async def test_of_two_that_expire_at_one_instant_the_outer_one_reports() -> None:
    world = FakeWorld()
    for inner in (3.0, 5.0):
        guard = deadline(3.0, name='outer', world=world) >> deadline(
            inner, name='inner', world=world
        )
        assert await guard.run(sleep_operation(world, 10.0)) == Failure(deadline_exceeded('outer'))
        await assert_nothing_pending()


@run_in_event_loop
async def test_the_nearer_inner_one_reports() -> None:
    world = FakeWorld()
    told: list[GuardEvent] = []
    guard = deadline(3.0, name='outer', world=world, observer=told.append) >> deadline(
        2.0, name='inner', world=world
    )
    assert await guard.run(sleep_operation(world, 10.0)) == Failure(deadline_exceeded('inner', 2.0))
    assert told == []
    await assert_nothing_pending()


@run_in_event_loop
async def test_an_outer_one_that_expires_while_the_inner_one_cleans_up_reports() -> None:
    world = FakeWorld()

    async def op() -> Result[str, Down]:
        try:
            await world.sleep(10.0)
        finally:
            await world.sleep(10.0)
        return DONE

    guard = deadline(3.0, name='outer', world=world) >> deadline(2.0, name='inner', world=world)
    assert await guard.run(op) == Failure(deadline_exceeded('outer'))
    await assert_nothing_pending()


@run_in_event_loop
async def test_an_inner_one_that_swallowed_past_the_outer_end_is_the_outer_ones() -> None:
    world = FakeWorld()

    async def op() -> Result[str, Down]:
        try:
            await world.sleep(10.0)
        except asyncio.CancelledError:
            world.advance(1.0)
        return DONE

    guard = deadline(3.0, name='outer', world=world) >> deadline(2.0, name='inner', world=world)
    assert await guard.run(op) == Failure(deadline_exceeded('outer'))
    await assert_nothing_pending()


@run_in_event_loop
async def test_nested_ones_shrink_to_what_is_left() -> None:
    world = FakeWorld()
    seen: list[float | None] = []

    async def op() -> Result[str, Down]:
        await world.sleep(1.0)
        await inner.run(reads)
        return DONE

    async def reads() -> Result[str, Down]:
        seen.append(remaining())
        return DONE

    inner = deadline(5.0, name='inner', world=world)
    assert await deadline(3.0, world=world).run(op) is DONE
    assert await inner.run(reads) is DONE
    assert seen == [2.0, 5.0]


@run_in_event_loop
async def test_three_in_one_another_end_once() -> None:
    world = FakeWorld()
    told: list[GuardEvent] = []
    guard = (
        deadline(3.0, name='a', world=world)
        >> deadline(4.0, name='b', world=world, observer=told.append)
        >> deadline(5.0, world=world)
    )
    assert await guard.run(sleep_operation(world, 10.0)) == Failure(deadline_exceeded('a'))
    assert told == []
    await assert_nothing_pending()


@run_in_event_loop
async def test_an_end_by_another_clock_is_converted_by_what_is_left() -> None:
    outer, inner = FakeWorld(), FakeWorld()
    outer.advance(500.0)
    inner.advance(1000.0)
    seen: list[float | None] = []

    async def op() -> Result[str, Down]:
        seen.append(remaining())
        await inner.sleep(10.0)
        return DONE

    guard = deadline(3.0, name='outer', world=outer) >> deadline(5.0, name='inner', world=inner)
    # The inner clock alone has gone on: what the outer one left is over by it.
    assert await guard.run(op) == Failure(deadline_exceeded('inner', 3.0))
    assert (seen, inner.now) == ([3.0], 1003.0)
    await assert_nothing_pending()


@run_in_event_loop
async def test_a_task_begun_inside_is_ended_by_its_own_alarm() -> None:
    """The alarm around rings in another task."""
    world = FakeWorld()

    async def op() -> Result[str, Down]:
        child = asyncio.ensure_future(
            deadline(5.0, name='inner', world=world).run(sleep_operation(world, 10.0))
        )
        try:
            await asyncio.Event().wait()
        finally:
            seen.append((await child, world.now))
        return DONE

    seen: list[object] = []
    assert await deadline(3.0, name='outer', world=world).run(op) == Failure(
        deadline_exceeded('outer')
    )
    assert seen == [(Failure(deadline_exceeded('inner')), 3.0)]
    await assert_nothing_pending()


@run_in_event_loop
async def test_a_task_that_outlives_a_call_that_was_in_time_is_bound_no_more() -> None:
    world = FakeWorld()
    seen: list[float | None] = []
    go_on = asyncio.Event()
    children: list[asyncio.Task[object]] = []

    async def child() -> object:
        seen.append(remaining())
        await go_on.wait()
        seen.append(remaining())
        return await deadline(5.0, world=world).run(sleep_operation(world, 4.0))

    async def op() -> Result[str, Down]:
        children.append(asyncio.create_task(child()))
        await asyncio.sleep(0)
        return DONE

    await (deadline(4.0, world=world) >> deadline(3.0, world=world)).run(op)
    go_on.set()
    assert await children[0] is DONE
    assert seen == [3.0, None]


@run_in_event_loop
async def test_a_task_that_outlives_the_inner_call_is_bound_by_the_outer_one() -> None:
    world = FakeWorld()
    seen: list[float | None] = []
    go_on = asyncio.Event()
    children: list[asyncio.Task[None]] = []

    async def child() -> None:
        await go_on.wait()
        seen.append(remaining())

    async def begins() -> Result[str, Down]:
        children.append(asyncio.create_task(child()))
        return DONE

    async def op() -> Result[str, Down]:
        await deadline(3.0, world=world).run(begins)
        seen.append(remaining())
        await world.sleep(1.0)
        go_on.set()
        await children[0]
        return DONE

    assert await deadline(4.0, world=world).run(op) is DONE
    assert seen == [4.0, 3.0]


@pytest.mark.parametrize('inner', [3.0, 5.0])
@run_in_event_loop
async def test_the_alarm_around_rings_for_all_that_end_with_it(inner: float) -> None:
    alarms: list[float] = []

    class Counted(FakeWorld):
        @override
        def alarm(self, seconds: float, ring: Callable[[], object]) -> Alarm:
            alarms.append(seconds)
            return super().alarm(seconds, ring)

    world = Counted()
    guard = (
        deadline(3.0, name='outer', world=world)
        >> deadline(inner, world=world)
        >> deadline(inner, world=world)
    )
    assert await guard.run(sleep_operation(world, 10.0)) == Failure(deadline_exceeded('outer'))
    assert alarms == [3.0]


# An absolute end.


@run_in_event_loop
async def test_the_nearer_of_seconds_and_an_absolute_end_counts() -> None:
    world = FakeWorld()
    world.advance(100.0)
    for seconds, at, allowed in ((5.0, 103.0, 3.0), (3.0, 105.0, 3.0)):
        end = world.now - 100.0 + at
        result = await deadline(seconds, at=partial(float, end), world=world).run(
            sleep_operation(world, 10.0)
        )
        assert result == Failure(deadline_exceeded(seconds=allowed))
        assert world.now == end - at + 103.0
    assert (
        await deadline(3.0, at=lambda: float('inf'), world=world).run(sleep_operation(world, 1.0))
        is DONE
    )


@pytest.mark.parametrize('at', [100.0, 99.0, -float('inf')])
@run_in_event_loop
async def test_what_has_no_time_left_is_refused_and_not_called(at: float) -> None:
    world = FakeWorld()
    world.advance(100.0)
    called: list[object] = []
    told: list[GuardEvent] = []

    async def op() -> Result[str, Down]:
        called.append('op')
        return DONE

    assert await deadline(5.0, at=lambda: at, world=world, observer=told.append).run(op) == Failure(
        deadline_exceeded(seconds=0.0)
    )
    assert (called, told) == ([], [Refused('deadline', deadline_exceeded(seconds=0.0))])
    await assert_nothing_pending()


@run_in_event_loop
async def test_an_end_that_is_no_time_is_a_defect() -> None:
    with pytest.raises(ValueError, match=r'deadline: at\(\) must return a time, not nan'):
        await deadline(5.0, at=lambda: float('nan')).run(sleep_operation(World(), 0.0))
    await assert_nothing_pending()


@given(
    outer=st.integers(1, 6),
    inner=st.integers(1, 6),
    steps=st.lists(st.integers(0, 4), max_size=4),
    cancel_at=st.none() | st.integers(1, 6),
)
def test_whatever_comes_first_is_what_comes_out(
    outer: int, inner: int, steps: list[int], cancel_at: int | None
) -> None:
    """An obvious model: the earliest of the outer end, the inner one, the caller's cancellation and the operation's own end."""
    world = FakeWorld()

    async def main() -> object:
        async def op() -> Result[str, Down]:
            for step in steps:
                await world.sleep(float(step))
            return DONE

        async def call() -> object:
            guard = deadline(float(outer), name='outer', world=world) >> deadline(
                float(inner), name='inner', world=world
            )
            result = await guard.run(op)
            for _ in range(4):
                await asyncio.sleep(0)
            return result

        task = asyncio.ensure_future(call())
        if cancel_at is not None:
            world.alarm(float(cancel_at), task.cancel)
        await asyncio.wait([task])
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert task.cancelling() == (1 if task.cancelled() else 0)
        return 'cancelled' if task.cancelled() else task.result()

    took = sum(steps)
    end = min(outer, inner)
    if cancel_at is not None and cancel_at <= min(took, end):
        expected: object = 'cancelled'
    elif took < end:
        expected = DONE
    else:
        expected = Failure(deadline_exceeded('outer' if outer <= inner else 'inner', float(end)))
    assert asyncio.run(main()) == expected
