"""The errors of a gateway, as answers of HTTP and as events."""

from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET

from seamwise._errors.texts import catalogue
from seamwise.catalog.access import AccessDenied, Unauthenticated
from seamwise.catalog.sessions import (
    AckAhead,
    ConnectionLost,
    InvalidInput,
    ReplayGap,
    SessionNotFound,
    UnknownEpoch,
)
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import SlowConsumer, StreamClosed
from seamwise.live.wire import WireEvent
from seamwise.policies import BulkheadFull, RateLimited
from seamwise.seams import session as session_seam
from seamwise.seams.http import tables as http_tables
from seamwise.seams.rendering.values import safe_text
from seamwise.seams.session import ErrorEvent
from seamwise.seams.session import tables as session_tables
from seamwise.seams.session.localized import localize

MISSING_MESSAGE: Final = "The field '{field}' is missing."

GatewayError: TypeAlias = (
    Unauthenticated
    | AccessDenied
    | InvalidInput
    | SessionNotFound
    | ConnectionLost
    | ReplayGap
    | UnknownEpoch
    | AckAhead
    | StoreUnavailable
    | SlowConsumer
    | StreamClosed
    | RateLimited
    | BulkheadFull
)
"""An error that a client of the gateway can receive."""

HTTP_ERRORS: Final = (
    http_tables.ACCESS
    | http_tables.SESSIONS
    | http_tables.STORAGE
    | http_tables.STREAMING
    | http_tables.GUARDS
)
"""The answers to requests."""

_SESSION_ERRORS: Final = (
    session_tables.ACCESS
    | session_tables.SESSIONS
    | session_tables.STORAGE
    | session_tables.STREAMING
    | session_tables.GUARDS
)


def error_event(
    error: GatewayError, *, locale: str, retry_after_ms: int | None = None
) -> ErrorEvent:
    """Return the event of an error."""
    event = session_seam.event(
        error, adapter=_SESSION_ERRORS, locale=locale, retry_after_ms=retry_after_ms
    )
    if not isinstance(error, InvalidInput) or error.missing is None:
        return event
    # The rule in the message of the error is English; this sentence is translated.
    name = safe_text(error.missing)
    return localize(
        event, lambda other: catalogue(other).gettext(MISSING_MESSAGE).format(field=name), locale
    )


def wire_error(event: ErrorEvent, session: str | None) -> WireEvent:
    """Return the wire form of an event that is not stored."""
    return WireEvent(
        event=event.event,
        session_id=UNSET if session is None else session,
        content=event.content,
        metadata=event.metadata,
        show_content=event.show_content,
    )


def encode_text(event: WireEvent) -> str:
    """Return the JSON of an event, as a text frame."""
    return msgspec.json.encode(event).decode()
