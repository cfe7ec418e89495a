"""Events that guards send to their observers: a closed union."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise._errors.errors import TaggedError
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies.errors import GuardError

State: TypeAlias = Literal['closed', 'open', 'half_open']
"""State of a circuit: admits all calls, no calls, or a few probes."""


class Retrying(Struct, frozen=True):
    """An attempt failed, and the next one starts after `delay` seconds; sent before the delay.

    The attempt took `duration` seconds. The delays grow by `factor`; None if they grow at random.
    """

    name: str
    error: TaggedError
    attempt: int
    attempts: int
    delay: float
    duration: float | None = None
    factor: float | None = None


class Recovered(Struct, frozen=True):
    """An operation succeeded after several attempts, `elapsed` seconds after the first started."""

    name: str
    attempts: int
    elapsed: float


class GaveUp(Struct, frozen=True):
    """An operation failed for good, `elapsed` seconds after the first attempt started.

    `why` is the reason for not retrying. If a limit is the reason, `delay` is the delay in seconds
    that would have followed, and `limit` the maximum: of a delay for `retry_after`, of all attempts
    and delays for `time`.
    """

    name: str
    error: TaggedError
    attempts: int
    elapsed: float
    why: Literal['attempts', 'time', 'budget', 'retry_after', 'not_retryable']
    delay: float | None = None
    limit: float | None = None


class Refused(Struct, frozen=True):
    """A guard returned an error of its own: it did not admit the operation, or cancelled it."""

    name: str
    error: GuardError | StoreUnavailable


class CircuitChanged(Struct, frozen=True):
    """A circuit changed its state, after `failures` counted failures."""

    name: str
    before: State
    after: State
    failures: int


class FellBack(Struct, frozen=True):
    """An operation failed, and a fallback or a stale value replaces its result."""

    name: str
    error: TaggedError


class StoreAway(Struct, frozen=True):
    """The store of a guard, such as Redis, is away. The next attempt is after `delay` seconds."""

    name: str
    delay: float


class StoreBack(Struct, frozen=True):
    """The store of a guard is available again, after `elapsed` seconds."""

    name: str
    elapsed: float


CallOutcome: TypeAlias = Literal['success', 'failure', 'defect', 'cancelled']
"""How a call of a pipeline ended."""


class Completed(Struct, frozen=True):
    """A call of a pipeline ended, `elapsed` seconds after it started.

    Only observers that were added with `calls=True` receive it. `error` is the failure, also one of
    a guard itself.
    """

    name: str
    outcome: CallOutcome
    elapsed: float
    error: TaggedError | None = None


GuardEvent: TypeAlias = (
    Retrying
    | Recovered
    | GaveUp
    | Refused
    | CircuitChanged
    | FellBack
    | StoreAway
    | StoreBack
    | Completed
)
"""Event of a guard, as an `Observer` receives it."""

Observer: TypeAlias = Callable[[GuardEvent], None]
"""Receives every event of a guard.

Its first exception is reported as a defect. Its exceptions do not change the outcome of a call.
"""
