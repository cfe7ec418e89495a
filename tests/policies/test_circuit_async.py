"""A circuit with tasks: concurrency, cancellation, event loops."""

import asyncio
import gc
from threading import Thread
from typing import Any

import pytest

from seamwise import Failure, Result, Success
from seamwise._runtime.world import World
from seamwise.policies._engine.permit import Permit
from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.circuit import circuit
from seamwise.policies.errors import CircuitOpen
from seamwise.testing import FakeWorld
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


async def succeed() -> Result[str, Down]:
    return OK


async def fail() -> Result[str, Down]:
    return DOWN


async def succeed_later() -> Result[str, Down]:
    for _ in range(3):
        await asyncio.sleep(0)
    return OK


def test_circuit_treats_tasks_like_threads() -> None:
    async def run() -> None:
        world = FakeWorld()
        guard = circuit(name='mail', trip=consecutive(2), open_for=10.0, world=world)
        assert await guard.run(succeed) is OK
        assert await guard.run(fail) is DOWN
        assert await guard.run(fail) is DOWN
        assert await guard.run(succeed) == Failure(CircuitOpen('mail', 2, 10.0, 'open'))
        world.advance(10.0)
        assert await guard.run(succeed) is OK
        assert read_state(guard) == 'closed'

    asyncio.run(run())


def test_defect_in_a_task_counts_and_propagates() -> None:
    async def raise_defect() -> Result[str, Down]:
        raise ZeroDivisionError

    async def run() -> None:
        guard = circuit(name='mail', trip=consecutive(1))
        with pytest.raises(ZeroDivisionError):
            await guard.run(raise_defect)
        assert read_state(guard) == 'open'

    asyncio.run(run())


def test_closed_circuit_admits_concurrent_tasks() -> None:
    async def run() -> None:
        guard = circuit(name='mail')
        all_admitted = asyncio.Barrier(5)

        async def work() -> Result[str, Down]:
            async with asyncio.timeout(10.0), all_admitted:
                return OK

        assert await asyncio.gather(*(guard.run(work) for _ in range(5))) == [OK] * 5

    asyncio.run(run())


@pytest.mark.parametrize('probes', [1, 3])
def test_half_open_circuit_admits_the_configured_number_of_tasks(probes: int) -> None:
    async def run() -> None:
        guard = half_open_circuit(FakeWorld(), probes=probes, successes=probes)
        outcomes = await asyncio.gather(*(guard.run(succeed_later) for _ in range(50)))
        assert sum(type(outcome) is Success for outcome in outcomes) == probes
        assert read_state(guard) == 'closed'

    asyncio.run(run())


def test_cancelled_call_does_not_count_as_a_failure() -> None:
    guard = circuit(name='mail', trip=consecutive(1))

    async def run() -> None:
        assert await cancel_at_each_await(lambda: guard.run(succeed_later), lambda: None) == 3
        assert read_state(guard) == 'closed'

    asyncio.run(run())


def test_cancelled_call_does_not_count_as_a_success() -> None:
    async def run() -> None:
        guard = circuit(name='mail', trip=consecutive(2))
        await guard.run(fail)
        call = asyncio.create_task(guard.run(succeed_later))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await guard.run(fail)
        assert read_state(guard) == 'open'

    asyncio.run(run())


def test_cancelled_probe_releases_its_permit_and_does_not_close_the_circuit() -> None:
    guard = half_open_circuit(FakeWorld(), successes=10**6)

    def check_unchanged() -> None:
        assert read_state(guard) == 'half_open'
        probe = acquire_permit(guard)
        get_refusal(guard)
        probe.abort(GeneratorExit())

    async def run() -> None:
        assert await cancel_at_each_await(lambda: guard.run(succeed_later), check_unchanged) == 3

    asyncio.run(run())


def test_closed_coroutine_releases_its_permit() -> None:
    async def run() -> None:
        guard = half_open_circuit(FakeWorld())
        abandoned = guard.run(succeed_later)
        abandoned.send(None)
        get_refusal(guard)
        abandoned.close()
        assert await guard.run(succeed) is OK
        assert read_state(guard) == 'closed'

    asyncio.run(run())


def test_permit_of_an_abandoned_call_is_released_by_the_garbage_collector() -> None:
    async def run() -> None:
        guard = half_open_circuit(FakeWorld())
        references = [guard.run(succeed_later)]
        references[0].send(None)
        # A cycle keeps the call alive until the collection.
        references.append(references)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # a list of itself
        del references
        gc.collect()
        assert isinstance(guard.enter(), Permit)

    asyncio.run(run())


def test_abandoned_call_can_raise_while_its_own_thread_has_the_lock() -> None:
    async def raise_when_closed() -> Result[str, Down]:
        try:
            await asyncio.sleep(0)
        finally:
            raise LookupError

    def clock() -> float:
        # Simulates the garbage collector.
        if abandoned:
            with pytest.raises(LookupError):
                abandoned.pop().close()
        return 0.0

    abandoned: list[Any] = []
    guard = circuit(name='mail', trip=consecutive(2), world=World(clock=clock))
    call = guard.run(raise_when_closed)
    call.send(None)
    abandoned.append(call)
    thread = Thread(target=guard.run_sync, args=[lambda: DOWN], daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert read_state(guard) == 'open'


def test_circuit_works_in_successive_event_loops() -> None:
    guard = circuit(name='mail', trip=consecutive(3))
    for _ in range(3):
        assert asyncio.run(guard.run(fail)) is DOWN
    assert read_state(guard) == 'open'
