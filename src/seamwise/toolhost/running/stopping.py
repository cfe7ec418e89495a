"""Requests to stop a tool that runs in a thread, which nothing can stop from outside."""

from contextvars import ContextVar
from threading import Event
from typing import Final

STOP: Final[ContextVar[Event | None]] = ContextVar('seamwise_stop', default=None)
"""The event that is set when the call in the current thread shall stop."""


def stop_requested() -> bool:
    """Return whether the call in the current thread is out of time or was cancelled.

    A tool that blocks for long calls this function now and then, and returns early.

    >>> stop_requested()
    False
    """
    stop = STOP.get()
    return stop is not None and stop.is_set()
