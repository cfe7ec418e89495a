"""A deadline around what cancels by itself, and beside other layers."""

import asyncio
import weakref
from collections.abc import AsyncGenerator
from contextvars import copy_context

import pytest
from typing_extensions import override

from seamwise import Failure, Result
from seamwise.policies._engine.permit import Decision, Outcome, Permit
from seamwise.policies._engine.pipeline import Layer
from seamwise.policies._engine.world import World
from seamwise.policies.deadline import deadline, remaining
from seamwise.policies.testing import FakeWorld
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
async def test_a_task_group_inside_is_ended_with_all_its_tasks() -> None:
    world = FakeWorld()
    ended: list[str] = []

    async def child() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append('child')

    async def op() -> Result[str, Down]:
        async with asyncio.TaskGroup() as group:
            group.create_task(child())
            group.create_task(child())
            await world.sleep(10.0)
        return DONE

    assert await deadline(3.0, world=world).run(op) == Failure(deadline_exceeded())
    assert ended == ['child', 'child']
    await assert_nothing_pending()


@run_in_event_loop
async def test_a_defect_in_a_task_group_passes_and_takes_the_cancellation_with_it() -> None:
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
async def test_what_is_shielded_goes_on_and_has_no_time_left() -> None:
    world = FakeWorld()
    go_on = asyncio.Event()

    async def shielded() -> float | None:
        await go_on.wait()
        return remaining()

    async def op() -> Result[str, Down]:
        inner.append(asyncio.ensure_future(shielded()))
        await asyncio.wait_for(asyncio.shield(inner[0]), None)
        return DONE

    inner: list[asyncio.Future[float | None]] = []
    call = asyncio.ensure_future(deadline(3.0, world=world).run(op))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    world.advance(3.0)
    assert await call == Failure(deadline_exceeded())
    go_on.set()
    assert await inner[0] == 0.0
    await assert_nothing_pending()


@run_in_event_loop
async def test_a_generator_that_is_closed_takes_its_alarm_with_it() -> None:
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
async def test_a_closed_coroutine_leaves_no_end_and_no_alarm() -> None:
    world = FakeWorld()
    call = deadline(3.0, world=world).run(sleep_operation(world, 1.0))
    call.send(None)
    assert remaining() == 2.0
    call.close()
    assert remaining() is None
    world.advance(5.0)
    await assert_nothing_pending()


@run_in_event_loop
async def test_a_coroutine_may_be_closed_from_a_context_that_never_saw_its_end() -> None:
    world = FakeWorld()
    call = deadline(3.0, world=world).run(sleep_operation(world, 1.0))
    elsewhere = copy_context()
    elsewhere.run(call.send, None)
    call.close()
    world.advance(5.0)
    await assert_nothing_pending()


@run_in_event_loop
async def test_whatever_is_raised_for_the_cancellation_its_request_is_taken_back() -> None:
    world = FakeWorld()

    class Gone(BaseException):
        pass

    async def op() -> Result[str, Down]:
        try:
            await world.sleep(10.0)
        except asyncio.CancelledError:
            raise Gone from None
        return DONE

    with pytest.raises(Gone):
        await deadline(3.0, world=world).run(op)
    await assert_nothing_pending()


# Beside other layers.


class Leaky(Layer[str]):
    """Raises when it is left, as a user's predicate may."""

    @override
    def enter(self) -> Decision:
        return Raises()

    @override
    def limits(self) -> str:
        return 'none'


class Raises(Permit):
    @override
    def leave(self, outcome: Outcome, /) -> Outcome:
        raise RuntimeError('a defect')


@run_in_event_loop
async def test_a_defect_of_an_inner_layer_takes_the_alarm_with_it() -> None:
    world = FakeWorld()
    with pytest.raises(RuntimeError, match='a defect'):
        await (deadline(3.0, world=world) >> Leaky('leaky')).run(sleep_operation(world, 1.0))
    world.advance(5.0)
    await assert_nothing_pending()


@run_in_event_loop
async def test_a_clock_that_raises_takes_the_alarm_with_it() -> None:
    times = iter([1.0])
    guard = deadline(0.001, world=World(clock=lambda: next(times)))

    async def op() -> Result[str, Down]:
        return DONE

    with pytest.raises((StopIteration, RuntimeError)):
        await guard.run(op)
    await asyncio.sleep(0.002)
    await assert_nothing_pending()


@run_in_event_loop
async def test_a_clock_that_goes_backwards_makes_nobody_late() -> None:
    times = iter([100.0, 50.0])
    assert (
        await deadline(3.0, world=World(clock=lambda: next(times))).run(
            sleep_operation(World(), 0.0)
        )
        is DONE
    )


class Kept:
    """What an operation gives, and nobody is to keep."""


@pytest.mark.parametrize('seconds', [0.5, 5.0])
@run_in_event_loop
async def test_a_task_that_goes_on_keeps_nothing_of_the_task_whose_deadline_it_saw(
    seconds: float,
) -> None:
    world = FakeWorld()
    going_on: list[asyncio.Task[bool]] = []

    async def inner() -> Result[str, Down]:
        going_on.append(asyncio.create_task(asyncio.Event().wait()))
        await world.sleep(1.0)
        return DONE

    async def call() -> 'tuple[object, Kept]':
        guard = deadline(seconds, world=world)
        # Also the end of a deadline inside, which the one around watches.
        return await guard.run(lambda: deadline(9.0, world=world).run(inner)), Kept()

    with gc_disabled():
        _, kept = await asyncio.create_task(call())
        gone = weakref.ref(kept)
        del kept, _
        await asyncio.sleep(0)
        assert gone() is None
    going_on[0].cancel()
    await asyncio.wait(going_on)
