"""So much time and no more: what a caller is told when it is over."""

from seamwise.categories import Category
from seamwise.errors import TaggedError


class DeadlineExceeded(TaggedError, category=Category.TIMEOUT, message='{name} did not end within {timeout:g} s.'):
    """The operation took too long, and was stopped; `timeout` is in seconds. The caller tries again."""

    name: str
    timeout: float
    attempts: int = 1
    retry_after: float | None = None
