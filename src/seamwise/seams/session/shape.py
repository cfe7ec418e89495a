"""Shape of the session seam: an event with metadata in a fixed order."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from seamwise._errors.categories import Category, Recovery
from seamwise._errors.errors import TaggedError, retry_after
from seamwise._results.containers import Failure, Result, Success
from seamwise.seams.rendering.encoding import to_json
from seamwise.seams.rendering.errors import public_items, safe_public_message
from seamwise.seams.rendering.values import drop_none, milliseconds_or_none
from seamwise.seams.session.codes import check_code
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
    'error.correctable',
    'error.transient',
]
"""Names of events that report an error.

`error.permanent` and `error.recovery_failed` end the operation. `error.correctable` does not: a
person can correct the request, or decide.
"""

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

FINAL_NAMES: frozenset[ErrorName] = frozenset({'error.permanent', 'error.recovery_failed'})
"""Names of events after which the operation cannot go on."""

_RECOVERABLE_NAMES: frozenset[ErrorName] = frozenset(
    {'error.validation', 'error.correctable', 'error.transient'}
)
"""Names of events that say that the operation can go on."""


class EventRecovery(NamedTuple):
    """Name of an event, and its metadata that say whether and how the operation goes on."""

    event: ErrorName
    metadata: Mapping[str, object]


def event_recovery(event: ErrorName, error: TaggedError) -> EventRecovery:
    """Return the name of an error's event, and the metadata that agree with it.

    The name decides whether the operation can go on, unless the error itself stops it.

    >>> from seamwise.catalog.tools import FileNotFound
    >>> missing = FileNotFound('read_file', 'a.txt')
    >>> event_recovery('error.correctable', missing).metadata['recovery_strategy']
    'escalate_to_user'
    >>> event_recovery('error.permanent', missing).metadata['recovery_strategy']
    'terminate'
    """
    recovery = error.recovery
    if recovery is Recovery.STOP and event in _RECOVERABLE_NAMES:
        event = 'error.permanent'
    if event in FINAL_NAMES:
        recovery = Recovery.STOP
    recoverable = recovery is not Recovery.STOP
    # A person who stopped the operation knows it: nothing is wrong.
    is_cancelled = error.category is Category.CANCELLED
    severity = 'info' if is_cancelled else 'error' if recoverable else 'critical'
    return EventRecovery(
        event,
        {
            'recoverable': recoverable,
            'recovery_strategy': STRATEGIES[recovery],
            'severity': severity,
        },
    )


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
    English, `show_content` is in the user's language. `of` builds the event of a tagged error.
    """

    event: EventName
    seq: int | None = None
    session_id: str | None = None
    content: str
    metadata: Mapping[str, object]
    show_content: str

    @staticmethod
    def of(error: TaggedError, event: ErrorName, code: str, /, **metadata: object) -> 'ErrorEvent':
        """Return the event of an error, as `on(…).publishes(event, code)` does.

        Code, type, recovery, severity and delay are metadata of the event. `publish`, observers and
        the function `event` add the time and the translation.

        >>> from seamwise.catalog.storage import RecordNotFound
        >>> error = RecordNotFound('user', '7')
        >>> event = ErrorEvent.of(error, 'error.validation', 'ERR_USER_001', user=error.key)
        >>> event.content, event.metadata['recovery_strategy'], event.metadata['user']
        ("There is no user '7'.", 'escalate_to_user', '7')

        Args:
            error: The error.
            event: Name of the event.
            code: Code of the form `ERR_WORD_123`.
            **metadata: Further metadata, or common metadata such as `attempt` and `context`. Values
                that are None are omitted.

        Raises:
            ValueError: The code has another form.
        """
        return error_event(error, event, check_code(code), metadata)


def error_event(
    error: TaggedError, event: ErrorName, code: str, metadata: Mapping[str, object]
) -> ErrorEvent:
    """Return the event of an error like `ErrorEvent.of`, without a check of the code."""
    event, recovery = event_recovery(event, error)
    common = {
        'error_code': code,
        'error_type': error.tag,
        **recovery,
        'retry_after_ms': milliseconds_or_none(retry_after(error)),
    }
    english = safe_public_message(error)
    return ErrorEvent(
        event=event,
        content=english,
        metadata=order_metadata({**common, **public_items(metadata)}),
        show_content=english,
    )


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
    b'{"event":"error.timeout","content":"search did not finish within 30 s.",...}'
    """
    return to_json(event)


_DECODER = msgspec.json.Decoder(ErrorEvent)


def decode(body: bytes | str) -> Result[ErrorEvent, UnreadableBody]:
    """Decode an event that `encode` wrote.

    The event equals the one that `event`, `publish` or an observer made; it is not decoded to the
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
