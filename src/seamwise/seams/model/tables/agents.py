"""What a language model is told of a failure of an agent."""

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
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.suggestions import agents as suggest

AGENTS: Adapter[AgentError, Guidance] = (
    on(AgentNotFound).guides('validation_error', suggestion=suggest.agent_not_found, lists=('available', 'suggestions'))
    | on(CommandNotFound).guides('validation_error', suggestion=suggest.command_not_found, lists=('available', 'suggestions'))
    | on(AgentNotReady).guides('availability_error', suggestion=suggest.agent_not_ready)
    | on(AgentBusy).guides('availability_error', suggestion=suggest.agent_busy)
    | on(InvalidTransition).guides('state_error', suggestion=suggest.invalid_transition)
    | on(GuardrailsViolated).guides('content_error', suggestion=suggest.guardrails_violated, denied=True)
    | on(ContextOverflow).guides('state_error', suggestion=suggest.context_overflow)
    | on(CompressionFailed).guides('execution_error', suggestion=suggest.compression_failed)
)
