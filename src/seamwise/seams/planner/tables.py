"""Classifications for planners of all catalogue errors: one table per union."""

from __future__ import annotations

from seamwise.seams import catalog
from seamwise.seams.adapter import Adapter
from seamwise.seams.planner import details
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

ACCESS: Adapter[catalog.access.AccessError, ErrorInfo] = Adapter(
    lambda: (
        on(catalog.access.Unauthenticated).classifies('CONFIGURATION_ERROR')
        | on(catalog.access.AccessDenied).classifies('TOOL_EXECUTION_FAILED')
    )
)


AGENTS: Adapter[catalog.agents.AgentError, ErrorInfo] = Adapter(
    lambda: (
        on(catalog.agents.AgentNotFound).classifies(
            'TOOL_NOT_FOUND', details=details.unknown_agent_details
        )
        | on(catalog.agents.CommandNotFound).classifies(
            'TOOL_NOT_FOUND', details=details.unknown_command_details
        )
        | on(catalog.agents.AgentNotReady).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.agents.AgentBusy).classifies('BULKHEAD_FULL')
        | on(catalog.agents.InvalidTransition).classifies('TOOL_ARGUMENT_ERROR')
        | on(catalog.agents.GuardrailsViolated).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.agents.ContextOverflow).classifies('TOOL_ARGUMENT_ERROR')
        | on(catalog.agents.CompressionFailed).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.agents.AgentFailed).classifies('TOOL_EXECUTION_FAILED')
    )
)


GUARDS: Adapter[catalog.policies.GuardError, ErrorInfo] = Adapter(
    lambda: (
        on(catalog.policies.RateLimited).classifies(
            'TOOL_RATE_LIMITED', names={'name': 'tool_name'}
        )
        | on(catalog.policies.CircuitOpen).classifies(
            'TOOL_CIRCUIT_OPEN',
            names={
                'name': 'tool_name',
                'failures': 'failure_count',
                'retry_after': 'reset_timeout',
            },
        )
        | on(catalog.policies.BulkheadFull).classifies(
            'BULKHEAD_FULL', names={'name': 'tool_name', 'scope': 'limit_type', 'waited': 'timeout'}
        )
        | on(catalog.policies.DeadlineExceeded).classifies(
            'TOOL_TIMEOUT', names={'name': 'tool_name'}
        )
    )
)


MODELS: Adapter[catalog.models.ModelError, ErrorInfo] = Adapter(
    lambda: (
        on(catalog.models.ModelNotFound).classifies('TOOL_ARGUMENT_ERROR')
        | on(catalog.models.ProviderNotReady).classifies('CONFIGURATION_ERROR')
        | on(catalog.models.ProviderUnavailable).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.models.ModelOverloaded).classifies('BULKHEAD_FULL')
        | on(catalog.models.NoModelAvailable).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.models.InvalidModelRequest).classifies('TOOL_ARGUMENT_ERROR')
        | on(catalog.models.ContextTooLong).classifies('TOOL_ARGUMENT_ERROR')
        | on(catalog.models.ContentFiltered).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.models.OutputTruncated).classifies('TOOL_RESULT_ERROR')
        | on(catalog.models.StructuredOutputInvalid).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.models.QuotaExceeded).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.models.BudgetExceeded).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.models.BatchClosed).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.models.BatchFull).classifies('BULKHEAD_FULL')
        | on(catalog.models.BatchTimedOut).classifies('TOOL_TIMEOUT')
        | on(catalog.models.CacheMiss).classifies('TOOL_EXECUTION_FAILED')
    )
)


NETWORK: Adapter[catalog.network.NetworkError, ErrorInfo] = Adapter(
    lambda: (
        on(catalog.network.HostUnreachable).classifies(
            'MCP_CONNECTION_FAILED', names={'host': 'server_name'}
        )
        | on(catalog.network.NetworkTimedOut).classifies('TOOL_TIMEOUT')
        | on(catalog.network.UpstreamRateLimited).classifies('TOOL_RATE_LIMITED')
        | on(catalog.network.CredentialsRejected).classifies('CONFIGURATION_ERROR')
        | on(catalog.network.UpstreamFailed).classifies('TOOL_EXECUTION_FAILED')
    )
)


PARSING: Adapter[catalog.parsing.ParsingError, ErrorInfo] = Adapter(
    lambda: (
        on(catalog.parsing.UnreadableCall).classifies(
            'PARSER_ERROR', details=details.unreadable_call_details
        )
        | on(catalog.parsing.UnknownFormat).classifies(
            'PARSER_INVALID_FORMAT', details=details.unknown_format_details
        )
        | on(catalog.parsing.SchemaViolations).classifies(
            'TOOL_VALIDATION_ERROR', details=details.schema_violations_details
        )
    )
)


MCP: Adapter[catalog.protocols.McpError, ErrorInfo] = Adapter(
    lambda: (
        on(catalog.protocols.McpConnectionFailed).classifies('MCP_CONNECTION_FAILED')
        | on(catalog.protocols.McpTransportFailed).classifies('MCP_TRANSPORT_ERROR')
        | on(catalog.protocols.McpServerFailed).classifies('MCP_SERVER_ERROR')
        | on(catalog.protocols.McpTimedOut).classifies('MCP_TIMEOUT')
    )
)

LSP: Adapter[catalog.protocols.LspError, ErrorInfo] = Adapter(
    lambda: (
        on(catalog.protocols.LspNotInitialized).classifies('CONFIGURATION_ERROR')
        | on(catalog.protocols.LspRequestFailed).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.protocols.LspContentModified).classifies('TOOL_EXECUTION_FAILED')
    )
)

A2A: Adapter[catalog.protocols.A2aError, ErrorInfo] = Adapter(
    lambda: (
        on(catalog.protocols.A2aTaskNotFound).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.protocols.A2aTaskNotCancelable).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.protocols.A2aPushNotSupported).classifies('TOOL_ARGUMENT_ERROR')
        | on(catalog.protocols.A2aUnsupportedOperation).classifies('TOOL_ARGUMENT_ERROR')
        | on(catalog.protocols.A2aContentTypeNotSupported).classifies('TOOL_ARGUMENT_ERROR')
        | on(catalog.protocols.A2aInvalidAgentResponse).classifies('TOOL_RESULT_ERROR')
        | on(catalog.protocols.A2aExtendedCardNotConfigured).classifies('CONFIGURATION_ERROR')
        | on(catalog.protocols.A2aExtensionRequired).classifies('TOOL_ARGUMENT_ERROR')
        | on(catalog.protocols.A2aVersionNotSupported).classifies('TOOL_ARGUMENT_ERROR')
        | on(catalog.protocols.AgentCardInvalid).classifies('CONFIGURATION_ERROR')
    )
)


SESSIONS: Adapter[catalog.sessions.SessionError, ErrorInfo] = Adapter(
    lambda: (
        on(
            catalog.sessions.InvalidInput
            | catalog.sessions.SessionNotFound
            | catalog.sessions.SessionBusy
            | catalog.sessions.ConnectionLost
            | catalog.sessions.ReplayGap
            | catalog.sessions.UnknownEpoch
            | catalog.sessions.AckAhead
        ).hidden()
        | on(catalog.sessions.RecoveryFailed).classifies('TOOL_EXECUTION_FAILED')
    )
)


STORAGE: Adapter[catalog.storage.StorageError, ErrorInfo] = Adapter(
    lambda: (
        on(catalog.storage.RecordNotFound).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.storage.RecordExists).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.storage.StoreClosed).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.storage.StoreUnavailable).classifies('TOOL_EXECUTION_FAILED')
    )
)


STREAMING: Adapter[catalog.streaming.StreamingError, ErrorInfo] = Adapter(
    lambda: on(catalog.streaming.StreamingError).hidden()
)


TOOLS: Adapter[catalog.tools.ToolError, ErrorInfo] = Adapter(
    lambda: (
        on(catalog.tools.MissingParameter).classifies(
            'TOOL_ARGUMENT_ERROR', details=details.missing_parameter_details
        )
        | on(catalog.tools.InvalidParameter).classifies(
            'TOOL_ARGUMENT_ERROR', details=details.invalid_parameter_details
        )
        | on(catalog.tools.UnknownTool).classifies(
            'TOOL_NOT_FOUND', details=details.unknown_tool_details
        )
        | on(catalog.tools.FileNotFound).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.tools.FileAlreadyExists).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.tools.PathForbidden).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.tools.ContentNotFound).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.tools.ContentMismatch).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.tools.DuplicateMatch).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.tools.CommandTimedOut).classifies('TOOL_TIMEOUT')
        | on(catalog.tools.CommandFailed).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.tools.DiffRejected).classifies('TOOL_EXECUTION_FAILED')
        | on(catalog.tools.ToolFailed).classifies(
            'TOOL_EXECUTION_FAILED', details=details.tool_failed_details
        )
        | on(catalog.tools.ToolTimedOut).classifies('TOOL_TIMEOUT')
        | on(catalog.tools.ToolCancelled).classifies('TOOL_CANCELLED')
        | on(catalog.tools.InvalidResult).classifies(
            'TOOL_RESULT_ERROR', details=details.invalid_result_details
        )
        | on(catalog.tools.RegistrationRejected).classifies('TOOL_REGISTRATION_FAILED')
        | on(catalog.tools.ToolRepeated).classifies('TOOL_VALIDATION_ERROR')
        | on(catalog.tools.TooManyMistakes).classifies('TOOL_CANCELLED')
        | on(catalog.tools.ResourceExhausted).classifies('RESOURCE_EXHAUSTED')
    )
)


WORKSPACE: Adapter[catalog.workspace.WorkspaceError, ErrorInfo] = Adapter(
    lambda: (
        on(catalog.workspace.ConfigUnreadable).classifies('CONFIGURATION_ERROR')
        | on(catalog.workspace.ConfigInvalid).classifies('CONFIGURATION_ERROR')
        | on(catalog.workspace.SkillInvalid).classifies('CONFIGURATION_ERROR')
        | on(catalog.workspace.SkillNameMismatch).classifies('CONFIGURATION_ERROR')
        | on(catalog.workspace.PluginFailed).classifies('CONFIGURATION_ERROR')
        | on(catalog.workspace.EditorInstallFailed).classifies('CONFIGURATION_ERROR')
        | on(catalog.workspace.NotARepository).classifies('CONFIGURATION_ERROR')
        | on(catalog.workspace.WorktreeExists).classifies('CONFIGURATION_ERROR')
        | on(catalog.workspace.WorktreeFailed).classifies('CONFIGURATION_ERROR')
    )
)
