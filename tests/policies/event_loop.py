"""Runs a test in an event loop to its whole end: no task is left, and no exception that nobody has read."""

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar('T')


async def yield_to_loop(many: int = 10) -> None:
    """Let every task go on, so many times."""
    for _ in range(many):
        await asyncio.sleep(0)


def run_to_completion(make: Callable[[], T], test: Callable[[T], Coroutine[Any, Any, None]]) -> T:
    """Run a test on what `make` makes inside of the loop, and give that."""

    async def main() -> T:
        made = make()
        await test(made)
        assert asyncio.all_tasks() == {asyncio.current_task()}, 'a task is left'
        return made

    made = asyncio.run(main())
    # A task whose exception nobody has read says so here, which is an error of the test.
    gc.collect()
    return made
