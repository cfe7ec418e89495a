"""Deadlines outside task groups, shields and generators, and next to other layers."""

import asyncio
import weakref
from collections.abc import AsyncGenerator
from contextvars import copy_context

import pytest
from typing_extensions import override

from seamwise import Failure, Result
from seamwise._runtime.world import World
from seamwise.policies._engine.permit import Admission, Outcome, Permit
from seamwise.policies._engine.pipeline import Layer
from seamwise.policies.deadline import deadline, remaining
from seamwise.testing import FakeWorld
from tests.policies.deadline_helpers import (
    DONE,
    assert_nothing_pending,
    deadline_exceeded,
    run_in_event_loop,
    sleep_operation,
)
from tests.policies.errors import Down
from tests.policies.gc_helpers import gc_disabled


@run_in_event_loop
async def test_task_group_inside_a_deadline_is_cancelled_with_its_tasks() -> None:
    world = FakeWorld()
    log: list[str] = []

    async def child() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            log.append('child')

    async def op() -> Result[str, Down]:
        async with asyncio.TaskGroup() as group:
            group.create_task(child())
            group.create_task(child())
            await world.sleep(10.0)
        return DONE

    assert await deadline(3.0, world=world).run(op) == Failure(deadline_exceeded())
    assert log == ['child', 'child']
    await assert_nothing_pending()


@run_in_event_loop
async def test_defect_in_a_task_group_propagates_and_leaves_no_cancellation() -> None:
    world = FakeWorld()

    async def child() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise RuntimeError('a defect')

    async def op() -> Result[str, Down]:
        async with asyncio.TaskGroup() as group:
            group.create_task(child())
            await world.sleep(10.0)
        return DONE

    with pytest.raises(ExceptionGroup):
        await deadline(3.0, world=world).run(op)
    await assert_nothing_pending()


@run_in_event_loop
async def test_shielded_work_is_not_limited_after_the_late_call_has_ended() -> None:
    world = FakeWorld()
    may_continue = asyncio.Event()

    async def shielded_work() -> float | None:
        await may_continue.wait()
        return remaining()

    async def op() -> Result[str, Down]:
        inner.append(asyncio.ensure_future(shielded_work()))
        await asyncio.wait_for(asyncio.shield(inner[0]), None)
        return DONE

    inner: list[asyncio.Future[float | None]] = []
    call = asyncio.ensure_future(deadline(3.0, world=world).run(op))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    world.advance(3.0)
    assert await call == Failure(deadline_exceeded())
    may_continue.set()
    assert await inner[0] is None
    await assert_nothing_pending()


@run_in_event_loop
async def test_closed_generator_leaves_no_alarm() -> None:
    world = FakeWorld()

    async def op() -> Result[str, Down]:
        await asyncio.sleep(0)
        return DONE

    async def results() -> AsyncGenerator[object, None]:
        while True:
            yield await deadline(3.0, world=world).run(op)

    stream = results()
    assert await anext(stream) is DONE
    await stream.aclose()
    world.advance(5.0)
    await assert_nothing_pending()


@run_in_event_loop
async def test_closed_coroutine_leaves_no_deadline_and_no_alarm() -> None:
    world = FakeWorld()
    call = deadline(3.0, world=world).run(sleep_operation(world, 1.0))
    call.send(None)
    assert remaining() == 2.0
    call.close()
    assert remaining() is None
    world.advance(5.0)
    await assert_nothing_pending()


@run_in_event_loop
async def test_coroutine_can_be_closed_in_another_context() -> None:
    world = FakeWorld()
    call = deadline(3.0, world=world).run(sleep_operation(world, 1.0))
    other_context = copy_context()
    other_context.run(call.send, None)
    call.close()
    world.advance(5.0)
    await assert_nothing_pending()


@run_in_event_loop
async def test_request_is_withdrawn_if_the_operation_raises_another_exception_when_cancelled() -> (
    None
):
    world = FakeWorld()

    class CleanUpError(BaseException):
        pass

    async def op() -> Result[str, Down]:
        try:
            await world.sleep(10.0)
        except asyncio.CancelledError:
            raise CleanUpError from None
        return DONE

    with pytest.raises(CleanUpError):
        await deadline(3.0, world=world).run(op)
    await assert_nothing_pending()


# Other layers


class RaisingLayer(Layer[str]):
    """Raises in `leave`, like a predicate of the user with a defect."""

    @override
    def enter(self) -> Admission:
        return RaisingPermit()

    @override
    def limits(self) -> str:
        return 'none'


class RaisingPermit(Permit):
    @override
    def leave(self, outcome: Outcome, /) -> Outcome:
        raise RuntimeError('a defect')


@run_in_event_loop
async def test_defect_of_an_inner_layer_leaves_no_alarm() -> None:
    world = FakeWorld()
    with pytest.raises(RuntimeError, match='a defect'):
        await (deadline(3.0, world=world) >> RaisingLayer('raising')).run(
            sleep_operation(world, 1.0)
        )
    world.advance(5.0)
    await assert_nothing_pending()


@run_in_event_loop
async def test_clock_that_raises_leaves_no_alarm() -> None:
    times = iter([1.0])
    guard = deadline(0.001, world=World(clock=lambda: next(times)))

    async def op() -> Result[str, Down]:
        return DONE

    with pytest.raises((StopIteration, RuntimeError)):
        await guard.run(op)
    await asyncio.sleep(0.002)
    await assert_nothing_pending()


@run_in_event_loop
async def test_operation_is_not_late_if_the_clock_goes_back() -> None:
    times = iter([100.0, 50.0])
    assert (
        await deadline(3.0, world=World(clock=lambda: next(times))).run(
            sleep_operation(World(), 0.0)
        )
        is DONE
    )


class Value:
    """A value that no reference should keep alive."""


@pytest.mark.parametrize('seconds', [0.5, 5.0])
@run_in_event_loop
async def test_background_task_does_not_keep_the_finished_task_of_its_deadline_alive(
    seconds: float,
) -> None:
    world = FakeWorld()
    background_tasks: list[asyncio.Task[bool]] = []

    async def inner() -> Result[str, Down]:
        background_tasks.append(asyncio.create_task(asyncio.Event().wait()))
        await world.sleep(1.0)
        return DONE

    async def call() -> 'tuple[object, Value]':
        guard = deadline(seconds, world=world)
        # The inner deadline has no alarm of its own: it expires with the outer one.
        return await guard.run(lambda: deadline(9.0, world=world).run(inner)), Value()

    with gc_disabled():
        _, value = await asyncio.create_task(call())
        value_ref = weakref.ref(value)
        del value, _
        await asyncio.sleep(0)
        assert value_ref() is None
    background_tasks[0].cancel()
    await asyncio.wait(background_tasks)
