"""A circuit that opens when what it leads to fails: what a caller is told meanwhile."""

from typing import Literal

from seamwise.categories import Category
from seamwise.errors import TaggedError


class CircuitOpen(TaggedError, category=Category.CIRCUIT_OPEN, message='{name} failed {failures} times and is not asked for now.'):
    """What stands behind the circuit failed too often; `retry_after` is in seconds. The caller does without it, or waits."""

    name: str
    failures: int
    retry_after: float
    state: Literal['open', 'half_open']
