"""HTTP statuses and codes of all catalogue errors: one adapter per union (A2A: per revision)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from seamwise._text.json_pointer import json_pointer
from seamwise.seams import catalog
from seamwise.seams.adapter import Adapter
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError, ProblemLocation

ACCESS: Adapter[catalog.access.AccessError, HttpError] = Adapter(
    lambda: (
        on(catalog.access.Unauthenticated).responds(
            401, 'UNAUTHORIZED', headers=lambda error: {'WWW-Authenticate': error.scheme}
        )
        | on(catalog.access.AccessDenied).responds(403, 'FORBIDDEN')
    )
)


AGENTS: Adapter[catalog.agents.AgentError, HttpError] = Adapter(
    lambda: (
        on(catalog.agents.AgentNotFound).responds(404, 'AGENT_NOT_FOUND')
        | on(catalog.agents.CommandNotFound).responds(404, 'COMMAND_NOT_FOUND')
        | on(catalog.agents.AgentNotReady).responds(503, 'AGENT_NOT_READY')
        | on(catalog.agents.AgentBusy).responds(409, 'AGENT_BUSY')
        | on(catalog.agents.InvalidTransition).responds(409, 'INVALID_TRANSITION')
        | on(catalog.agents.GuardrailsViolated).responds(403, 'GUARDRAILS_VIOLATED')
        | on(catalog.agents.ContextOverflow).responds(413, 'CONTEXT_OVERFLOW')
        | on(catalog.agents.CompressionFailed).responds(502, 'COMPRESSION_FAILED')
        | on(catalog.agents.AgentFailed).responds_as_cause(_CAUSES, status=502, code='AGENT_FAILED')
    )
)


GUARDS: Adapter[catalog.policies.GuardError, HttpError] = Adapter(
    lambda: (
        on(catalog.policies.RateLimited).responds(429, 'RATE_LIMITED')
        | on(catalog.policies.CircuitOpen).responds(503, 'CIRCUIT_OPEN')
        | on(catalog.policies.BulkheadFull).responds(503, 'BULKHEAD_FULL')
        | on(catalog.policies.DeadlineExceeded).responds(504, 'TIMEOUT')
    )
)


MODELS: Adapter[catalog.models.ModelError, HttpError] = Adapter(
    lambda: (
        on(catalog.models.ModelNotFound).responds(404, 'MODEL_NOT_FOUND')
        | on(catalog.models.ProviderNotReady).responds(503, 'PROVIDER_UNAVAILABLE')
        | on(catalog.models.ProviderUnavailable).responds(503, 'SERVICE_UNAVAILABLE')
        | on(catalog.models.ModelOverloaded).responds(503, 'MODEL_OVERLOADED')
        | on(catalog.models.NoModelAvailable).responds(503, 'ROUTING_UNAVAILABLE')
        | on(catalog.models.InvalidModelRequest).responds(400, 'INVALID_REQUEST')
        | on(catalog.models.ContextTooLong).responds(413, 'CONTEXT_TOO_LONG')
        | on(catalog.models.ContentFiltered).responds(422, 'CONTENT_FILTERED')
        | on(catalog.models.OutputTruncated).responds(422, 'OUTPUT_TRUNCATED')
        | on(catalog.models.StructuredOutputInvalid).responds(502, 'UPSTREAM_ERROR')
        | on(catalog.models.QuotaExceeded).responds(402, 'QUOTA_EXCEEDED')
        | on(catalog.models.BudgetExceeded).responds(402, 'BUDGET_EXCEEDED')
        | on(catalog.models.BatchClosed).responds(409, 'BATCH_CONFLICT')
        | on(catalog.models.BatchFull).responds(503, 'BATCH_FULL')
        | on(catalog.models.BatchTimedOut).responds(504, 'TIMEOUT')
        | on(catalog.models.CacheMiss).responds(404, 'CACHE_NOT_FOUND')
    )
)


NETWORK: Adapter[catalog.network.NetworkError, HttpError] = Adapter(
    lambda: (
        on(catalog.network.HostUnreachable).responds(502, 'UPSTREAM_ERROR')
        | on(catalog.network.NetworkTimedOut).responds(504, 'UPSTREAM_TIMEOUT')
        | on(catalog.network.UpstreamRateLimited).responds(429, 'RATE_LIMIT')
        | on(catalog.network.CredentialsRejected).responds(502, 'UPSTREAM_ERROR')
        | on(catalog.network.UpstreamFailed).responds(502, 'UPSTREAM_ERROR')
    )
)


def _schema_problems(error: catalog.parsing.SchemaViolations) -> Iterator[ProblemLocation]:
    return (ProblemLocation(problem.pointer, problem.message) for problem in error.problems)


PARSING: Adapter[catalog.parsing.ParsingError, HttpError] = Adapter(
    lambda: (
        on(catalog.parsing.UnreadableCall).responds(400, 'INVALID_REQUEST')
        | on(catalog.parsing.UnknownFormat).responds(400, 'INVALID_REQUEST')
        | on(catalog.parsing.SchemaViolations).responds(
            400, 'INVALID_REQUEST', problems=_schema_problems
        )
    )
)


MCP: Adapter[catalog.protocols.McpError, HttpError] = Adapter(
    lambda: (
        on(catalog.protocols.McpConnectionFailed).responds(502, 'UPSTREAM_ERROR')
        | on(catalog.protocols.McpTransportFailed).responds(502, 'UPSTREAM_ERROR')
        | on(catalog.protocols.McpServerFailed).responds(502, 'UPSTREAM_ERROR')
        | on(catalog.protocols.McpTimedOut).responds(504, 'UPSTREAM_TIMEOUT')
    )
)

LSP: Adapter[catalog.protocols.LspError, HttpError] = Adapter(
    lambda: (
        on(catalog.protocols.LspNotInitialized).responds(503, 'SERVICE_UNAVAILABLE')
        | on(catalog.protocols.LspRequestFailed).responds(502, 'UPSTREAM_ERROR')
        | on(catalog.protocols.LspContentModified).responds(409, 'CONTENT_CONFLICT')
    )
)


def _a2a(
    *, not_cancelable: int, content_type: int, agent_response: int
) -> Adapter[catalog.protocols.A2aError, HttpError]:
    """Return the table of an A2A revision; three statuses differ (A2A 1.0.0 and 1.0.1, 5.4)."""
    return (
        on(catalog.protocols.A2aTaskNotFound).responds(404, 'TASK_NOT_FOUND')
        | on(catalog.protocols.A2aTaskNotCancelable).responds(not_cancelable, 'TASK_NOT_CANCELABLE')
        | on(catalog.protocols.A2aPushNotSupported).responds(400, 'PUSH_NOTIFICATION_NOT_SUPPORTED')
        | on(catalog.protocols.A2aUnsupportedOperation).responds(400, 'UNSUPPORTED_OPERATION')
        | on(catalog.protocols.A2aContentTypeNotSupported).responds(
            content_type, 'CONTENT_TYPE_NOT_SUPPORTED'
        )
        | on(catalog.protocols.A2aInvalidAgentResponse).responds(
            agent_response, 'INVALID_AGENT_RESPONSE'
        )
        | on(catalog.protocols.A2aExtendedCardNotConfigured).responds(
            400, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
        )
        | on(catalog.protocols.A2aExtensionRequired).responds(400, 'EXTENSION_SUPPORT_REQUIRED')
        | on(catalog.protocols.A2aVersionNotSupported).responds(400, 'VERSION_NOT_SUPPORTED')
        | on(catalog.protocols.AgentCardInvalid).responds(502, 'UPSTREAM_ERROR')
    )


A2A: Mapping[str, Adapter[catalog.protocols.A2aError, HttpError]] = MappingProxyType(
    {
        '1.0.0': Adapter(lambda: _a2a(not_cancelable=409, content_type=415, agent_response=502)),
        '1.0.1': Adapter(lambda: _a2a(not_cancelable=400, content_type=400, agent_response=500)),
    }
)
"""The adapters by A2A revision."""

A2A_LATEST = A2A['1.0.1']
"""The table of the newest revision of A2A."""


SESSIONS: Adapter[catalog.sessions.SessionError, HttpError] = Adapter(
    lambda: (
        on(catalog.sessions.InvalidInput).responds(400, 'INVALID_REQUEST')
        | on(catalog.sessions.SessionNotFound).responds(404, 'SESSION_NOT_FOUND')
        | on(catalog.sessions.SessionBusy).responds(409, 'SESSION_CONFLICT')
        | on(catalog.sessions.ConnectionLost).hidden()
        | on(catalog.sessions.ReplayGap).responds(409, 'REPLAY_CONFLICT')
        | on(catalog.sessions.UnknownEpoch).responds(404, 'EPOCH_NOT_FOUND')
        | on(catalog.sessions.AckAhead).responds(400, 'INVALID_REQUEST')
        | on(catalog.sessions.RecoveryFailed).responds(502, 'RECOVERY_FAILED')
    )
)


STORAGE: Adapter[catalog.storage.StorageError, HttpError] = Adapter(
    lambda: (
        on(catalog.storage.RecordNotFound).responds(404, 'RECORD_NOT_FOUND')
        | on(catalog.storage.RecordExists).responds(409, 'ALREADY_EXISTS')
        | on(catalog.storage.StoreClosed).responds(503, 'SERVICE_UNAVAILABLE')
        | on(catalog.storage.StoreUnavailable).responds(503, 'SERVICE_UNAVAILABLE')
    )
)


STREAMING: Adapter[catalog.streaming.StreamingError, HttpError] = Adapter(
    lambda: (
        on(catalog.streaming.InvalidStream).responds(502, 'UPSTREAM_ERROR')
        | on(catalog.streaming.ChunkUnparsable).responds(502, 'UPSTREAM_ERROR')
        | on(catalog.streaming.ChunkHandlerFailed).responds(502, 'STREAM_HANDLER_FAILED')
        | on(catalog.streaming.StreamAborted).hidden()
        | on(catalog.streaming.UserInterrupted).hidden()
        | on(catalog.streaming.StreamProviderFailed).responds(502, 'UPSTREAM_ERROR')
        | on(catalog.streaming.TokenCountFailed).responds(502, 'TOKENIZER_ERROR')
        | on(catalog.streaming.BufferFull).responds(503, 'STREAM_BUFFER_FULL')
        | on(catalog.streaming.StreamClosed).responds(409, 'STREAM_CONFLICT')
        | on(catalog.streaming.SlowConsumer).responds(503, 'SLOW_CONSUMER')
    )
)


def _argument_problem(name: str, detail: str) -> ProblemLocation:
    return ProblemLocation(json_pointer(['arguments', name]), detail)


def _argument_problems(
    error: catalog.tools.MissingParameter | catalog.tools.InvalidParameter,
) -> Iterator[ProblemLocation]:
    detail = 'is missing' if isinstance(error, catalog.tools.MissingParameter) else error.reason
    yield _argument_problem(error.parameter, detail)
    for argument in error.also:
        yield _argument_problem(argument.parameter, argument.reason)


TOOLS: Adapter[catalog.tools.ToolError, HttpError] = Adapter(
    lambda: (
        on(catalog.tools.MissingParameter).responds(
            400, 'TOOL_VALIDATION', problems=_argument_problems
        )
        | on(catalog.tools.InvalidParameter).responds(
            400, 'TOOL_VALIDATION', problems=_argument_problems
        )
        | on(catalog.tools.UnknownTool).responds(404, 'TOOL_NOT_FOUND')
        | on(catalog.tools.FileNotFound).responds(404, 'FILE_NOT_FOUND')
        | on(catalog.tools.FileAlreadyExists).responds(409, 'ALREADY_EXISTS')
        | on(catalog.tools.PathForbidden).responds(403, 'FORBIDDEN')
        | on(catalog.tools.ContentNotFound).responds(404, 'CONTENT_NOT_FOUND')
        | on(catalog.tools.ContentMismatch).responds(409, 'CONTENT_CONFLICT')
        | on(catalog.tools.DuplicateMatch).responds(409, 'CONTENT_CONFLICT')
        | on(catalog.tools.CommandTimedOut).responds(504, 'TIMEOUT')
        | on(catalog.tools.CommandFailed).responds(422, 'COMMAND_FAILED')
        | on(catalog.tools.DiffRejected).responds(409, 'DIFF_CONFLICT')
        | on(catalog.tools.ToolFailed).responds(502, 'TOOL_EXECUTION_FAILED')
        | on(catalog.tools.ToolTimedOut).responds(504, 'TIMEOUT')
        | on(catalog.tools.ToolCancelled).responds(409, 'TOOL_CANCELLED')
        | on(catalog.tools.InvalidResult).responds(502, 'TOOL_RESULT_INVALID')
        | on(catalog.tools.RegistrationRejected).hidden()
        | on(catalog.tools.ToolRepeated).responds(409, 'TOOL_REPEATED')
        | on(catalog.tools.TooManyMistakes).responds(409, 'TOO_MANY_MISTAKES')
        | on(catalog.tools.ResourceExhausted).responds(503, 'RESOURCE_EXHAUSTED')
    )
)


WORKSPACE: Adapter[catalog.workspace.WorkspaceError, HttpError] = Adapter(
    lambda: on(catalog.workspace.WorkspaceError).hidden()
)


def _join_tables() -> Adapter[Any, HttpError]:
    return (
        ACCESS
        | AGENTS
        | GUARDS
        | MODELS
        | NETWORK
        | PARSING
        | MCP
        | LSP
        | A2A_LATEST
        | SESSIONS
        | STORAGE
        | STREAMING
        | TOOLS
        | WORKSPACE
    )


_CAUSES: Adapter[Any, HttpError] = Adapter(_join_tables)
"""The answers of the whole catalogue, for the causes of other errors."""
