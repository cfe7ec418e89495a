"""Guards: policies around operations that return results.

Recommended order, outermost first:
`fallback >> rate_limit >> bulkhead >> circuit >> retry >> deadline`.

To write a guard, derive from `Layer`, and return a `Admission` from its `enter`.
"""

from seamwise._runtime.world import REAL as REAL
from seamwise._runtime.world import World as World
from seamwise.policies._engine.activity import set_active as set_active
from seamwise.policies._engine.observers import observe as observe
from seamwise.policies._engine.order_rules import register_order_rules as _register_order_rules
from seamwise.policies._engine.permit import ADMITTED as ADMITTED
from seamwise.policies._engine.permit import Admission as Admission
from seamwise.policies._engine.permit import Fork as Fork
from seamwise.policies._engine.permit import Outcome as Outcome
from seamwise.policies._engine.permit import Permit as Permit
from seamwise.policies._engine.permit import Waiting as Waiting
from seamwise.policies._engine.pipeline import Guard as Guard
from seamwise.policies._engine.pipeline import Layer as Layer
from seamwise.policies._engine.pipeline import identity as identity
from seamwise.policies._engine.pipeline import registered as registered
from seamwise.policies._engine.predicates import always as always
from seamwise.policies._engine.predicates import counts_against as counts_against
from seamwise.policies._engine.predicates import retryable as retryable
from seamwise.policies._parts.adaptive_limit import adaptive as adaptive
from seamwise.policies._parts.backoff import backoff as backoff
from seamwise.policies._parts.budget import Budget as Budget
from seamwise.policies._parts.percentile import percentile as percentile
from seamwise.policies._parts.trip_conditions import consecutive as consecutive
from seamwise.policies._parts.trip_conditions import ratio as ratio
from seamwise.policies.bulkhead import bulkhead as bulkhead
from seamwise.policies.cache import cache as cache
from seamwise.policies.circuit import Circuit as Circuit
from seamwise.policies.circuit import circuit as circuit
from seamwise.policies.deadline import deadline as deadline
from seamwise.policies.deadline import remaining as remaining
from seamwise.policies.describe import ORDER_RULES as _ORDER_RULES
from seamwise.policies.errors import BulkheadFull as BulkheadFull
from seamwise.policies.errors import CircuitOpen as CircuitOpen
from seamwise.policies.errors import DeadlineExceeded as DeadlineExceeded
from seamwise.policies.errors import GuardError as GuardError
from seamwise.policies.errors import RateLimited as RateLimited
from seamwise.policies.events import CircuitChanged as CircuitChanged
from seamwise.policies.events import Completed as Completed
from seamwise.policies.events import FellBack as FellBack
from seamwise.policies.events import GaveUp as GaveUp
from seamwise.policies.events import GuardEvent as GuardEvent
from seamwise.policies.events import Observer as Observer
from seamwise.policies.events import Recovered as Recovered
from seamwise.policies.events import Refused as Refused
from seamwise.policies.events import Retrying as Retrying
from seamwise.policies.events import StoreAway as StoreAway
from seamwise.policies.events import StoreBack as StoreBack
from seamwise.policies.fallback import fallback as fallback
from seamwise.policies.fault_injection import FaultPlan as FaultPlan
from seamwise.policies.fault_injection import chaos as chaos
from seamwise.policies.hedge import hedge as hedge
from seamwise.policies.idempotency import keyed as keyed
from seamwise.policies.rate_limit import rate_limit as rate_limit
from seamwise.policies.retry import retry as retry

# The rules know all guards, so a pipeline cannot import them itself.
_register_order_rules(_ORDER_RULES)
