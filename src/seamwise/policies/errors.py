"""Errors that the guards themselves return, and their union `GuardError`."""

from typing import Literal, TypeAlias

from seamwise._errors.categories import Category
from seamwise._errors.causes import Cause
from seamwise._errors.errors import TaggedError

Scope: TypeAlias = Literal['tool', 'namespace', 'global']
"""Calls that a bulkhead counts together: those of a tool, of a namespace, or all."""


class RateLimited(
    TaggedError,
    category=Category.RATE_LIMIT,
    message='{name!r} is at its rate limit ({limit} per {period:g} s).',
):
    """The caller exceeded its rate limit. `period` and `retry_after` are in seconds."""

    name: str
    limit: int
    period: float
    retry_after: float


class CircuitOpen(
    TaggedError,
    category=Category.CIRCUIT_OPEN,
    message='The circuit {name!r} refuses calls (failures: {failures}).',
):
    """The dependency failed too often. Do without it, or wait for `retry_after` seconds."""

    name: str
    failures: int
    retry_after: float
    state: Literal['open', 'half_open']


class BulkheadFull(
    TaggedError,
    category=Category.CAPACITY,
    message='{name!r} is at its concurrency limit ({limit}).',
):
    """All permits are in use. The caller has waited for `waited` seconds, and can retry later."""

    name: str
    scope: Scope
    namespace: str
    limit: int
    waited: float
    retry_after: float | None = None


class DeadlineExceeded(
    TaggedError,
    category=Category.TIMEOUT,
    message='{name!r} did not finish within {timeout:g} s.',
):
    """The operation exceeded its time limit of `timeout` seconds. The caller can retry it.

    `attempts` is 0 if no time was left to start the operation. `cause` is the failure of the
    operation, if it came too late.
    """

    name: str
    timeout: float
    attempts: int = 1
    retry_after: float | None = None
    cause: Cause | None = None


GuardError: TypeAlias = RateLimited | CircuitOpen | BulkheadFull | DeadlineExceeded
"""Errors that the guards themselves return."""
