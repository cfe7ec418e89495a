"""Run an async test in an event loop, and fail if a task or an unread exception is left."""

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar('T')


async def yield_to_loop(times: int = 10) -> None:
    """Let all tasks run, `times` times."""
    for _ in range(times):
        await asyncio.sleep(0)


def run_to_completion(
    create_fixture: Callable[[], T], test: Callable[[T], Coroutine[Any, Any, None]]
) -> T:
    """Run a test on a fixture that is created inside the loop, and return the fixture."""

    async def main() -> T:
        fixture = create_fixture()
        await test(fixture)
        assert asyncio.all_tasks() == {asyncio.current_task()}, 'a task is left'
        return fixture

    fixture = asyncio.run(main())
    # A task whose exception was not retrieved logs it here, which is an error of the test.
    gc.collect()
    return fixture
