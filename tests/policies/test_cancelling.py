"""The helper that cancels a call at each of its awaits."""

import asyncio

import pytest

from tests.policies.cancellation_helpers import cancel_at_each_await


def test_lost_permit_is_found() -> None:
    permits = 0

    async def leak_permit() -> None:
        nonlocal permits
        permits += 1
        await asyncio.sleep(0)
        await asyncio.sleep(0.001)
        permits -= 1

    def assert_no_permit_in_use() -> None:
        assert permits == 0

    with pytest.raises(AssertionError):
        asyncio.run(cancel_at_each_await(leak_permit, assert_no_permit_in_use))


def test_each_await_is_cancelled_in_turn() -> None:
    async def wait_three_times() -> None:
        for _ in range(3):
            await asyncio.sleep(0)

    assert asyncio.run(cancel_at_each_await(wait_three_times, lambda: None)) == 3


def test_swallowed_cancellation_is_found() -> None:
    async def swallow_cancellation() -> None:
        try:
            await asyncio.sleep(0.001)
        except asyncio.CancelledError:
            return

    with pytest.raises(AssertionError, match='cancelled at wait 1'):
        asyncio.run(cancel_at_each_await(swallow_cancellation, lambda: None))


def test_remaining_task_is_found() -> None:
    async def leave_task() -> None:
        waiting = asyncio.ensure_future(asyncio.sleep(0.01))
        await asyncio.wait([waiting])

    with pytest.raises(AssertionError, match='a task is left'):
        asyncio.run(cancel_at_each_await(leave_task, lambda: None))
