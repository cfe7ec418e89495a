"""What a language model is told where a peer that speaks MCP, LSP or A2A fails."""

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
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.suggestions import protocols as suggest

MCP: Adapter[McpError, Guidance] = (
    on(McpConnectionFailed).guides('protocol_error', suggestion=suggest.mcp_connection_failed)
    | on(McpTransportFailed).guides('protocol_error', suggestion=suggest.mcp_transport_failed)
    | on(McpServerFailed).guides('protocol_error', suggestion=suggest.mcp_server_failed)
    | on(McpTimedOut).guides('protocol_error', suggestion=suggest.mcp_timed_out)
)

LSP: Adapter[LspError, Guidance] = (
    on(LspNotInitialized).guides('protocol_error', suggestion=suggest.lsp_not_initialized)
    | on(LspRequestFailed).guides('protocol_error', suggestion=suggest.lsp_request_failed)
    | on(LspContentModified).guides('protocol_error', suggestion=suggest.lsp_content_modified)
)

A2A: Adapter[A2aError, Guidance] = (
    on(A2aTaskNotFound).guides('protocol_error', suggestion=suggest.task_not_found)
    | on(A2aTaskNotCancelable).guides('protocol_error', suggestion=suggest.task_not_cancelable)
    | on(A2aPushNotSupported).guides('protocol_error', suggestion=suggest.push_not_supported)
    | on(A2aUnsupportedOperation).guides('protocol_error', suggestion=suggest.unsupported_operation)
    | on(A2aContentTypeNotSupported).guides('protocol_error', suggestion=suggest.content_type_not_supported)
    | on(A2aInvalidAgentResponse).guides('protocol_error', suggestion=suggest.invalid_agent_response)
    | on(A2aExtendedCardNotConfigured).guides('protocol_error', suggestion=suggest.EXTENDED_CARD_NOT_CONFIGURED)
    | on(A2aExtensionRequired).guides('protocol_error', suggestion=suggest.extension_required)
    | on(A2aVersionNotSupported).guides('protocol_error', suggestion=suggest.version_not_supported)
    | on(AgentCardInvalid).guides('protocol_error', suggestion=suggest.agent_card_invalid)
)
