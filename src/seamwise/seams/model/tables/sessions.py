"""What a language model is told of a failure of a session: that nothing more is tried. The rest is between client and server."""

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
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.suggestions import sessions as suggest

SESSIONS: Adapter[SessionError, Guidance] = (
    on(InvalidInput).hidden()
    | on(SessionNotFound).hidden()
    | on(SessionBusy).hidden()
    | on(ConnectionLost).hidden()
    | on(ReplayGap).hidden()
    | on(UnknownEpoch).hidden()
    | on(AckAhead).hidden()
    | on(RecoveryFailed).guides('execution_error', suggestion=suggest.recovery_failed)
)
