"""Categories of errors and the recovery that each one suggests."""

from enum import EnumMeta, StrEnum
from typing import TYPE_CHECKING, NamedTuple


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


class _CategoryMeta(EnumMeta):
    # Type checkers would accept any name of a metaclass with this method.
    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> object:
            wanted = name.replace('_', '').upper()
            similar = [member for member in cls.__members__ if member.replace('_', '') == wanted]
            advice = f'; use {cls.__name__}.{similar[0]}' if similar else ''
            raise AttributeError(f'{cls.__name__} has no attribute {name!r}{advice}.')


class Category(StrEnum, metaclass=_CategoryMeta):
    """Category of an error. The set is closed, because guards and seams decide by it.

    >>> Category.TIMEOUT.retryable, Category.TIMEOUT.recovery
    (True, <Recovery.RETRY: 'retry'>)
    """

    VALIDATION = 'validation'
    """The request is not valid; the caller can correct it."""
    NOT_FOUND = 'not_found'
    """What the request names does not exist."""
    CONFLICT = 'conflict'
    """The request contradicts the current state, e.g. an order has been shipped already."""
    AUTHENTICATION = 'authentication'
    """The caller is not known: no credentials, or wrong ones."""
    CONFIGURATION = 'configuration'
    """A setting of the program is missing or wrong."""
    PERMISSION = 'permission'
    """The caller is known, and must not do this."""
    QUOTA = 'quota'
    """A limit of an account is used up, e.g. the tokens of a month."""
    RATE_LIMIT = 'rate_limit'
    """Too many calls in a period."""
    CAPACITY = 'capacity'
    """Too many calls at the same time."""
    CIRCUIT_OPEN = 'circuit_open'
    """Calls to a service are suspended, because it keeps failing."""
    TIMEOUT = 'timeout'
    """No answer came in time."""
    UNAVAILABLE = 'unavailable'
    """A service is down for the moment."""
    CONNECTION = 'connection'
    """A connection could not be opened, or broke."""
    RESOURCE = 'resource'
    """A resource of the machine is used up, such as memory, disk space or connections."""
    EXECUTION = 'execution'
    """The operation ran and failed, and no other category applies."""
    CANCELLED = 'cancelled'
    """The caller has given up the operation."""

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later; an error class or instance can override it."""
        return _TABLE[self].recovery in _RETRYING

    @property
    def recovery(self) -> Recovery:
        """The recovery of this category; an error class or instance can override it."""
        return _TABLE[self].recovery

    @property
    def general_message(self) -> str:
        """A sentence without details, for clients that must not see the message of an error."""
        return _TABLE[self].general_message


class _Row(NamedTuple):
    recovery: Recovery
    general_message: str


_TABLE = {
    Category.VALIDATION: _Row(Recovery.CORRECT, general_message='The request is not valid.'),
    Category.NOT_FOUND: _Row(
        Recovery.CORRECT, general_message='The requested resource does not exist.'
    ),
    Category.CONFLICT: _Row(
        Recovery.CORRECT, general_message='The request conflicts with the current state.'
    ),
    Category.AUTHENTICATION: _Row(Recovery.STOP, general_message='The authentication failed.'),
    Category.CONFIGURATION: _Row(
        Recovery.STOP, general_message='The service is not configured correctly.'
    ),
    Category.PERMISSION: _Row(Recovery.ASK, general_message='The request is not permitted.'),
    Category.QUOTA: _Row(Recovery.ASK, general_message='The quota is exhausted.'),
    Category.RATE_LIMIT: _Row(Recovery.WAIT, general_message='There are too many requests.'),
    Category.CAPACITY: _Row(Recovery.WAIT, general_message='The service is at its capacity.'),
    Category.CIRCUIT_OPEN: _Row(
        Recovery.FALL_BACK, general_message='The service is paused after repeated failures.'
    ),
    Category.TIMEOUT: _Row(Recovery.RETRY, general_message='The operation did not finish in time.'),
    Category.UNAVAILABLE: _Row(Recovery.RETRY, general_message='The service is not available.'),
    Category.CONNECTION: _Row(Recovery.RECONNECT, general_message='The connection failed.'),
    Category.RESOURCE: _Row(Recovery.WAIT, general_message='The service is out of resources.'),
    Category.EXECUTION: _Row(Recovery.ASK, general_message='The operation failed.'),
    Category.CANCELLED: _Row(Recovery.STOP, general_message='The operation was cancelled.'),
}
_RETRYING = frozenset((Recovery.WAIT, Recovery.RETRY, Recovery.RECONNECT, Recovery.FALL_BACK))
"""Recoveries after which the same call may succeed."""
