"""What guards read of an error: whether a second try may help, and whom it counts against."""

from seamwise.categories import Category
from seamwise.errors import TaggedError

_AGAINST = frozenset(
    {Category.TIMEOUT, Category.UNAVAILABLE, Category.CONNECTION, Category.RESOURCE}
)


def always(_error: TaggedError, /) -> bool:
    """Say yes to every error."""
    return True


def retryable(error: TaggedError, /) -> bool:
    """Say whether a second try may help: the error's class or instance decides.

    >>> from seamwise.catalog.network import HostUnreachable
    >>> retryable(HostUnreachable('db', 'connection refused'))
    True
    """
    return error.retryable


def counts_against(error: TaggedError, /) -> bool:
    """Say whether an error speaks against what was asked: TIMEOUT, UNAVAILABLE, CONNECTION, RESOURCE, retryable EXECUTION.

    What the caller did wrong itself, and what a guard refused on the way, does not.
    """
    category = error.category
    return category in _AGAINST or (category is Category.EXECUTION and error.retryable)
