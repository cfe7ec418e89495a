"""What a failure of an agent is to a planner."""

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
from seamwise.seams.planner import details
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

AGENTS: Adapter[AgentError, ErrorInfo] = (
    on(AgentNotFound).classifies('TOOL_NOT_FOUND', details=details.unknown_agent)
    | on(CommandNotFound).classifies('TOOL_NOT_FOUND', details=details.unknown_command)
    | on(AgentNotReady).classifies('TOOL_EXECUTION_FAILED')
    | on(AgentBusy).classifies('BULKHEAD_FULL')
    | on(InvalidTransition).classifies('TOOL_ARGUMENT_ERROR')
    | on(GuardrailsViolated).classifies('TOOL_EXECUTION_FAILED')
    | on(ContextOverflow).classifies('TOOL_ARGUMENT_ERROR')
    | on(CompressionFailed).classifies('TOOL_EXECUTION_FAILED')
)
