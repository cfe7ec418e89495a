"""JSON-RPC answers of all catalogue errors: one mapping per union, by protocol and revision."""

from collections.abc import Mapping

from seamwise import policies
from seamwise.catalog import (
    access,
    agents,
    models,
    network,
    parsing,
    protocols,
    sessions,
    storage,
    streaming,
    tools,
    workspace,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.jsonrpc.codes import A2A_REVISIONS, Code, Protocol, Revision
from seamwise.seams.jsonrpc.dialects import Dialect, by_revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.model import tables as model


def _access(to: Dialect) -> Adapter[access.AccessError, Answer]:
    return to.on(access.Unauthenticated).fails() | to.on(access.AccessDenied).fails()


ACCESS: Mapping[Revision, Adapter[access.AccessError, Answer]] = by_revision(_access)


def _agents(to: Dialect) -> Adapter[agents.AgentError, Answer]:
    return (
        to.on(agents.AgentNotFound).fails(model.AGENTS)
        | to.on(agents.CommandNotFound).fails(model.AGENTS)
        | to.on(agents.AgentNotReady).fails(model.AGENTS)
        | to.on(agents.AgentBusy).fails(model.AGENTS)
        | to.on(agents.InvalidTransition).fails(model.AGENTS)
        | to.on(agents.GuardrailsViolated).fails(model.AGENTS)
        | to.on(agents.ContextOverflow).fails(model.AGENTS)
        | to.on(agents.CompressionFailed).fails(model.AGENTS)
    )


AGENTS: Mapping[Revision, Adapter[agents.AgentError, Answer]] = by_revision(_agents)


def _guards(to: Dialect) -> Adapter[policies.GuardError, Answer]:
    return (
        to.on(policies.RateLimited).fails(model.GUARDS)
        | to.on(policies.CircuitOpen).fails(model.GUARDS)
        | to.on(policies.BulkheadFull).fails(model.GUARDS)
        | to.on(policies.DeadlineExceeded).fails(model.GUARDS)
    )


GUARDS: Mapping[Revision, Adapter[policies.GuardError, Answer]] = by_revision(_guards)


def _models(to: Dialect) -> Adapter[models.ModelError, Answer]:
    return (
        to.on(models.ModelNotFound).fails(model.MODELS)
        | to.on(models.ProviderNotReady).fails(model.MODELS)
        | to.on(models.ProviderUnavailable).fails(model.MODELS)
        | to.on(models.ModelOverloaded).fails(model.MODELS)
        | to.on(models.NoModelAvailable).fails(model.MODELS)
        | to.on(models.InvalidModelRequest).fails(model.MODELS)
        | to.on(models.ContextTooLong).fails(model.MODELS)
        | to.on(models.ContentFiltered).fails(model.MODELS)
        | to.on(models.OutputTruncated).fails(model.MODELS)
        | to.on(models.StructuredOutputInvalid).fails(model.MODELS)
        | to.on(models.QuotaExceeded).fails(model.MODELS)
        | to.on(models.BudgetExceeded).fails(model.MODELS)
        | to.on(models.BatchClosed).fails()
        | to.on(models.BatchFull).fails()
        | to.on(models.BatchTimedOut).fails()
        | to.on(models.CacheMiss).fails()
    )


MODELS: Mapping[Revision, Adapter[models.ModelError, Answer]] = by_revision(_models)


def _network(to: Dialect) -> Adapter[network.NetworkError, Answer]:
    return (
        to.on(network.HostUnreachable).fails(model.NETWORK)
        | to.on(network.NetworkTimedOut).fails(model.NETWORK)
        | to.on(network.UpstreamRateLimited).fails(model.NETWORK)
        | to.on(network.CredentialsRejected).fails(model.NETWORK)
        | to.on(network.UpstreamFailed).fails(model.NETWORK)
    )


NETWORK: Mapping[Revision, Adapter[network.NetworkError, Answer]] = by_revision(_network)


def _parsing(to: Dialect) -> Adapter[parsing.ParsingError, Answer]:
    return (
        to.on(parsing.UnreadableCall).answers(Code.PARSE_ERROR)
        | to.on(parsing.UnknownFormat).answers(Code.INVALID_REQUEST)
        | to.on(parsing.SchemaViolations).answers(Code.INVALID_REQUEST)
    )


PARSING: Mapping[Revision, Adapter[parsing.ParsingError, Answer]] = by_revision(_parsing)


def _mcp(to: Dialect) -> Adapter[protocols.McpError, Answer]:
    return (
        to.on(protocols.McpConnectionFailed).fails(model.MCP)
        | to.on(protocols.McpTransportFailed).fails(model.MCP)
        | to.on(protocols.McpServerFailed).fails(model.MCP)
        | to.on(protocols.McpTimedOut).fails(model.MCP)
    )


MCP: Mapping[Revision, Adapter[protocols.McpError, Answer]] = by_revision(_mcp)


def _lsp(to: Dialect) -> Adapter[protocols.LspError, Answer]:
    return (
        to.on(protocols.LspNotInitialized).fails(model.LSP, known_as='ServerNotInitialized')
        | to.on(protocols.LspRequestFailed).fails(model.LSP, known_as='RequestFailed')
        | to.on(protocols.LspContentModified).fails(model.LSP, known_as='ContentModified')
    )


LSP: Mapping[Revision, Adapter[protocols.LspError, Answer]] = by_revision(_lsp)


def _a2a(to: Dialect) -> Adapter[protocols.A2aError, Answer]:
    return (
        to.on(protocols.A2aTaskNotFound).fails(model.A2A, known_as='TaskNotFoundError')
        | to.on(protocols.A2aTaskNotCancelable).fails(model.A2A, known_as='TaskNotCancelableError')
        | to.on(protocols.A2aPushNotSupported).fails(
            model.A2A, known_as='PushNotificationNotSupportedError'
        )
        | to.on(protocols.A2aUnsupportedOperation).fails(
            model.A2A, known_as='UnsupportedOperationError'
        )
        | to.on(protocols.A2aContentTypeNotSupported).fails(
            model.A2A, known_as='ContentTypeNotSupportedError'
        )
        | to.on(protocols.A2aInvalidAgentResponse).fails(
            model.A2A, known_as='InvalidAgentResponseError'
        )
        | to.on(protocols.A2aExtendedCardNotConfigured).fails(
            model.A2A, known_as='ExtendedAgentCardNotConfiguredError'
        )
        | to.on(protocols.A2aExtensionRequired).fails(
            model.A2A, known_as='ExtensionSupportRequiredError'
        )
        | to.on(protocols.A2aVersionNotSupported).fails(
            model.A2A, known_as='VersionNotSupportedError'
        )
        | to.on(protocols.AgentCardInvalid).fails(model.A2A, known_as='InvalidAgentResponseError')
    )


A2A: Mapping[Revision, Adapter[protocols.A2aError, Answer]] = by_revision(_a2a)

A2A_LATEST = A2A[Protocol.A2A, A2A_REVISIONS[-1]]


def _sessions(to: Dialect) -> Adapter[sessions.SessionError, Answer]:
    return (
        to.on(sessions.InvalidInput).refuses()
        | to.on(sessions.SessionNotFound).refuses()
        | to.on(sessions.SessionBusy).fails()
        | to.on(sessions.ConnectionLost).hidden()
        | to.on(sessions.ReplayGap).fails()
        | to.on(sessions.UnknownEpoch).refuses()
        | to.on(sessions.AckAhead).refuses()
        | to.on(sessions.RecoveryFailed).fails()
    )


SESSIONS: Mapping[Revision, Adapter[sessions.SessionError, Answer]] = by_revision(_sessions)


def _storage(to: Dialect) -> Adapter[storage.StorageError, Answer]:
    return (
        to.on(storage.RecordNotFound).fails(known_as='ResourceNotFound')
        | to.on(storage.RecordExists).fails()
        | to.on(storage.StoreClosed).fails()
        | to.on(storage.StoreUnavailable).fails()
    )


STORAGE: Mapping[Revision, Adapter[storage.StorageError, Answer]] = by_revision(_storage)


def _streaming(to: Dialect) -> Adapter[streaming.StreamingError, Answer]:
    return (
        to.on(streaming.InvalidStream).fails()
        | to.on(streaming.ChunkUnparsable).fails()
        | to.on(streaming.ChunkHandlerFailed).fails()
        | to.on(streaming.StreamAborted).stops()
        | to.on(streaming.UserInterrupted).stops()
        | to.on(streaming.StreamProviderFailed).fails()
        | to.on(streaming.TokenCountFailed).fails()
        | to.on(streaming.BufferFull).fails()
        | to.on(streaming.StreamClosed).fails()
        | to.on(streaming.SlowConsumer).fails()
    )


STREAMING: Mapping[Revision, Adapter[streaming.StreamingError, Answer]] = by_revision(_streaming)


def _tools(to: Dialect) -> Adapter[tools.ToolError, Answer]:
    return (
        to.on(tools.MissingParameter).refuses(model.TOOLS, known_as='ArgumentsAgainstTheSchema')
        | to.on(tools.InvalidParameter).refuses(model.TOOLS, known_as='ArgumentsAgainstTheSchema')
        | to.on(tools.UnknownTool).refuses(known_as='UnknownTool')
        | to.on(tools.FileNotFound).fails(model.TOOLS)
        | to.on(tools.FileAlreadyExists).fails(model.TOOLS)
        | to.on(tools.PathForbidden).fails(model.TOOLS)
        | to.on(tools.ContentNotFound).fails(model.TOOLS)
        | to.on(tools.ContentMismatch).fails(model.TOOLS, known_as='ContentModified')
        | to.on(tools.DuplicateMatch).fails(model.TOOLS)
        | to.on(tools.CommandTimedOut).fails(model.TOOLS)
        | to.on(tools.CommandFailed).fails(model.TOOLS)
        | to.on(tools.DiffRejected).fails(model.TOOLS)
        | to.on(tools.ToolFailed).fails(model.TOOLS)
        | to.on(tools.ToolTimedOut).fails(model.TOOLS)
        | to.on(tools.ToolCancelled).fails(model.TOOLS, known_as='RequestCancelled')
        | to.on(tools.InvalidResult).fails(model.TOOLS)
        | to.on(tools.RegistrationRejected).hidden()
        | to.on(tools.ResourceExhausted).fails(model.TOOLS)
        | to.on(tools.ToolRepeated).fails(model.TOOLS)
        | to.on(tools.TooManyMistakes).fails(model.TOOLS)
    )


TOOLS: Mapping[Revision, Adapter[tools.ToolError, Answer]] = by_revision(_tools)


def _workspace(to: Dialect) -> Adapter[workspace.WorkspaceError, Answer]:
    return (
        to.on(workspace.ConfigUnreadable).fails(model.WORKSPACE)
        | to.on(workspace.ConfigInvalid).fails(model.WORKSPACE)
        | to.on(workspace.SkillInvalid).fails(model.WORKSPACE)
        | to.on(workspace.SkillNameMismatch).fails(model.WORKSPACE)
        | to.on(workspace.PluginFailed).hidden()
        | to.on(workspace.EditorInstallFailed).hidden()
        | to.on(workspace.NotARepository).fails(model.WORKSPACE)
        | to.on(workspace.WorktreeExists).fails(model.WORKSPACE)
        | to.on(workspace.WorktreeFailed).fails(model.WORKSPACE)
    )


WORKSPACE: Mapping[Revision, Adapter[workspace.WorkspaceError, Answer]] = by_revision(_workspace)
