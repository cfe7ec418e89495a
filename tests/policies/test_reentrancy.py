"""Who would wait for ever for itself is told so, and nobody else is."""

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
from seamwise.policies.testing import FakeWorld

Answer = Result[str, object]
DONE: Answer = Success('done')


def for_ever(limit: int | Adaptive = 1, key: Callable[[], str] | None = None) -> Guard[Any]:
    return bulkhead(limit, name='bank', queue=None, wait=None, key=key)


async def done() -> Answer:
    return DONE


def nested(guard: Guard[Any], depth: int) -> Answer:
    return DONE if depth == 0 else guard.run_sync(lambda: nested(guard, depth - 1))


async def nested_later(guard: Guard[Any], depth: int) -> Answer:
    return DONE if depth == 0 else await guard.run(lambda: nested_later(guard, depth - 1))


def in_time(call: Callable[[], object]) -> list[object]:
    """Call in a thread: where it hangs, the test does not."""
    given: list[object] = []

    def run() -> None:
        try:
            given.append(call())
        except RuntimeError as defect:
            given.append(str(defect))

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(10)
    return given


ITSELF = (
    "'bank' is called inside its own calls, which have all its permits: "
    'the caller would wait for itself.'
)


@pytest.mark.parametrize('limit', [1, 3, adaptive(2, 9)])
def test_a_thread_that_would_wait_for_itself_is_told(limit: int | Adaptive) -> None:
    guard = for_ever(limit)
    room = limit.minimum if isinstance(limit, Adaptive) else limit
    assert in_time(lambda: nested(guard, room)) == [DONE]
    for _ in range(2):
        assert in_time(lambda: nested(guard, room + 1)) == [ITSELF]
    assert in_time(lambda: nested(guard, room)) == [DONE]


@pytest.mark.parametrize('limit', [1, 3])
def test_a_task_that_would_wait_for_itself_is_told(limit: int) -> None:
    async def main(depth: int) -> Answer:
        return await nested_later(for_ever(limit), depth)

    assert in_time(lambda: asyncio.run(main(limit))) == [DONE]
    assert in_time(lambda: asyncio.run(main(limit + 1))) == [ITSELF]


def test_a_task_that_calls_run_sync_in_its_own_call_is_told() -> None:
    async def main() -> None:
        guard = for_ever()

        async def op() -> Answer:
            return guard.run_sync(lambda: DONE)

        await guard.run(op)

    assert in_time(lambda: asyncio.run(main())) == [ITSELF]


def test_another_key_has_room_of_its_own() -> None:
    keys = iter('aab')
    guard = for_ever(key=lambda: next(keys))
    assert in_time(lambda: guard.run_sync(lambda: guard.run_sync(lambda: DONE))) == [ITSELF]
    assert guard.run_sync(lambda: DONE) is DONE


async def both(guard: Guard[Any], first: Callable[[asyncio.Event], Awaitable[Answer]]) -> Answer:
    """Let one task be inside, and another one wait for it twice, once in its own call."""
    ends = asyncio.Event()
    other = asyncio.create_task(guard.run(lambda: first(ends)))
    await asyncio.sleep(0)
    mine = asyncio.create_task(nested_later(guard, 2))
    for _ in range(3):
        await asyncio.sleep(0)
    ends.set()
    await other
    return await mine


def test_who_waits_for_others_too_waits() -> None:
    async def first(ends: asyncio.Event) -> Answer:
        await ends.wait()
        return DONE

    assert in_time(lambda: asyncio.run(both(for_ever(2), first))) == [DONE]


def test_who_waits_beside_the_task_that_began_it_waits() -> None:
    async def main() -> Answer:
        guard = for_ever()
        begun: list[asyncio.Task[Any]] = []

        async def begins() -> Answer:
            begun.append(asyncio.create_task(guard.run(done)))
            await asyncio.sleep(0)
            return DONE

        await guard.run(begins)
        given: Answer = await begun[0]
        return given

    assert in_time(lambda: asyncio.run(main())) == [DONE]


def test_a_thread_waits_for_a_call_in_a_task() -> None:
    guard = for_ever()
    is_inside, ends = Event(), Event()

    def op() -> Answer:
        is_inside.set()
        assert ends.wait(10)
        return DONE

    other = Thread(target=lambda: guard.run_sync(op))
    other.start()
    assert is_inside.wait(10)
    waiting = Thread(target=lambda: guard.run_sync(lambda: DONE))
    waiting.start()
    ends.set()
    for thread in (other, waiting):
        thread.join(10)
        assert not thread.is_alive()


def test_where_a_deadline_ends_the_wait_it_is_waited() -> None:
    async def main() -> Answer:
        world = FakeWorld()
        guard = for_ever()

        async def waits() -> Answer:
            asyncio.get_running_loop().call_soon(world.advance, 2.0)
            return await guard.run(done)

        return await deadline(1.0, world=world).run(lambda: guard.run(waits))

    assert in_time(lambda: asyncio.run(main())) == [Failure(DeadlineExceeded('deadline', 1.0))]


def test_a_permit_comes_back_after_a_defect_too() -> None:
    guard = for_ever()

    def defect() -> Answer:
        raise LookupError

    for _ in range(2):
        with pytest.raises(LookupError):
            guard.run_sync(defect)
    assert in_time(lambda: nested(guard, 2)) == [ITSELF]


def test_where_nobody_waits_for_ever_all_share_one_permit() -> None:
    guard: Any = bulkhead(2, name='bank', queue=None, wait=1.0)
    first, second = guard.enter(), guard.enter()
    assert isinstance(first, Permit)
    assert first is second


def test_a_task_that_its_loop_has_left_behind_gives_its_permit_back() -> None:
    async def stuck() -> Answer:
        await asyncio.Event().wait()
        return DONE

    async def begin() -> None:
        begun.append(asyncio.create_task(guard.run(stuck)))
        await asyncio.sleep(0)

    begun: list[asyncio.Task[Any]] = []
    guard = for_ever()
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    loop.run_until_complete(begin())
    loop.close()
    begun.clear()
    gc.collect()
    assert in_time(lambda: nested(guard, 1)) == [DONE]
