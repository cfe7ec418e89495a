"""What a failure of a session is to a planner."""

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
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

SESSIONS: Adapter[SessionError, ErrorInfo] = (
    on(InvalidInput).hidden()
    | on(SessionNotFound).hidden()
    | on(SessionBusy).hidden()
    | on(ConnectionLost).hidden()
    | on(ReplayGap).hidden()
    | on(UnknownEpoch).hidden()
    | on(AckAhead).hidden()
    | on(RecoveryFailed).classifies('TOOL_EXECUTION_FAILED')
)
