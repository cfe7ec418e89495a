"""Classifier for the exceptions of gRPC, of `grpc` and of `grpc.aio`."""

from typing import TypeAlias

from seamwise._errors.causes import Raised
from seamwise._results.containers import Failure
from seamwise._results.edges import Classify
from seamwise._runtime.validation import check_float
from seamwise.catalog.network import (
    CredentialsRejected,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.policies.classify.exception_text import redacted_excerpt
from seamwise.policies.classify.pushback import pushback

try:
    import grpc
except ModuleNotFoundError as error:
    if error.name != 'grpc':
        raise
    raise ImportError('seamwise.policies.classify.grpc needs gRPC: pip install grpcio') from error

__all__ = ['grpc_failures']

_Error: TypeAlias = NetworkTimedOut | UpstreamRateLimited | CredentialsRejected | UpstreamFailed

_CREDENTIAL_CODES = frozenset({grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED})
_SERVER_ERROR_STATUSES = {
    grpc.StatusCode.UNKNOWN: 500,
    grpc.StatusCode.INTERNAL: 500,
    grpc.StatusCode.UNAVAILABLE: 503,
}
"""HTTP statuses of the server's own failures, from google/rpc/code.proto."""


def grpc_failures(
    service: str, *, timeout: float, required_config: tuple[str, ...] = ()
) -> Classify[_Error]:
    """Return a classifier, for `refine`, of the status codes of failed gRPC calls.

    - NetworkTimedOut: DEADLINE_EXCEEDED.
    - UpstreamRateLimited: RESOURCE_EXHAUSTED.
    - CredentialsRejected: UNAUTHENTICATED and PERMISSION_DENIED.
    - UpstreamFailed: UNAVAILABLE (also if the connection failed), INTERNAL and UNKNOWN, with the
      HTTP status of google/rpc/code.proto.

    Their `retry_after` is the delay in `grpc-retry-pushback-ms` (gRFC A6) or in a
    `google.rpc.RetryInfo`.

    All other codes remain exceptions. That includes CANCELLED, and codes such as NOT_FOUND and
    ABORTED, which only the caller can interpret. It also includes `CallRefused`, the refusal of a
    guard: `caught` turns it into a failure.

    Args:
        service: Name of the service in the errors; the exceptions do not contain it.
        timeout: Timeout of the calls in seconds; the exceptions do not contain it.
        required_config: Names of the settings with the credentials.

    >>> error = grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, details='restarting')
    >>> grpc_failures('billing', timeout=2.0)(error).failure().excerpt
    'UNAVAILABLE: restarting'
    """
    timeout = check_float('timeout', timeout, above=0.0)

    def classify(error: Exception) -> Failure[_Error] | None:
        failure = classify_call(error, service, timeout, required_config)
        return None if failure is None else Failure(failure)

    return classify


def classify_call(
    error: Exception, service: str, timeout: float, required_config: tuple[str, ...] = ()
) -> _Error | None:
    """Return the error for the exception of a call; see `grpc_failures`."""
    # Applications can raise RpcError themselves; only the error of a call has a status code.
    # `Raised` is a refusal of a guard, and no failure of the service.
    if (
        not isinstance(error, grpc.RpcError)
        or not isinstance(error, (grpc.Call, grpc.aio.AioRpcError))
        or isinstance(error, Raised)
    ):
        return None
    code, delay = error.code(), pushback(error.trailing_metadata() or ())
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return NetworkTimedOut(service, 'a call', timeout=timeout, retry_after=delay, cause=error)
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return UpstreamRateLimited(service, retry_after=delay, cause=error)
    if code in _CREDENTIAL_CODES:
        return CredentialsRejected(service, required_config, cause=error)
    if (status := _SERVER_ERROR_STATUSES.get(code)) is not None:
        excerpt = redacted_excerpt(f'{code.name}: {error.details() or ""}'.removesuffix(': '))
        return UpstreamFailed(service, status, excerpt, retry_after=delay, cause=error)
    return None
