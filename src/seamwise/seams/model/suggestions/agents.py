"""What a model can do next where an agent is not there, not ready, or not allowed."""

from seamwise.catalog.agents import (
    AgentBusy,
    AgentNotFound,
    AgentNotReady,
    CommandNotFound,
    CompressionFailed,
    ContextOverflow,
    GuardrailsViolated,
    InvalidTransition,
)
from seamwise.seams.model.suggestions._words import again, meant, one_of, places


def agent_not_found(error: AgentNotFound) -> str:
    """Name the nearest agents, then all there are."""
    return meant(error.suggestions, error.available, noun='agent')


def command_not_found(error: CommandNotFound) -> str:
    """Name the nearest commands, then all there are."""
    return meant(error.suggestions, error.available, noun='command')


def agent_not_ready(error: AgentNotReady) -> str:
    """Tell when to come back."""
    return f'{again(error)}, or give the work to another agent than {error.agent!r}.'


def agent_busy(error: AgentBusy) -> str:
    """Tell when to come back; one thing at a time."""
    return f'It does one thing at a time. {again(error)}, or give the work to another agent.'


def invalid_transition(error: InvalidTransition) -> str:
    """Name the states that it leads to."""
    return one_of(error.allowed, f'Nothing leads on from {error.current!r}; leave {error.agent!r} as it is.')


def guardrails_violated(error: GuardrailsViolated) -> str:
    """Name every rule that is broken."""
    return f'It breaks {places(error.problems, "its rules")}. Do it in a way that keeps them, or ask the user to decide.'


def context_overflow(error: ContextOverflow) -> str:
    """Tell by how much it is too long."""
    over = max(error.tokens - error.limit, 1)
    return f'Summarize what was said so far in at least {over} fewer tokens, or begin a new conversation with what matters.'


def compression_failed(_: CompressionFailed) -> str:
    """Tell what can be done by hand."""
    return 'Say yourself what can be left out, in a summary of what matters, or ask the user to begin a new conversation.'
