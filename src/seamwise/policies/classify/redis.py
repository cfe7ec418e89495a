"""What the exceptions of redis-py mean, of its client for threads and of that for asyncio."""

from typing import TypeAlias

from seamwise.catalog.network import CredentialsRejected, HostUnreachable, NetworkTimedOut
from seamwise.catalog.storage import StoreUnavailable
from seamwise.containers import Failure
from seamwise.edges import Classify
from seamwise.policies._engine.validation import check_float
from seamwise.policies.classify.exception_text import reason
from seamwise.policies.classify.redis_codes import cannot_now

try:
    from redis import exceptions as raises
except ModuleNotFoundError as missing:
    if missing.name != 'redis':
        raise
    raise ImportError(
        'seamwise.policies.classify.redis needs redis-py: pip install redis'
    ) from missing

_Error: TypeAlias = HostUnreachable | NetworkTimedOut | CredentialsRejected | StoreUnavailable

_CREDENTIALS = (
    raises.AuthenticationError,
    raises.AuthenticationWrongNumberOfArgsError,
    raises.AuthorizationError,
    raises.NoPermissionError,
)
_NOT_NOW = (
    raises.BusyLoadingError,
    raises.ClusterDownError,
    raises.MaxConnectionsError,
    raises.OutOfMemoryError,
    raises.ReadOnlyError,
    raises.SlotNotCoveredError,
    raises.TryAgainError,
)
"""Redis answers, or its client knows, that it cannot serve this now: it loads, fails over, is full, has no connection free."""


def redis_failures(
    store: str, *, timeout: float, required_config: str | None = None
) -> Classify[_Error]:
    """Give a classifier, for `refine`, of what redis-py raises where Redis cannot be reached or does not serve.

    `store` names the Redis in the errors: its exceptions do not say which one it was. `timeout` is the
    `socket_timeout` of the client, in seconds, which they do not say either; `required_config` names the setting
    that holds the credentials. The classifier gives

    - HostUnreachable for a ConnectionError, NetworkTimedOut for a TimeoutError of redis-py,
    - CredentialsRejected where Redis wants other credentials (AuthenticationError, NoPermissionError, …),
    - StoreUnavailable while Redis loads its data, is a read-only replica after a failover, is out of memory, busy with
      a script or cannot write (BUSY, MISCONF, NOREPLICAS), its cluster is down, or the client's own pool has no
      connection left.

    Everything else stays an exception: a wrong command or type (any other ResponseError, DataError) is a bug, and what a
    WatchError or a LockError means only the code knows that watches or locks.

    >>> from redis.exceptions import BusyLoadingError
    >>> redis_failures('sessions', timeout=0.5)(BusyLoadingError('Redis is loading the dataset in memory')).failure().reason
    'Redis is loading the dataset in memory'
    """
    timeout = check_float('timeout', timeout, above=0.0)

    def classify(raised: Exception) -> Failure[_Error] | None:
        # The order tells: most of them are ConnectionErrors too.
        if isinstance(raised, _CREDENTIALS):
            return Failure(
                CredentialsRejected(
                    store, required_config or f'the credentials for {store}', cause=raised
                )
            )
        if isinstance(raised, _NOT_NOW) or (
            isinstance(raised, raises.ResponseError) and cannot_now(str(raised))
        ):
            return Failure(StoreUnavailable(store, reason(raised), cause=raised))
        if isinstance(raised, raises.TimeoutError):
            return Failure(NetworkTimedOut(store, 'a command', timeout=timeout, cause=raised))
        if isinstance(raised, raises.ConnectionError):
            return Failure(HostUnreachable(store, reason(raised), cause=raised))
        return None

    return classify
