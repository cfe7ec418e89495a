"""The tool that cancels everywhere finds what it is for."""

import asyncio

import pytest

from tests.policies.cancellation_helpers import cancel_at_each_await


def test_a_permit_that_is_lost_on_cancellation_is_found() -> None:
    taken = 0

    async def leaky() -> None:
        nonlocal taken
        taken += 1
        await asyncio.sleep(0)
        await asyncio.sleep(0.001)
        taken -= 1

    def after() -> None:
        assert taken == 0

    with pytest.raises(AssertionError):
        asyncio.run(cancel_at_each_await(leaky, after))


def test_every_await_is_cancelled_in_turn() -> None:
    async def waits_thrice() -> None:
        for _ in range(3):
            await asyncio.sleep(0)

    assert asyncio.run(cancel_at_each_await(waits_thrice, lambda: None)) == 3


def test_who_swallows_a_cancellation_is_found() -> None:
    async def swallows() -> None:
        try:
            await asyncio.sleep(0.001)
        except asyncio.CancelledError:
            return

    with pytest.raises(AssertionError, match='cancelled at wait 1'):
        asyncio.run(cancel_at_each_await(swallows, lambda: None))


def test_a_task_that_is_left_is_found() -> None:
    async def orphans() -> None:
        waiting = asyncio.ensure_future(asyncio.sleep(0.01))
        await asyncio.wait([waiting])

    with pytest.raises(AssertionError, match='a task is left'):
        asyncio.run(cancel_at_each_await(orphans, lambda: None))
