"""What guards tell while they work: a closed union of events, each given to the guard's observer as it happens."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from seamwise.errors import TaggedError

if TYPE_CHECKING:
    # Each guard imports this module, and the union of their errors comes after all of them.
    from seamwise.policies import GuardError

State: TypeAlias = Literal['closed', 'open', 'half_open']
"""Whether a circuit lets calls through: all, none, or a few to try."""


class Retrying(Struct, frozen=True):
    """An attempt failed and another one follows: told before the wait, of `delay` seconds, that will really be slept."""

    name: str
    error: TaggedError
    attempt: int
    attempts: int
    delay: float


class Recovered(Struct, frozen=True):
    """An operation succeeded after more than one attempt, `elapsed` seconds after the first one began."""

    name: str
    attempts: int
    elapsed: float


class GaveUp(Struct, frozen=True):
    """An operation failed for good, `elapsed` seconds after its first attempt began; `why` says what ended the attempts."""

    name: str
    error: TaggedError
    attempts: int
    elapsed: float
    why: Literal['attempts', 'time', 'budget', 'retry_after', 'not_retryable']


class Refused(Struct, frozen=True):
    """A guard failed itself: it did not let the operation through, or not to its end."""

    name: str
    error: 'GuardError'


class CircuitChanged(Struct, frozen=True):
    """A circuit went from one state to another, after so many failures."""

    name: str
    before: State
    after: State
    failures: int


class FellBack(Struct, frozen=True):
    """An operation failed, and its fallback was asked instead."""

    name: str
    error: TaggedError


GuardEvent: TypeAlias = Retrying | Recovered | GaveUp | Refused | CircuitChanged | FellBack

Observer: TypeAlias = Callable[[GuardEvent], None]
"""Told of every event of a guard. What it raises is a defect: reported once, it never changes an outcome."""
