"""Cancel a call at each of its awaits in turn, and check that nothing is lost."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import TracebackType
from typing import Any, Literal, TypeAlias

from typing_extensions import override

CancelTime: TypeAlias = Literal['while it waits', 'when it has been served']


class _WatchedCoroutine(Coroutine[Any, Any, object]):
    """A coroutine that calls `on_suspend` with the awaited object each time it waits."""

    def __init__(
        self, inner: Coroutine[Any, Any, object], on_suspend: Callable[[object], None]
    ) -> None:
        self._inner = inner
        self._on_suspend = on_suspend

    @override
    def send(self, value: object) -> object:
        awaited = self._inner.send(value)
        self._on_suspend(awaited)
        return awaited

    @override
    def throw(self, typ: Any, val: Any = None, tb: TracebackType | None = None) -> object:
        awaited = (
            self._inner.throw(typ)
            if val is None and tb is None
            else self._inner.throw(typ, val, tb)
        )
        self._on_suspend(awaited)
        return awaited

    @override
    def close(self) -> None:
        self._inner.close()

    @override
    def __await__(self) -> Generator[Any, Any, object]:
        return self._inner.__await__()


async def _cancel_at(
    call: Callable[[], Coroutine[Any, Any, object]], number: int, cancel_time: CancelTime
) -> bool:
    """Run a call, cancel it at its n-th await, and return whether it has so many awaits."""
    loop = asyncio.get_running_loop()
    count = 0

    def on_suspend(awaited: object) -> None:
        nonlocal count
        count += 1
        if count != number:
            return
        # Not `task`, which an eager task factory has not returned yet.
        current = asyncio.current_task()
        assert current is not None
        if cancel_time == 'when it has been served' and asyncio.isfuture(awaited):
            # This runs before the callback of the task: the result is there, the task has not run.
            future: asyncio.Future[Any] = awaited
            future.add_done_callback(lambda _served: current.cancel())
        else:
            loop.call_soon(current.cancel)

    task = asyncio.create_task(_WatchedCoroutine(call(), on_suspend))
    await asyncio.wait([task])
    if count < number:
        await task
        return False
    assert task.cancelled(), f'cancelled at wait {number} ({cancel_time}), and ended with {task!r}'
    return True


async def cancel_at_each_await(
    call: Callable[[], Coroutine[Any, Any, object]],
    after: Callable[[], Awaitable[object] | None],
    *,
    background: str | None = None,
) -> int:
    """Cancel a call at each of its awaits in turn, and call `after` each time to check the state.

    Each await is cancelled twice: while it waits, and when its result has just arrived. No task
    may be left.

    Args:
        call: Returns a new coroutine, which must end by itself.
        after: Raises if the state is not the same as before the call.
        background: Name of a task that may end later, because other calls share it.

    Returns:
        The number of awaits.
    """
    count = 0
    modes: tuple[CancelTime, ...] = ('while it waits', 'when it has been served')
    for cancel_time in modes:
        number = 1
        while await _cancel_at(call, number, cancel_time):
            shared = [task for task in asyncio.all_tasks() if task.get_name() == background]
            if shared:
                await asyncio.wait(shared)
            assert asyncio.all_tasks() == {asyncio.current_task()}, (
                f'a task is left after wait {number} ({cancel_time})'
            )
            if (check := after()) is not None:
                await check
            number += 1
        count = number - 1
    return count
