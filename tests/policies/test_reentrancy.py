"""Deadlock detection of a bulkhead with unlimited waiting."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from threading import Event, Thread
from typing import Any

import pytest

from seamwise import Failure, Result, Success
from seamwise.policies._engine.permit import Permit
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies._parts.adaptive_limit import Adaptive, adaptive
from seamwise.policies.bulkhead import bulkhead
from seamwise.policies.deadline import deadline
from seamwise.policies.errors import DeadlineExceeded
from seamwise.testing import FakeWorld

Outcome = Result[str, Any]
DONE: Outcome = Success('done')


def unlimited_bulkhead(
    limit: int | Adaptive = 1, key: Callable[[], str] | None = None
) -> Guard[Any]:
    return bulkhead(limit, name='bank', queue=None, wait=None, key=key)


async def done() -> Outcome:
    return DONE


def nested(guard: Guard[Any], depth: int) -> Outcome:
    return DONE if depth == 0 else guard.run_sync(lambda: nested(guard, depth - 1))


async def nested_async(guard: Guard[Any], depth: int) -> Outcome:
    return DONE if depth == 0 else await guard.run(lambda: nested_async(guard, depth - 1))


def run_with_timeout(call: Callable[[], object]) -> list[object]:
    """Return the result or the RuntimeError of a call in a thread, or nothing if it hangs."""
    results: list[object] = []

    def run() -> None:
        try:
            results.append(call())
        except RuntimeError as error:
            results.append(str(error))

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(10)
    return results


DEADLOCK = (
    "'bank' is called inside its own calls, which have all its permits: "
    'the caller would wait for itself.'
)
BLOCKED = (
    "'bank' is called by run_sync in the thread of an event loop whose tasks would have to "
    'continue first: use `await guard.run(…)` instead.'
)


@pytest.mark.parametrize('limit', [1, 3, adaptive(2, 9)])
def test_thread_that_would_wait_for_itself_gets_an_error(limit: int | Adaptive) -> None:
    guard = unlimited_bulkhead(limit)
    max_depth = limit.minimum if isinstance(limit, Adaptive) else limit
    assert run_with_timeout(lambda: nested(guard, max_depth)) == [DONE]
    for _ in range(2):
        assert run_with_timeout(lambda: nested(guard, max_depth + 1)) == [DEADLOCK]
    assert run_with_timeout(lambda: nested(guard, max_depth)) == [DONE]


@pytest.mark.parametrize('limit', [1, 3])
def test_task_that_would_wait_for_itself_gets_an_error(limit: int) -> None:
    async def main(depth: int) -> Outcome:
        return await nested_async(unlimited_bulkhead(limit), depth)

    assert run_with_timeout(lambda: asyncio.run(main(limit))) == [DONE]
    assert run_with_timeout(lambda: asyncio.run(main(limit + 1))) == [DEADLOCK]


def test_task_that_nests_run_sync_in_its_own_call_gets_an_error() -> None:
    async def main() -> None:
        guard = unlimited_bulkhead()

        async def op() -> Outcome:
            return guard.run_sync(lambda: DONE)

        await guard.run(op)

    assert run_with_timeout(lambda: asyncio.run(main())) == [DEADLOCK]


def test_run_sync_that_would_block_the_tasks_it_waits_for_gets_an_error() -> None:
    async def main() -> None:
        guard = unlimited_bulkhead()
        can_end = asyncio.Event()

        async def wait_for_event() -> Outcome:
            await can_end.wait()
            return DONE

        holder = asyncio.create_task(guard.run(wait_for_event))
        await asyncio.sleep(0)
        try:
            guard.run_sync(lambda: DONE)
        finally:
            can_end.set()
            assert await holder is DONE
            assert guard.run_sync(lambda: DONE) is DONE

    assert run_with_timeout(lambda: asyncio.run(main())) == [BLOCKED]


def test_run_sync_behind_a_waiting_task_of_its_event_loop_gets_an_error() -> None:
    """The permit goes to the task first, which cannot run."""
    has_started, can_end = Event(), Event()
    guard = unlimited_bulkhead()

    def hold() -> Outcome:
        has_started.set()
        assert can_end.wait(10)
        return DONE

    async def main() -> None:
        waiting = asyncio.create_task(guard.run(done))
        await asyncio.sleep(0)
        try:
            guard.run_sync(lambda: DONE)
        finally:
            can_end.set()
            assert await waiting is DONE

    holder = Thread(target=lambda: guard.run_sync(hold))
    holder.start()
    assert has_started.wait(10)
    assert run_with_timeout(lambda: asyncio.run(main())) == [BLOCKED]
    holder.join(10)


def test_call_that_waits_for_a_suspended_event_loop_gets_an_error() -> None:
    guard = unlimited_bulkhead()

    async def hold() -> Outcome:
        await asyncio.sleep(0.001)
        return DONE

    async def start() -> 'asyncio.Task[Outcome]':
        task = asyncio.create_task(guard.run(hold))
        await asyncio.sleep(0)
        return task

    loop = asyncio.new_event_loop()
    try:
        task = loop.run_until_complete(start())
        error = (
            "'bank' has no permit left, and all are held by tasks of an event loop that is not "
            'running: the caller would wait for ever.'
        )
        assert run_with_timeout(lambda: asyncio.run(guard.run(done))) == [error]
        assert run_with_timeout(lambda: guard.run_sync(lambda: DONE)) == [error]
        assert loop.run_until_complete(task) is DONE
    finally:
        loop.close()


def test_nested_call_with_another_key_is_admitted() -> None:
    keys = iter('aab')
    guard = unlimited_bulkhead(key=lambda: next(keys))
    assert run_with_timeout(lambda: guard.run_sync(lambda: guard.run_sync(lambda: DONE))) == [
        DEADLOCK
    ]
    assert guard.run_sync(lambda: DONE) is DONE


async def call_in_two_tasks(
    guard: Guard[Any], operation: Callable[[asyncio.Event], Awaitable[Outcome]]
) -> Outcome:
    """Run the operation in one task; wait for it in another one, in a nested call."""
    can_end = asyncio.Event()
    first = asyncio.create_task(guard.run(lambda: operation(can_end)))
    await asyncio.sleep(0)
    second = asyncio.create_task(nested_async(guard, 2))
    for _ in range(3):
        await asyncio.sleep(0)
    can_end.set()
    await first
    return await second


def test_nested_call_waits_if_another_task_holds_a_permit() -> None:
    async def operation(can_end: asyncio.Event) -> Outcome:
        await can_end.wait()
        return DONE

    assert run_with_timeout(
        lambda: asyncio.run(call_in_two_tasks(unlimited_bulkhead(2), operation))
    ) == [DONE]


def test_task_waits_for_the_task_that_started_it() -> None:
    async def main() -> Outcome:
        guard = unlimited_bulkhead()
        tasks: list[asyncio.Task[Any]] = []

        async def start_task() -> Outcome:
            tasks.append(asyncio.create_task(guard.run(done)))
            await asyncio.sleep(0)
            return DONE

        await guard.run(start_task)
        outcome: Outcome = await tasks[0]
        return outcome

    assert run_with_timeout(lambda: asyncio.run(main())) == [DONE]


def test_thread_waits_for_a_call_in_another_thread() -> None:
    guard = unlimited_bulkhead()
    has_started, can_end = Event(), Event()

    def op() -> Outcome:
        has_started.set()
        assert can_end.wait(10)
        return DONE

    running = Thread(target=lambda: guard.run_sync(op))
    running.start()
    assert has_started.wait(10)
    waiting = Thread(target=lambda: guard.run_sync(lambda: DONE))
    waiting.start()
    can_end.set()
    for thread in (running, waiting):
        thread.join(10)
        assert not thread.is_alive()


def test_call_within_a_deadline_waits_until_it_expires() -> None:
    async def main() -> Outcome:
        world = FakeWorld()
        guard = unlimited_bulkhead()

        async def wait_for_itself() -> Outcome:
            asyncio.get_running_loop().call_soon(world.advance, 2.0)
            return await guard.run(done)

        return await deadline(1.0, world=world).run(lambda: guard.run(wait_for_itself))

    assert run_with_timeout(lambda: asyncio.run(main())) == [
        Failure(DeadlineExceeded('deadline', 1.0))
    ]


def test_permit_is_released_after_a_defect() -> None:
    guard = unlimited_bulkhead()

    def defect() -> Outcome:
        raise LookupError

    for _ in range(2):
        with pytest.raises(LookupError):
            guard.run_sync(defect)
    assert run_with_timeout(lambda: nested(guard, 2)) == [DEADLOCK]


def test_calls_share_one_permit_if_waiting_is_limited() -> None:
    guard: Any = bulkhead(2, name='bank', queue=None, wait=1.0)
    first, second = guard.enter(), guard.enter()
    assert isinstance(first, Permit)
    assert first is second


def test_permit_of_a_task_of_a_closed_loop_is_released() -> None:
    async def wait_forever() -> Outcome:
        await asyncio.Event().wait()
        return DONE

    async def start_task() -> None:
        tasks.append(asyncio.create_task(guard.run(wait_forever)))
        await asyncio.sleep(0)

    tasks: list[asyncio.Task[Any]] = []
    guard = unlimited_bulkhead()
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    loop.run_until_complete(start_task())
    loop.close()
    tasks.clear()
    gc.collect()
    assert run_with_timeout(lambda: nested(guard, 1)) == [DONE]
