"""Calls that must not run twice: a retry ends with the first attempt that has begun."""

from contextvars import ContextVar
from typing import Final


class SingleAttempt:
    """A call of an operation that is not repeatable.

    Attributes:
        has_begun: Whether the operation was called; set by the caller of the guard.
    """

    __slots__ = ('has_begun',)

    def __init__(self) -> None:
        self.has_begun = False


SINGLE_ATTEMPT: Final[ContextVar[SingleAttempt | None]] = ContextVar(
    'seamwise_single_attempt', default=None
)
"""The current call, if it must not run twice. Guards inside the operation itself see None."""


def may_repeat() -> bool:
    """Return whether a guard may run the operation of the current call again.

    >>> may_repeat()
    True
    """
    call = SINGLE_ATTEMPT.get()
    return call is None or not call.has_begun
