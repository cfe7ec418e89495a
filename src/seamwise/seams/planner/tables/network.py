"""What a failure between this program and a service that it calls is to a planner."""

from seamwise.catalog.network import (
    CredentialsRejected,
    HostUnreachable,
    NetworkError,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

NETWORK: Adapter[NetworkError, ErrorInfo] = (
    on(HostUnreachable).classifies('MCP_CONNECTION_FAILED', names={'host': 'server_name'})
    | on(NetworkTimedOut).classifies('TOOL_TIMEOUT')
    | on(UpstreamRateLimited).classifies('TOOL_RATE_LIMITED')
    | on(CredentialsRejected).classifies('CONFIGURATION_ERROR')
    | on(UpstreamFailed).classifies('TOOL_EXECUTION_FAILED')
)
