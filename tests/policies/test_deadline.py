"""Deadlines in tasks: expiry, cancellations, and clean-up after a call."""

import asyncio
from collections.abc import Callable

import pytest
from typing_extensions import override

from seamwise import Failure, Result
from seamwise._runtime.world import World
from seamwise.policies.deadline import deadline
from seamwise.policies.events import GuardEvent, Refused
from seamwise.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.deadline_helpers import (
    DONE,
    assert_nothing_pending,
    deadline_exceeded,
    run_in_event_loop,
    sleep_operation,
)
from tests.policies.errors import Down


@run_in_event_loop
async def test_outcome_in_time_is_returned_unchanged() -> None:
    failed = Failure(Down())

    async def fail() -> Result[str, Down]:
        return failed

    guard = deadline(3.0, world=FakeWorld())
    assert await guard.run(sleep_operation(FakeWorld(), 2.9)) is DONE
    assert await guard.run(fail) is failed
    await assert_nothing_pending()


@run_in_event_loop
async def test_late_operation_is_cancelled_at_the_deadline_and_awaited() -> None:
    world = FakeWorld()
    log: list[object] = []

    async def op() -> Result[str, Down]:
        try:
            await world.sleep(10.0)
        except asyncio.CancelledError:
            log.append(world.now)
            await asyncio.sleep(0)
            log.append('cleaned')
            raise
        return DONE

    events: list[GuardEvent] = []
    result = await deadline(3.0, name='bank', observer=events.append, world=world).run(op)
    assert result == Failure(deadline_exceeded('bank'))
    assert events == [Refused('bank', deadline_exceeded('bank'))]
    assert log == [3.0, 'cleaned']
    await assert_nothing_pending()


@run_in_event_loop
async def test_operation_is_late_if_it_ends_exactly_at_the_deadline() -> None:
    world = FakeWorld()
    assert await deadline(3.0, world=world).run(sleep_operation(world, 3.0)) == Failure(
        deadline_exceeded()
    )
    assert await deadline(3.0, world=world).run(sleep_operation(world, 2.999)) is DONE
    await assert_nothing_pending()


@run_in_event_loop
async def test_operation_without_awaits_is_late_by_the_clock() -> None:
    world = FakeWorld()

    async def op() -> Result[str, Down]:
        world.advance(3.0)
        return DONE

    assert await deadline(3.0, world=world).run(op) == Failure(deadline_exceeded())
    await assert_nothing_pending()


@run_in_event_loop
async def test_operation_that_swallows_the_cancellation_is_late_and_the_request_is_withdrawn() -> (
    None
):
    world = FakeWorld()

    async def op() -> Result[str, Down]:
        try:
            await world.sleep(10.0)
        except asyncio.CancelledError:
            return DONE
        return DONE

    assert await deadline(3.0, world=world).run(op) == Failure(deadline_exceeded())
    await assert_nothing_pending()


@run_in_event_loop
async def test_operation_that_swallows_the_cancellation_is_late_if_the_clock_stands_still() -> None:
    async def op() -> Result[str, Down]:
        try:
            await asyncio.sleep(10.0)
        except asyncio.CancelledError:
            return DONE
        return DONE

    assert await deadline(0.001, world=World(clock=lambda: 7.0)).run(op) == Failure(
        deadline_exceeded(seconds=0.001)
    )
    await assert_nothing_pending()


@run_in_event_loop
async def test_timeout_error_of_the_operation_propagates_unchanged() -> None:
    world = FakeWorld()
    raised = TimeoutError('of the socket')

    async def early() -> Result[str, Down]:
        raise raised

    async def at_the_end() -> Result[str, Down]:
        try:
            await world.sleep(10.0)
        except asyncio.CancelledError:
            raise raised from None
        return DONE

    for op in (early, at_the_end):
        with pytest.raises(TimeoutError) as caught:
            await deadline(3.0, world=world).run(op)
        assert caught.value is raised
        await assert_nothing_pending()


@run_in_event_loop
async def test_asyncio_timeout_inside_a_deadline_keeps_its_behaviour() -> None:
    async def op() -> Result[str, Down]:
        async with asyncio.timeout(0.001):
            await asyncio.sleep(10.0)
        return DONE

    with pytest.raises(TimeoutError):
        await deadline(5.0).run(op)
    await assert_nothing_pending()


@run_in_event_loop
async def test_asyncio_timeout_outside_a_deadline_keeps_its_behaviour() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.001):
            await deadline(5.0).run(sleep_operation(World(), 10.0))
    await assert_nothing_pending()


@run_in_event_loop
async def test_deadline_expires_in_the_real_world() -> None:
    guard = deadline(0.2)
    assert await guard.run(sleep_operation(World(), 10.0)) == Failure(
        deadline_exceeded(seconds=0.2)
    )
    assert await guard.run(sleep_operation(World(), 0.0)) is DONE
    await asyncio.sleep(0.21)
    await assert_nothing_pending()


@run_in_event_loop
async def test_deadline_expires_in_a_world_with_its_own_sleep() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(0)

    guard = deadline(3.0, world=World(clock=lambda: 0.0, sleep=sleep))
    assert await guard.run(sleep_operation(World(), 10.0)) == Failure(deadline_exceeded())
    assert slept == [3.0]
    await assert_nothing_pending()


@run_in_event_loop
async def test_deadline_expires_in_a_fake_world_without_a_sleeping_task() -> None:
    world = FakeWorld()
    has_started = asyncio.Event()

    async def op() -> Result[str, Down]:
        has_started.set()
        await asyncio.Event().wait()
        return DONE

    call = asyncio.ensure_future(deadline(3.0, world=world).run(op))
    await has_started.wait()
    assert len(asyncio.all_tasks()) == 2
    world.advance(2.9)
    await asyncio.sleep(0.001)
    assert not call.done()
    world.advance(0.1)
    assert await call == Failure(deadline_exceeded())
    assert world.slept == []
    await assert_nothing_pending()


# Cancellations by the caller


@run_in_event_loop
async def test_cancellation_of_the_caller_at_any_await_stays_a_cancellation() -> None:
    world = FakeWorld()

    async def op() -> Result[str, Down]:
        for _ in range(3):
            await asyncio.sleep(0)
        return DONE

    async def call() -> object:
        return await (
            deadline(3.0, world=world) >> deadline(2.0) >> deadline(1.0, world=world)
        ).run(op)

    assert await cancel_at_each_await(call, assert_nothing_pending) == 3


@pytest.mark.parametrize('cancels_first', [True, False])
@run_in_event_loop
async def test_cancellation_in_the_loop_iteration_of_the_expiry_stays_a_cancellation(
    cancels_first: bool,
) -> None:
    world = FakeWorld()
    has_started = asyncio.Event()
    events: list[GuardEvent] = []

    async def op() -> Result[str, Down]:
        has_started.set()
        await asyncio.Event().wait()
        return DONE

    call = asyncio.ensure_future(deadline(3.0, world=world, observer=events.append).run(op))
    await has_started.wait()
    loop = asyncio.get_running_loop()
    if cancels_first:
        loop.call_soon(call.cancel)
    world.advance(3.0)
    if not cancels_first:
        loop.call_soon(call.cancel)
    with pytest.raises(asyncio.CancelledError):
        await call
    assert call.cancelled()
    assert isinstance(call, asyncio.Task)
    assert call.cancelling() == 1
    assert events == []
    await assert_nothing_pending()


@run_in_event_loop
async def test_cancellation_of_the_caller_during_clean_up_stays_a_cancellation() -> None:
    world = FakeWorld()
    cleaning = asyncio.Event()

    async def op() -> Result[str, Down]:
        try:
            await world.sleep(10.0)
        finally:
            cleaning.set()
            await asyncio.Event().wait()
        return DONE

    call = asyncio.ensure_future(deadline(3.0, world=world).run(op))
    await cleaning.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await assert_nothing_pending()


@run_in_event_loop
async def test_deadline_reports_in_a_caller_that_was_cancelled_before() -> None:
    """A caller that caught a cancellation can limit its clean-up with a deadline."""
    world = FakeWorld()

    async def cleans_up() -> object:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return await deadline(3.0, world=world).run(sleep_operation(world, 10.0))
        return None

    call = asyncio.ensure_future(cleans_up())
    await asyncio.sleep(0)
    call.cancel()
    assert await call == Failure(deadline_exceeded())
    assert call.cancelling() == 1


@run_in_event_loop
async def test_cancellation_requested_before_the_call_stays_a_cancellation() -> None:
    async def call() -> object:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return await deadline(3.0).run(sleep_operation(World(), 0.0))

    with pytest.raises(asyncio.CancelledError):
        await asyncio.ensure_future(call())


@run_in_event_loop
async def test_operation_that_cancels_itself_is_cancelled() -> None:
    async def op() -> Result[str, Down]:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await deadline(3.0).run(op)
    await assert_nothing_pending()


# End of the operation and alarm in the same loop iteration


@pytest.mark.parametrize('rings_first', [True, False])
@run_in_event_loop
async def test_await_that_ends_in_the_loop_iteration_of_the_expiry_leaves_nothing_pending(
    rings_first: bool,
) -> None:
    world = FakeWorld()
    waits_for: asyncio.Future[Result[str, Down]] = asyncio.get_running_loop().create_future()

    async def op() -> Result[str, Down]:
        return await waits_for

    async def call() -> object:
        result = await deadline(3.0, world=world).run(op)
        for _ in range(3):
            await asyncio.sleep(0)
        return result

    task = asyncio.ensure_future(call())
    await asyncio.sleep(0)
    if rings_first:
        world.advance(3.0)
    waits_for.set_result(DONE)
    if not rings_first:
        world.advance(3.0)
    # Late by the clock, in either order of the two events.
    assert await task == Failure(deadline_exceeded())
    assert task.cancelling() == 0


@run_in_event_loop
async def test_alarm_that_rings_after_the_call_has_ended_cancels_nothing() -> None:
    clock = FakeWorld()
    rings: list[Callable[[], object]] = []

    class Held(World):
        @override
        def alarm(self, seconds: float, ring: Callable[[], object]) -> asyncio.Handle:
            rings.append(ring)
            return asyncio.get_running_loop().call_later(0.0, ring)

    async def op() -> Result[str, Down]:
        return DONE

    assert await deadline(3.0, world=Held(clock=clock.clock)).run(op) is DONE
    assert len(rings) == 1
    await asyncio.sleep(0.001)
    await assert_nothing_pending()
