"""Errors that the tests of the guards fail with."""

from seamwise import Category, TaggedError


class Slow(TaggedError, category=Category.TIMEOUT, message='{what} is slow.'):
    """Retryable, counts against what was asked."""

    what: str = 'it'
    retry_after: float | None = None


class Down(TaggedError, category=Category.UNAVAILABLE, message='{what} is down.'):
    """Retryable, counts against what was asked."""

    what: str = 'it'
    retry_after: float | None = None


class Wrong(TaggedError, category=Category.VALIDATION, message='{what} is wrong.'):
    """Not retryable, the caller's own."""

    what: str = 'it'


class Busy(TaggedError, category=Category.RATE_LIMIT, message='{what} is busy.'):
    """Retryable, and says when."""

    what: str = 'it'
    retry_after: float | None = None
