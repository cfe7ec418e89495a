"""What a failure of a session is to an HTTP client."""

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
from seamwise.seams.adapter import Adapter
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError

SESSIONS: Adapter[SessionError, HttpError] = (
    on(InvalidInput).responds(400, 'INVALID_REQUEST')
    | on(SessionNotFound).responds(404, 'SESSION_NOT_FOUND')
    | on(SessionBusy).responds(409, 'SESSION_CONFLICT')
    | on(ConnectionLost).hidden()
    | on(ReplayGap).responds(409, 'REPLAY_CONFLICT')
    | on(UnknownEpoch).responds(404, 'EPOCH_NOT_FOUND')
    | on(AckAhead).responds(400, 'INVALID_REQUEST')
    | on(RecoveryFailed).responds(502, 'RECOVERY_FAILED')
)
