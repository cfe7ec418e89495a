"""What can go wrong with a session: what is said in it, whether it exists, and its connection."""

from typing import TypeAlias

from seamwise.categories import Category, Recovery
from seamwise.causes import Cause
from seamwise.errors import TaggedError
from seamwise.secrets import Secret


class InvalidInput(
    TaggedError, category=Category.VALIDATION, message='The input breaks the rule: {constraint}.'
):
    """What the user sent cannot be taken. The user mends it."""

    constraint: str
    provided: Secret[object]


class SessionNotFound(
    TaggedError, category=Category.NOT_FOUND, message='There is no session {session!r}.'
):
    """The session never was, or is long gone. The caller begins a new one."""

    session: str


class SessionBusy(
    TaggedError,
    category=Category.CONFLICT,
    message='The session {session!r} is at work on something else.',
):
    """A session does one thing at a time. The caller waits for its end, or stops it."""

    session: str


class ConnectionLost(
    TaggedError,
    category=Category.CONNECTION,
    message='The connection was lost (code {close_code}).',
):
    """The other side is gone; `uptime` is in seconds. The client connects again and goes on after `last_event_seq`."""

    close_code: int
    close_reason: str
    last_event_seq: int
    uptime: float
    cause: Cause | None = None


class ReplayGap(
    TaggedError,
    category=Category.CONFLICT,
    message='Events from {requested} on are gone; the first kept is {first_available}.',
):
    """The client was away for longer than events are kept. It reads the whole state again."""

    requested: int
    first_available: int


class UnknownEpoch(
    TaggedError,
    category=Category.NOT_FOUND,
    message='The epoch {epoch!r} is over; now it is {current!r}.',
):
    """The numbers that the client holds belong to an event log that is no more. It begins anew."""

    epoch: str
    current: str


class AckAhead(
    TaggedError,
    category=Category.VALIDATION,
    message='{acknowledged} is acknowledged, but the last event is {last}.',
):
    """The client says that it has seen what was never sent. It is mistaken, and mends its count."""

    acknowledged: int
    last: int


ReplayError: TypeAlias = ReplayGap | UnknownEpoch | AckAhead


class RecoveryFailed(
    TaggedError,
    category=Category.EXECUTION,
    retryable=False,
    recovery=Recovery.STOP,
    message='{operation} failed {attempts} times, and nothing more will be tried.',
):
    """The last attempt at an operation failed. It is over, whatever the cause was."""

    operation: str
    attempts: int
    cause: Cause | None = None


SessionError: TypeAlias = (
    InvalidInput | SessionNotFound | SessionBusy | ConnectionLost | ReplayError | RecoveryFailed
)
