"""What the failure of a peer that speaks MCP, LSP or A2A is to an HTTP client."""

from collections.abc import Mapping
from types import MappingProxyType

from seamwise.catalog.protocols import (
    A2aContentTypeNotSupported,
    A2aError,
    A2aExtendedCardNotConfigured,
    A2aExtensionRequired,
    A2aInvalidAgentResponse,
    A2aPushNotSupported,
    A2aTaskNotCancelable,
    A2aTaskNotFound,
    A2aUnsupportedOperation,
    A2aVersionNotSupported,
    AgentCardInvalid,
    LspContentModified,
    LspError,
    LspNotInitialized,
    LspRequestFailed,
    McpConnectionFailed,
    McpError,
    McpServerFailed,
    McpTimedOut,
    McpTransportFailed,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError

MCP: Adapter[McpError, HttpError] = (
    on(McpConnectionFailed).responds(502, 'UPSTREAM_ERROR')
    | on(McpTransportFailed).responds(502, 'UPSTREAM_ERROR')
    | on(McpServerFailed).responds(502, 'UPSTREAM_ERROR')
    | on(McpTimedOut).responds(504, 'UPSTREAM_TIMEOUT')
)

LSP: Adapter[LspError, HttpError] = (
    on(LspNotInitialized).responds(503, 'SERVICE_UNAVAILABLE')
    | on(LspRequestFailed).responds(502, 'UPSTREAM_ERROR')
    | on(LspContentModified).responds(409, 'CONTENT_CONFLICT')
)


def _a2a(*, not_cancelable: int, content_type: int, agent_response: int) -> Adapter[A2aError, HttpError]:
    """Answer as A2A says; three of its statuses differ from revision to revision (A2A 1.0.0 and 1.0.1, section 5.4)."""
    return (
        on(A2aTaskNotFound).responds(404, 'TASK_NOT_FOUND')
        | on(A2aTaskNotCancelable).responds(not_cancelable, 'TASK_NOT_CANCELABLE')
        | on(A2aPushNotSupported).responds(400, 'PUSH_NOTIFICATION_NOT_SUPPORTED')
        | on(A2aUnsupportedOperation).responds(400, 'UNSUPPORTED_OPERATION')
        | on(A2aContentTypeNotSupported).responds(content_type, 'CONTENT_TYPE_NOT_SUPPORTED')
        | on(A2aInvalidAgentResponse).responds(agent_response, 'INVALID_AGENT_RESPONSE')
        | on(A2aExtendedCardNotConfigured).responds(400, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED')
        | on(A2aExtensionRequired).responds(400, 'EXTENSION_SUPPORT_REQUIRED')
        | on(A2aVersionNotSupported).responds(400, 'VERSION_NOT_SUPPORTED')
        | on(AgentCardInvalid).responds(502, 'UPSTREAM_ERROR')
    )


A2A: Mapping[str, Adapter[A2aError, HttpError]] = MappingProxyType(
    {
        '1.0.0': _a2a(not_cancelable=409, content_type=415, agent_response=502),
        '1.0.1': _a2a(not_cancelable=400, content_type=400, agent_response=500),
    }
)
"""By revision of A2A."""

A2A_LATEST = A2A['1.0.1']
