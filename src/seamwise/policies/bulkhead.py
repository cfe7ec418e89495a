"""At most so many calls at once: what a caller is told for whom there is no room."""

from typing import Literal

from seamwise.categories import Category
from seamwise.errors import TaggedError


class BulkheadFull(TaggedError, category=Category.CAPACITY, message='{name} does {limit} calls at once, no more.'):
    """As many calls as are allowed are at work; `waited` is in seconds. The caller waits for one of them to end."""

    name: str
    scope: Literal['tool', 'namespace', 'global']
    namespace: str
    limit: int
    waited: float
    retry_after: float | None = None
