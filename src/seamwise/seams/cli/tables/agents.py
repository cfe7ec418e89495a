"""How a failure of an agent looks at a terminal."""

from collections.abc import Iterator

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
from seamwise.seams._phrases import quoted
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli import hints
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Rendered


def _agents(error: AgentNotFound) -> str | None:
    return f'the agents are {quoted(error.available, last="and")}.' if error.available else None


def _commands(error: CommandNotFound) -> str | None:
    return f'the commands are {quoted(error.available, last="and")}.' if error.available else None


def _states(error: InvalidTransition) -> str:
    return f'it can be {quoted(error.allowed)} next.' if error.allowed else 'nothing comes after that.'


def _rules(error: GuardrailsViolated) -> Iterator[str]:
    return hints.places(error.problems, whole='all of it')


AGENTS: Adapter[AgentError, Rendered] = (
    on(AgentNotFound).exits(2, hint=_agents, meant=lambda error: (error.name, error.available))
    | on(CommandNotFound).exits(2, hint=_commands, meant=lambda error: (error.name, error.available))
    | on(AgentNotReady).exits(69, hint=hints.later)
    | on(AgentBusy).exits(75, hint=hints.later)
    | on(InvalidTransition).exits(1, hint=_states)
    | on(GuardrailsViolated).exits(77, hint=_rules)
    | on(ContextOverflow).exits(65, hint='compress the conversation, or begin a new one.')
    | on(CompressionFailed).exits(1, hint='leave something out by hand, or begin a new conversation.')
)
