"""What kind of trouble an error is, and what its caller can do about it: two closed enums, one table."""

from enum import StrEnum
from typing import NamedTuple


class Recovery(StrEnum):
    """What helps: the one thing that the reader of an error should do next.

    >>> Recovery.WAIT
    <Recovery.WAIT: 'wait'>
    """

    CORRECT = 'correct'
    """The caller can mend the request and send it again."""
    ASK = 'ask'
    """Somebody must decide: a person, or whoever owns the limit."""
    WAIT = 'wait'
    """The same call later, with growing pauses."""
    RETRY = 'retry'
    """The same call again."""
    RECONNECT = 'reconnect'
    """A new connection first, then the same call."""
    FALL_BACK = 'fall_back'
    """Another way to the same end: this one is closed for a while."""
    STOP = 'stop'
    """Nothing that the caller does will help."""


class Category(StrEnum):
    """What kind of trouble an error is. Closed: guards and seams decide by it.

    >>> Category.TIMEOUT.retryable, Category.TIMEOUT.recovery
    (True, <Recovery.RETRY: 'retry'>)
    """

    VALIDATION = 'validation'
    NOT_FOUND = 'not_found'
    CONFLICT = 'conflict'
    AUTHENTICATION = 'authentication'
    CONFIGURATION = 'configuration'
    PERMISSION = 'permission'
    QUOTA = 'quota'
    RATE_LIMIT = 'rate_limit'
    CAPACITY = 'capacity'
    CIRCUIT_OPEN = 'circuit_open'
    TIMEOUT = 'timeout'
    UNAVAILABLE = 'unavailable'
    CONNECTION = 'connection'
    RESOURCE = 'resource'
    EXECUTION = 'execution'
    CANCELLED = 'cancelled'

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later, unless an error's class or instance knows better."""
        return _TABLE[self].retryable

    @property
    def recovery(self) -> Recovery:
        """What helps, unless an error's class or instance knows better."""
        return _TABLE[self].recovery


class _Row(NamedTuple):
    retryable: bool
    recovery: Recovery


_TABLE = {
    Category.VALIDATION: _Row(retryable=False, recovery=Recovery.CORRECT),
    Category.NOT_FOUND: _Row(retryable=False, recovery=Recovery.CORRECT),
    Category.CONFLICT: _Row(retryable=False, recovery=Recovery.CORRECT),
    Category.AUTHENTICATION: _Row(retryable=False, recovery=Recovery.STOP),
    Category.CONFIGURATION: _Row(retryable=False, recovery=Recovery.STOP),
    Category.PERMISSION: _Row(retryable=False, recovery=Recovery.ASK),
    Category.QUOTA: _Row(retryable=False, recovery=Recovery.ASK),
    Category.RATE_LIMIT: _Row(retryable=True, recovery=Recovery.WAIT),
    Category.CAPACITY: _Row(retryable=True, recovery=Recovery.WAIT),
    Category.CIRCUIT_OPEN: _Row(retryable=True, recovery=Recovery.FALL_BACK),
    Category.TIMEOUT: _Row(retryable=True, recovery=Recovery.RETRY),
    Category.UNAVAILABLE: _Row(retryable=True, recovery=Recovery.RETRY),
    Category.CONNECTION: _Row(retryable=True, recovery=Recovery.RECONNECT),
    Category.RESOURCE: _Row(retryable=True, recovery=Recovery.WAIT),
    Category.EXECUTION: _Row(retryable=False, recovery=Recovery.ASK),
    Category.CANCELLED: _Row(retryable=False, recovery=Recovery.STOP),
}
