"""What the refusal of a guard is to a planner."""

from seamwise.policies import (
    BulkheadFull,
    CircuitOpen,
    DeadlineExceeded,
    GuardError,
    RateLimited,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

GUARDS: Adapter[GuardError, ErrorInfo] = (
    on(RateLimited).classifies('TOOL_RATE_LIMITED', names={'name': 'tool_name'})
    | on(CircuitOpen).classifies(
        'TOOL_CIRCUIT_OPEN', names={'name': 'tool_name', 'failures': 'failure_count', 'retry_after': 'reset_timeout'}
    )
    | on(BulkheadFull).classifies('BULKHEAD_FULL', names={'name': 'tool_name', 'scope': 'limit_type', 'waited': 'timeout'})
    | on(DeadlineExceeded).classifies('TOOL_TIMEOUT', names={'name': 'tool_name'})
)
