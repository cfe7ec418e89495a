"""Predicates on errors: whether to retry, and whether an error counts against the dependency."""

from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError
from seamwise.policies.errors import DeadlineExceeded

_COUNTED_CATEGORIES = frozenset(
    {Category.TIMEOUT, Category.UNAVAILABLE, Category.CONNECTION, Category.RESOURCE}
)


def always(_error: TaggedError, /) -> bool:
    """Return True for every error.

    >>> from seamwise.catalog.network import HostUnreachable
    >>> always(HostUnreachable('db', 'connection refused'))
    True
    """
    return True


def retryable(error: TaggedError, /) -> bool:
    """Return whether a retry may help, as declared by the error's class or instance.

    >>> from seamwise.catalog.network import HostUnreachable
    >>> retryable(HostUnreachable('db', 'connection refused'))
    True
    """
    return error.retryable


def counts_against(error: TaggedError, /) -> bool:
    """Return whether an error indicates a fault of the dependency.

    This holds for the categories TIMEOUT, UNAVAILABLE, CONNECTION and RESOURCE, and for retryable
    errors of the category EXECUTION. Mistakes of the caller and refusals by guards do not count,
    nor does an attempt that never began.

    >>> from seamwise.catalog.network import HostUnreachable
    >>> counts_against(HostUnreachable('db', 'connection refused'))
    True
    """
    if never_began(error):
        return False
    category = error.category
    return category in _COUNTED_CATEGORIES or (category is Category.EXECUTION and error.retryable)


def never_began(error: TaggedError, /) -> bool:
    """Return whether a deadline had no time left to start the operation.

    Such an error says nothing about the dependency.

    >>> never_began(DeadlineExceeded('request', 5.0, attempts=0))
    True
    """
    return isinstance(error, DeadlineExceeded) and error.attempts == 0
