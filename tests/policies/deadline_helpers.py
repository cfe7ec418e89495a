"""Helpers for the tests of deadlines."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeAlias

from seamwise import Result, Success
from seamwise._runtime.world import World
from seamwise.policies.deadline import remaining
from seamwise.policies.errors import DeadlineExceeded
from tests.policies.errors import Down

P = ParamSpec('P')
Operation: TypeAlias = Callable[[], Awaitable[Result[str, Down]]]

DONE = Success('done')


def sleep_operation(world: World, seconds: float) -> Operation:
    """Return an operation that sleeps, then succeeds with `DONE`."""

    async def operation() -> Result[str, Down]:
        await world.sleep(seconds)
        return DONE

    return operation


def run_in_event_loop(test: Callable[P, Coroutine[object, object, None]]) -> Callable[P, None]:
    """Run an async test in a new event loop, and fail if a callback of the loop raises."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        callback_errors: list[dict[str, Any]] = []

        async def main() -> None:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _loop, context: callback_errors.append(context))
            await test(*args, **kwargs)

        asyncio.run(main())
        # An alarm that was not cancelled would raise here.
        assert callback_errors == []

    return run


async def assert_nothing_pending() -> None:
    """Assert that no cancellation, deadline or task is left over from the code under test."""
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    for _ in range(3):
        await asyncio.sleep(0)
    assert remaining() is None
    assert asyncio.all_tasks() == {task}


def deadline_exceeded(name: str = 'deadline', seconds: float = 3.0) -> DeadlineExceeded:
    """Return the error that a deadline reports."""
    return DeadlineExceeded(name, seconds)
