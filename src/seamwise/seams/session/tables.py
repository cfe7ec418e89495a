"""Session events of all catalogue errors: one table per union."""

from __future__ import annotations

from datetime import UTC, datetime

from seamwise._text.phrases import join_limited
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
from seamwise.seams.rendering.values import timestamp
from seamwise.seams.session.on import cause_type, on
from seamwise.seams.session.shape import ErrorEvent

_MINUTE = 60.0


ACCESS: Adapter[access.AccessError, ErrorEvent] = Adapter(
    lambda: (
        on(access.Unauthenticated).publishes('error.permanent', 'ERR_AUTH_002')
        | on(access.AccessDenied).publishes('error.permanent', 'ERR_ACCESS_001')
    )
)


AGENTS: Adapter[agents.AgentError, ErrorEvent] = Adapter(
    lambda: (
        on(agents.AgentNotFound).publishes('error.permanent', 'ERR_AGENT_001')
        | on(agents.CommandNotFound).publishes('error.permanent', 'ERR_AGENT_002')
        | on(agents.AgentNotReady).publishes('error.transient', 'ERR_AGENT_003')
        | on(agents.AgentBusy).publishes('error.transient', 'ERR_AGENT_004')
        | on(agents.InvalidTransition).publishes('error.permanent', 'ERR_AGENT_005')
        | on(agents.GuardrailsViolated).publishes('error.permanent', 'ERR_AGENT_006')
        | on(agents.ContextOverflow).publishes(
            'error.validation',
            'ERR_AGENT_007',
            constraint=lambda error: f'at most {error.limit} tokens',
            provided_value=lambda error: error.tokens,
        )
        | on(agents.CompressionFailed).publishes('error.permanent', 'ERR_AGENT_008')
        | on(agents.AgentFailed).publishes(
            'error.permanent', 'ERR_AGENT_009', retryable_event='error.transient'
        )
    )
)


def _limit_per_minute(error: policies.RateLimited | network.UpstreamRateLimited) -> int | None:
    """Return the limit if it is one of a minute, else None: a rate is not converted."""
    return error.limit if error.period == _MINUTE else None


GUARDS: Adapter[policies.GuardError, ErrorEvent] = Adapter(
    lambda: (
        on(policies.RateLimited).publishes(
            'error.rate_limited',
            'ERR_RATE_002',
            limit=lambda error: error.limit,
            period_seconds=lambda error: error.period,
            limit_per_minute=_limit_per_minute,
        )
        | on(policies.CircuitOpen).publishes('error.transient', 'ERR_CIRCUIT_001')
        | on(policies.BulkheadFull).publishes('error.transient', 'ERR_BULKHEAD_001')
        | on(policies.DeadlineExceeded).publishes(
            'error.timeout',
            'ERR_TIMEOUT_006',
            attempt=lambda error: error.attempts,
            timeout_seconds=lambda error: error.timeout,
        )
    )
)


def _token_limit(error: models.ContextTooLong | models.OutputTruncated) -> str | None:
    return None if error.limit is None else f'at most {error.limit} tokens'


MODELS: Adapter[models.ModelError, ErrorEvent] = Adapter(
    lambda: (
        on(models.ModelNotFound).publishes('error.permanent', 'ERR_MODEL_001')
        | on(models.ProviderNotReady).publishes('error.permanent', 'ERR_MODEL_002')
        | on(models.ProviderUnavailable).publishes('error.transient', 'ERR_MODEL_003')
        | on(models.ModelOverloaded).publishes('error.transient', 'ERR_MODEL_004')
        | on(models.NoModelAvailable).publishes('error.transient', 'ERR_MODEL_005')
        | on(models.InvalidModelRequest).publishes(
            'error.validation', 'ERR_MODEL_006', constraint=lambda error: error.reason
        )
        | on(models.ContextTooLong).publishes(
            'error.validation',
            'ERR_MODEL_007',
            constraint=_token_limit,
            provided_value=lambda error: error.tokens,
        )
        | on(models.ContentFiltered).publishes('error.permanent', 'ERR_MODEL_008')
        | on(models.OutputTruncated).publishes(
            'error.validation',
            'ERR_MODEL_009',
            constraint=_token_limit,
        )
        | on(models.StructuredOutputInvalid).publishes('error.transient', 'ERR_MODEL_010')
        | on(models.QuotaExceeded).publishes('error.permanent', 'ERR_QUOTA_001')
        | on(models.BudgetExceeded).publishes('error.permanent', 'ERR_QUOTA_002')
        | on(models.BatchClosed).publishes('error.permanent', 'ERR_BATCH_001')
        | on(models.BatchFull).publishes('error.transient', 'ERR_BATCH_002')
        | on(models.BatchTimedOut).publishes(
            'error.timeout', 'ERR_TIMEOUT_005', timeout_seconds=lambda error: error.timeout
        )
        | on(models.CacheMiss).hidden()
    )
)


def _reset_time(error: network.UpstreamRateLimited) -> str | None:
    if error.reset is None:
        return None
    try:
        return timestamp(datetime.fromtimestamp(error.reset, UTC))
    except (OverflowError, ValueError, OSError):
        # The service sent a number that is out of range.
        return None


NETWORK: Adapter[network.NetworkError, ErrorEvent] = Adapter(
    lambda: (
        on(network.HostUnreachable).publishes('error.transient', 'ERR_CONN_002')
        | on(network.NetworkTimedOut).publishes(
            'error.timeout', 'ERR_TIMEOUT_003', timeout_seconds=lambda error: error.timeout
        )
        | on(network.UpstreamRateLimited).publishes(
            'error.rate_limited',
            'ERR_RATE_001',
            limit=lambda error: error.limit,
            period_seconds=lambda error: error.period,
            limit_per_minute=_limit_per_minute,
            requests_made=lambda error: error.requests_made,
            rate_limit_reset=_reset_time,
            context=lambda error: {'service': error.service},
        )
        | on(network.CredentialsRejected).publishes(
            'error.recovery_failed',
            'ERR_AUTH_001',
            cause=lambda error: cause_type(error, 'invalid_credentials'),
            context=lambda error: {
                'service': error.service,
                'required_config': error.required_config,
            },
        )
        | on(network.UpstreamFailed).publishes('error.transient', 'ERR_UPSTREAM_001')
    )
)


def _violations(error: parsing.SchemaViolations) -> str:
    return '; '.join(
        f'{problem.pointer or "the call"}: {problem.message}' for problem in error.problems
    )


PARSING: Adapter[parsing.ParsingError, ErrorEvent] = Adapter(
    lambda: (
        on(parsing.UnreadableCall).publishes(
            'error.validation',
            'ERR_PARSE_001',
            constraint=lambda error: f'well-formed {error.format}',
            provided_value=lambda error: error.excerpt,
        )
        | on(parsing.UnknownFormat).publishes(
            'error.validation',
            'ERR_PARSE_002',
            constraint=lambda _: 'a known format',
            provided_value=lambda error: error.excerpt,
        )
        | on(parsing.SchemaViolations).publishes(
            'error.validation', 'ERR_PARSE_003', constraint=_violations
        )
    )
)


MCP: Adapter[protocols.McpError, ErrorEvent] = Adapter(
    lambda: (
        on(protocols.McpConnectionFailed).publishes('error.transient', 'ERR_CONN_003')
        | on(protocols.McpTransportFailed).publishes('error.transient', 'ERR_CONN_004')
        | on(protocols.McpServerFailed).publishes(
            'error.permanent', 'ERR_MCP_001', retryable_event='error.transient'
        )
        | on(protocols.McpTimedOut).publishes(
            'error.timeout', 'ERR_TIMEOUT_004', timeout_seconds=lambda error: error.timeout
        )
    )
)

LSP: Adapter[protocols.LspError, ErrorEvent] = Adapter(
    lambda: (
        on(protocols.LspNotInitialized).publishes('error.permanent', 'ERR_LSP_001')
        | on(protocols.LspRequestFailed).publishes('error.permanent', 'ERR_LSP_002')
        | on(protocols.LspContentModified).publishes('error.permanent', 'ERR_LSP_003')
    )
)


def _one_of(supported: tuple[str, ...], otherwise: str) -> str:
    return f'one of {join_limited(supported, last="or")}' if supported else otherwise


A2A: Adapter[protocols.A2aError, ErrorEvent] = Adapter(
    lambda: (
        on(protocols.A2aTaskNotFound).publishes('error.permanent', 'ERR_PEER_001')
        | on(protocols.A2aTaskNotCancelable).publishes('error.permanent', 'ERR_PEER_002')
        | on(protocols.A2aPushNotSupported).publishes(
            'error.validation', 'ERR_PEER_003', constraint=lambda _: 'no push notifications'
        )
        | on(protocols.A2aUnsupportedOperation).publishes(
            'error.validation',
            'ERR_PEER_004',
            constraint=lambda _: 'an operation of this agent',
            provided_value=lambda error: error.operation,
        )
        | on(protocols.A2aContentTypeNotSupported).publishes(
            'error.validation',
            'ERR_PEER_005',
            constraint=lambda error: _one_of(
                error.supported, 'a content type that the agent supports'
            ),
            provided_value=lambda error: error.content_type,
        )
        | on(protocols.A2aInvalidAgentResponse).publishes('error.permanent', 'ERR_PEER_006')
        | on(protocols.A2aExtendedCardNotConfigured).publishes('error.permanent', 'ERR_PEER_007')
        | on(protocols.A2aExtensionRequired).publishes(
            'error.validation',
            'ERR_PEER_008',
            constraint=lambda error: f'the extension {error.extension} is required',
        )
        | on(protocols.A2aVersionNotSupported).publishes(
            'error.validation',
            'ERR_PEER_009',
            constraint=lambda error: _one_of(error.supported, 'a version that the agent supports'),
            provided_value=lambda error: error.version,
        )
        | on(protocols.AgentCardInvalid).publishes('error.permanent', 'ERR_PEER_010')
    )
)


SESSIONS: Adapter[sessions.SessionError, ErrorEvent] = Adapter(
    lambda: (
        on(sessions.InvalidInput).publishes(
            'error.validation',
            'ERR_VAL_001',
            constraint=lambda error: error.constraint,
            provided_value=lambda error: error.provided,
        )
        | on(sessions.SessionNotFound).publishes('error.permanent', 'ERR_SESSION_001')
        | on(sessions.SessionBusy).publishes('error.permanent', 'ERR_SESSION_002')
        | on(sessions.ConnectionLost).publishes(
            'error.connection_lost',
            'ERR_CONN_001',
            close_code=lambda error: error.close_code,
            close_reason=lambda error: error.close_reason,
            last_event_seq=lambda error: error.last_event_seq,
            uptime_seconds=lambda error: error.uptime,
        )
        | on(sessions.ReplayGap).publishes('error.permanent', 'ERR_SESSION_003')
        | on(sessions.UnknownEpoch).publishes('error.permanent', 'ERR_SESSION_004')
        | on(sessions.AckAhead).publishes(
            'error.validation',
            'ERR_VAL_005',
            constraint=lambda error: f'at most {error.last}',
            provided_value=lambda error: error.acknowledged,
        )
        | on(sessions.RecoveryFailed).publishes(
            'error.recovery_failed',
            'ERR_RECOVERY_001',
            operation=lambda error: error.operation or None,
            attempt=lambda error: error.attempts,
            cause=lambda error: cause_type(error, 'unknown'),
        )
    )
)


STORAGE: Adapter[storage.StorageError, ErrorEvent] = Adapter(
    lambda: (
        on(storage.RecordNotFound).publishes('error.permanent', 'ERR_STORE_001')
        | on(storage.RecordExists).publishes('error.permanent', 'ERR_STORE_002')
        | on(storage.StoreClosed).publishes('error.transient', 'ERR_STORE_003')
        | on(storage.StoreUnavailable).publishes('error.transient', 'ERR_STORE_004')
    )
)


STREAMING: Adapter[streaming.StreamingError, ErrorEvent] = Adapter(
    lambda: (
        on(streaming.InvalidStream).publishes('error.permanent', 'ERR_STREAM_001')
        | on(streaming.ChunkUnparsable).publishes('error.permanent', 'ERR_STREAM_002')
        | on(streaming.ChunkHandlerFailed).publishes('error.transient', 'ERR_STREAM_003')
        | on(streaming.StreamAborted).publishes('error.permanent', 'ERR_STREAM_004')
        | on(streaming.UserInterrupted).publishes('error.permanent', 'ERR_STREAM_005')
        | on(streaming.StreamProviderFailed).publishes('error.transient', 'ERR_STREAM_006')
        | on(streaming.TokenCountFailed).publishes('error.permanent', 'ERR_STREAM_007')
        | on(streaming.BufferFull).publishes('error.transient', 'ERR_STREAM_008')
        | on(streaming.StreamClosed).publishes('error.permanent', 'ERR_STREAM_009')
        | on(streaming.SlowConsumer).publishes('error.transient', 'ERR_STREAM_010')
    )
)


def _result_problems(error: tools.InvalidResult) -> str:
    return '; '.join(
        f'{problem.pointer or "the result"}: {problem.message}' for problem in error.problems
    )


TOOLS: Adapter[tools.ToolError, ErrorEvent] = Adapter(
    lambda: (
        on(tools.MissingParameter).publishes(
            'error.validation',
            'ERR_VAL_002',
            constraint=lambda error: f'{error.parameter} is required',
        )
        | on(tools.InvalidParameter).publishes(
            'error.validation',
            'ERR_VAL_003',
            constraint=lambda error: f'{error.parameter}: {error.reason}',
            provided_value=lambda error: error.value,
        )
        | on(tools.UnknownTool).publishes('error.permanent', 'ERR_TOOL_001')
        | on(tools.FileNotFound).publishes('error.permanent', 'ERR_FILE_001')
        | on(tools.FileAlreadyExists).publishes('error.permanent', 'ERR_FILE_002')
        | on(tools.PathForbidden).publishes('error.permanent', 'ERR_FILE_003')
        | on(tools.ContentNotFound).publishes('error.permanent', 'ERR_CONTENT_001')
        | on(tools.ContentMismatch).publishes('error.permanent', 'ERR_CONTENT_002')
        | on(tools.DuplicateMatch).publishes('error.permanent', 'ERR_CONTENT_003')
        | on(tools.CommandTimedOut).publishes(
            'error.timeout',
            'ERR_TIMEOUT_002',
            attempt=lambda error: error.attempts,
            timeout_seconds=lambda error: error.timeout,
        )
        | on(tools.CommandFailed).publishes('error.permanent', 'ERR_COMMAND_001')
        | on(tools.DiffRejected).publishes('error.permanent', 'ERR_CONTENT_004')
        | on(tools.ToolFailed).publishes(
            'error.permanent', 'ERR_TOOL_002', retryable_event='error.transient'
        )
        | on(tools.ToolTimedOut).publishes(
            'error.timeout',
            'ERR_TIMEOUT_001',
            attempt=lambda error: error.attempts,
            timeout_seconds=lambda error: error.timeout,
        )
        | on(tools.ToolCancelled).publishes('error.permanent', 'ERR_TOOL_003')
        | on(tools.InvalidResult).publishes(
            'error.validation', 'ERR_VAL_004', constraint=_result_problems
        )
        | on(tools.RegistrationRejected).publishes('error.permanent', 'ERR_TOOL_004')
        | on(tools.ToolRepeated).publishes('error.permanent', 'ERR_STATE_001')
        | on(tools.TooManyMistakes).publishes('error.permanent', 'ERR_STATE_002')
        | on(tools.ResourceExhausted).publishes('error.resource', 'ERR_RESOURCE_001')
    )
)


WORKSPACE: Adapter[workspace.WorkspaceError, ErrorEvent] = Adapter(
    lambda: (
        on(workspace.ConfigUnreadable).publishes('error.permanent', 'ERR_CONFIG_001')
        | on(workspace.ConfigInvalid).publishes('error.permanent', 'ERR_CONFIG_002')
        | on(workspace.SkillInvalid).publishes('error.permanent', 'ERR_SKILL_001')
        | on(workspace.SkillNameMismatch).publishes('error.permanent', 'ERR_SKILL_002')
        | on(workspace.PluginFailed).publishes('error.permanent', 'ERR_PLUGIN_001')
        | on(workspace.EditorInstallFailed).hidden()
        | on(workspace.NotARepository).publishes('error.permanent', 'ERR_REPO_001')
        | on(workspace.WorktreeExists).publishes('error.permanent', 'ERR_REPO_002')
        | on(workspace.WorktreeFailed).publishes('error.permanent', 'ERR_REPO_003')
    )
)
