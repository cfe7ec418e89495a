"""A timeout that re-cancels until the task stops (works around cpython#86296).

redis-py sends commands with `asyncio.wait_for`. In Python 3.11 that function swallows a
cancellation that arrives when the command has just been sent. The single cancellation of
`asyncio.timeout` could therefore be lost: https://github.com/python/cpython/issues/86296
"""

import asyncio
from types import TracebackType
from typing import Final

_STEPS: Final = 5

_CANCEL_INTERVAL: Final = 0.005
"""Seconds between two cancellations."""


class InsistentTimeout:
    """Async context manager that cancels its body after `seconds` and raises a TimeoutError.

    It also restores a cancellation by another task that the body swallowed.

    A busy event loop stops the time. The seconds are counted in steps, each of which is scheduled
    when the one before has run. Between two steps, the body can process all data that has arrived.
    """

    __slots__ = ('_cancel_count', '_initial_cancelling', '_seconds', '_steps', '_task', '_timer')

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._steps = _STEPS
        self._cancel_count = 0

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError('A guard over Redis must be called in a task.')
        self._task = task
        self._initial_cancelling = task.cancelling()
        self._timer = asyncio.get_running_loop().call_later(self._seconds / _STEPS, self._step)

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        for _ in range(self._cancel_count):
            self._task.uncancel()
        if self._task.cancelling() > self._initial_cancelling:
            if error_type is not asyncio.CancelledError:
                raise asyncio.CancelledError from error
        elif self._cancel_count and error_type is asyncio.CancelledError:
            raise TimeoutError from error

    def _step(self) -> None:
        self._steps -= 1
        if not self._steps:
            self._cancel()
            return
        self._timer = asyncio.get_running_loop().call_later(self._seconds / _STEPS, self._step)

    def _cancel(self) -> None:
        self._cancel_count += 1
        self._task.cancel()
        self._timer = asyncio.get_running_loop().call_later(_CANCEL_INTERVAL, self._cancel)
