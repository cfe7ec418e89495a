"""Guidance for language models about all catalogue errors: one table per union."""

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
from seamwise.seams.model import suggestions
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance

ACCESS: Adapter[access.AccessError, Guidance] = Adapter(
    lambda: (
        on(access.Unauthenticated).guides(
            'execution_error', suggestion=suggestions.suggest_for_unauthenticated, denied=True
        )
        | on(access.AccessDenied).guides(
            'execution_error', suggestion=suggestions.suggest_for_access_denied, denied=True
        )
    )
)


AGENTS: Adapter[agents.AgentError, Guidance] = Adapter(
    lambda: (
        on(agents.AgentNotFound).guides(
            'validation_error',
            suggestion=suggestions.suggest_for_agent_not_found,
            large_fields=('available', 'suggestions'),
        )
        | on(agents.CommandNotFound).guides(
            'validation_error',
            suggestion=suggestions.suggest_for_command_not_found,
            large_fields=('available', 'suggestions'),
        )
        | on(agents.AgentNotReady).guides(
            'availability_error', suggestion=suggestions.suggest_for_agent_not_ready
        )
        | on(agents.AgentBusy).guides(
            'availability_error', suggestion=suggestions.suggest_for_agent_busy
        )
        | on(agents.InvalidTransition).guides(
            'state_error', suggestion=suggestions.suggest_for_invalid_transition
        )
        | on(agents.GuardrailsViolated).guides(
            'content_error', suggestion=suggestions.suggest_for_guardrails_violated, denied=True
        )
        | on(agents.ContextOverflow).guides(
            'state_error', suggestion=suggestions.suggest_for_context_overflow
        )
        | on(agents.CompressionFailed).guides(
            'execution_error', suggestion=suggestions.suggest_for_compression_failed
        )
        | on(agents.AgentFailed).guides(
            'execution_error', suggestion=suggestions.suggest_for_agent_failed
        )
    )
)


GUARDS: Adapter[policies.GuardError, Guidance] = Adapter(
    lambda: (
        on(policies.RateLimited).guides(
            'availability_error', suggestion=suggestions.suggest_for_rate_limited
        )
        | on(policies.CircuitOpen).guides(
            'availability_error', suggestion=suggestions.suggest_for_circuit_open
        )
        | on(policies.BulkheadFull).guides(
            'availability_error', suggestion=suggestions.suggest_for_bulkhead_full
        )
        | on(policies.DeadlineExceeded).guides(
            'availability_error', suggestion=suggestions.suggest_for_deadline_exceeded
        )
    )
)


MODELS: Adapter[models.ModelError, Guidance] = Adapter(
    lambda: (
        on(models.ModelNotFound).guides(
            'validation_error', suggestion=suggestions.suggest_for_model_not_found
        )
        | on(models.ProviderNotReady).guides(
            'availability_error', suggestion=suggestions.suggest_for_provider_not_ready
        )
        | on(models.ProviderUnavailable).guides(
            'availability_error', suggestion=suggestions.suggest_for_provider_unavailable
        )
        | on(models.ModelOverloaded).guides(
            'availability_error', suggestion=suggestions.suggest_for_model_overloaded
        )
        | on(models.NoModelAvailable).guides(
            'availability_error', suggestion=suggestions.suggest_for_no_model_available
        )
        | on(models.InvalidModelRequest).guides(
            'validation_error', suggestion=suggestions.suggest_for_invalid_model_request
        )
        | on(models.ContextTooLong).guides(
            'validation_error', suggestion=suggestions.suggest_for_context_too_long
        )
        | on(models.ContentFiltered).guides(
            'content_error', suggestion=suggestions.suggest_for_content_filtered, denied=True
        )
        | on(models.OutputTruncated).guides(
            'content_error', suggestion=suggestions.suggest_for_output_truncated
        )
        | on(models.StructuredOutputInvalid).guides(
            'validation_error', suggestion=suggestions.suggest_for_structured_output_invalid
        )
        | on(models.QuotaExceeded).guides(
            'availability_error', suggestion=suggestions.suggest_for_quota_exceeded
        )
        | on(models.BudgetExceeded).guides(
            'availability_error', suggestion=suggestions.suggest_for_budget_exceeded
        )
        | on(models.BatchClosed).hidden()
        | on(models.BatchFull).hidden()
        | on(models.BatchTimedOut).hidden()
        | on(models.CacheMiss).hidden()
    )
)


NETWORK: Adapter[network.NetworkError, Guidance] = Adapter(
    lambda: (
        on(network.HostUnreachable).guides(
            'availability_error', suggestion=suggestions.HOST_UNREACHABLE
        )
        | on(network.NetworkTimedOut).guides(
            'availability_error', suggestion=suggestions.suggest_for_network_timed_out
        )
        | on(network.UpstreamRateLimited).guides(
            'availability_error', suggestion=suggestions.suggest_for_upstream_rate_limited
        )
        | on(network.CredentialsRejected).guides(
            'availability_error', suggestion=suggestions.suggest_for_credentials_rejected
        )
        | on(network.UpstreamFailed).guides(
            'availability_error', suggestion=suggestions.suggest_for_upstream_failed
        )
    )
)


PARSING: Adapter[parsing.ParsingError, Guidance] = Adapter(
    lambda: (
        on(parsing.UnreadableCall).guides(
            'protocol_error', suggestion=suggestions.suggest_for_unreadable_call
        )
        | on(parsing.UnknownFormat).guides('protocol_error', suggestion=suggestions.UNKNOWN_FORMAT)
        | on(parsing.SchemaViolations).guides(
            'protocol_error', suggestion=suggestions.suggest_for_schema_violations
        )
    )
)


MCP: Adapter[protocols.McpError, Guidance] = Adapter(
    lambda: (
        on(protocols.McpConnectionFailed).guides(
            'protocol_error', suggestion=suggestions.suggest_for_mcp_connection_failed
        )
        | on(protocols.McpTransportFailed).guides(
            'protocol_error', suggestion=suggestions.suggest_for_mcp_transport_failed
        )
        | on(protocols.McpServerFailed).guides(
            'protocol_error', suggestion=suggestions.suggest_for_mcp_server_failed
        )
        | on(protocols.McpTimedOut).guides(
            'protocol_error', suggestion=suggestions.suggest_for_mcp_timed_out
        )
    )
)

LSP: Adapter[protocols.LspError, Guidance] = Adapter(
    lambda: (
        on(protocols.LspNotInitialized).guides(
            'protocol_error', suggestion=suggestions.suggest_for_lsp_not_initialized
        )
        | on(protocols.LspRequestFailed).guides(
            'protocol_error', suggestion=suggestions.suggest_for_lsp_request_failed
        )
        | on(protocols.LspContentModified).guides(
            'protocol_error', suggestion=suggestions.suggest_for_lsp_content_modified
        )
    )
)

A2A: Adapter[protocols.A2aError, Guidance] = Adapter(
    lambda: (
        on(protocols.A2aTaskNotFound).guides(
            'protocol_error', suggestion=suggestions.suggest_for_task_not_found
        )
        | on(protocols.A2aTaskNotCancelable).guides(
            'protocol_error', suggestion=suggestions.suggest_for_task_not_cancelable
        )
        | on(protocols.A2aPushNotSupported).guides(
            'protocol_error', suggestion=suggestions.suggest_for_push_not_supported
        )
        | on(protocols.A2aUnsupportedOperation).guides(
            'protocol_error', suggestion=suggestions.suggest_for_unsupported_operation
        )
        | on(protocols.A2aContentTypeNotSupported).guides(
            'protocol_error', suggestion=suggestions.suggest_for_content_type_not_supported
        )
        | on(protocols.A2aInvalidAgentResponse).guides(
            'protocol_error', suggestion=suggestions.suggest_for_invalid_agent_response
        )
        | on(protocols.A2aExtendedCardNotConfigured).guides(
            'protocol_error', suggestion=suggestions.EXTENDED_CARD_NOT_CONFIGURED
        )
        | on(protocols.A2aExtensionRequired).guides(
            'protocol_error', suggestion=suggestions.suggest_for_extension_required
        )
        | on(protocols.A2aVersionNotSupported).guides(
            'protocol_error', suggestion=suggestions.suggest_for_version_not_supported
        )
        | on(protocols.AgentCardInvalid).guides(
            'protocol_error', suggestion=suggestions.suggest_for_agent_card_invalid
        )
    )
)


SESSIONS: Adapter[sessions.SessionError, Guidance] = Adapter(
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
        | on(sessions.RecoveryFailed).guides(
            'execution_error', suggestion=suggestions.suggest_for_recovery_failed
        )
    )
)


STORAGE: Adapter[storage.StorageError, Guidance] = Adapter(
    lambda: (
        on(storage.RecordNotFound).guides(
            'content_error', suggestion=suggestions.suggest_for_record_not_found
        )
        | on(storage.RecordExists).guides(
            'content_error', suggestion=suggestions.suggest_for_record_exists
        )
        | on(storage.StoreClosed).guides(
            'availability_error', suggestion=suggestions.suggest_for_store_closed
        )
        | on(storage.StoreUnavailable).guides(
            'availability_error', suggestion=suggestions.suggest_for_store_unavailable
        )
    )
)


STREAMING: Adapter[streaming.StreamingError, Guidance] = Adapter(
    lambda: (
        on(
            streaming.InvalidStream
            | streaming.ChunkUnparsable
            | streaming.ChunkHandlerFailed
            | streaming.StreamAborted
            | streaming.StreamProviderFailed
            | streaming.TokenCountFailed
            | streaming.BufferFull
            | streaming.StreamClosed
            | streaming.SlowConsumer
        ).hidden()
        | on(streaming.UserInterrupted).guides(
            'state_error', suggestion=suggestions.suggest_for_user_interrupted
        )
    )
)


TOOLS: Adapter[tools.ToolError, Guidance] = Adapter(
    lambda: (
        on(tools.MissingParameter).guides(
            'validation_error', suggestion=suggestions.suggest_for_missing_parameter
        )
        | on(tools.InvalidParameter).guides(
            'validation_error', suggestion=suggestions.suggest_for_invalid_parameter
        )
        | on(tools.UnknownTool).guides(
            'validation_error',
            suggestion=suggestions.suggest_for_unknown_tool,
            large_fields=('available', 'suggestions'),
        )
        | on(tools.FileNotFound).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_file_not_found
        )
        | on(tools.FileAlreadyExists).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_file_already_exists
        )
        | on(tools.PathForbidden).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_path_forbidden, denied=True
        )
        | on(tools.ContentNotFound).guides(
            'content_error', suggestion=suggestions.suggest_for_content_not_found
        )
        | on(tools.ContentMismatch).guides(
            'content_error', suggestion=suggestions.suggest_for_content_mismatch
        )
        | on(tools.DuplicateMatch).guides(
            'content_error', suggestion=suggestions.suggest_for_duplicate_match
        )
        | on(tools.CommandTimedOut).guides(
            'execution_error', suggestion=suggestions.suggest_for_command_timed_out
        )
        | on(tools.CommandFailed).guides(
            'execution_error', suggestion=suggestions.suggest_for_command_failed
        )
        | on(tools.DiffRejected).guides(
            'execution_error',
            suggestion=suggestions.suggest_for_diff_rejected,
            output=suggestions.rejected_hunks_output,
        )
        | on(tools.ToolFailed).guides(
            'execution_error', suggestion=suggestions.suggest_for_tool_failed
        )
        | on(tools.ToolTimedOut).guides(
            'execution_error', suggestion=suggestions.suggest_for_tool_timed_out
        )
        | on(tools.ToolCancelled).guides(
            'execution_error', suggestion=suggestions.suggest_for_tool_cancelled
        )
        | on(tools.InvalidResult).guides('execution_error', suggestion=suggestions.TOOL_FAULT)
        | on(tools.RegistrationRejected).hidden()
        | on(tools.ToolRepeated).guides(
            'state_error', suggestion=suggestions.suggest_for_tool_repeated
        )
        | on(tools.TooManyMistakes).guides('state_error', suggestion=suggestions.TOO_MANY_MISTAKES)
        | on(tools.ResourceExhausted).guides(
            'availability_error', suggestion=suggestions.RESOURCE_EXHAUSTED
        )
    )
)


WORKSPACE: Adapter[workspace.WorkspaceError, Guidance] = Adapter(
    lambda: (
        on(workspace.ConfigUnreadable).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_config_unreadable
        )
        | on(workspace.ConfigInvalid).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_config_invalid
        )
        | on(workspace.SkillInvalid).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_skill_invalid
        )
        | on(workspace.SkillNameMismatch).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_skill_name_mismatch
        )
        | on(workspace.PluginFailed).hidden()
        | on(workspace.EditorInstallFailed).hidden()
        | on(workspace.NotARepository).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_not_a_repository
        )
        | on(workspace.WorktreeExists).guides(
            'state_error', suggestion=suggestions.suggest_for_worktree_exists
        )
        | on(workspace.WorktreeFailed).guides(
            'execution_error', suggestion=suggestions.suggest_for_worktree_failed
        )
    )
)
