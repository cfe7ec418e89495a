"""Session events of all catalogue errors: one table per union."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from seamwise._text.phrases import join_limited
from seamwise.catalog.problem import Problem
from seamwise.seams import catalog
from seamwise.seams.adapter import Adapter
from seamwise.seams.rendering.errors import as_object
from seamwise.seams.rendering.values import timestamp
from seamwise.seams.session.on import cause_type, on
from seamwise.seams.session.shape import ErrorEvent

_MINUTE = 60.0


ACCESS: Adapter[catalog.access.AccessError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.access.Unauthenticated).publishes('error.permanent', 'ERR_AUTH_002')
        | on(catalog.access.AccessDenied).publishes('error.correctable', 'ERR_ACCESS_001')
    )
)


AGENTS: Adapter[catalog.agents.AgentError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.agents.AgentNotFound).publishes('error.correctable', 'ERR_AGENT_001')
        | on(catalog.agents.CommandNotFound).publishes('error.correctable', 'ERR_AGENT_002')
        | on(catalog.agents.AgentNotReady).publishes('error.transient', 'ERR_AGENT_003')
        | on(catalog.agents.AgentBusy).publishes('error.transient', 'ERR_AGENT_004')
        | on(catalog.agents.InvalidTransition).publishes('error.correctable', 'ERR_AGENT_005')
        | on(catalog.agents.GuardrailsViolated).publishes('error.correctable', 'ERR_AGENT_006')
        | on(catalog.agents.ContextOverflow).publishes(
            'error.validation',
            'ERR_AGENT_007',
            constraint=lambda error: f'at most {error.limit} tokens',
            provided_value=lambda error: error.tokens,
        )
        | on(catalog.agents.CompressionFailed).publishes('error.correctable', 'ERR_AGENT_008')
        | on(catalog.agents.AgentFailed).publishes(
            'error.correctable',
            'ERR_AGENT_009',
            retryable_event='error.transient',
            cause=lambda error: cause_type(error, 'unknown'),
            context=lambda error: {
                'agent': error.agent,
                'agent_type': error.agent_type,
                'metadata': as_object(error.metadata) or None,
            },
        )
    )
)


def _limit_per_minute(
    error: catalog.policies.RateLimited | catalog.network.UpstreamRateLimited,
) -> int | None:
    """Return the limit if it is one of a minute, else None: a rate is not converted."""
    return error.limit if error.period == _MINUTE else None


GUARDS: Adapter[catalog.policies.GuardError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.policies.RateLimited).publishes(
            'error.rate_limited',
            'ERR_RATE_002',
            limit=lambda error: error.limit,
            period_seconds=lambda error: error.period,
            limit_per_minute=_limit_per_minute,
        )
        | on(catalog.policies.CircuitOpen).publishes('error.transient', 'ERR_CIRCUIT_001')
        | on(catalog.policies.BulkheadFull).publishes('error.transient', 'ERR_BULKHEAD_001')
        | on(catalog.policies.DeadlineExceeded).publishes(
            'error.timeout',
            'ERR_TIMEOUT_006',
            attempt=lambda error: error.attempts,
            timeout_seconds=lambda error: error.timeout,
        )
    )
)


def _token_limit(
    error: catalog.models.ContextTooLong | catalog.models.OutputTruncated,
) -> str | None:
    return None if error.limit is None else f'at most {error.limit} tokens'


MODELS: Adapter[catalog.models.ModelError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.models.ModelNotFound).publishes('error.correctable', 'ERR_MODEL_001')
        | on(catalog.models.ProviderNotReady).publishes('error.permanent', 'ERR_MODEL_002')
        | on(catalog.models.ProviderUnavailable).publishes('error.transient', 'ERR_MODEL_003')
        | on(catalog.models.ModelOverloaded).publishes('error.transient', 'ERR_MODEL_004')
        | on(catalog.models.NoModelAvailable).publishes('error.transient', 'ERR_MODEL_005')
        | on(catalog.models.InvalidModelRequest).publishes(
            'error.validation', 'ERR_MODEL_006', constraint=lambda error: error.reason
        )
        | on(catalog.models.ContextTooLong).publishes(
            'error.validation',
            'ERR_MODEL_007',
            constraint=_token_limit,
            provided_value=lambda error: error.tokens,
        )
        | on(catalog.models.ContentFiltered).publishes('error.correctable', 'ERR_MODEL_008')
        | on(catalog.models.OutputTruncated).publishes(
            'error.validation',
            'ERR_MODEL_009',
            constraint=_token_limit,
        )
        | on(catalog.models.StructuredOutputInvalid).publishes('error.transient', 'ERR_MODEL_010')
        | on(catalog.models.QuotaExceeded).publishes('error.correctable', 'ERR_QUOTA_001')
        | on(catalog.models.BudgetExceeded).publishes('error.correctable', 'ERR_QUOTA_002')
        | on(catalog.models.BatchClosed).publishes('error.correctable', 'ERR_BATCH_001')
        | on(catalog.models.BatchFull).publishes('error.transient', 'ERR_BATCH_002')
        | on(catalog.models.BatchTimedOut).publishes(
            'error.timeout', 'ERR_TIMEOUT_005', timeout_seconds=lambda error: error.timeout
        )
        | on(catalog.models.CacheMiss).hidden()
    )
)


def _reset_time(error: catalog.network.UpstreamRateLimited) -> str | None:
    if error.reset is None:
        return None
    try:
        return timestamp(datetime.fromtimestamp(error.reset, UTC))
    except (OverflowError, ValueError, OSError):
        # The service sent a number that is out of range.
        return None


NETWORK: Adapter[catalog.network.NetworkError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.network.HostUnreachable).publishes('error.transient', 'ERR_CONN_002')
        | on(catalog.network.NetworkTimedOut).publishes(
            'error.timeout', 'ERR_TIMEOUT_003', timeout_seconds=lambda error: error.timeout
        )
        | on(catalog.network.UpstreamRateLimited).publishes(
            'error.rate_limited',
            'ERR_RATE_001',
            limit=lambda error: error.limit,
            period_seconds=lambda error: error.period,
            limit_per_minute=_limit_per_minute,
            requests_made=lambda error: error.requests_made,
            rate_limit_reset=_reset_time,
            context=lambda error: {'service': error.service},
        )
        | on(catalog.network.CredentialsRejected).publishes(
            'error.recovery_failed',
            'ERR_AUTH_001',
            cause=lambda error: cause_type(error, 'invalid_credentials'),
            context=lambda error: {
                'service': error.service,
                'required_config': error.required_config,
            },
        )
        | on(catalog.network.UpstreamFailed).publishes('error.transient', 'ERR_UPSTREAM_001')
    )
)


def _join_problems(problems: Iterable[Problem], whole: str) -> str:
    return '; '.join(f'{problem.pointer or whole}: {problem.message}' for problem in problems)


PARSING: Adapter[catalog.parsing.ParsingError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.parsing.UnreadableCall).publishes(
            'error.validation',
            'ERR_PARSE_001',
            constraint=lambda error: f'well-formed {error.format}',
            provided_value=lambda error: error.excerpt,
        )
        | on(catalog.parsing.UnknownFormat).publishes(
            'error.validation',
            'ERR_PARSE_002',
            constraint=lambda _: 'a known format',
            provided_value=lambda error: error.excerpt,
        )
        | on(catalog.parsing.SchemaViolations).publishes(
            'error.validation',
            'ERR_PARSE_003',
            constraint=lambda error: _join_problems(error.problems, 'the call'),
        )
    )
)


MCP: Adapter[catalog.protocols.McpError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.protocols.McpConnectionFailed).publishes('error.transient', 'ERR_CONN_003')
        | on(catalog.protocols.McpTransportFailed).publishes('error.transient', 'ERR_CONN_004')
        | on(catalog.protocols.McpServerFailed).publishes(
            'error.correctable', 'ERR_MCP_001', retryable_event='error.transient'
        )
        | on(catalog.protocols.McpTimedOut).publishes(
            'error.timeout', 'ERR_TIMEOUT_004', timeout_seconds=lambda error: error.timeout
        )
    )
)

LSP: Adapter[catalog.protocols.LspError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.protocols.LspNotInitialized).publishes('error.permanent', 'ERR_LSP_001')
        | on(catalog.protocols.LspRequestFailed).publishes('error.correctable', 'ERR_LSP_002')
        | on(catalog.protocols.LspContentModified).publishes('error.correctable', 'ERR_LSP_003')
    )
)


def _one_of(supported: tuple[str, ...], otherwise: str) -> str:
    return f'one of {join_limited(supported, last="or")}' if supported else otherwise


A2A: Adapter[catalog.protocols.A2aError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.protocols.A2aTaskNotFound).publishes('error.correctable', 'ERR_PEER_001')
        | on(catalog.protocols.A2aTaskNotCancelable).publishes('error.correctable', 'ERR_PEER_002')
        | on(catalog.protocols.A2aPushNotSupported).publishes(
            'error.validation', 'ERR_PEER_003', constraint=lambda _: 'no push notifications'
        )
        | on(catalog.protocols.A2aUnsupportedOperation).publishes(
            'error.validation',
            'ERR_PEER_004',
            constraint=lambda _: 'an operation of this agent',
            provided_value=lambda error: error.operation,
        )
        | on(catalog.protocols.A2aContentTypeNotSupported).publishes(
            'error.validation',
            'ERR_PEER_005',
            constraint=lambda error: _one_of(
                error.supported, 'a content type that the agent supports'
            ),
            provided_value=lambda error: error.content_type,
        )
        | on(catalog.protocols.A2aInvalidAgentResponse).publishes(
            'error.correctable', 'ERR_PEER_006'
        )
        | on(catalog.protocols.A2aExtendedCardNotConfigured).publishes(
            'error.permanent', 'ERR_PEER_007'
        )
        | on(catalog.protocols.A2aExtensionRequired).publishes(
            'error.validation',
            'ERR_PEER_008',
            constraint=lambda error: f'the extension {error.extension} is required',
        )
        | on(catalog.protocols.A2aVersionNotSupported).publishes(
            'error.validation',
            'ERR_PEER_009',
            constraint=lambda error: _one_of(error.supported, 'a version that the agent supports'),
            provided_value=lambda error: error.version,
        )
        | on(catalog.protocols.AgentCardInvalid).publishes('error.permanent', 'ERR_PEER_010')
    )
)


SESSIONS: Adapter[catalog.sessions.SessionError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.sessions.InvalidInput).publishes(
            'error.validation',
            'ERR_VAL_001',
            constraint=lambda error: error.constraint,
            provided_value=lambda error: error.provided,
        )
        | on(catalog.sessions.SessionNotFound).publishes('error.correctable', 'ERR_SESSION_001')
        | on(catalog.sessions.SessionBusy).publishes('error.correctable', 'ERR_SESSION_002')
        | on(catalog.sessions.ConnectionLost).publishes(
            'error.connection_lost',
            'ERR_CONN_001',
            close_code=lambda error: error.close_code,
            close_reason=lambda error: error.close_reason,
            last_event_seq=lambda error: error.last_event_seq,
            uptime_seconds=lambda error: error.uptime,
        )
        | on(catalog.sessions.ReplayGap).publishes('error.correctable', 'ERR_SESSION_003')
        | on(catalog.sessions.UnknownEpoch).publishes('error.correctable', 'ERR_SESSION_004')
        | on(catalog.sessions.AckAhead).publishes(
            'error.validation',
            'ERR_VAL_005',
            constraint=lambda error: f'at most {error.last}',
            provided_value=lambda error: error.acknowledged,
        )
        | on(catalog.sessions.RecoveryFailed).publishes(
            'error.recovery_failed',
            'ERR_RECOVERY_001',
            operation=lambda error: error.operation or None,
            attempt=lambda error: error.attempts,
            cause=lambda error: cause_type(error, 'unknown'),
        )
    )
)


STORAGE: Adapter[catalog.storage.StorageError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.storage.RecordNotFound).publishes('error.correctable', 'ERR_STORE_001')
        | on(catalog.storage.RecordExists).publishes('error.correctable', 'ERR_STORE_002')
        | on(catalog.storage.StoreClosed).publishes('error.transient', 'ERR_STORE_003')
        | on(catalog.storage.StoreUnavailable).publishes('error.transient', 'ERR_STORE_004')
    )
)


STREAMING: Adapter[catalog.streaming.StreamingError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.streaming.InvalidStream).publishes('error.correctable', 'ERR_STREAM_001')
        | on(catalog.streaming.ChunkUnparsable).publishes('error.correctable', 'ERR_STREAM_002')
        | on(catalog.streaming.ChunkHandlerFailed).publishes('error.transient', 'ERR_STREAM_003')
        | on(catalog.streaming.StreamAborted).publishes('error.permanent', 'ERR_STREAM_004')
        | on(catalog.streaming.UserInterrupted).publishes('error.correctable', 'ERR_STREAM_005')
        | on(catalog.streaming.StreamProviderFailed).publishes('error.transient', 'ERR_STREAM_006')
        | on(catalog.streaming.TokenCountFailed).publishes('error.correctable', 'ERR_STREAM_007')
        | on(catalog.streaming.BufferFull).publishes('error.transient', 'ERR_STREAM_008')
        | on(catalog.streaming.StreamClosed).publishes('error.correctable', 'ERR_STREAM_009')
        | on(catalog.streaming.SlowConsumer).publishes('error.transient', 'ERR_STREAM_010')
    )
)


TOOLS: Adapter[catalog.tools.ToolError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.tools.MissingParameter).publishes(
            'error.validation',
            'ERR_VAL_002',
            constraint=lambda error: f'{error.parameter} is required',
        )
        | on(catalog.tools.InvalidParameter).publishes(
            'error.validation',
            'ERR_VAL_003',
            constraint=lambda error: f'{error.parameter}: {error.reason}',
            provided_value=lambda error: error.value,
        )
        | on(catalog.tools.UnknownTool).publishes('error.correctable', 'ERR_TOOL_001')
        | on(catalog.tools.FileNotFound).publishes('error.correctable', 'ERR_FILE_001')
        | on(catalog.tools.FileAlreadyExists).publishes('error.correctable', 'ERR_FILE_002')
        | on(catalog.tools.PathForbidden).publishes('error.correctable', 'ERR_FILE_003')
        | on(catalog.tools.ContentNotFound).publishes('error.correctable', 'ERR_CONTENT_001')
        | on(catalog.tools.ContentMismatch).publishes('error.correctable', 'ERR_CONTENT_002')
        | on(catalog.tools.DuplicateMatch).publishes('error.correctable', 'ERR_CONTENT_003')
        | on(catalog.tools.CommandTimedOut).publishes(
            'error.timeout',
            'ERR_TIMEOUT_002',
            attempt=lambda error: error.attempts,
            timeout_seconds=lambda error: error.timeout,
        )
        | on(catalog.tools.CommandFailed).publishes('error.correctable', 'ERR_COMMAND_001')
        | on(catalog.tools.DiffRejected).publishes('error.correctable', 'ERR_CONTENT_004')
        | on(catalog.tools.ToolFailed).publishes(
            'error.correctable', 'ERR_TOOL_002', retryable_event='error.transient'
        )
        | on(catalog.tools.ToolTimedOut).publishes(
            'error.timeout',
            'ERR_TIMEOUT_001',
            attempt=lambda error: error.attempts,
            timeout_seconds=lambda error: error.timeout,
        )
        | on(catalog.tools.ToolCancelled).publishes('error.permanent', 'ERR_TOOL_003')
        | on(catalog.tools.InvalidResult).publishes(
            'error.validation',
            'ERR_VAL_004',
            constraint=lambda error: _join_problems(error.problems, 'the result'),
        )
        | on(catalog.tools.RegistrationRejected).publishes('error.permanent', 'ERR_TOOL_004')
        | on(catalog.tools.ToolRepeated).publishes('error.correctable', 'ERR_STATE_001')
        | on(catalog.tools.TooManyMistakes).publishes('error.correctable', 'ERR_STATE_002')
        | on(catalog.tools.ResourceExhausted).publishes('error.resource', 'ERR_RESOURCE_001')
    )
)


WORKSPACE: Adapter[catalog.workspace.WorkspaceError, ErrorEvent] = Adapter(
    lambda: (
        on(catalog.workspace.ConfigUnreadable).publishes('error.permanent', 'ERR_CONFIG_001')
        | on(catalog.workspace.ConfigInvalid).publishes('error.permanent', 'ERR_CONFIG_002')
        | on(catalog.workspace.SkillInvalid).publishes('error.permanent', 'ERR_SKILL_001')
        | on(catalog.workspace.SkillNameMismatch).publishes('error.permanent', 'ERR_SKILL_002')
        | on(catalog.workspace.PluginFailed).publishes('error.permanent', 'ERR_PLUGIN_001')
        | on(catalog.workspace.EditorInstallFailed).hidden()
        | on(catalog.workspace.NotARepository).publishes('error.correctable', 'ERR_REPO_001')
        | on(catalog.workspace.WorktreeExists).publishes('error.correctable', 'ERR_REPO_002')
        | on(catalog.workspace.WorktreeFailed).publishes('error.correctable', 'ERR_REPO_003')
    )
)
