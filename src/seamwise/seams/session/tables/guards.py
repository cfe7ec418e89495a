"""What a session is sent of a guard that refuses."""

from seamwise.policies import BulkheadFull, CircuitOpen, DeadlineExceeded, GuardError, RateLimited
from seamwise.seams.adapter import Adapter
from seamwise.seams.session.on import on
from seamwise.seams.session.shape import ErrorEvent

GUARDS: Adapter[GuardError, ErrorEvent] = (
    on(RateLimited).publishes('error.rate_limited', 'ERR_RATE_002', limit=lambda error: error.limit)
    | on(CircuitOpen).publishes('error.transient', 'ERR_CIRCUIT_001')
    | on(BulkheadFull).publishes('error.transient', 'ERR_BULKHEAD_001')
    | on(DeadlineExceeded).publishes(
        'error.timeout', 'ERR_TIMEOUT_006', attempt=lambda error: error.attempts, timeout_seconds=lambda error: error.timeout
    )
)
