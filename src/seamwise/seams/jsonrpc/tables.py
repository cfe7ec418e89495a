"""JSON-RPC answers of all catalogue errors: one mapping per union, by protocol and revision."""

from __future__ import annotations

from collections.abc import Mapping

from seamwise.seams.adapter import Adapter
from seamwise.seams.catalog import (
    access,
    agents,
    models,
    network,
    parsing,
    policies,
    protocols,
    sessions,
    storage,
    streaming,
    tools,
    workspace,
)
from seamwise.seams.jsonrpc.codes import A2A_REVISIONS, Code, Protocol, Revision
from seamwise.seams.jsonrpc.dialects import Dialect, by_revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.model import tables as model


def _access(dialect: Dialect) -> Adapter[access.AccessError, Answer]:
    return dialect.on(access.Unauthenticated).fails() | dialect.on(access.AccessDenied).fails()


ACCESS: Mapping[Revision, Adapter[access.AccessError, Answer]] = by_revision(_access)


def _agents(dialect: Dialect) -> Adapter[agents.AgentError, Answer]:
    return (
        dialect.on(agents.AgentNotFound).fails(model.AGENTS)
        | dialect.on(agents.CommandNotFound).fails(model.AGENTS)
        | dialect.on(agents.AgentNotReady).fails(model.AGENTS)
        | dialect.on(agents.AgentBusy).fails(model.AGENTS)
        | dialect.on(agents.InvalidTransition).fails(model.AGENTS)
        | dialect.on(agents.GuardrailsViolated).fails(model.AGENTS)
        | dialect.on(agents.ContextOverflow).fails(model.AGENTS)
        | dialect.on(agents.CompressionFailed).fails(model.AGENTS)
        | dialect.on(agents.AgentFailed).fails(model.AGENTS)
    )


AGENTS: Mapping[Revision, Adapter[agents.AgentError, Answer]] = by_revision(_agents)


def _guards(dialect: Dialect) -> Adapter[policies.GuardError, Answer]:
    return (
        dialect.on(policies.RateLimited).fails(model.GUARDS)
        | dialect.on(policies.CircuitOpen).fails(model.GUARDS)
        | dialect.on(policies.BulkheadFull).fails(model.GUARDS)
        | dialect.on(policies.DeadlineExceeded).fails(model.GUARDS)
    )


GUARDS: Mapping[Revision, Adapter[policies.GuardError, Answer]] = by_revision(_guards)


def _models(dialect: Dialect) -> Adapter[models.ModelError, Answer]:
    return (
        dialect.on(models.ModelNotFound).fails(model.MODELS)
        | dialect.on(models.ProviderNotReady).fails(model.MODELS)
        | dialect.on(models.ProviderUnavailable).fails(model.MODELS)
        | dialect.on(models.ModelOverloaded).fails(model.MODELS)
        | dialect.on(models.NoModelAvailable).fails(model.MODELS)
        | dialect.on(models.InvalidModelRequest).fails(model.MODELS)
        | dialect.on(models.ContextTooLong).fails(model.MODELS)
        | dialect.on(models.ContentFiltered).fails(model.MODELS)
        | dialect.on(models.OutputTruncated).fails(model.MODELS)
        | dialect.on(models.StructuredOutputInvalid).fails(model.MODELS)
        | dialect.on(models.QuotaExceeded).fails(model.MODELS)
        | dialect.on(models.BudgetExceeded).fails(model.MODELS)
        | dialect.on(models.BatchClosed).fails()
        | dialect.on(models.BatchFull).fails()
        | dialect.on(models.BatchTimedOut).fails()
        | dialect.on(models.CacheMiss).fails()
    )


MODELS: Mapping[Revision, Adapter[models.ModelError, Answer]] = by_revision(_models)


def _network(dialect: Dialect) -> Adapter[network.NetworkError, Answer]:
    return (
        dialect.on(network.HostUnreachable).fails(model.NETWORK)
        | dialect.on(network.NetworkTimedOut).fails(model.NETWORK)
        | dialect.on(network.UpstreamRateLimited).fails(model.NETWORK)
        | dialect.on(network.CredentialsRejected).fails(model.NETWORK)
        | dialect.on(network.UpstreamFailed).fails(model.NETWORK)
    )


NETWORK: Mapping[Revision, Adapter[network.NetworkError, Answer]] = by_revision(_network)


def _parsing(dialect: Dialect) -> Adapter[parsing.ParsingError, Answer]:
    return (
        dialect.on(parsing.UnreadableCall).answers(Code.PARSE_ERROR)
        | dialect.on(parsing.UnknownFormat).answers(Code.INVALID_REQUEST)
        | dialect.on(parsing.SchemaViolations).answers(Code.INVALID_REQUEST)
    )


PARSING: Mapping[Revision, Adapter[parsing.ParsingError, Answer]] = by_revision(_parsing)


def _mcp(dialect: Dialect) -> Adapter[protocols.McpError, Answer]:
    return (
        dialect.on(protocols.McpConnectionFailed).fails(model.MCP)
        | dialect.on(protocols.McpTransportFailed).fails(model.MCP)
        | dialect.on(protocols.McpServerFailed).fails(model.MCP)
        | dialect.on(protocols.McpTimedOut).fails(model.MCP)
    )


MCP: Mapping[Revision, Adapter[protocols.McpError, Answer]] = by_revision(_mcp)


def _lsp(dialect: Dialect) -> Adapter[protocols.LspError, Answer]:
    return (
        dialect.on(protocols.LspNotInitialized).fails(model.LSP, known_as='ServerNotInitialized')
        | dialect.on(protocols.LspRequestFailed).fails(model.LSP, known_as='RequestFailed')
        | dialect.on(protocols.LspContentModified).fails(model.LSP, known_as='ContentModified')
    )


LSP: Mapping[Revision, Adapter[protocols.LspError, Answer]] = by_revision(_lsp)


def _a2a(dialect: Dialect) -> Adapter[protocols.A2aError, Answer]:
    return (
        dialect.on(protocols.A2aTaskNotFound).fails(model.A2A, known_as='TaskNotFoundError')
        | dialect.on(protocols.A2aTaskNotCancelable).fails(
            model.A2A, known_as='TaskNotCancelableError'
        )
        | dialect.on(protocols.A2aPushNotSupported).fails(
            model.A2A, known_as='PushNotificationNotSupportedError'
        )
        | dialect.on(protocols.A2aUnsupportedOperation).fails(
            model.A2A, known_as='UnsupportedOperationError'
        )
        | dialect.on(protocols.A2aContentTypeNotSupported).fails(
            model.A2A, known_as='ContentTypeNotSupportedError'
        )
        | dialect.on(protocols.A2aInvalidAgentResponse).fails(
            model.A2A, known_as='InvalidAgentResponseError'
        )
        | dialect.on(protocols.A2aExtendedCardNotConfigured).fails(
            model.A2A, known_as='ExtendedAgentCardNotConfiguredError'
        )
        | dialect.on(protocols.A2aExtensionRequired).fails(
            model.A2A, known_as='ExtensionSupportRequiredError'
        )
        | dialect.on(protocols.A2aVersionNotSupported).fails(
            model.A2A, known_as='VersionNotSupportedError'
        )
        | dialect.on(protocols.AgentCardInvalid).fails(
            model.A2A, known_as='InvalidAgentResponseError'
        )
    )


A2A: Mapping[Revision, Adapter[protocols.A2aError, Answer]] = by_revision(_a2a)

A2A_LATEST = A2A[Protocol.A2A, A2A_REVISIONS[-1]]
"""The table of the newest revision of A2A."""


def _sessions(dialect: Dialect) -> Adapter[sessions.SessionError, Answer]:
    return (
        dialect.on(sessions.InvalidInput).refuses()
        | dialect.on(sessions.SessionNotFound).refuses()
        | dialect.on(sessions.SessionBusy).fails()
        | dialect.on(sessions.ConnectionLost).hidden()
        | dialect.on(sessions.ReplayGap).fails()
        | dialect.on(sessions.UnknownEpoch).refuses()
        | dialect.on(sessions.AckAhead).refuses()
        | dialect.on(sessions.RecoveryFailed).fails()
    )


SESSIONS: Mapping[Revision, Adapter[sessions.SessionError, Answer]] = by_revision(_sessions)


def _storage(dialect: Dialect) -> Adapter[storage.StorageError, Answer]:
    return (
        dialect.on(storage.RecordNotFound).fails(known_as='ResourceNotFound')
        | dialect.on(storage.RecordExists).fails()
        | dialect.on(storage.StoreClosed).fails()
        | dialect.on(storage.StoreUnavailable).fails()
    )


STORAGE: Mapping[Revision, Adapter[storage.StorageError, Answer]] = by_revision(_storage)


def _streaming(dialect: Dialect) -> Adapter[streaming.StreamingError, Answer]:
    return (
        dialect.on(streaming.InvalidStream).fails()
        | dialect.on(streaming.ChunkUnparsable).fails()
        | dialect.on(streaming.ChunkHandlerFailed).fails()
        | dialect.on(streaming.StreamAborted).stops()
        | dialect.on(streaming.UserInterrupted).stops()
        | dialect.on(streaming.StreamProviderFailed).fails()
        | dialect.on(streaming.TokenCountFailed).fails()
        | dialect.on(streaming.BufferFull).fails()
        | dialect.on(streaming.StreamClosed).fails()
        | dialect.on(streaming.SlowConsumer).fails()
    )


STREAMING: Mapping[Revision, Adapter[streaming.StreamingError, Answer]] = by_revision(_streaming)


def _tools(dialect: Dialect) -> Adapter[tools.ToolError, Answer]:
    return (
        dialect.on(tools.MissingParameter).refuses(
            model.TOOLS, known_as='ArgumentsAgainstTheSchema'
        )
        | dialect.on(tools.InvalidParameter).refuses(
            model.TOOLS, known_as='ArgumentsAgainstTheSchema'
        )
        | dialect.on(tools.UnknownTool).refuses(known_as='UnknownTool')
        | dialect.on(tools.FileNotFound).fails(model.TOOLS)
        | dialect.on(tools.FileAlreadyExists).fails(model.TOOLS)
        | dialect.on(tools.PathForbidden).fails(model.TOOLS)
        | dialect.on(tools.ContentNotFound).fails(model.TOOLS)
        | dialect.on(tools.ContentMismatch).fails(model.TOOLS, known_as='ContentModified')
        | dialect.on(tools.DuplicateMatch).fails(model.TOOLS)
        | dialect.on(tools.CommandTimedOut).fails(model.TOOLS)
        | dialect.on(tools.CommandFailed).fails(model.TOOLS)
        | dialect.on(tools.DiffRejected).fails(model.TOOLS)
        | dialect.on(tools.ToolFailed).fails(model.TOOLS)
        | dialect.on(tools.ToolTimedOut).fails(model.TOOLS)
        | dialect.on(tools.ToolCancelled).fails(model.TOOLS, known_as='RequestCancelled')
        | dialect.on(tools.InvalidResult).fails(model.TOOLS)
        | dialect.on(tools.RegistrationRejected).hidden()
        | dialect.on(tools.ResourceExhausted).fails(model.TOOLS)
        | dialect.on(tools.ToolRepeated).fails(model.TOOLS)
        | dialect.on(tools.TooManyMistakes).fails(model.TOOLS)
    )


TOOLS: Mapping[Revision, Adapter[tools.ToolError, Answer]] = by_revision(_tools)


def _workspace(dialect: Dialect) -> Adapter[workspace.WorkspaceError, Answer]:
    return (
        dialect.on(workspace.ConfigUnreadable).fails(model.WORKSPACE)
        | dialect.on(workspace.ConfigInvalid).fails(model.WORKSPACE)
        | dialect.on(workspace.SkillInvalid).fails(model.WORKSPACE)
        | dialect.on(workspace.SkillNameMismatch).fails(model.WORKSPACE)
        | dialect.on(workspace.PluginFailed).hidden()
        | dialect.on(workspace.EditorInstallFailed).hidden()
        | dialect.on(workspace.NotARepository).fails(model.WORKSPACE)
        | dialect.on(workspace.WorktreeExists).fails(model.WORKSPACE)
        | dialect.on(workspace.WorktreeFailed).fails(model.WORKSPACE)
    )


WORKSPACE: Mapping[Revision, Adapter[workspace.WorkspaceError, Answer]] = by_revision(_workspace)
