"""What a session is sent of its own failures."""

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
from seamwise.seams.session.on import cause_type, on
from seamwise.seams.session.shape import ErrorEvent

SESSIONS: Adapter[SessionError, ErrorEvent] = (
    on(InvalidInput).publishes(
        'error.validation',
        'ERR_VAL_001',
        constraint=lambda error: error.constraint,
        provided_value=lambda error: error.provided,
    )
    | on(SessionNotFound).publishes('error.permanent', 'ERR_SESSION_001')
    | on(SessionBusy).publishes('error.permanent', 'ERR_SESSION_002')
    | on(ConnectionLost).publishes(
        'error.connection_lost',
        'ERR_CONN_001',
        close_code=lambda error: error.close_code,
        close_reason=lambda error: error.close_reason,
        last_event_seq=lambda error: error.last_event_seq,
        uptime_seconds=lambda error: error.uptime,
    )
    | on(ReplayGap).publishes('error.permanent', 'ERR_SESSION_003')
    | on(UnknownEpoch).publishes('error.permanent', 'ERR_SESSION_004')
    | on(AckAhead).publishes(
        'error.validation',
        'ERR_VAL_005',
        constraint=lambda error: f'at most {error.last}',
        provided_value=lambda error: error.acknowledged,
    )
    | on(RecoveryFailed).publishes(
        'error.recovery_failed',
        'ERR_RECOVERY_001',
        operation=lambda error: error.operation,
        attempt=lambda error: error.attempts,
        cause=cause_type,
    )
)
