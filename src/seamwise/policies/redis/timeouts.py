"""A timeout that insists, and a cancellation that is not lost on the way.

redis-py sends by `asyncio.wait_for`, which in Python 3.11 swallows a cancellation that comes as the sending ends
(https://github.com/python/cpython/issues/86296): what `asyncio.timeout` would say once would not be heard.
"""

import asyncio
from types import TracebackType
from typing import Final

_AGAIN: Final = 0.005


class InsistentTimeout:
    """An `async with` that ends what is in it after so many seconds, by a TimeoutError."""

    __slots__ = ('_alarm', '_before', '_rung', '_seconds', '_task')

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._rung = 0

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError('Redis is asked in a task.')
        self._task = task
        self._before = task.cancelling()
        self._alarm = asyncio.get_running_loop().call_later(self._seconds, self._ring)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._alarm.cancel()
        for _ in range(self._rung):
            self._task.uncancel()
        if self._task.cancelling() > self._before:
            if kind is not asyncio.CancelledError:
                raise asyncio.CancelledError from raised
        elif self._rung and kind is asyncio.CancelledError:
            raise TimeoutError from raised

    def _ring(self) -> None:
        self._rung += 1
        self._task.cancel()
        self._alarm = asyncio.get_running_loop().call_later(_AGAIN, self._ring)
