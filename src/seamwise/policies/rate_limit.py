"""At most so many calls in so much time: what a caller is told who comes too soon."""

from seamwise.categories import Category
from seamwise.errors import TaggedError


class RateLimited(TaggedError, category=Category.RATE_LIMIT, message='{name} takes {limit} calls in {period:g} s, no more.'):
    """The caller asked more often than it may; `period` and `retry_after` are in seconds. It waits."""

    name: str
    limit: int
    period: float
    retry_after: float
