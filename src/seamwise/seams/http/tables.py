"""HTTP statuses and codes of all catalogue errors: one adapter per union (A2A: per revision)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from seamwise._text.json_pointer import json_pointer
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
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError, ProblemLocation

ACCESS: Adapter[access.AccessError, HttpError] = Adapter(
    lambda: (
        on(access.Unauthenticated).responds(
            401, 'UNAUTHORIZED', headers=lambda error: {'WWW-Authenticate': error.scheme}
        )
        | on(access.AccessDenied).responds(403, 'FORBIDDEN')
    )
)


AGENTS: Adapter[agents.AgentError, HttpError] = Adapter(
    lambda: (
        on(agents.AgentNotFound).responds(404, 'AGENT_NOT_FOUND')
        | on(agents.CommandNotFound).responds(404, 'COMMAND_NOT_FOUND')
        | on(agents.AgentNotReady).responds(503, 'AGENT_NOT_READY')
        | on(agents.AgentBusy).responds(409, 'AGENT_BUSY')
        | on(agents.InvalidTransition).responds(409, 'INVALID_TRANSITION')
        | on(agents.GuardrailsViolated).responds(403, 'GUARDRAILS_VIOLATED')
        | on(agents.ContextOverflow).responds(413, 'CONTEXT_OVERFLOW')
        | on(agents.CompressionFailed).responds(502, 'COMPRESSION_FAILED')
        | on(agents.AgentFailed).responds_as_cause(_CAUSES, status=502, code='AGENT_FAILED')
    )
)


GUARDS: Adapter[policies.GuardError, HttpError] = Adapter(
    lambda: (
        on(policies.RateLimited).responds(429, 'RATE_LIMITED')
        | on(policies.CircuitOpen).responds(503, 'CIRCUIT_OPEN')
        | on(policies.BulkheadFull).responds(503, 'BULKHEAD_FULL')
        | on(policies.DeadlineExceeded).responds(504, 'TIMEOUT')
    )
)


MODELS: Adapter[models.ModelError, HttpError] = Adapter(
    lambda: (
        on(models.ModelNotFound).responds(404, 'MODEL_NOT_FOUND')
        | on(models.ProviderNotReady).responds(503, 'PROVIDER_UNAVAILABLE')
        | on(models.ProviderUnavailable).responds(503, 'SERVICE_UNAVAILABLE')
        | on(models.ModelOverloaded).responds(503, 'MODEL_OVERLOADED')
        | on(models.NoModelAvailable).responds(503, 'ROUTING_UNAVAILABLE')
        | on(models.InvalidModelRequest).responds(400, 'INVALID_REQUEST')
        | on(models.ContextTooLong).responds(413, 'CONTEXT_TOO_LONG')
        | on(models.ContentFiltered).responds(422, 'CONTENT_FILTERED')
        | on(models.OutputTruncated).responds(422, 'OUTPUT_TRUNCATED')
        | on(models.StructuredOutputInvalid).responds(502, 'UPSTREAM_ERROR')
        | on(models.QuotaExceeded).responds(402, 'QUOTA_EXCEEDED')
        | on(models.BudgetExceeded).responds(402, 'BUDGET_EXCEEDED')
        | on(models.BatchClosed).responds(409, 'BATCH_CONFLICT')
        | on(models.BatchFull).responds(503, 'BATCH_FULL')
        | on(models.BatchTimedOut).responds(504, 'TIMEOUT')
        | on(models.CacheMiss).responds(404, 'CACHE_NOT_FOUND')
    )
)


NETWORK: Adapter[network.NetworkError, HttpError] = Adapter(
    lambda: (
        on(network.HostUnreachable).responds(502, 'UPSTREAM_ERROR')
        | on(network.NetworkTimedOut).responds(504, 'UPSTREAM_TIMEOUT')
        | on(network.UpstreamRateLimited).responds(429, 'RATE_LIMIT')
        | on(network.CredentialsRejected).responds(502, 'UPSTREAM_ERROR')
        | on(network.UpstreamFailed).responds(502, 'UPSTREAM_ERROR')
    )
)


def _schema_problems(error: parsing.SchemaViolations) -> Iterator[ProblemLocation]:
    return (ProblemLocation(problem.pointer, problem.message) for problem in error.problems)


PARSING: Adapter[parsing.ParsingError, HttpError] = Adapter(
    lambda: (
        on(parsing.UnreadableCall).responds(400, 'INVALID_REQUEST')
        | on(parsing.UnknownFormat).responds(400, 'INVALID_REQUEST')
        | on(parsing.SchemaViolations).responds(400, 'INVALID_REQUEST', problems=_schema_problems)
    )
)


MCP: Adapter[protocols.McpError, HttpError] = Adapter(
    lambda: (
        on(protocols.McpConnectionFailed).responds(502, 'UPSTREAM_ERROR')
        | on(protocols.McpTransportFailed).responds(502, 'UPSTREAM_ERROR')
        | on(protocols.McpServerFailed).responds(502, 'UPSTREAM_ERROR')
        | on(protocols.McpTimedOut).responds(504, 'UPSTREAM_TIMEOUT')
    )
)

LSP: Adapter[protocols.LspError, HttpError] = Adapter(
    lambda: (
        on(protocols.LspNotInitialized).responds(503, 'SERVICE_UNAVAILABLE')
        | on(protocols.LspRequestFailed).responds(502, 'UPSTREAM_ERROR')
        | on(protocols.LspContentModified).responds(409, 'CONTENT_CONFLICT')
    )
)


def _a2a(
    *, not_cancelable: int, content_type: int, agent_response: int
) -> Adapter[protocols.A2aError, HttpError]:
    """Return the table of an A2A revision; three statuses differ (A2A 1.0.0 and 1.0.1, 5.4)."""
    return (
        on(protocols.A2aTaskNotFound).responds(404, 'TASK_NOT_FOUND')
        | on(protocols.A2aTaskNotCancelable).responds(not_cancelable, 'TASK_NOT_CANCELABLE')
        | on(protocols.A2aPushNotSupported).responds(400, 'PUSH_NOTIFICATION_NOT_SUPPORTED')
        | on(protocols.A2aUnsupportedOperation).responds(400, 'UNSUPPORTED_OPERATION')
        | on(protocols.A2aContentTypeNotSupported).responds(
            content_type, 'CONTENT_TYPE_NOT_SUPPORTED'
        )
        | on(protocols.A2aInvalidAgentResponse).responds(agent_response, 'INVALID_AGENT_RESPONSE')
        | on(protocols.A2aExtendedCardNotConfigured).responds(
            400, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
        )
        | on(protocols.A2aExtensionRequired).responds(400, 'EXTENSION_SUPPORT_REQUIRED')
        | on(protocols.A2aVersionNotSupported).responds(400, 'VERSION_NOT_SUPPORTED')
        | on(protocols.AgentCardInvalid).responds(502, 'UPSTREAM_ERROR')
    )


A2A: Mapping[str, Adapter[protocols.A2aError, HttpError]] = MappingProxyType(
    {
        '1.0.0': Adapter(lambda: _a2a(not_cancelable=409, content_type=415, agent_response=502)),
        '1.0.1': Adapter(lambda: _a2a(not_cancelable=400, content_type=400, agent_response=500)),
    }
)
"""The adapters by A2A revision."""

A2A_LATEST = A2A['1.0.1']
"""The table of the newest revision of A2A."""


SESSIONS: Adapter[sessions.SessionError, HttpError] = Adapter(
    lambda: (
        on(sessions.InvalidInput).responds(400, 'INVALID_REQUEST')
        | on(sessions.SessionNotFound).responds(404, 'SESSION_NOT_FOUND')
        | on(sessions.SessionBusy).responds(409, 'SESSION_CONFLICT')
        | on(sessions.ConnectionLost).hidden()
        | on(sessions.ReplayGap).responds(409, 'REPLAY_CONFLICT')
        | on(sessions.UnknownEpoch).responds(404, 'EPOCH_NOT_FOUND')
        | on(sessions.AckAhead).responds(400, 'INVALID_REQUEST')
        | on(sessions.RecoveryFailed).responds(502, 'RECOVERY_FAILED')
    )
)


STORAGE: Adapter[storage.StorageError, HttpError] = Adapter(
    lambda: (
        on(storage.RecordNotFound).responds(404, 'RECORD_NOT_FOUND')
        | on(storage.RecordExists).responds(409, 'ALREADY_EXISTS')
        | on(storage.StoreClosed).responds(503, 'SERVICE_UNAVAILABLE')
        | on(storage.StoreUnavailable).responds(503, 'SERVICE_UNAVAILABLE')
    )
)


STREAMING: Adapter[streaming.StreamingError, HttpError] = Adapter(
    lambda: (
        on(streaming.InvalidStream).responds(502, 'UPSTREAM_ERROR')
        | on(streaming.ChunkUnparsable).responds(502, 'UPSTREAM_ERROR')
        | on(streaming.ChunkHandlerFailed).responds(502, 'STREAM_HANDLER_FAILED')
        | on(streaming.StreamAborted).hidden()
        | on(streaming.UserInterrupted).hidden()
        | on(streaming.StreamProviderFailed).responds(502, 'UPSTREAM_ERROR')
        | on(streaming.TokenCountFailed).responds(502, 'TOKENIZER_ERROR')
        | on(streaming.BufferFull).responds(503, 'STREAM_BUFFER_FULL')
        | on(streaming.StreamClosed).responds(409, 'STREAM_CONFLICT')
        | on(streaming.SlowConsumer).responds(503, 'SLOW_CONSUMER')
    )
)


def _argument_problem(name: str, detail: str) -> ProblemLocation:
    return ProblemLocation(json_pointer(['arguments', name]), detail)


def _argument_problems(
    error: tools.MissingParameter | tools.InvalidParameter,
) -> Iterator[ProblemLocation]:
    detail = 'is missing' if isinstance(error, tools.MissingParameter) else error.reason
    yield _argument_problem(error.parameter, detail)
    for argument in error.also:
        yield _argument_problem(argument.parameter, argument.reason)


TOOLS: Adapter[tools.ToolError, HttpError] = Adapter(
    lambda: (
        on(tools.MissingParameter).responds(400, 'TOOL_VALIDATION', problems=_argument_problems)
        | on(tools.InvalidParameter).responds(400, 'TOOL_VALIDATION', problems=_argument_problems)
        | on(tools.UnknownTool).responds(404, 'TOOL_NOT_FOUND')
        | on(tools.FileNotFound).responds(404, 'FILE_NOT_FOUND')
        | on(tools.FileAlreadyExists).responds(409, 'ALREADY_EXISTS')
        | on(tools.PathForbidden).responds(403, 'FORBIDDEN')
        | on(tools.ContentNotFound).responds(404, 'CONTENT_NOT_FOUND')
        | on(tools.ContentMismatch).responds(409, 'CONTENT_CONFLICT')
        | on(tools.DuplicateMatch).responds(409, 'CONTENT_CONFLICT')
        | on(tools.CommandTimedOut).responds(504, 'TIMEOUT')
        | on(tools.CommandFailed).responds(422, 'COMMAND_FAILED')
        | on(tools.DiffRejected).responds(409, 'DIFF_CONFLICT')
        | on(tools.ToolFailed).responds(502, 'TOOL_EXECUTION_FAILED')
        | on(tools.ToolTimedOut).responds(504, 'TIMEOUT')
        | on(tools.ToolCancelled).responds(409, 'TOOL_CANCELLED')
        | on(tools.InvalidResult).responds(502, 'TOOL_RESULT_INVALID')
        | on(tools.RegistrationRejected).hidden()
        | on(tools.ToolRepeated).responds(409, 'TOOL_REPEATED')
        | on(tools.TooManyMistakes).responds(409, 'TOO_MANY_MISTAKES')
        | on(tools.ResourceExhausted).responds(503, 'RESOURCE_EXHAUSTED')
    )
)


WORKSPACE: Adapter[workspace.WorkspaceError, HttpError] = Adapter(
    lambda: on(workspace.WorkspaceError).hidden()
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
