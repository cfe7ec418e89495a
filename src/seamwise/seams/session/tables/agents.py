"""What a session is sent of an agent that does not do as it was asked."""

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
from seamwise.seams.session.on import on
from seamwise.seams.session.shape import ErrorEvent

AGENTS: Adapter[AgentError, ErrorEvent] = (
    on(AgentNotFound).publishes('error.permanent', 'ERR_AGENT_001')
    | on(CommandNotFound).publishes('error.permanent', 'ERR_AGENT_002')
    | on(AgentNotReady).publishes('error.transient', 'ERR_AGENT_003')
    | on(AgentBusy).publishes('error.transient', 'ERR_AGENT_004')
    | on(InvalidTransition).publishes('error.permanent', 'ERR_AGENT_005')
    | on(GuardrailsViolated).publishes('error.permanent', 'ERR_AGENT_006')
    | on(ContextOverflow).publishes(
        'error.validation',
        'ERR_AGENT_007',
        constraint=lambda error: f'at most {error.limit} tokens',
        provided_value=lambda error: error.tokens,
    )
    | on(CompressionFailed).publishes('error.permanent', 'ERR_AGENT_008')
)
