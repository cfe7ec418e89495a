"""Nested deadlines: the one that expires first cancels the operation and reports it."""

import asyncio
from collections.abc import Callable
from functools import partial

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise import Failure, Result
from seamwise._runtime.world import Alarm, World
from seamwise.policies.deadline import deadline, remaining
from seamwise.policies.errors import DeadlineExceeded
from seamwise.policies.events import GuardEvent, Refused
from seamwise.testing import FakeWorld
from tests.policies.deadline_helpers import (
    DONE,
    assert_nothing_pending,
    deadline_exceeded,
    run_in_event_loop,
    sleep_operation,
)
from tests.policies.errors import Down


@run_in_event_loop
async def test_outer_deadline_reports_if_both_expire_at_the_same_time() -> None:
    world = FakeWorld()
    for inner in (3.0, 5.0):
        guard = deadline(3.0, name='outer', world=world) >> deadline(
            inner, name='inner', world=world
        )
        assert await guard.run(sleep_operation(world, 10.0)) == Failure(deadline_exceeded('outer'))
        await assert_nothing_pending()


@run_in_event_loop
async def test_inner_deadline_reports_if_it_expires_first() -> None:
    world = FakeWorld()
    events: list[GuardEvent] = []
    guard = deadline(3.0, name='outer', world=world, observer=events.append) >> deadline(
        2.0, name='inner', world=world
    )
    assert await guard.run(sleep_operation(world, 10.0)) == Failure(deadline_exceeded('inner', 2.0))
    assert events == []
    await assert_nothing_pending()


@run_in_event_loop
async def test_outer_deadline_reports_if_it_expires_during_clean_up_of_the_operation() -> None:
    world = FakeWorld()

    async def operation() -> Result[str, Down]:
        try:
            await world.sleep(10.0)
        finally:
            await world.sleep(10.0)
        return DONE

    guard = deadline(3.0, name='outer', world=world) >> deadline(2.0, name='inner', world=world)
    assert await guard.run(operation) == Failure(deadline_exceeded('outer'))
    await assert_nothing_pending()


@run_in_event_loop
async def test_outer_deadline_reports_if_the_operation_ignores_the_inner_one() -> None:
    world = FakeWorld()

    async def operation() -> Result[str, Down]:
        try:
            await world.sleep(10.0)
        except asyncio.CancelledError:
            world.advance(1.0)
        return DONE

    guard = deadline(3.0, name='outer', world=world) >> deadline(2.0, name='inner', world=world)
    result = await guard.run(operation)
    inner_error = deadline_exceeded('inner', 2.0)
    assert result == Failure(msgspec.structs.replace(deadline_exceeded('outer'), cause=inner_error))
    await assert_nothing_pending()


@run_in_event_loop
async def test_remaining_time_is_limited_by_the_outer_deadline() -> None:
    world = FakeWorld()
    remaining_times: list[float | None] = []

    async def operation() -> Result[str, Down]:
        await world.sleep(1.0)
        await inner.run(inner_operation)
        return DONE

    async def inner_operation() -> Result[str, Down]:
        remaining_times.append(remaining())
        return DONE

    inner = deadline(5.0, name='inner', world=world)
    assert await deadline(3.0, world=world).run(operation) is DONE
    assert await inner.run(inner_operation) is DONE
    assert remaining_times == [2.0, 5.0]


@run_in_event_loop
async def test_only_one_of_three_nested_deadlines_reports() -> None:
    world = FakeWorld()
    events: list[GuardEvent] = []
    guard = (
        deadline(3.0, name='a', world=world)
        >> deadline(4.0, name='b', world=world, observer=events.append)
        >> deadline(5.0, world=world)
    )
    assert await guard.run(sleep_operation(world, 10.0)) == Failure(deadline_exceeded('a'))
    assert events == []
    await assert_nothing_pending()


@run_in_event_loop
async def test_outer_deadline_of_another_clock_is_converted_by_its_remaining_time() -> None:
    outer, inner = FakeWorld(), FakeWorld()
    outer.advance(500.0)
    inner.advance(1000.0)
    remaining_times: list[float | None] = []

    async def operation() -> Result[str, Down]:
        remaining_times.append(remaining())
        await inner.sleep(10.0)
        return DONE

    guard = deadline(3.0, name='outer', world=outer) >> deadline(5.0, name='inner', world=inner)
    # Only the inner clock advances, so the operation ends by it.
    assert await guard.run(operation) == Failure(deadline_exceeded('outer', 3.0))
    assert (remaining_times, inner.now) == ([3.0], 1003.0)
    await assert_nothing_pending()


@run_in_event_loop
async def test_task_started_inside_a_deadline_is_cancelled_by_its_own_alarm() -> None:
    """The alarm of the outer deadline rings in another task."""
    world = FakeWorld()

    async def operation() -> Result[str, Down]:
        background_work = asyncio.ensure_future(
            deadline(5.0, name='inner', world=world).run(sleep_operation(world, 10.0))
        )
        try:
            await asyncio.Event().wait()
        finally:
            remaining_times.append((await background_work, world.now))
        return DONE

    remaining_times: list[object] = []
    assert await deadline(3.0, name='outer', world=world).run(operation) == Failure(
        deadline_exceeded('outer')
    )
    assert remaining_times == [(Failure(deadline_exceeded('outer')), 3.0)]
    await assert_nothing_pending()


@run_in_event_loop
async def test_task_is_not_limited_by_a_deadline_whose_call_has_ended() -> None:
    world = FakeWorld()
    remaining_times: list[float | None] = []
    may_continue = asyncio.Event()
    background_tasks: list[asyncio.Task[object]] = []

    async def background_work() -> object:
        remaining_times.append(remaining())
        await may_continue.wait()
        remaining_times.append(remaining())
        return await deadline(5.0, world=world).run(sleep_operation(world, 4.0))

    async def operation() -> Result[str, Down]:
        background_tasks.append(asyncio.create_task(background_work()))
        await asyncio.sleep(0)
        return DONE

    await (deadline(4.0, world=world) >> deadline(3.0, world=world)).run(operation)
    may_continue.set()
    assert await background_tasks[0] is DONE
    assert remaining_times == [3.0, None]


@run_in_event_loop
async def test_task_is_limited_by_the_outer_deadline_after_the_inner_call_has_ended() -> None:
    world = FakeWorld()
    remaining_times: list[float | None] = []
    may_continue = asyncio.Event()
    background_tasks: list[asyncio.Task[None]] = []

    async def background_work() -> None:
        await may_continue.wait()
        remaining_times.append(remaining())

    async def start_background_task() -> Result[str, Down]:
        background_tasks.append(asyncio.create_task(background_work()))
        return DONE

    async def operation() -> Result[str, Down]:
        await deadline(3.0, world=world).run(start_background_task)
        remaining_times.append(remaining())
        await world.sleep(1.0)
        may_continue.set()
        await background_tasks[0]
        return DONE

    assert await deadline(4.0, world=world).run(operation) is DONE
    assert remaining_times == [4.0, 3.0]


@run_in_event_loop
async def test_worker_started_inside_a_deadline_that_expires_is_not_limited_by_it() -> None:
    """A lazily started worker lives longer than the call that starts it."""
    world = FakeWorld()
    results: list[object] = []
    jobs: asyncio.Queue[float] = asyncio.Queue()
    workers: list[asyncio.Task[None]] = []

    async def work() -> None:
        while True:
            seconds = await jobs.get()
            guard = deadline(2.0, name='job', world=world)
            results.append(await guard.run(sleep_operation(world, seconds)))
            jobs.task_done()

    async def first_call() -> Result[str, Down]:
        workers.append(asyncio.create_task(work()))
        await world.sleep(10.0)
        return DONE

    assert await deadline(3.0, world=world).run(first_call) == Failure(deadline_exceeded())
    for seconds in (1.0, 5.0):
        jobs.put_nowait(seconds)
    await jobs.join()
    assert results == [DONE, Failure(deadline_exceeded('job', 2.0))]
    workers[0].cancel()
    await asyncio.wait(workers)


@pytest.mark.parametrize('inner', [3.0, 5.0])
@run_in_event_loop
async def test_deadlines_that_expire_with_the_outer_one_start_no_alarm(inner: float) -> None:
    alarms: list[float] = []

    class CountingWorld(FakeWorld):
        @override
        def alarm(self, seconds: float, ring: Callable[[], object]) -> Alarm:
            alarms.append(seconds)
            return super().alarm(seconds, ring)

    world = CountingWorld()
    guard = (
        deadline(3.0, name='outer', world=world)
        >> deadline(inner, world=world)
        >> deadline(inner, world=world)
    )
    assert await guard.run(sleep_operation(world, 10.0)) == Failure(deadline_exceeded('outer'))
    assert alarms == [3.0]


# Absolute deadlines


@run_in_event_loop
async def test_earlier_of_relative_and_absolute_deadline_applies() -> None:
    world = FakeWorld()
    world.advance(100.0)
    for seconds, at, allowed in ((5.0, 103.0, 3.0), (3.0, 105.0, 3.0)):
        deadline_at = world.now - 100.0 + at
        result = await deadline(seconds, at=partial(float, deadline_at), world=world).run(
            sleep_operation(world, 10.0)
        )
        assert result == Failure(deadline_exceeded(seconds=allowed))
        assert world.now == deadline_at - at + 103.0
    assert (
        await deadline(3.0, at=lambda: float('inf'), world=world).run(sleep_operation(world, 1.0))
        is DONE
    )


@pytest.mark.parametrize('at', [100.0, 99.0, -float('inf')])
@run_in_event_loop
async def test_operation_without_remaining_time_is_refused_and_not_called(at: float) -> None:
    world = FakeWorld()
    world.advance(100.0)
    calls: list[object] = []
    events: list[GuardEvent] = []

    async def operation() -> Result[str, Down]:
        calls.append('operation')
        return DONE

    error = DeadlineExceeded('deadline', 0.0, attempts=0)
    assert await deadline(5.0, at=lambda: at, world=world, observer=events.append).run(
        operation
    ) == Failure(error)
    assert (calls, events) == ([], [Refused('deadline', error)])
    await assert_nothing_pending()


@run_in_event_loop
async def test_absolute_deadline_that_is_nan_is_a_defect() -> None:
    with pytest.raises(ValueError, match=r'deadline: at\(\) must return a time, not nan'):
        await deadline(5.0, at=lambda: float('nan')).run(sleep_operation(World(), 0.0))
    await assert_nothing_pending()


@given(
    outer=st.integers(1, 6),
    inner=st.integers(1, 6),
    steps=st.lists(st.integers(0, 4), max_size=4),
    cancel_at=st.none() | st.integers(1, 6),
)
def test_earliest_of_deadlines_cancellation_and_end_of_the_operation_decides(
    outer: int, inner: int, steps: list[int], cancel_at: int | None
) -> None:
    """Compare with a model: the earliest of four events decides the outcome."""
    world = FakeWorld()

    async def main() -> object:
        async def operation() -> Result[str, Down]:
            for step in steps:
                await world.sleep(float(step))
            return DONE

        async def call() -> object:
            guard = deadline(float(outer), name='outer', world=world) >> deadline(
                float(inner), name='inner', world=world
            )
            result = await guard.run(operation)
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

    duration = sum(steps)
    deadline_at = min(outer, inner)
    if cancel_at is not None and cancel_at <= min(duration, deadline_at):
        expected: object = 'cancelled'
    elif duration < deadline_at:
        expected = DONE
    else:
        expected = Failure(
            deadline_exceeded('outer' if outer <= inner else 'inner', float(deadline_at))
        )
    assert asyncio.run(main()) == expected
