"""Errors of sessions: input, lookup, connection and replay of events."""

from typing import TypeAlias

from typing_extensions import override

from seamwise._errors.categories import Category, Recovery
from seamwise._errors.causes import Cause
from seamwise._errors.errors import TaggedError


class InvalidInput(
    TaggedError, category=Category.VALIDATION, message='The input violates the rule: {constraint}.'
):
    """The input of the user is invalid. The user corrects it.

    `missing` is the name of a field that the input lacks, if that is the problem.
    """

    constraint: str
    # Seams show it redacted; a `Secret` hides a value without a known form, such as a password.
    provided: object
    missing: str | None = None

    @override
    def __hash__(self) -> int:
        # A list or a dict in `provided` has no hash.
        return hash((type(self), self.constraint))


class SessionNotFound(
    TaggedError, category=Category.NOT_FOUND, message='There is no session {session!r}.'
):
    """The session does not exist, or was deleted. The caller starts a new one."""

    session: str


class SessionBusy(
    TaggedError,
    category=Category.CONFLICT,
    message='The session {session!r} is busy.',
):
    """The session is running another task, and runs one at a time.

    The caller waits or stops that task.
    """

    session: str


class ConnectionLost(
    TaggedError,
    category=Category.CONNECTION,
    message='The connection was lost (code {close_code}).',
):
    """The connection broke after `uptime` seconds.

    The client reconnects and continues after `last_event_seq`.
    """

    close_code: int
    close_reason: str
    last_event_seq: int
    uptime: float
    cause: Cause | None = None


class ReplayGap(
    TaggedError,
    category=Category.CONFLICT,
    message='Events from {requested} on are deleted; the first available one is {first_available}.',
):
    """The client was away for longer than events are stored. It reads the whole state again."""

    requested: int
    first_available: int


class UnknownEpoch(
    TaggedError,
    category=Category.NOT_FOUND,
    message='The epoch {epoch!r} has ended; the current one is {current!r}.',
):
    """The event numbers of the client belong to a deleted event log.

    The client starts from the beginning.
    """

    epoch: str
    current: str


class AckAhead(
    TaggedError,
    category=Category.VALIDATION,
    message='{acknowledged} is acknowledged, but the last event is {last}.',
):
    """The client acknowledged an event that was never sent. It corrects its counter."""

    acknowledged: int
    last: int


ReplayError: TypeAlias = ReplayGap | UnknownEpoch | AckAhead


class RecoveryFailed(
    TaggedError,
    category=Category.EXECUTION,
    retryable=False,
    recovery=Recovery.STOP,
    message='{operation} failed and will not be retried (attempts: {attempts}).',
):
    """The last attempt of an operation failed. There is no further attempt, whatever the cause."""

    operation: str
    attempts: int
    cause: Cause | None = None


SessionError: TypeAlias = (
    InvalidInput | SessionNotFound | SessionBusy | ConnectionLost | ReplayError | RecoveryFailed
)
