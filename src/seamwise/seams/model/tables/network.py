"""What a language model is told where a service that was called does not do its part."""

from seamwise.catalog.network import (
    CredentialsRejected,
    HostUnreachable,
    NetworkError,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.suggestions import network as suggest

NETWORK: Adapter[NetworkError, Guidance] = (
    on(HostUnreachable).guides('availability_error', suggestion=suggest.host_unreachable)
    | on(NetworkTimedOut).guides('availability_error', suggestion=suggest.network_timed_out)
    | on(UpstreamRateLimited).guides('availability_error', suggestion=suggest.upstream_rate_limited)
    | on(CredentialsRejected).guides('availability_error', suggestion=suggest.credentials_rejected)
    | on(UpstreamFailed).guides('availability_error', suggestion=suggest.upstream_failed)
)
