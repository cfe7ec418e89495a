"""Classifier for the exceptions of redis-py, of its clients for threads and for asyncio."""

from typing import TypeAlias

from seamwise._results.containers import Failure
from seamwise._results.edges import Classify
from seamwise._runtime.validation import check_float
from seamwise.catalog.network import CredentialsRejected, HostUnreachable, NetworkTimedOut
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies.classify.driver_codes import is_redis_unavailable
from seamwise.policies.classify.exception_text import exception_reason

try:
    from redis import exceptions
except ModuleNotFoundError as error:
    if error.name != 'redis':
        raise
    raise ImportError(
        'seamwise.policies.classify.redis needs redis-py: pip install redis'
    ) from error

_Error: TypeAlias = HostUnreachable | NetworkTimedOut | CredentialsRejected | StoreUnavailable

_CREDENTIAL_ERRORS = (
    exceptions.AuthenticationError,
    exceptions.AuthenticationWrongNumberOfArgsError,
    exceptions.AuthorizationError,
    exceptions.NoPermissionError,
)
_UNAVAILABLE_ERRORS = (
    exceptions.BusyLoadingError,
    exceptions.ClusterDownError,
    exceptions.MaxConnectionsError,
    exceptions.OutOfMemoryError,
    exceptions.ReadOnlyError,
    exceptions.SlotNotCoveredError,
    exceptions.TryAgainError,
)


def redis_failures(
    store: str, *, timeout: float, required_config: tuple[str, ...] = ()
) -> Classify[_Error]:
    """Return a classifier, for `refine`, of the exceptions that redis-py raises during an outage.

    - HostUnreachable: ConnectionError.
    - NetworkTimedOut: TimeoutError of redis-py.
    - CredentialsRejected: AuthenticationError, AuthorizationError, NoPermissionError.
    - StoreUnavailable: Redis is loading its data, out of memory, busy with a script (BUSY), unable
      to write (MISCONF, NOREPLICAS), or a read-only replica after a failover. Also: its cluster is
      down, or the client's own pool has no free connection.

    Everything else remains an exception. A wrong command or type (any other ResponseError,
    DataError) is a bug. Only the code that watches or locks can interpret a WatchError or a
    LockError.

    Args:
        store: Name of the Redis in the errors; the exceptions do not contain it.
        timeout: `socket_timeout` of the client in seconds; the exceptions do not contain it.
        required_config: Names of the settings with the credentials.

    >>> error = exceptions.BusyLoadingError('Redis is loading the dataset in memory')
    >>> redis_failures('sessions', timeout=0.5)(error).failure().reason
    'Redis is loading the dataset in memory'
    """
    timeout = check_float('timeout', timeout, above=0.0)

    def classify(error: Exception) -> Failure[_Error] | None:
        # In this order, because most of these classes derive from ConnectionError.
        if isinstance(error, _CREDENTIAL_ERRORS):
            return Failure(CredentialsRejected(store, required_config, cause=error))
        if isinstance(error, _UNAVAILABLE_ERRORS) or (
            isinstance(error, exceptions.ResponseError) and is_redis_unavailable(str(error))
        ):
            return Failure(StoreUnavailable(store, exception_reason(error), cause=error))
        if isinstance(error, exceptions.TimeoutError):
            return Failure(NetworkTimedOut(store, 'a command', timeout=timeout, cause=error))
        if isinstance(error, exceptions.ConnectionError):
            return Failure(HostUnreachable(store, exception_reason(error), cause=error))
        return None

    return classify
