"""A circuit around tasks: many at once, cancelled at every place, in one loop after another."""

import asyncio
import gc
from threading import Thread
from typing import Any

import pytest

from seamwise import Failure, Result, Success
from seamwise.policies._engine.permit import Permit
from seamwise.policies._engine.world import World
from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.circuit import circuit
from seamwise.policies.errors import CircuitOpen
from seamwise.policies.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.circuit_helpers import (
    DOWN,
    OK,
    acquire_permit,
    get_refusal,
    half_open_circuit,
    read_state,
)
from tests.policies.errors import Down


async def ok() -> Result[str, Down]:
    return OK


async def down() -> Result[str, Down]:
    return DOWN


async def waits() -> Result[str, Down]:
    for _ in range(3):
        await asyncio.sleep(0)
    return OK


def test_tasks_go_through_as_threads_do() -> None:
    async def run() -> None:
        world = FakeWorld()
        guard = circuit(name='mail', trip=consecutive(2), open_for=10.0, world=world)
        assert await guard.run(ok) is OK
        assert await guard.run(down) is DOWN
        assert await guard.run(down) is DOWN
        assert await guard.run(ok) == Failure(CircuitOpen('mail', 2, 10.0, 'open'))
        world.advance(10.0)
        assert await guard.run(ok) is OK
        assert read_state(guard) == 'closed'

    asyncio.run(run())


def test_a_defect_in_a_task_counts_and_passes() -> None:
    async def buggy() -> Result[str, Down]:
        raise ZeroDivisionError

    async def run() -> None:
        guard = circuit(name='mail', trip=consecutive(1))
        with pytest.raises(ZeroDivisionError):
            await guard.run(buggy)
        assert read_state(guard) == 'open'

    asyncio.run(run())


def test_five_calls_in_five_tasks_are_at_work_at_once() -> None:
    async def run() -> None:
        guard = circuit(name='mail')
        all_inside = asyncio.Barrier(5)

        async def work() -> Result[str, Down]:
            async with asyncio.timeout(10.0), all_inside:
                return OK

        assert await asyncio.gather(*(guard.run(work) for _ in range(5))) == [OK] * 5

    asyncio.run(run())


@pytest.mark.parametrize('probes', [1, 3])
def test_of_fifty_tasks_exactly_as_many_as_are_allowed_probe(probes: int) -> None:
    async def run() -> None:
        guard = half_open_circuit(FakeWorld(), probes=probes, successes=probes)
        outcomes = await asyncio.gather(*(guard.run(waits) for _ in range(50)))
        assert sum(type(outcome) is Success for outcome in outcomes) == probes
        assert read_state(guard) == 'closed'

    asyncio.run(run())


def test_a_call_that_is_cancelled_at_any_place_counts_as_no_failure() -> None:
    guard = circuit(name='mail', trip=consecutive(1))

    async def run() -> None:
        assert await cancel_at_each_await(lambda: guard.run(waits), lambda: None) == 3
        assert read_state(guard) == 'closed'

    asyncio.run(run())


def test_a_call_that_is_cancelled_counts_as_no_success() -> None:
    async def run() -> None:
        guard = circuit(name='mail', trip=consecutive(2))
        await guard.run(down)
        call = asyncio.create_task(guard.run(waits))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await guard.run(down)
        assert read_state(guard) == 'open'

    asyncio.run(run())


def test_a_probe_that_is_cancelled_at_any_place_gives_its_permit_back_and_closes_nothing() -> None:
    guard = half_open_circuit(FakeWorld(), successes=10**6)

    def as_before() -> None:
        assert read_state(guard) == 'half_open'
        probe = acquire_permit(guard)
        get_refusal(guard)
        probe.abort(GeneratorExit())

    async def run() -> None:
        assert await cancel_at_each_await(lambda: guard.run(waits), as_before) == 3

    asyncio.run(run())


def test_a_coroutine_that_is_thrown_away_gives_its_permit_back() -> None:
    async def run() -> None:
        guard = half_open_circuit(FakeWorld())
        abandoned = guard.run(waits)
        abandoned.send(None)
        get_refusal(guard)
        abandoned.close()
        assert await guard.run(ok) is OK
        assert read_state(guard) == 'closed'

    asyncio.run(run())


def test_the_garbage_collector_gives_back_the_permit_of_a_call_that_is_lost() -> None:
    async def run() -> None:
        guard = half_open_circuit(FakeWorld())
        lost = [guard.run(waits)]
        lost[0].send(None)
        lost.append(lost)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # a cycle, so that it stays until it is collected
        del lost
        gc.collect()
        assert isinstance(guard.enter(), Permit)

    asyncio.run(run())


def test_a_lost_call_may_end_with_a_defect_while_its_own_thread_has_the_lock() -> None:
    async def stumbles() -> Result[str, Down]:
        try:
            await asyncio.sleep(0)
        finally:
            raise LookupError

    def clock() -> float:
        # As if the garbage collector ran here.
        if lost:
            with pytest.raises(LookupError):
                lost.pop().close()
        return 0.0

    lost: list[Any] = []
    guard = circuit(name='mail', trip=consecutive(2), world=World(clock=clock))
    call = guard.run(stumbles)
    call.send(None)
    lost.append(call)
    thread = Thread(target=guard.run_sync, args=[lambda: DOWN], daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert read_state(guard) == 'open'


def test_one_circuit_serves_one_loop_after_the_other() -> None:
    guard = circuit(name='mail', trip=consecutive(3))
    for _ in range(3):
        assert asyncio.run(guard.run(down)) is DOWN
    assert read_state(guard) == 'open'
