"""What a session is sent of an error: an event, its metadata in one fixed order."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise._text.jsonable import to_json
from seamwise.categories import Recovery
from seamwise.seams._common import drop_none

ErrorName: TypeAlias = Literal[
    'error.validation',
    'error.timeout',
    'error.rate_limited',
    'error.recovery_failed',
    'error.connection_lost',
    'error.retry_attempt',
    'error.resource',
    'error.permanent',
    'error.transient',
]
"""What a session is told of an error."""

EventName: TypeAlias = Literal[ErrorName, 'agent.error', 'agent.session_end']
"""And what it is told when an operation has failed for good."""

STRATEGIES: Mapping[Recovery, str] = {
    Recovery.CORRECT: 'escalate_to_user',
    Recovery.ASK: 'escalate_to_user',
    Recovery.WAIT: 'exponential_backoff',
    Recovery.RETRY: 'retry',
    Recovery.FALL_BACK: 'fallback',
    Recovery.RECONNECT: 'reconnect_with_state',
    Recovery.STOP: 'terminate',
}
"""What the session is told to do, by what helps."""

COMMON = (
    'error_code',
    'error_type',
    'timestamp',
    'recoverable',
    'recovery_strategy',
    'severity',
    'stage',
    'task_id',
    'operation',
    'attempt',
    'max_attempts',
    'retry_after_ms',
)
"""What the metadata of every event may say, in the wire's order; the `context` stands last."""


class ErrorEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event of a session; `seq` and `session_id` are the session's to give, and absent outside one.

    `content` is English, `show_content` in the language of whoever reads along.
    """

    event: EventName
    seq: int | None = None
    session_id: str | None = None
    content: str
    metadata: Mapping[str, object]
    show_content: str


def ordered(metadata: Mapping[str, object]) -> dict[str, object]:
    """Put metadata in the wire's order: what all events have, what this one has, the context; leave out what is unknown."""
    own = [name for name in metadata if name not in COMMON and name != 'context']
    return drop_none({name: metadata.get(name) for name in (*COMMON, *own, 'context')})


def encode(event: ErrorEvent) -> bytes:
    """Write an event as JSON, the keys in their documented order."""
    return to_json(event)
