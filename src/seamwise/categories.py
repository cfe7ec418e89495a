"""Categories of errors and the recovery that each one suggests."""

from enum import StrEnum
from typing import NamedTuple


class Recovery(StrEnum):
    """The next step that resolves an error.

    >>> Recovery.WAIT
    <Recovery.WAIT: 'wait'>
    """

    CORRECT = 'correct'
    """The caller corrects the request and sends it again."""
    ASK = 'ask'
    """A person must decide, for example the owner of the limit."""
    WAIT = 'wait'
    """The caller retries with growing delays."""
    RETRY = 'retry'
    """The caller retries immediately."""
    RECONNECT = 'reconnect'
    """The caller opens a new connection and retries."""
    FALL_BACK = 'fall_back'
    """The caller uses an alternative; this one is unavailable for a while."""
    STOP = 'stop'
    """The caller gives up: no action of the caller helps."""


class Category(StrEnum):
    """Category of an error. The set is closed, because guards and seams decide by it.

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
        """Whether the same call may succeed later; an error class or instance can override it."""
        return _TABLE[self].retryable

    @property
    def recovery(self) -> Recovery:
        """The recovery of this category; an error class or instance can override it."""
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
