"""JSON-RPC answers of all catalogue errors: one mapping per union, by protocol and revision."""

from __future__ import annotations

from collections.abc import Mapping

from seamwise.seams import catalog
from seamwise.seams.adapter import Adapter
from seamwise.seams.jsonrpc.codes import A2A_REVISIONS, Code, Protocol, Revision
from seamwise.seams.jsonrpc.dialects import by_revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.model import tables as model

ACCESS: Mapping[Revision, Adapter[catalog.access.AccessError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.access.Unauthenticated).fails()
        | dialect.on(catalog.access.AccessDenied).fails()
    )
)


AGENTS: Mapping[Revision, Adapter[catalog.agents.AgentError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.agents.AgentNotFound).fails(model.AGENTS)
        | dialect.on(catalog.agents.CommandNotFound).fails(model.AGENTS)
        | dialect.on(catalog.agents.AgentNotReady).fails(model.AGENTS)
        | dialect.on(catalog.agents.AgentBusy).fails(model.AGENTS)
        | dialect.on(catalog.agents.InvalidTransition).fails(model.AGENTS)
        | dialect.on(catalog.agents.GuardrailsViolated).fails(model.AGENTS)
        | dialect.on(catalog.agents.ContextOverflow).fails(model.AGENTS)
        | dialect.on(catalog.agents.CompressionFailed).fails(model.AGENTS)
        | dialect.on(catalog.agents.AgentFailed).fails(model.AGENTS)
    )
)


GUARDS: Mapping[Revision, Adapter[catalog.policies.GuardError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.policies.RateLimited).fails(model.GUARDS)
        | dialect.on(catalog.policies.CircuitOpen).fails(model.GUARDS)
        | dialect.on(catalog.policies.BulkheadFull).fails(model.GUARDS)
        | dialect.on(catalog.policies.DeadlineExceeded).fails(model.GUARDS)
    )
)


MODELS: Mapping[Revision, Adapter[catalog.models.ModelError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.models.ModelNotFound).fails(model.MODELS)
        | dialect.on(catalog.models.ProviderNotReady).fails(model.MODELS)
        | dialect.on(catalog.models.ProviderUnavailable).fails(model.MODELS)
        | dialect.on(catalog.models.ModelOverloaded).fails(model.MODELS)
        | dialect.on(catalog.models.NoModelAvailable).fails(model.MODELS)
        | dialect.on(catalog.models.InvalidModelRequest).fails(model.MODELS)
        | dialect.on(catalog.models.ContextTooLong).fails(model.MODELS)
        | dialect.on(catalog.models.ContentFiltered).fails(model.MODELS)
        | dialect.on(catalog.models.OutputTruncated).fails(model.MODELS)
        | dialect.on(catalog.models.StructuredOutputInvalid).fails(model.MODELS)
        | dialect.on(catalog.models.QuotaExceeded).fails(model.MODELS)
        | dialect.on(catalog.models.BudgetExceeded).fails(model.MODELS)
        | dialect.on(catalog.models.BatchClosed).fails()
        | dialect.on(catalog.models.BatchFull).fails()
        | dialect.on(catalog.models.BatchTimedOut).fails()
        | dialect.on(catalog.models.CacheMiss).fails()
    )
)


NETWORK: Mapping[Revision, Adapter[catalog.network.NetworkError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.network.HostUnreachable).fails(model.NETWORK)
        | dialect.on(catalog.network.NetworkTimedOut).fails(model.NETWORK)
        | dialect.on(catalog.network.UpstreamRateLimited).fails(model.NETWORK)
        | dialect.on(catalog.network.CredentialsRejected).fails(model.NETWORK)
        | dialect.on(catalog.network.UpstreamFailed).fails(model.NETWORK)
    )
)


PARSING: Mapping[Revision, Adapter[catalog.parsing.ParsingError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.parsing.UnreadableCall).answers(Code.PARSE_ERROR)
        | dialect.on(catalog.parsing.UnknownFormat).answers(Code.INVALID_REQUEST)
        | dialect.on(catalog.parsing.SchemaViolations).answers(Code.INVALID_REQUEST)
    )
)


MCP: Mapping[Revision, Adapter[catalog.protocols.McpError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.protocols.McpConnectionFailed).fails(model.MCP)
        | dialect.on(catalog.protocols.McpTransportFailed).fails(model.MCP)
        | dialect.on(catalog.protocols.McpServerFailed).fails(model.MCP)
        | dialect.on(catalog.protocols.McpTimedOut).fails(model.MCP)
    )
)


LSP: Mapping[Revision, Adapter[catalog.protocols.LspError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.protocols.LspNotInitialized).fails(
            model.LSP, known_as='ServerNotInitialized'
        )
        | dialect.on(catalog.protocols.LspRequestFailed).fails(model.LSP, known_as='RequestFailed')
        | dialect.on(catalog.protocols.LspContentModified).fails(
            model.LSP, known_as='ContentModified'
        )
    )
)


A2A: Mapping[Revision, Adapter[catalog.protocols.A2aError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.protocols.A2aTaskNotFound).fails(model.A2A, known_as='TaskNotFoundError')
        | dialect.on(catalog.protocols.A2aTaskNotCancelable).fails(
            model.A2A, known_as='TaskNotCancelableError'
        )
        | dialect.on(catalog.protocols.A2aPushNotSupported).fails(
            model.A2A, known_as='PushNotificationNotSupportedError'
        )
        | dialect.on(catalog.protocols.A2aUnsupportedOperation).fails(
            model.A2A, known_as='UnsupportedOperationError'
        )
        | dialect.on(catalog.protocols.A2aContentTypeNotSupported).fails(
            model.A2A, known_as='ContentTypeNotSupportedError'
        )
        | dialect.on(catalog.protocols.A2aInvalidAgentResponse).fails(
            model.A2A, known_as='InvalidAgentResponseError'
        )
        | dialect.on(catalog.protocols.A2aExtendedCardNotConfigured).fails(
            model.A2A, known_as='ExtendedAgentCardNotConfiguredError'
        )
        | dialect.on(catalog.protocols.A2aExtensionRequired).fails(
            model.A2A, known_as='ExtensionSupportRequiredError'
        )
        | dialect.on(catalog.protocols.A2aVersionNotSupported).fails(
            model.A2A, known_as='VersionNotSupportedError'
        )
        | dialect.on(catalog.protocols.AgentCardInvalid).fails(
            model.A2A, known_as='InvalidAgentResponseError'
        )
    )
)

A2A_LATEST = A2A[Protocol.A2A, A2A_REVISIONS[-1]]
"""The table of the newest revision of A2A."""


SESSIONS: Mapping[Revision, Adapter[catalog.sessions.SessionError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.sessions.InvalidInput).refuses()
        | dialect.on(catalog.sessions.SessionNotFound).refuses()
        | dialect.on(catalog.sessions.SessionBusy).fails()
        | dialect.on(catalog.sessions.ConnectionLost).hidden()
        | dialect.on(catalog.sessions.ReplayGap).fails()
        | dialect.on(catalog.sessions.UnknownEpoch).refuses()
        | dialect.on(catalog.sessions.AckAhead).refuses()
        | dialect.on(catalog.sessions.RecoveryFailed).fails()
    )
)


STORAGE: Mapping[Revision, Adapter[catalog.storage.StorageError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.storage.RecordNotFound).fails(known_as='ResourceNotFound')
        | dialect.on(catalog.storage.RecordExists).fails()
        | dialect.on(catalog.storage.StoreClosed).fails()
        | dialect.on(catalog.storage.StoreUnavailable).fails()
    )
)


STREAMING: Mapping[Revision, Adapter[catalog.streaming.StreamingError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.streaming.InvalidStream).fails()
        | dialect.on(catalog.streaming.ChunkUnparsable).fails()
        | dialect.on(catalog.streaming.ChunkHandlerFailed).fails()
        | dialect.on(catalog.streaming.StreamAborted).stops()
        | dialect.on(catalog.streaming.UserInterrupted).stops()
        | dialect.on(catalog.streaming.StreamProviderFailed).fails()
        | dialect.on(catalog.streaming.TokenCountFailed).fails()
        | dialect.on(catalog.streaming.BufferFull).fails()
        | dialect.on(catalog.streaming.StreamClosed).fails()
        | dialect.on(catalog.streaming.SlowConsumer).fails()
    )
)


TOOLS: Mapping[Revision, Adapter[catalog.tools.ToolError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.tools.MissingParameter).refuses(
            model.TOOLS, known_as='ArgumentsAgainstTheSchema'
        )
        | dialect.on(catalog.tools.InvalidParameter).refuses(
            model.TOOLS, known_as='ArgumentsAgainstTheSchema'
        )
        | dialect.on(catalog.tools.UnknownTool).refuses(known_as='UnknownTool')
        | dialect.on(catalog.tools.FileNotFound).fails(model.TOOLS)
        | dialect.on(catalog.tools.FileAlreadyExists).fails(model.TOOLS)
        | dialect.on(catalog.tools.PathForbidden).fails(model.TOOLS)
        | dialect.on(catalog.tools.ContentNotFound).fails(model.TOOLS)
        | dialect.on(catalog.tools.ContentMismatch).fails(model.TOOLS, known_as='ContentModified')
        | dialect.on(catalog.tools.DuplicateMatch).fails(model.TOOLS)
        | dialect.on(catalog.tools.CommandTimedOut).fails(model.TOOLS)
        | dialect.on(catalog.tools.CommandFailed).fails(model.TOOLS)
        | dialect.on(catalog.tools.DiffRejected).fails(model.TOOLS)
        | dialect.on(catalog.tools.ToolFailed).fails(model.TOOLS)
        | dialect.on(catalog.tools.ToolTimedOut).fails(model.TOOLS)
        | dialect.on(catalog.tools.ToolCancelled).fails(model.TOOLS, known_as='RequestCancelled')
        | dialect.on(catalog.tools.InvalidResult).fails(model.TOOLS)
        | dialect.on(catalog.tools.RegistrationRejected).hidden()
        | dialect.on(catalog.tools.ResourceExhausted).fails(model.TOOLS)
        | dialect.on(catalog.tools.ToolRepeated).fails(model.TOOLS)
        | dialect.on(catalog.tools.TooManyMistakes).fails(model.TOOLS)
    )
)


WORKSPACE: Mapping[Revision, Adapter[catalog.workspace.WorkspaceError, Answer]] = by_revision(
    lambda dialect: (
        dialect.on(catalog.workspace.ConfigUnreadable).fails(model.WORKSPACE)
        | dialect.on(catalog.workspace.ConfigInvalid).fails(model.WORKSPACE)
        | dialect.on(catalog.workspace.SkillInvalid).fails(model.WORKSPACE)
        | dialect.on(catalog.workspace.SkillNameMismatch).fails(model.WORKSPACE)
        | dialect.on(catalog.workspace.PluginFailed).hidden()
        | dialect.on(catalog.workspace.EditorInstallFailed).hidden()
        | dialect.on(catalog.workspace.NotARepository).fails(model.WORKSPACE)
        | dialect.on(catalog.workspace.WorktreeExists).fails(model.WORKSPACE)
        | dialect.on(catalog.workspace.WorktreeFailed).fails(model.WORKSPACE)
    )
)
