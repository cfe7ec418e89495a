"""What a session is sent of a peer that speaks MCP, LSP or A2A and fails."""

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
from seamwise.seams._phrases import listed
from seamwise.seams.adapter import Adapter
from seamwise.seams.session.on import on
from seamwise.seams.session.shape import ErrorEvent

MCP: Adapter[McpError, ErrorEvent] = (
    on(McpConnectionFailed).publishes('error.connection_lost', 'ERR_CONN_003')
    | on(McpTransportFailed).publishes('error.connection_lost', 'ERR_CONN_004')
    | on(McpServerFailed).publishes('error.permanent', 'ERR_MCP_001', where_retryable='error.transient')
    | on(McpTimedOut).publishes('error.timeout', 'ERR_TIMEOUT_004', timeout_seconds=lambda error: error.timeout)
)

LSP: Adapter[LspError, ErrorEvent] = (
    on(LspNotInitialized).publishes('error.permanent', 'ERR_LSP_001')
    | on(LspRequestFailed).publishes('error.permanent', 'ERR_LSP_002')
    | on(LspContentModified).publishes('error.permanent', 'ERR_LSP_003')
)


def _one_of(supported: tuple[str, ...], otherwise: str) -> str:
    return f'one of {listed(supported, last="or")}' if supported else otherwise


A2A: Adapter[A2aError, ErrorEvent] = (
    on(A2aTaskNotFound).publishes('error.permanent', 'ERR_PEER_001')
    | on(A2aTaskNotCancelable).publishes('error.permanent', 'ERR_PEER_002')
    | on(A2aPushNotSupported).publishes('error.validation', 'ERR_PEER_003', constraint=lambda _: 'no push notifications')
    | on(A2aUnsupportedOperation).publishes(
        'error.validation',
        'ERR_PEER_004',
        constraint=lambda _: 'an operation of this agent',
        provided_value=lambda error: error.operation,
    )
    | on(A2aContentTypeNotSupported).publishes(
        'error.validation',
        'ERR_PEER_005',
        constraint=lambda error: _one_of(error.supported, 'a content type that the agent takes'),
        provided_value=lambda error: error.content_type,
    )
    | on(A2aInvalidAgentResponse).publishes('error.permanent', 'ERR_PEER_006')
    | on(A2aExtendedCardNotConfigured).publishes('error.permanent', 'ERR_PEER_007')
    | on(A2aExtensionRequired).publishes(
        'error.validation', 'ERR_PEER_008', constraint=lambda error: f'the extension {error.extension} is required'
    )
    | on(A2aVersionNotSupported).publishes(
        'error.validation',
        'ERR_PEER_009',
        constraint=lambda error: _one_of(error.supported, 'a version that the agent speaks'),
        provided_value=lambda error: error.version,
    )
    | on(AgentCardInvalid).publishes('error.permanent', 'ERR_PEER_010')
)
