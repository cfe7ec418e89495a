"""What the refusal of a guard is to an HTTP client."""

from seamwise.policies import BulkheadFull, CircuitOpen, DeadlineExceeded, GuardError, RateLimited
from seamwise.seams.adapter import Adapter
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError

GUARDS: Adapter[GuardError, HttpError] = (
    on(RateLimited).responds(429, 'RATE_LIMITED')
    | on(CircuitOpen).responds(503, 'CIRCUIT_OPEN')
    | on(BulkheadFull).responds(503, 'BULKHEAD_FULL')
    | on(DeadlineExceeded).responds(504, 'TIMEOUT')
)
