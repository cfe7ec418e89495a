"""Guards shared by several processes: a rate limit and a circuit with their state in Redis."""

try:
    from seamwise.policies.redis.circuit import circuit as circuit
    from seamwise.policies.redis.clients import Clients as Clients
    from seamwise.policies.redis.rate_limit import rate_limit as rate_limit
except ModuleNotFoundError as error:
    if error.name != 'redis':
        raise
    raise ImportError(
        "seamwise.policies.redis needs redis-py: pip install 'seamwise[redis]'"
    ) from error
