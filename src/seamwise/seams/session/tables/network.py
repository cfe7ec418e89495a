"""What a session is sent of a failing service on the network."""

from datetime import UTC, datetime

from seamwise.catalog.network import (
    CredentialsRejected,
    HostUnreachable,
    NetworkError,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.seams._common import only_known, timestamp
from seamwise.seams.adapter import Adapter
from seamwise.seams.session.on import cause_type, on
from seamwise.seams.session.shape import ErrorEvent


def _reset(error: UpstreamRateLimited) -> str | None:
    if error.reset is None:
        return None
    try:
        return timestamp(datetime.fromtimestamp(error.reset, UTC))
    except (OverflowError, ValueError, OSError):
        # A service said a number that is no time of any calendar.
        return None


NETWORK: Adapter[NetworkError, ErrorEvent] = (
    on(HostUnreachable).publishes('error.connection_lost', 'ERR_CONN_002')
    | on(NetworkTimedOut).publishes('error.timeout', 'ERR_TIMEOUT_003', timeout_seconds=lambda error: error.timeout)
    | on(UpstreamRateLimited).publishes(
        'error.rate_limited',
        'ERR_RATE_001',
        limit=lambda error: error.limit,
        rate_limit_reset=_reset,
        context=lambda error: only_known({'service': error.service, 'requests_made': error.requests_made}),
    )
    | on(CredentialsRejected).publishes(
        'error.recovery_failed',
        'ERR_AUTH_001',
        cause=cause_type,
        context=lambda error: {'service': error.service, 'required_config': error.required_config},
    )
    | on(UpstreamFailed).publishes('error.transient', 'ERR_UPSTREAM_001')
)
