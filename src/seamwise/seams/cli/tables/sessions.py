"""How a failure of a session looks at a terminal."""

from seamwise.catalog.sessions import (
    AckAhead,
    ConnectionLost,
    InvalidInput,
    RecoveryFailed,
    ReplayGap,
    SessionBusy,
    SessionError,
    SessionNotFound,
    UnknownEpoch,
)
from seamwise.seams._phrases import counted
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Rendered


def _reconnect(error: ConnectionLost) -> str:
    why = f'{error.close_reason}; ' if error.close_reason else ''
    return f'{why}connect again, and go on after event {error.last_event_seq}.'


def _gap(error: ReplayGap) -> str:
    return f'events are kept from {error.first_available} on; read the whole state again.'


def _tried(error: RecoveryFailed) -> str:
    return f'it was tried {counted(error.attempts, "time")}.'


SESSIONS: Adapter[SessionError, Rendered] = (
    on(InvalidInput).exits(65)
    | on(SessionNotFound).exits(66, hint='begin a new session.')
    | on(SessionBusy).exits(1, hint='wait for its end, or stop it.')
    | on(ConnectionLost).exits(69, hint=_reconnect)
    | on(ReplayGap).exits(1, hint=_gap)
    | on(UnknownEpoch).exits(66, hint='begin anew, without the numbers of the old epoch.')
    | on(AckAhead).exits(65, hint='acknowledge what has come, and no more.')
    | on(RecoveryFailed).exits(1, hint=_tried)
)
