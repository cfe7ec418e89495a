"""So much time and no more: what a caller is told when it is over."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final, NamedTuple

from seamwise.categories import Category
from seamwise.errors import TaggedError


class DeadlineExceeded(TaggedError, category=Category.TIMEOUT, message='{name} did not end within {timeout:g} s.'):
    """The operation took too long, and was stopped; `timeout` is in seconds. The caller tries again."""

    name: str
    timeout: float
    attempts: int = 1
    retry_after: float | None = None


class End(NamedTuple):
    """The nearest end that a deadline around here has set, by the clock of its world."""

    clock: Callable[[], float]
    at: float


END: Final[ContextVar[End | None]] = ContextVar('seamwise_deadline', default=None)


def remaining(most: float | None = None) -> float | None:
    """Give the seconds that the nearest deadline around here leaves, 0 when it is over; `most` where that is less, or there is none.

    For the `timeout` arguments of what is called inside. `asyncio.to_thread` carries the deadline into its thread.

    >>> remaining(), remaining(10.0)
    (None, 10.0)
    """
    end = END.get()
    if end is None:
        return most
    left = max(end.at - end.clock(), 0.0)
    return left if most is None else min(left, most)
