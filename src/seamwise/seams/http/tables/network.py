"""What a failure between this program and a service that it calls is to an HTTP client."""

from seamwise.catalog.network import (
    CredentialsRejected,
    HostUnreachable,
    NetworkError,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError

NETWORK: Adapter[NetworkError, HttpError] = (
    on(HostUnreachable).responds(502, 'UPSTREAM_ERROR')
    | on(NetworkTimedOut).responds(504, 'UPSTREAM_TIMEOUT')
    | on(UpstreamRateLimited).responds(429, 'RATE_LIMIT')
    | on(CredentialsRejected).responds(502, 'UPSTREAM_ERROR')
    | on(UpstreamFailed).responds(502, 'UPSTREAM_ERROR')
)
