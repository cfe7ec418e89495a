"""What a peer that speaks MCP, LSP or A2A and fails is to a planner."""

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
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

MCP: Adapter[McpError, ErrorInfo] = (
    on(McpConnectionFailed).classifies('MCP_CONNECTION_FAILED')
    | on(McpTransportFailed).classifies('MCP_TRANSPORT_ERROR')
    | on(McpServerFailed).classifies('MCP_SERVER_ERROR')
    | on(McpTimedOut).classifies('MCP_TIMEOUT')
)

LSP: Adapter[LspError, ErrorInfo] = (
    on(LspNotInitialized).classifies('CONFIGURATION_ERROR')
    | on(LspRequestFailed).classifies('TOOL_EXECUTION_FAILED')
    | on(LspContentModified).classifies('TOOL_EXECUTION_FAILED')
)

A2A: Adapter[A2aError, ErrorInfo] = (
    on(A2aTaskNotFound).classifies('TOOL_EXECUTION_FAILED')
    | on(A2aTaskNotCancelable).classifies('TOOL_EXECUTION_FAILED')
    | on(A2aPushNotSupported).classifies('TOOL_ARGUMENT_ERROR')
    | on(A2aUnsupportedOperation).classifies('TOOL_ARGUMENT_ERROR')
    | on(A2aContentTypeNotSupported).classifies('TOOL_ARGUMENT_ERROR')
    | on(A2aInvalidAgentResponse).classifies('TOOL_RESULT_ERROR')
    | on(A2aExtendedCardNotConfigured).classifies('CONFIGURATION_ERROR')
    | on(A2aExtensionRequired).classifies('TOOL_ARGUMENT_ERROR')
    | on(A2aVersionNotSupported).classifies('TOOL_ARGUMENT_ERROR')
    | on(AgentCardInvalid).classifies('CONFIGURATION_ERROR')
)
