"""Ends of WebSockets: close codes, and the last event before the close frame."""

from asyncio import timeout
from contextlib import suppress
from typing import Final, assert_never

from msgspec import Struct
from starlette.websockets import WebSocket, WebSocketDisconnect

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
from seamwise.live.server.errors import GatewayError, encode_text, error_event, wire_error
from seamwise.live.server.settings import CLOSE_SECONDS, RETRY_MS
from seamwise.live.wire import (
    FORBIDDEN,
    INTERNAL,
    NOT_FOUND,
    PROTOCOL_VIOLATION,
    RESTART,
    TOO_MANY,
    TRY_AGAIN_LATER,
    UNAUTHENTICATED,
)
from seamwise.policies import BulkheadFull, RateLimited
from seamwise.seams import session as session_seam
from seamwise.seams.session import ErrorEvent

MAX_REASON: Final = 123
"""The maximum length of the reason of a close frame, in bytes (RFC 6455, 5.5)."""


class Closing(Struct, frozen=True):
    """The end of a connection: the close code of a WebSocket, its reason, and the last event."""

    code: int
    reason: str
    event: ErrorEvent | None = None


def closing_for(
    error: GatewayError, *, locale: str, code: int | None = None, retry_after_ms: int | None = None
) -> Closing:
    """Return the end of a connection because of an error.

    Args:
        error: The error.
        locale: The language of the client.
        code: The close code. Default: that of the kind of error.
        retry_after_ms: The delay before the client connects again, in milliseconds.
    """
    return Closing(
        close_code(error) if code is None else code,
        error.tag,
        error_event(error, locale=locale, retry_after_ms=retry_after_ms),
    )


def close_code(error: GatewayError) -> int:
    """Return the close code for a kind of error.

    >>> close_code(Unauthenticated('Bearer')), close_code(SessionNotFound('s-1'))
    (4401, 4404)
    """
    match error:
        case Unauthenticated():
            code = UNAUTHENTICATED
        case AccessDenied():
            code = FORBIDDEN
        case SessionNotFound() | UnknownEpoch():
            code = NOT_FOUND
        case RateLimited() | BulkheadFull():
            code = TOO_MANY
        case StoreUnavailable() | SlowConsumer():
            code = TRY_AGAIN_LATER
        case ConnectionLost(close_code=code):
            pass
        case InvalidInput() | ReplayGap() | AckAhead() | StreamClosed():
            code = PROTOCOL_VIOLATION
        case _:
            assert_never(error)
    return code


def restart_closing(locale: str) -> Closing:
    """Return the end of a connection at the end of the process; the client comes back."""
    error = ConnectionLost(RESTART, 'the server restarts', 0, 0.0)
    return closing_for(error, locale=locale, retry_after_ms=RETRY_MS)


def defect_closing(ref: str, *, locale: str) -> Closing:
    """Return the end of a connection because of a defect."""
    return Closing(INTERNAL, f'INTERNAL {ref}', session_seam.defect(ref, locale=locale))


async def send_closing(websocket: WebSocket, closing: Closing, session: str | None) -> None:
    """Send the last event and the close frame, to a client that may not read them."""
    reason = closing.reason.encode()[:MAX_REASON].decode(errors='ignore')
    with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
        async with timeout(CLOSE_SECONDS):
            if closing.event is not None:
                event = wire_error(closing.event, session)
                await websocket.send_text(encode_text(event))
            await websocket.close(closing.code, reason)
