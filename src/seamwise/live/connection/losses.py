"""Losses of a connection: close codes and HTTP statuses, and the errors that stand for them."""

from http import HTTPStatus
from typing import Final

from msgspec import Struct

from seamwise._errors.causes import Cause
from seamwise.catalog.access import AccessDenied, AccessError, Unauthenticated
from seamwise.catalog.sessions import ConnectionLost
from seamwise.live.wire import FORBIDDEN, NOT_FOUND, UNAUTHENTICATED

ABNORMAL: Final = 1006
"""The code that stands for a connection without a close frame, as in browsers."""

TOO_MANY_DELAY: Final = 5.0
"""The minimum delay after the code 4429 of a server that requests none, in seconds."""


class Closed(Struct, frozen=True):
    """The end of a connection, or of an attempt to connect.

    Attributes:
        code: The close code; 1006 without a close frame.
        reason: The reason, for developers.
        status: The HTTP status that refused the WebSocket, or None.
        retry_after: The delay that the server requests, in seconds, or None.
        cause: The exception, if there was one.
    """

    code: int
    reason: str
    status: int | None = None
    retry_after: float | None = None
    cause: Cause | None = None


def access_error(closed: Closed, session: str) -> AccessError | None:
    """Return the error of a refused caller, or None if the caller was not refused.

    A gateway answers alike for a session that does not exist, and for one of another caller: both
    are `AccessDenied`.

    >>> access_error(Closed(4404, ''), 's-1')
    AccessDenied(action='see', resource='s-1')
    """
    if closed.code == UNAUTHENTICATED or closed.status == HTTPStatus.UNAUTHORIZED:
        return Unauthenticated('Bearer', closed.reason or None)
    if closed.code == FORBIDDEN or closed.status == HTTPStatus.FORBIDDEN:
        return AccessDenied('connect to', session)
    if closed.code == NOT_FOUND or closed.status == HTTPStatus.NOT_FOUND:
        return AccessDenied('see', session)
    return None


def connection_lost(closed: Closed, *, last_seq: int, uptime: float) -> ConnectionLost:
    """Return the error of a connection that can be opened again."""
    return ConnectionLost(closed.code, closed.reason, last_seq, uptime, cause=closed.cause)
