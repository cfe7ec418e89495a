"""Guidance for language models about all catalogue errors: one table per union."""

from __future__ import annotations

from seamwise.seams import catalog
from seamwise.seams.adapter import Adapter
from seamwise.seams.model import suggestions
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance

ACCESS: Adapter[catalog.access.AccessError, Guidance] = Adapter(
    lambda: (
        on(catalog.access.Unauthenticated).guides(
            'execution_error', suggestion=suggestions.suggest_for_unauthenticated, denied=True
        )
        | on(catalog.access.AccessDenied).guides(
            'execution_error', suggestion=suggestions.suggest_for_access_denied, denied=True
        )
    )
)


AGENTS: Adapter[catalog.agents.AgentError, Guidance] = Adapter(
    lambda: (
        on(catalog.agents.AgentNotFound).guides(
            'validation_error',
            suggestion=suggestions.suggest_for_agent_not_found,
            large_fields=('available', 'suggestions'),
        )
        | on(catalog.agents.CommandNotFound).guides(
            'validation_error',
            suggestion=suggestions.suggest_for_command_not_found,
            large_fields=('available', 'suggestions'),
        )
        | on(catalog.agents.AgentNotReady).guides(
            'availability_error', suggestion=suggestions.suggest_for_agent_not_ready
        )
        | on(catalog.agents.AgentBusy).guides(
            'availability_error', suggestion=suggestions.suggest_for_agent_busy
        )
        | on(catalog.agents.InvalidTransition).guides(
            'state_error', suggestion=suggestions.suggest_for_invalid_transition
        )
        | on(catalog.agents.GuardrailsViolated).guides(
            'content_error', suggestion=suggestions.suggest_for_guardrails_violated, denied=True
        )
        | on(catalog.agents.ContextOverflow).guides(
            'state_error', suggestion=suggestions.suggest_for_context_overflow
        )
        | on(catalog.agents.CompressionFailed).guides(
            'execution_error', suggestion=suggestions.suggest_for_compression_failed
        )
        | on(catalog.agents.AgentFailed).guides(
            'execution_error', suggestion=suggestions.suggest_for_agent_failed
        )
    )
)


GUARDS: Adapter[catalog.policies.GuardError, Guidance] = Adapter(
    lambda: (
        on(catalog.policies.RateLimited).guides(
            'availability_error', suggestion=suggestions.suggest_for_rate_limited
        )
        | on(catalog.policies.CircuitOpen).guides(
            'availability_error', suggestion=suggestions.suggest_for_circuit_open
        )
        | on(catalog.policies.BulkheadFull).guides(
            'availability_error', suggestion=suggestions.suggest_for_bulkhead_full
        )
        | on(catalog.policies.DeadlineExceeded).guides(
            'availability_error', suggestion=suggestions.suggest_for_deadline_exceeded
        )
    )
)


MODELS: Adapter[catalog.models.ModelError, Guidance] = Adapter(
    lambda: (
        on(catalog.models.ModelNotFound).guides(
            'validation_error', suggestion=suggestions.suggest_for_model_not_found
        )
        | on(catalog.models.ProviderNotReady).guides(
            'availability_error', suggestion=suggestions.suggest_for_provider_not_ready
        )
        | on(catalog.models.ProviderUnavailable).guides(
            'availability_error', suggestion=suggestions.suggest_for_provider_unavailable
        )
        | on(catalog.models.ModelOverloaded).guides(
            'availability_error', suggestion=suggestions.suggest_for_model_overloaded
        )
        | on(catalog.models.NoModelAvailable).guides(
            'availability_error', suggestion=suggestions.suggest_for_no_model_available
        )
        | on(catalog.models.InvalidModelRequest).guides(
            'validation_error', suggestion=suggestions.suggest_for_invalid_model_request
        )
        | on(catalog.models.ContextTooLong).guides(
            'validation_error', suggestion=suggestions.suggest_for_context_too_long
        )
        | on(catalog.models.ContentFiltered).guides(
            'content_error', suggestion=suggestions.suggest_for_content_filtered, denied=True
        )
        | on(catalog.models.OutputTruncated).guides(
            'content_error', suggestion=suggestions.suggest_for_output_truncated
        )
        | on(catalog.models.StructuredOutputInvalid).guides(
            'validation_error', suggestion=suggestions.suggest_for_structured_output_invalid
        )
        | on(catalog.models.QuotaExceeded).guides(
            'availability_error', suggestion=suggestions.suggest_for_quota_exceeded
        )
        | on(catalog.models.BudgetExceeded).guides(
            'availability_error', suggestion=suggestions.suggest_for_budget_exceeded
        )
        | on(catalog.models.BatchClosed).hidden()
        | on(catalog.models.BatchFull).hidden()
        | on(catalog.models.BatchTimedOut).hidden()
        | on(catalog.models.CacheMiss).hidden()
    )
)


NETWORK: Adapter[catalog.network.NetworkError, Guidance] = Adapter(
    lambda: (
        on(catalog.network.HostUnreachable).guides(
            'availability_error', suggestion=suggestions.HOST_UNREACHABLE
        )
        | on(catalog.network.NetworkTimedOut).guides(
            'availability_error', suggestion=suggestions.suggest_for_network_timed_out
        )
        | on(catalog.network.UpstreamRateLimited).guides(
            'availability_error', suggestion=suggestions.suggest_for_upstream_rate_limited
        )
        | on(catalog.network.CredentialsRejected).guides(
            'availability_error', suggestion=suggestions.suggest_for_credentials_rejected
        )
        | on(catalog.network.UpstreamFailed).guides(
            'availability_error', suggestion=suggestions.suggest_for_upstream_failed
        )
    )
)


PARSING: Adapter[catalog.parsing.ParsingError, Guidance] = Adapter(
    lambda: (
        on(catalog.parsing.UnreadableCall).guides(
            'protocol_error', suggestion=suggestions.suggest_for_unreadable_call
        )
        | on(catalog.parsing.UnknownFormat).guides(
            'protocol_error', suggestion=suggestions.UNKNOWN_FORMAT
        )
        | on(catalog.parsing.SchemaViolations).guides(
            'protocol_error', suggestion=suggestions.suggest_for_schema_violations
        )
    )
)


MCP: Adapter[catalog.protocols.McpError, Guidance] = Adapter(
    lambda: (
        on(catalog.protocols.McpConnectionFailed).guides(
            'protocol_error', suggestion=suggestions.suggest_for_mcp_connection_failed
        )
        | on(catalog.protocols.McpTransportFailed).guides(
            'protocol_error', suggestion=suggestions.suggest_for_mcp_transport_failed
        )
        | on(catalog.protocols.McpServerFailed).guides(
            'protocol_error', suggestion=suggestions.suggest_for_mcp_server_failed
        )
        | on(catalog.protocols.McpTimedOut).guides(
            'protocol_error', suggestion=suggestions.suggest_for_mcp_timed_out
        )
    )
)

LSP: Adapter[catalog.protocols.LspError, Guidance] = Adapter(
    lambda: (
        on(catalog.protocols.LspNotInitialized).guides(
            'protocol_error', suggestion=suggestions.suggest_for_lsp_not_initialized
        )
        | on(catalog.protocols.LspRequestFailed).guides(
            'protocol_error', suggestion=suggestions.suggest_for_lsp_request_failed
        )
        | on(catalog.protocols.LspContentModified).guides(
            'protocol_error', suggestion=suggestions.suggest_for_lsp_content_modified
        )
    )
)

A2A: Adapter[catalog.protocols.A2aError, Guidance] = Adapter(
    lambda: (
        on(catalog.protocols.A2aTaskNotFound).guides(
            'protocol_error', suggestion=suggestions.suggest_for_task_not_found
        )
        | on(catalog.protocols.A2aTaskNotCancelable).guides(
            'protocol_error', suggestion=suggestions.suggest_for_task_not_cancelable
        )
        | on(catalog.protocols.A2aPushNotSupported).guides(
            'protocol_error', suggestion=suggestions.suggest_for_push_not_supported
        )
        | on(catalog.protocols.A2aUnsupportedOperation).guides(
            'protocol_error', suggestion=suggestions.suggest_for_unsupported_operation
        )
        | on(catalog.protocols.A2aContentTypeNotSupported).guides(
            'protocol_error', suggestion=suggestions.suggest_for_content_type_not_supported
        )
        | on(catalog.protocols.A2aInvalidAgentResponse).guides(
            'protocol_error', suggestion=suggestions.suggest_for_invalid_agent_response
        )
        | on(catalog.protocols.A2aExtendedCardNotConfigured).guides(
            'protocol_error', suggestion=suggestions.EXTENDED_CARD_NOT_CONFIGURED
        )
        | on(catalog.protocols.A2aExtensionRequired).guides(
            'protocol_error', suggestion=suggestions.suggest_for_extension_required
        )
        | on(catalog.protocols.A2aVersionNotSupported).guides(
            'protocol_error', suggestion=suggestions.suggest_for_version_not_supported
        )
        | on(catalog.protocols.AgentCardInvalid).guides(
            'protocol_error', suggestion=suggestions.suggest_for_agent_card_invalid
        )
    )
)


SESSIONS: Adapter[catalog.sessions.SessionError, Guidance] = Adapter(
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
        | on(catalog.sessions.RecoveryFailed).guides(
            'execution_error', suggestion=suggestions.suggest_for_recovery_failed
        )
    )
)


STORAGE: Adapter[catalog.storage.StorageError, Guidance] = Adapter(
    lambda: (
        on(catalog.storage.RecordNotFound).guides(
            'content_error', suggestion=suggestions.suggest_for_record_not_found
        )
        | on(catalog.storage.RecordExists).guides(
            'content_error', suggestion=suggestions.suggest_for_record_exists
        )
        | on(catalog.storage.StoreClosed).guides(
            'availability_error', suggestion=suggestions.suggest_for_store_closed
        )
        | on(catalog.storage.StoreUnavailable).guides(
            'availability_error', suggestion=suggestions.suggest_for_store_unavailable
        )
    )
)


STREAMING: Adapter[catalog.streaming.StreamingError, Guidance] = Adapter(
    lambda: (
        on(
            catalog.streaming.InvalidStream
            | catalog.streaming.ChunkUnparsable
            | catalog.streaming.ChunkHandlerFailed
            | catalog.streaming.StreamAborted
            | catalog.streaming.StreamProviderFailed
            | catalog.streaming.TokenCountFailed
            | catalog.streaming.BufferFull
            | catalog.streaming.StreamClosed
            | catalog.streaming.SlowConsumer
        ).hidden()
        | on(catalog.streaming.UserInterrupted).guides(
            'state_error', suggestion=suggestions.suggest_for_user_interrupted
        )
    )
)


TOOLS: Adapter[catalog.tools.ToolError, Guidance] = Adapter(
    lambda: (
        on(catalog.tools.MissingParameter).guides(
            'validation_error', suggestion=suggestions.suggest_for_missing_parameter
        )
        | on(catalog.tools.InvalidParameter).guides(
            'validation_error', suggestion=suggestions.suggest_for_invalid_parameter
        )
        | on(catalog.tools.UnknownTool).guides(
            'validation_error',
            suggestion=suggestions.suggest_for_unknown_tool,
            large_fields=('available', 'suggestions'),
        )
        | on(catalog.tools.FileNotFound).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_file_not_found
        )
        | on(catalog.tools.FileAlreadyExists).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_file_already_exists
        )
        | on(catalog.tools.PathForbidden).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_path_forbidden, denied=True
        )
        | on(catalog.tools.ContentNotFound).guides(
            'content_error', suggestion=suggestions.suggest_for_content_not_found
        )
        | on(catalog.tools.ContentMismatch).guides(
            'content_error', suggestion=suggestions.suggest_for_content_mismatch
        )
        | on(catalog.tools.DuplicateMatch).guides(
            'content_error', suggestion=suggestions.suggest_for_duplicate_match
        )
        | on(catalog.tools.CommandTimedOut).guides(
            'execution_error', suggestion=suggestions.suggest_for_command_timed_out
        )
        | on(catalog.tools.CommandFailed).guides(
            'execution_error', suggestion=suggestions.suggest_for_command_failed
        )
        | on(catalog.tools.DiffRejected).guides(
            'execution_error',
            suggestion=suggestions.suggest_for_diff_rejected,
            output=suggestions.rejected_hunks_output,
        )
        | on(catalog.tools.ToolFailed).guides(
            'execution_error', suggestion=suggestions.suggest_for_tool_failed
        )
        | on(catalog.tools.ToolTimedOut).guides(
            'execution_error', suggestion=suggestions.suggest_for_tool_timed_out
        )
        | on(catalog.tools.ToolCancelled).guides(
            'execution_error', suggestion=suggestions.suggest_for_tool_cancelled
        )
        | on(catalog.tools.InvalidResult).guides(
            'execution_error', suggestion=suggestions.TOOL_FAULT
        )
        | on(catalog.tools.RegistrationRejected).hidden()
        | on(catalog.tools.ToolRepeated).guides(
            'state_error', suggestion=suggestions.suggest_for_tool_repeated
        )
        | on(catalog.tools.TooManyMistakes).guides(
            'state_error', suggestion=suggestions.TOO_MANY_MISTAKES
        )
        | on(catalog.tools.ResourceExhausted).guides(
            'availability_error', suggestion=suggestions.RESOURCE_EXHAUSTED
        )
    )
)


WORKSPACE: Adapter[catalog.workspace.WorkspaceError, Guidance] = Adapter(
    lambda: (
        on(catalog.workspace.ConfigUnreadable).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_config_unreadable
        )
        | on(catalog.workspace.ConfigInvalid).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_config_invalid
        )
        | on(catalog.workspace.SkillInvalid).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_skill_invalid
        )
        | on(catalog.workspace.SkillNameMismatch).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_skill_name_mismatch
        )
        | on(catalog.workspace.PluginFailed).hidden()
        | on(catalog.workspace.EditorInstallFailed).hidden()
        | on(catalog.workspace.NotARepository).guides(
            'file_operation_error', suggestion=suggestions.suggest_for_not_a_repository
        )
        | on(catalog.workspace.WorktreeExists).guides(
            'state_error', suggestion=suggestions.suggest_for_worktree_exists
        )
        | on(catalog.workspace.WorktreeFailed).guides(
            'execution_error', suggestion=suggestions.suggest_for_worktree_failed
        )
    )
)
