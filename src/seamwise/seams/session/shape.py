"""Shape of the session seam: an event with metadata in a fixed order."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
from msgspec import Struct

from seamwise._errors.categories import Recovery
from seamwise._results.containers import Failure, Result, Success
from seamwise.seams.rendering.encoding import to_json
from seamwise.seams.rendering.values import drop_none
from seamwise.seams.wire.decoding import DECODE_ERRORS, UnreadableBody, unreadable_body

if TYPE_CHECKING:
    from seamwise.seams.session.messages import StoredErrorEvent

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
"""Names of events that report an error."""

EventName: TypeAlias = Literal[ErrorName, 'agent.error', 'agent.session_end']
"""Names of all events; the last two follow the final failure of an operation."""

STRATEGIES: Mapping[Recovery, str] = {
    Recovery.CORRECT: 'escalate_to_user',
    Recovery.ASK: 'escalate_to_user',
    Recovery.WAIT: 'exponential_backoff',
    Recovery.RETRY: 'retry',
    Recovery.FALL_BACK: 'fallback',
    Recovery.RECONNECT: 'reconnect_with_state',
    Recovery.STOP: 'terminate',
}
"""Recovery strategy that an event names, by the recovery of the error."""

COMMON_METADATA = (
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
"""Metadata that every event can have, in the order of the wire; `context` is always last."""


# `dict`: the texts in other languages are an attribute, see `localized`.
class ErrorEvent(Struct, frozen=True, kw_only=True, omit_defaults=True, dict=True):
    """An event of a session.

    The session sets `seq` and `session_id`; outside a session they are absent. `content` is
    English, `show_content` is in the user's language.
    """

    event: EventName
    seq: int | None = None
    session_id: str | None = None
    content: str
    metadata: Mapping[str, object]
    show_content: str


def order_metadata(metadata: Mapping[str, object]) -> dict[str, object]:
    """Return metadata in the order of the wire, without values that are None.

    Metadata of all events come first, then those of this event, then the context.
    """
    specific = [name for name in metadata if name not in COMMON_METADATA and name != 'context']
    return drop_none(
        {name: metadata.get(name) for name in (*COMMON_METADATA, *specific, 'context')}
    )


def encode(event: 'ErrorEvent | StoredErrorEvent') -> bytes:
    """Encode an event as JSON, with the keys in their documented order.

    >>> from seamwise.catalog.tools import ToolTimedOut
    >>> from seamwise.seams.session.tables import TOOLS
    >>> encode(TOOLS(ToolTimedOut('search', 30.0, attempts=1)))
    b'{"event":"error.timeout","content":"search did not finish within 30.0 s.",...}'
    """
    return to_json(event)


_DECODER = msgspec.json.Decoder(ErrorEvent)


def decode(body: bytes | str) -> Result[ErrorEvent, UnreadableBody]:
    """Decode an event that `encode` wrote.

    The event equals the one that `event`, `publish` or `observe` made; it is not decoded to the
    error. Undocumented keys are ignored.

    >>> from seamwise.seams.session import encode
    >>> event = ErrorEvent(
    ...     event='error.timeout', content='Late.', metadata={'attempt': 1}, show_content='太晚了。'
    ... )
    >>> decode(encode(event)).unwrap() == event
    True
    >>> print(decode('{"event": "error.timeout"}').failure())
    The body cannot be read: Object missing required field `content`.
    """
    try:
        return Success(_DECODER.decode(body))
    except DECODE_ERRORS as error:
        return Failure(unreadable_body(error, body))
