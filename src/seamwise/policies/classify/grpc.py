"""What the exceptions of gRPC mean, of `grpc` and of `grpc.aio`."""

from typing import TypeAlias

from seamwise.catalog.network import (
    CredentialsRejected,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.containers import Failure
from seamwise.edges import Classify
from seamwise.policies._engine.validation import check_float
from seamwise.policies.classify.exception_text import excerpt
from seamwise.policies.classify.pushback import pushback

try:
    import grpc
except ModuleNotFoundError as missing:
    if missing.name != 'grpc':
        raise
    raise ImportError('seamwise.policies.classify.grpc needs gRPC: pip install grpcio') from missing

_Error: TypeAlias = NetworkTimedOut | UpstreamRateLimited | CredentialsRejected | UpstreamFailed

_CREDENTIALS = frozenset({grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED})
_FAILED = {
    grpc.StatusCode.UNKNOWN: 500,
    grpc.StatusCode.INTERNAL: 500,
    grpc.StatusCode.UNAVAILABLE: 503,
}
"""The server's own failures, each with the HTTP status that google/rpc/code.proto gives it."""


def grpc_failures(
    service: str, *, timeout: float, required_config: str | None = None
) -> Classify[_Error]:
    """Give a classifier, for `refine`, of the status codes with which calls of gRPC end.

    `service` names whom the calls ask: the exceptions do not. `timeout` is what the calls are given, in seconds,
    which they do not say either; `required_config` names the setting that holds the credentials. The classifier gives

    - NetworkTimedOut for DEADLINE_EXCEEDED,
    - UpstreamRateLimited for RESOURCE_EXHAUSTED,
    - CredentialsRejected for UNAUTHENTICATED and PERMISSION_DENIED,
    - UpstreamFailed for UNAVAILABLE (a connection that did not come about too), INTERNAL and UNKNOWN, with the HTTP
      status of google/rpc/code.proto.

    The delay that a server asks for, by `grpc-retry-pushback-ms` (gRFC A6) or a `google.rpc.RetryInfo`, becomes their
    `retry_after`. Every other code stays an exception: CANCELLED always, and what says that the request was wrong or
    came at the wrong time, as NOT_FOUND or ABORTED, which only the code can judge that sent it.

    >>> raised = grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, details='restarting')
    >>> grpc_failures('billing', timeout=2.0)(raised).failure().excerpt
    'UNAVAILABLE: restarting'
    """
    timeout = check_float('timeout', timeout, above=0.0)

    def classify(raised: Exception) -> Failure[_Error] | None:
        # An RpcError alone may be anybody's; those of calls know how the call ended.
        if not isinstance(raised, grpc.RpcError) or not isinstance(
            raised, (grpc.Call, grpc.aio.AioRpcError)
        ):
            return None
        code, delay = raised.code(), pushback(raised.trailing_metadata() or ())
        if code is grpc.StatusCode.DEADLINE_EXCEEDED:
            return Failure(
                NetworkTimedOut(service, 'a call', timeout=timeout, retry_after=delay, cause=raised)
            )
        if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
            return Failure(UpstreamRateLimited(service, retry_after=delay, cause=raised))
        if code in _CREDENTIALS:
            return Failure(
                CredentialsRejected(
                    service, required_config or f'the credentials for {service}', cause=raised
                )
            )
        if (status := _FAILED.get(code)) is not None:
            said = excerpt(f'{code.name}: {raised.details() or ""}'.removesuffix(': '))
            return Failure(UpstreamFailed(service, status, said, retry_after=delay, cause=raised))
        return None

    return classify
