"""What the tests of deadlines share."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeAlias

from seamwise import Result, Success
from seamwise.policies._engine.world import World
from seamwise.policies.deadline import remaining
from seamwise.policies.errors import DeadlineExceeded
from tests.policies.errors import Down

P = ParamSpec('P')
Operation: TypeAlias = Callable[[], Awaitable[Result[str, Down]]]

DONE = Success('done')


def sleep_operation(world: World, seconds: float) -> Operation:
    async def op() -> Result[str, Down]:
        await world.sleep(seconds)
        return DONE

    return op


def run_in_event_loop(test: Callable[P, Coroutine[object, object, None]]) -> Callable[P, None]:
    """Run a test in an event loop of its own, where nothing may go wrong in a callback, as in an alarm that nobody stopped."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        wrong: list[dict[str, Any]] = []

        async def watched() -> None:
            asyncio.get_running_loop().set_exception_handler(
                lambda _loop, context: wrong.append(context)
            )
            await test(*args, **kwargs)

        asyncio.run(watched())
        assert wrong == []

    return run


async def assert_nothing_pending() -> None:
    """Fail where a cancellation is still on its way to this task, or a request for one is still counted."""
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    for _ in range(3):
        await asyncio.sleep(0)
    assert remaining() is None
    assert asyncio.all_tasks() == {task}


def deadline_exceeded(name: str = 'deadline', seconds: float = 3.0) -> DeadlineExceeded:
    return DeadlineExceeded(name, seconds)
