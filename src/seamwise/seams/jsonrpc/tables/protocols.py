"""What the failure of a peer that speaks MCP, LSP or A2A is on JSON-RPC: in that protocol an error of its own."""

from collections.abc import Mapping

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
from seamwise.seams.jsonrpc.codes import A2A_REVISIONS, Protocol, Revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.jsonrpc.tables._dialects import Dialect, by_revision
from seamwise.seams.model import tables as model


def _mcp(to: Dialect) -> Adapter[McpError, Answer]:
    return (
        to.on(McpConnectionFailed).fails(model.MCP)
        | to.on(McpTransportFailed).fails(model.MCP)
        | to.on(McpServerFailed).fails(model.MCP)
        | to.on(McpTimedOut).fails(model.MCP)
    )


MCP: Mapping[Revision, Adapter[McpError, Answer]] = by_revision(_mcp)


def _lsp(to: Dialect) -> Adapter[LspError, Answer]:
    return (
        to.on(LspNotInitialized).fails(model.LSP, known_as='ServerNotInitialized')
        | to.on(LspRequestFailed).fails(model.LSP, known_as='RequestFailed')
        | to.on(LspContentModified).fails(model.LSP, known_as='ContentModified')
    )


LSP: Mapping[Revision, Adapter[LspError, Answer]] = by_revision(_lsp)


def _a2a(to: Dialect) -> Adapter[A2aError, Answer]:
    return (
        to.on(A2aTaskNotFound).fails(model.A2A, known_as='TaskNotFoundError')
        | to.on(A2aTaskNotCancelable).fails(model.A2A, known_as='TaskNotCancelableError')
        | to.on(A2aPushNotSupported).fails(model.A2A, known_as='PushNotificationNotSupportedError')
        | to.on(A2aUnsupportedOperation).fails(model.A2A, known_as='UnsupportedOperationError')
        | to.on(A2aContentTypeNotSupported).fails(model.A2A, known_as='ContentTypeNotSupportedError')
        | to.on(A2aInvalidAgentResponse).fails(model.A2A, known_as='InvalidAgentResponseError')
        | to.on(A2aExtendedCardNotConfigured).fails(model.A2A, known_as='ExtendedAgentCardNotConfiguredError')
        | to.on(A2aExtensionRequired).fails(model.A2A, known_as='ExtensionSupportRequiredError')
        | to.on(A2aVersionNotSupported).fails(model.A2A, known_as='VersionNotSupportedError')
        | to.on(AgentCardInvalid).fails(model.A2A, known_as='InvalidAgentResponseError')
    )


A2A: Mapping[Revision, Adapter[A2aError, Answer]] = by_revision(_a2a)

A2A_LATEST = A2A[Protocol.A2A, A2A_REVISIONS[-1]]
