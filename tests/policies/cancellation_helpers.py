"""Cancels a caller at every place where it waits, one after the other."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import TracebackType
from typing import Any, Literal, TypeAlias

from typing_extensions import override

When: TypeAlias = Literal['while it waits', 'when it has been served']


class _Watched(Coroutine[Any, Any, object]):
    """A coroutine that calls `suspended` each time it stops to wait, with what it waits for."""

    def __init__(
        self, inner: Coroutine[Any, Any, object], suspended: Callable[[object], None]
    ) -> None:
        self._inner = inner
        self._suspended = suspended

    @override
    def send(self, value: object) -> object:
        waits_for = self._inner.send(value)
        self._suspended(waits_for)
        return waits_for

    @override
    def throw(self, typ: Any, val: Any = None, tb: TracebackType | None = None) -> object:
        waits_for = (
            self._inner.throw(typ)
            if val is None and tb is None
            else self._inner.throw(typ, val, tb)
        )
        self._suspended(waits_for)
        return waits_for

    @override
    def close(self) -> None:
        self._inner.close()

    @override
    def __await__(self) -> Generator[Any, Any, object]:
        return self._inner.__await__()


async def _cancelled_at(
    call: Callable[[], Coroutine[Any, Any, object]], place: int, when: When
) -> bool:
    """Run a call and cancel it where it waits for the n-th time; says whether it waited so often."""
    loop = asyncio.get_running_loop()
    count = 0

    def cancel(_served: asyncio.Future[Any]) -> None:
        task.cancel()

    def suspended(waits_for: object) -> None:
        nonlocal count
        count += 1
        if count != place:
            return
        if when == 'when it has been served' and asyncio.isfuture(waits_for):
            # Before the task's own callback: it has what it waited for, and has not gone on.
            future: asyncio.Future[Any] = waits_for
            future.add_done_callback(cancel)
        else:
            loop.call_soon(task.cancel)

    task = asyncio.create_task(_Watched(call(), suspended))
    await asyncio.wait([task])
    if count < place:
        await task
        return False
    assert task.cancelled(), f'cancelled at wait {place} ({when}), and ended with {task!r}'
    return True


async def cancel_at_each_await(
    call: Callable[[], Coroutine[Any, Any, object]], after: Callable[[], Awaitable[object] | None]
) -> int:
    """Cancel a call at each of its awaits in turn, in both ways, and ask `after` each time whether all is as before.

    `call` makes a fresh coroutine that ends by itself; gives how many awaits there were. No task may be left.
    """
    found = 0
    modes: tuple[When, ...] = ('while it waits', 'when it has been served')
    for when in modes:
        place = 1
        while await _cancelled_at(call, place, when):
            assert asyncio.all_tasks() == {asyncio.current_task()}, (
                f'a task is left after wait {place} ({when})'
            )
            if (checked := after()) is not None:
                await checked
            place += 1
        found = place - 1
    return found
