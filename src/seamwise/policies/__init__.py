"""Guards: policies around operations that return results. Each has a file of its own, with its error."""

from typing import TypeAlias

from seamwise.policies.bulkhead import BulkheadFull as BulkheadFull
from seamwise.policies.circuit import CircuitOpen as CircuitOpen
from seamwise.policies.deadline import DeadlineExceeded as DeadlineExceeded
from seamwise.policies.rate_limit import RateLimited as RateLimited

GuardError: TypeAlias = RateLimited | CircuitOpen | BulkheadFull | DeadlineExceeded
