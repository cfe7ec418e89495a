"""What a failure of an agent is to an HTTP client."""

from seamwise.catalog.agents import (
    AgentBusy,
    AgentError,
    AgentNotFound,
    AgentNotReady,
    CommandNotFound,
    CompressionFailed,
    ContextOverflow,
    GuardrailsViolated,
    InvalidTransition,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError

AGENTS: Adapter[AgentError, HttpError] = (
    on(AgentNotFound).responds(404, 'AGENT_NOT_FOUND')
    | on(CommandNotFound).responds(404, 'COMMAND_NOT_FOUND')
    | on(AgentNotReady).responds(503, 'AGENT_NOT_READY')
    | on(AgentBusy).responds(409, 'AGENT_BUSY')
    | on(InvalidTransition).responds(409, 'INVALID_TRANSITION')
    | on(GuardrailsViolated).responds(403, 'GUARDRAILS_VIOLATED')
    | on(ContextOverflow).responds(413, 'CONTEXT_OVERFLOW')
    | on(CompressionFailed).responds(502, 'COMPRESSION_FAILED')
)
