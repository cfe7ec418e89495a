"""Stores for tests: each can be opened, and can lose its memory."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from seamwise.live import EventLog, LogLimits


class Clock:
    """A clock that the test sets."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Laboratory(Protocol):
    """A place for one store."""

    def open(
        self, *, limits: LogLimits = ..., clock: Callable[[], float] = ...
    ) -> AbstractAsyncContextManager[EventLog]:
        """Return the log of the store; several can be open at a time."""
        ...

    def forget(self) -> None:
        """Delete the store while no log is open."""
        ...
