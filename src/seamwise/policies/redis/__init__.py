"""Guards for many processes: a rate limit and a circuit whose state is in Redis, asked within a bound and never waited for longer."""

try:
    from seamwise.policies.redis.circuit import circuit as circuit
    from seamwise.policies.redis.clients import Clients as Clients
    from seamwise.policies.redis.rate_limit import rate_limit as rate_limit
except ModuleNotFoundError as missing:
    if missing.name != 'redis':
        raise
    raise ImportError(
        "seamwise.policies.redis needs redis-py: pip install 'seamwise[redis]'"
    ) from missing
