"""The end of cancelled calls: their tasks and threads are awaited for a limited time."""

import logging
from asyncio import CancelledError, current_task, get_running_loop, wait
from collections.abc import Collection
from typing import Any, Final

from seamwise.toolhost.running.call import CallRun

_LOGGER: Final = logging.getLogger('seamwise')


async def wait_for_end(calls: Collection[CallRun[Any]], *, grace: float) -> None:
    """Wait until the tasks and threads of calls have ended.

    A cancellation of the caller does not shorten the wait, and is raised at its end. What has not
    ended then is logged: a thread cannot be stopped, and a task can ignore its cancellation.

    Args:
        calls: The calls, which have ended or were cancelled.
        grace: The maximum time to wait, in seconds.
    """
    own_task = current_task()
    end = get_running_loop().time() + grace
    interruption: CancelledError | None = None
    while remains := [
        future
        for call in calls
        if (future := call.remains()) is not None and future is not own_task
    ]:
        seconds = end - get_running_loop().time()
        if seconds <= 0:
            break
        try:
            await wait(remains, timeout=seconds)
        except CancelledError as error:
            interruption = error
    for call in calls:
        if call.remains() not in {None, own_task}:
            log_remains(call.tool, grace)
            call.abandon()
    if interruption is not None:
        try:
            raise interruption
        finally:
            del interruption


def log_remains(tool: str, seconds: float) -> None:
    """Log that a cancelled call of a tool still runs."""
    _LOGGER.error('The tool %s still runs %g s after its call was cancelled.', tool, seconds)
