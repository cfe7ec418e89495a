"""Single call without a cache: shared calls of threads, and the cancellation of tasks."""

import asyncio
import gc
import time
from threading import Thread

import pytest

from seamwise import Success
from seamwise.policies._engine.permit import Outcome
from seamwise.policies._parts.single_flight import SharedThreadCall, cancel_and_wait
from tests.policies.leftovers import nothing_collected


def fail() -> Outcome:
    raise LookupError('bug')


def test_defect_is_raised_in_waiters_and_not_kept_for_later_callers() -> None:
    call: SharedThreadCall[object, object] = SharedThreadCall()
    error_types: list[type[BaseException]] = []

    def wait() -> None:
        with pytest.raises(LookupError) as caught:
            call.wait()
        error_types.append(caught.type)

    thread = Thread(target=wait, daemon=True)
    thread.start()
    deadline = time.monotonic() + 5
    while not call._waiters and time.monotonic() < deadline:
        time.sleep(0.001)
    with pytest.raises(LookupError):
        call.run(fail)
    thread.join(5)
    assert error_types == [LookupError]
    assert call.wait() is None


def test_defect_is_not_kept_without_waiters() -> None:
    call: SharedThreadCall[object, object] = SharedThreadCall()
    with pytest.raises(LookupError):
        call.run(fail)
    assert call.wait() is None


def test_outcome_is_kept_for_later_callers() -> None:
    call: SharedThreadCall[object, object] = SharedThreadCall()
    outcome = Success(1)
    assert call.run(lambda: outcome) is outcome
    assert call.wait() is outcome
    assert not call.is_reentrant()


def test_cancellation_of_cancel_and_wait_is_raised_after_the_tasks_and_leaves_no_cycle() -> None:
    async def end_slowly() -> Outcome:
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(5):
                await asyncio.sleep(0)
        return Success(1)

    async def main() -> None:
        task = asyncio.create_task(end_slowly())
        await asyncio.sleep(0)
        waiting = asyncio.create_task(cancel_and_wait((task,), 'x'))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait((waiting,))
        assert task.done()
        assert waiting.cancelled()

    def count_cancellations() -> int:
        return sum(type(object_) is asyncio.CancelledError for object_ in gc.get_objects())

    with nothing_collected():
        expected = count_cancellations()
        asyncio.run(main())
        assert count_cancellations() == expected
