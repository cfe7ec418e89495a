"""Guards for many processes: a rate limit and a circuit whose state is in Redis, asked within a bound and never waited for longer."""

try:
    from seamwise.policies.shared.circuit import circuit as circuit
    from seamwise.policies.shared.clients import Clients as Clients
    from seamwise.policies.shared.rate_limit import rate_limit as rate_limit
except ModuleNotFoundError as missing:
    if missing.name != 'redis':
        raise
    raise ImportError("seamwise.policies.shared needs redis-py: pip install 'seamwise[redis]'") from missing
