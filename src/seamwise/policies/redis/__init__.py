"""Guards shared by several processes: a rate limit and a circuit with their state in Redis."""

try:
    from seamwise.policies.redis.clients import Clients as Clients
    from seamwise.policies.redis.shared_circuit import shared_circuit as shared_circuit
    from seamwise.policies.redis.shared_rate_limit import shared_rate_limit as shared_rate_limit
except ModuleNotFoundError as error:
    if (error.name or '').partition('.')[0] != 'redis':
        raise
    raise ImportError(
        "seamwise.policies.redis needs redis-py: pip install 'seamwise[redis]'"
    ) from error
