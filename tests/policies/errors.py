"""Errors for the tests of the guards."""

from seamwise import Category, TaggedError


class Slow(TaggedError, category=Category.TIMEOUT, message='{what} is slow.'):
    """Retryable, and counts against the dependency."""

    what: str = 'it'
    retry_after: float | None = None


class Down(TaggedError, category=Category.UNAVAILABLE, message='{what} is down.'):
    """Retryable, and counts against the dependency."""

    what: str = 'it'
    retry_after: float | None = None


class Wrong(TaggedError, category=Category.VALIDATION, message='{what} is wrong.'):
    """Not retryable: a mistake of the caller."""

    what: str = 'it'


class Busy(TaggedError, category=Category.RATE_LIMIT, message='{what} is busy.'):
    """Retryable, with a delay."""

    what: str = 'it'
    retry_after: float | None = None
