"""Classifications for planners of all catalogue errors: one table per union."""

from __future__ import annotations

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
from seamwise.seams.planner import details
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

ACCESS: Adapter[access.AccessError, ErrorInfo] = Adapter(
    lambda: (
        on(access.Unauthenticated).classifies('CONFIGURATION_ERROR')
        | on(access.AccessDenied).classifies('TOOL_EXECUTION_FAILED')
    )
)


AGENTS: Adapter[agents.AgentError, ErrorInfo] = Adapter(
    lambda: (
        on(agents.AgentNotFound).classifies('TOOL_NOT_FOUND', details=details.unknown_agent_details)
        | on(agents.CommandNotFound).classifies(
            'TOOL_NOT_FOUND', details=details.unknown_command_details
        )
        | on(agents.AgentNotReady).classifies('TOOL_EXECUTION_FAILED')
        | on(agents.AgentBusy).classifies('BULKHEAD_FULL')
        | on(agents.InvalidTransition).classifies('TOOL_ARGUMENT_ERROR')
        | on(agents.GuardrailsViolated).classifies('TOOL_EXECUTION_FAILED')
        | on(agents.ContextOverflow).classifies('TOOL_ARGUMENT_ERROR')
        | on(agents.CompressionFailed).classifies('TOOL_EXECUTION_FAILED')
        | on(agents.AgentFailed).classifies('TOOL_EXECUTION_FAILED')
    )
)


GUARDS: Adapter[policies.GuardError, ErrorInfo] = Adapter(
    lambda: (
        on(policies.RateLimited).classifies('TOOL_RATE_LIMITED', names={'name': 'tool_name'})
        | on(policies.CircuitOpen).classifies(
            'TOOL_CIRCUIT_OPEN',
            names={
                'name': 'tool_name',
                'failures': 'failure_count',
                'retry_after': 'reset_timeout',
            },
        )
        | on(policies.BulkheadFull).classifies(
            'BULKHEAD_FULL', names={'name': 'tool_name', 'scope': 'limit_type', 'waited': 'timeout'}
        )
        | on(policies.DeadlineExceeded).classifies('TOOL_TIMEOUT', names={'name': 'tool_name'})
    )
)


MODELS: Adapter[models.ModelError, ErrorInfo] = Adapter(
    lambda: (
        on(models.ModelNotFound).classifies('TOOL_ARGUMENT_ERROR')
        | on(models.ProviderNotReady).classifies('CONFIGURATION_ERROR')
        | on(models.ProviderUnavailable).classifies('TOOL_EXECUTION_FAILED')
        | on(models.ModelOverloaded).classifies('BULKHEAD_FULL')
        | on(models.NoModelAvailable).classifies('TOOL_EXECUTION_FAILED')
        | on(models.InvalidModelRequest).classifies('TOOL_ARGUMENT_ERROR')
        | on(models.ContextTooLong).classifies('TOOL_ARGUMENT_ERROR')
        | on(models.ContentFiltered).classifies('TOOL_EXECUTION_FAILED')
        | on(models.OutputTruncated).classifies('TOOL_RESULT_ERROR')
        | on(models.StructuredOutputInvalid).classifies('TOOL_EXECUTION_FAILED')
        | on(models.QuotaExceeded).classifies('TOOL_EXECUTION_FAILED')
        | on(models.BudgetExceeded).classifies('TOOL_EXECUTION_FAILED')
        | on(models.BatchClosed).classifies('TOOL_EXECUTION_FAILED')
        | on(models.BatchFull).classifies('BULKHEAD_FULL')
        | on(models.BatchTimedOut).classifies('TOOL_TIMEOUT')
        | on(models.CacheMiss).classifies('TOOL_EXECUTION_FAILED')
    )
)


NETWORK: Adapter[network.NetworkError, ErrorInfo] = Adapter(
    lambda: (
        on(network.HostUnreachable).classifies(
            'MCP_CONNECTION_FAILED', names={'host': 'server_name'}
        )
        | on(network.NetworkTimedOut).classifies('TOOL_TIMEOUT')
        | on(network.UpstreamRateLimited).classifies('TOOL_RATE_LIMITED')
        | on(network.CredentialsRejected).classifies('CONFIGURATION_ERROR')
        | on(network.UpstreamFailed).classifies('TOOL_EXECUTION_FAILED')
    )
)


PARSING: Adapter[parsing.ParsingError, ErrorInfo] = Adapter(
    lambda: (
        on(parsing.UnreadableCall).classifies(
            'PARSER_ERROR', details=details.unreadable_call_details
        )
        | on(parsing.UnknownFormat).classifies(
            'PARSER_INVALID_FORMAT', details=details.unknown_format_details
        )
        | on(parsing.SchemaViolations).classifies(
            'TOOL_VALIDATION_ERROR', details=details.schema_violations_details
        )
    )
)


MCP: Adapter[protocols.McpError, ErrorInfo] = Adapter(
    lambda: (
        on(protocols.McpConnectionFailed).classifies('MCP_CONNECTION_FAILED')
        | on(protocols.McpTransportFailed).classifies('MCP_TRANSPORT_ERROR')
        | on(protocols.McpServerFailed).classifies('MCP_SERVER_ERROR')
        | on(protocols.McpTimedOut).classifies('MCP_TIMEOUT')
    )
)

LSP: Adapter[protocols.LspError, ErrorInfo] = Adapter(
    lambda: (
        on(protocols.LspNotInitialized).classifies('CONFIGURATION_ERROR')
        | on(protocols.LspRequestFailed).classifies('TOOL_EXECUTION_FAILED')
        | on(protocols.LspContentModified).classifies('TOOL_EXECUTION_FAILED')
    )
)

A2A: Adapter[protocols.A2aError, ErrorInfo] = Adapter(
    lambda: (
        on(protocols.A2aTaskNotFound).classifies('TOOL_EXECUTION_FAILED')
        | on(protocols.A2aTaskNotCancelable).classifies('TOOL_EXECUTION_FAILED')
        | on(protocols.A2aPushNotSupported).classifies('TOOL_ARGUMENT_ERROR')
        | on(protocols.A2aUnsupportedOperation).classifies('TOOL_ARGUMENT_ERROR')
        | on(protocols.A2aContentTypeNotSupported).classifies('TOOL_ARGUMENT_ERROR')
        | on(protocols.A2aInvalidAgentResponse).classifies('TOOL_RESULT_ERROR')
        | on(protocols.A2aExtendedCardNotConfigured).classifies('CONFIGURATION_ERROR')
        | on(protocols.A2aExtensionRequired).classifies('TOOL_ARGUMENT_ERROR')
        | on(protocols.A2aVersionNotSupported).classifies('TOOL_ARGUMENT_ERROR')
        | on(protocols.AgentCardInvalid).classifies('CONFIGURATION_ERROR')
    )
)


SESSIONS: Adapter[sessions.SessionError, ErrorInfo] = Adapter(
    lambda: (
        on(
            sessions.InvalidInput
            | sessions.SessionNotFound
            | sessions.SessionBusy
            | sessions.ConnectionLost
            | sessions.ReplayGap
            | sessions.UnknownEpoch
            | sessions.AckAhead
        ).hidden()
        | on(sessions.RecoveryFailed).classifies('TOOL_EXECUTION_FAILED')
    )
)


STORAGE: Adapter[storage.StorageError, ErrorInfo] = Adapter(
    lambda: (
        on(storage.RecordNotFound).classifies('TOOL_EXECUTION_FAILED')
        | on(storage.RecordExists).classifies('TOOL_EXECUTION_FAILED')
        | on(storage.StoreClosed).classifies('TOOL_EXECUTION_FAILED')
        | on(storage.StoreUnavailable).classifies('TOOL_EXECUTION_FAILED')
    )
)


STREAMING: Adapter[streaming.StreamingError, ErrorInfo] = Adapter(
    lambda: on(streaming.StreamingError).hidden()
)


TOOLS: Adapter[tools.ToolError, ErrorInfo] = Adapter(
    lambda: (
        on(tools.MissingParameter).classifies(
            'TOOL_ARGUMENT_ERROR', details=details.missing_parameter_details
        )
        | on(tools.InvalidParameter).classifies(
            'TOOL_ARGUMENT_ERROR', details=details.invalid_parameter_details
        )
        | on(tools.UnknownTool).classifies('TOOL_NOT_FOUND', details=details.unknown_tool_details)
        | on(tools.FileNotFound).classifies('TOOL_EXECUTION_FAILED')
        | on(tools.FileAlreadyExists).classifies('TOOL_EXECUTION_FAILED')
        | on(tools.PathForbidden).classifies('TOOL_EXECUTION_FAILED')
        | on(tools.ContentNotFound).classifies('TOOL_EXECUTION_FAILED')
        | on(tools.ContentMismatch).classifies('TOOL_EXECUTION_FAILED')
        | on(tools.DuplicateMatch).classifies('TOOL_EXECUTION_FAILED')
        | on(tools.CommandTimedOut).classifies('TOOL_TIMEOUT')
        | on(tools.CommandFailed).classifies('TOOL_EXECUTION_FAILED')
        | on(tools.DiffRejected).classifies('TOOL_EXECUTION_FAILED')
        | on(tools.ToolFailed).classifies('TOOL_EXECUTION_FAILED')
        | on(tools.ToolTimedOut).classifies('TOOL_TIMEOUT')
        | on(tools.ToolCancelled).classifies('TOOL_CANCELLED')
        | on(tools.InvalidResult).classifies(
            'TOOL_RESULT_ERROR', details=details.invalid_result_details
        )
        | on(tools.RegistrationRejected).classifies('TOOL_REGISTRATION_FAILED')
        | on(tools.ToolRepeated).classifies('TOOL_VALIDATION_ERROR')
        | on(tools.TooManyMistakes).classifies('TOOL_CANCELLED')
        | on(tools.ResourceExhausted).classifies('RESOURCE_EXHAUSTED')
    )
)


WORKSPACE: Adapter[workspace.WorkspaceError, ErrorInfo] = Adapter(
    lambda: (
        on(workspace.ConfigUnreadable).classifies('CONFIGURATION_ERROR')
        | on(workspace.ConfigInvalid).classifies('CONFIGURATION_ERROR')
        | on(workspace.SkillInvalid).classifies('CONFIGURATION_ERROR')
        | on(workspace.SkillNameMismatch).classifies('CONFIGURATION_ERROR')
        | on(workspace.PluginFailed).classifies('CONFIGURATION_ERROR')
        | on(workspace.EditorInstallFailed).classifies('CONFIGURATION_ERROR')
        | on(workspace.NotARepository).classifies('CONFIGURATION_ERROR')
        | on(workspace.WorktreeExists).classifies('CONFIGURATION_ERROR')
        | on(workspace.WorktreeFailed).classifies('CONFIGURATION_ERROR')
    )
)
