"""A call that one thread makes and others wait for, and the end of tasks, without a cache around them."""

import asyncio
import gc
import time
from threading import Thread

import pytest

from seamwise import Success
from seamwise.policies._engine.permit import Outcome
from seamwise.policies._parts.single_flight import SharedThreadCall, cancel_and_wait
from tests.policies.gc_helpers import gc_disabled


def fails() -> Outcome:
    raise LookupError('bug')


def test_who_waits_gets_the_defect_and_who_comes_later_is_told_nothing() -> None:
    flight: SharedThreadCall[object, object] = SharedThreadCall()
    raised: list[type[BaseException]] = []

    def waits() -> None:
        with pytest.raises(LookupError) as defect:
            flight.wait()
        raised.append(defect.type)

    thread = Thread(target=waits, daemon=True)
    thread.start()
    limit = time.monotonic() + 5
    while not flight._waiters and time.monotonic() < limit:
        time.sleep(0.001)
    with pytest.raises(LookupError):
        flight.run(fails)
    thread.join(5)
    assert raised == [LookupError]
    assert flight.wait() is None


def test_where_nobody_waits_a_defect_is_not_kept() -> None:
    flight: SharedThreadCall[object, object] = SharedThreadCall()
    with pytest.raises(LookupError):
        flight.run(fails)
    assert flight.wait() is None


def test_the_outcome_is_there_for_all_who_come_later() -> None:
    flight: SharedThreadCall[object, object] = SharedThreadCall()
    outcome = Success(1)
    assert flight.run(lambda: outcome) is outcome
    assert flight.wait() is outcome
    assert not flight.is_reentrant()


def test_a_cancellation_while_tasks_end_is_raised_at_the_end_and_leaves_no_cycle_behind() -> None:
    async def ends_slowly() -> Outcome:
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(5):
                await asyncio.sleep(0)
        return Success(1)

    async def main() -> None:
        task = asyncio.create_task(ends_slowly())
        await asyncio.sleep(0)
        ending = asyncio.create_task(cancel_and_wait((task,), 'x'))
        await asyncio.sleep(0)
        ending.cancel()
        await asyncio.wait((ending,))
        assert task.done()
        assert ending.cancelled()

    def cancellations() -> int:
        return sum(type(thing) is asyncio.CancelledError for thing in gc.get_objects())

    with gc_disabled():
        before = cancellations()
        asyncio.run(main())
        assert cancellations() == before
