"""What a language model is told of the refusal of a guard."""

from seamwise.policies import (
    BulkheadFull,
    CircuitOpen,
    DeadlineExceeded,
    GuardError,
    RateLimited,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.suggestions import guards as suggest

GUARDS: Adapter[GuardError, Guidance] = (
    on(RateLimited).guides('availability_error', suggestion=suggest.rate_limited)
    | on(CircuitOpen).guides('availability_error', suggestion=suggest.circuit_open)
    | on(BulkheadFull).guides('availability_error', suggestion=suggest.bulkhead_full)
    | on(DeadlineExceeded).guides('availability_error', suggestion=suggest.deadline_exceeded)
)
