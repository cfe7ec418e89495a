"""Guards around blocks of code: `acquire`, attempts, and limits as context managers."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

import pytest

from seamwise import Failure, Raised, Result, Success, or_raise
from seamwise.catalog.network import HostUnreachable
from seamwise.policies import (
    BulkheadFull,
    CircuitOpen,
    DeadlineExceeded,
    Guard,
    bulkhead,
    circuit,
    consecutive,
    deadline,
    identity,
    rate_limit,
    retry,
)
from seamwise.policies.events import State
from seamwise.testing import FakeWorld
from tests.policies.recording_layers import RecordingLayer

DOWN = HostUnreachable('bank', 'connection refused')


def results(*outcomes: Result[str, HostUnreachable]) -> Callable[[], Result[str, HostUnreachable]]:
    remaining = list(outcomes)
    return lambda: remaining.pop(0)


def run_attempts(guard: Guard[object], body: Callable[[], object]) -> None:
    for attempt in guard:
        with attempt:
            body()


def refused() -> None:
    pytest.fail('admitted')


def test_attempts_repeat_a_block_until_it_succeeds() -> None:
    world = FakeWorld()
    load = results(Failure(DOWN), Failure(DOWN), Success('page'))
    page, count = '', 0
    for attempt in retry(attempts=3, jitter='none', world=world):
        with attempt:
            count += 1
            page = or_raise(load())
    assert (page, count) == ('page', 3)
    assert world.slept == [0.1, 0.2]


def test_attempts_in_a_task_repeat_a_block_until_it_succeeds() -> None:
    async def main() -> str:
        async for attempt in retry(attempts=3, jitter='none', world=world):
            async with attempt:
                return or_raise(load())
        raise AssertionError

    world = FakeWorld()
    load = results(Failure(DOWN), Success('page'))
    assert asyncio.run(main()) == 'page'
    assert world.slept == [0.1]


def test_last_failure_of_the_attempts_propagates_as_it_was_raised() -> None:
    raised: list[Raised] = []

    def fail() -> None:
        raised.append(Raised(DOWN))
        raise raised[-1]

    with pytest.raises(Raised) as caught:
        run_attempts(retry(attempts=2, world=FakeWorld()), fail)
    assert caught.value is raised[1]


def test_defect_is_not_retried_and_propagates() -> None:
    calls: list[float] = []

    def fail() -> None:
        calls.append(1 / len(calls))

    with pytest.raises(ZeroDivisionError):
        run_attempts(retry(attempts=5, world=FakeWorld()), fail)
    assert calls == []


def test_block_of_a_pipeline_passes_all_layers_as_an_operation_does() -> None:
    bank = circuit(name='bank', trip=consecutive(2), world=FakeWorld())
    guard = bank >> retry(attempts=2, world=FakeWorld())
    for _ in range(2):
        with pytest.raises(Raised):
            run_attempts(guard, lambda: or_raise(Failure(DOWN)))
    assert bank.state == 'open'
    with pytest.raises(Raised) as caught:
        run_attempts(guard, refused)
    assert isinstance(caught.value.error, CircuitOpen)


def test_break_and_return_release_all_permits() -> None:
    limit = bulkhead(1, name='x')

    def load() -> str:
        for attempt in limit >> retry(attempts=2):
            with attempt:
                return 'page'
        raise AssertionError

    assert load() == 'page'
    for attempt in limit >> retry(attempts=2):
        with attempt:
            break
    assert limit.in_flight == 0


def test_unused_attempt_is_an_error_instead_of_an_endless_loop() -> None:
    with pytest.raises(RuntimeError, match='put the code inside `with attempt:`'):
        for _attempt in retry():
            pass


def test_acquired_circuit_counts_the_failures_of_a_block() -> None:
    bank = circuit(name='bank', trip=consecutive(1), world=FakeWorld())
    states: list[State] = []
    for outcome in (Success(1), Failure(DOWN)):
        with suppress(Raised), bank.acquire():
            or_raise(outcome)
        states.append(bank.state)
    assert states == ['closed', 'open']
    with pytest.raises(Raised, match='refuses calls'), bank.acquire():
        refused()


def test_cancelled_block_is_not_counted_and_releases_its_probe() -> None:
    async def main() -> None:
        async with bank.acquire():
            await asyncio.sleep(60)

    async def cancel() -> None:
        task = asyncio.create_task(main())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    world = FakeWorld()
    bank = circuit(name='bank', trip=consecutive(1), open_for=1.0, world=world)
    bank.open()
    world.advance(1.0)
    asyncio.run(cancel())
    states = [bank.state]
    with bank.acquire():
        states.append(bank.state)
    assert [*states, bank.state] == ['half_open', 'half_open', 'closed']


def test_deadline_cancels_a_block_and_raises_its_error() -> None:
    async def main() -> None:
        async with deadline(2.0, name='page', world=world).acquire():
            await world.sleep(5.0)

    world = FakeWorld()
    with pytest.raises(Raised) as caught:
        asyncio.run(main())
    assert caught.value.error == DeadlineExceeded('page', 2.0)


def test_guard_that_repeats_cannot_be_acquired() -> None:
    with pytest.raises(TypeError, match=r"'retry' repeats calls.*for attempt in guard"):
        (bulkhead(1, name='x') >> retry()).acquire()


def test_block_cannot_be_used_twice() -> None:
    block = identity.acquire()
    with block:
        pass
    with pytest.raises(RuntimeError, match=r'call acquire\(\) again'), block:
        pytest.fail('entered')


def test_bulkhead_limits_blocks_of_tasks() -> None:
    limit = bulkhead(2, name='x', queue=None, wait=None)
    most = 0

    async def work() -> None:
        nonlocal most
        async with limit:
            most = max(most, limit.in_flight)
            await asyncio.sleep(0)

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(10):
                group.create_task(work())

    asyncio.run(main())
    assert most == 2
    assert (limit.in_flight, limit.waiting) == (0, 0)


def test_bulkhead_refuses_a_block_of_a_thread() -> None:
    limit = bulkhead(1, name='x')
    with limit, pytest.raises(Raised) as caught, limit:
        pytest.fail('admitted')
    assert isinstance(caught.value.error, BulkheadFull)
    with limit:
        assert limit.in_flight == 1


def test_task_that_is_cancelled_while_it_waits_for_a_bulkhead_holds_nothing() -> None:
    limit = bulkhead(1, name='x', queue=None, wait=None)

    async def work() -> None:
        async with limit:
            await asyncio.sleep(60)

    async def main() -> None:
        tasks = [asyncio.create_task(work()) for _ in range(2)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert limit.waiting == 1
        for task in reversed(tasks):
            task.cancel()
        await asyncio.wait(tasks)

    asyncio.run(main())
    assert (limit.in_flight, limit.waiting) == (0, 0)


def test_rate_limit_admits_blocks_in_turn() -> None:
    async def main() -> float:
        for _ in range(5):
            async with limit:
                pass
        return world.now

    world = FakeWorld()
    limit = rate_limit(1, name='x', wait=10.0, world=world)
    started_at = world.now
    assert asyncio.run(main()) - started_at == pytest.approx(4.0)


def test_block_that_ends_in_another_thread_is_refused() -> None:
    limit = bulkhead(1, name='x')
    errors: list[str] = []

    def leave() -> None:
        try:
            limit.__exit__(None, None, None)
        except RuntimeError as error:
            errors.append(str(error))

    with limit:
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
    assert errors == [
        "A block of 'x' ends in another task or thread than it began: use `acquire()` for it."
    ]


@pytest.mark.parametrize('outcome', [Success(None), Failure(DOWN)])
def test_layers_see_a_block_as_they_see_an_operation(
    outcome: Result[None, HostUnreachable],
) -> None:
    def pipeline(log: list[str]) -> Guard[str]:
        return RecordingLayer('outer', log) >> RecordingLayer('inner', log)

    of_block: list[str] = []
    of_operation: list[str] = []
    with suppress(Raised), pipeline(of_block).acquire():
        or_raise(outcome)
    pipeline(of_operation).run_sync(lambda: outcome)
    assert of_block == of_operation == ['+outer', '+inner', '-inner', '-outer']


def test_refused_block_leaves_the_layers_outside() -> None:
    log: list[str] = []
    guard = RecordingLayer('outer', log) >> RecordingLayer('inner', log, refuses=True)
    with pytest.raises(Raised), guard.acquire():
        pytest.fail('admitted')
    assert log == ['+outer', 'xinner', '-outer']
