"""Limits of the events that a log keeps for a session."""

from typing import Final

from msgspec import Struct

from seamwise._runtime.validation import check_float, check_int


class Limits(Struct, frozen=True):
    """Limits of one session in a log; the oldest events are deleted first.

    Attributes:
        max_events: The maximum number of events.
        max_bytes: The maximum length of their JSON, in bytes.
        max_age: The maximum age of an event, in seconds.

    >>> Limits(max_events=0)
    Traceback (most recent call last):
    ValueError: max_events must be 1 or more, not 0.
    """

    max_events: int = 1000
    max_bytes: int = 8 * 2**20
    max_age: float = 3600.0

    def __post_init__(self) -> None:
        check_int('max_events', self.max_events)
        check_int('max_bytes', self.max_bytes)
        check_float('max_age', self.max_age, above=0.0)


DEFAULT_LIMITS: Final = Limits()
