"""What a failure of an agent is on JSON-RPC."""

from collections.abc import Mapping

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
from seamwise.seams.jsonrpc.codes import Revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.jsonrpc.tables._dialects import Dialect, by_revision
from seamwise.seams.model import tables as model


def _agents(to: Dialect) -> Adapter[AgentError, Answer]:
    return (
        to.on(AgentNotFound).fails(model.AGENTS)
        | to.on(CommandNotFound).fails(model.AGENTS)
        | to.on(AgentNotReady).fails(model.AGENTS)
        | to.on(AgentBusy).fails(model.AGENTS)
        | to.on(InvalidTransition).fails(model.AGENTS)
        | to.on(GuardrailsViolated).fails(model.AGENTS)
        | to.on(ContextOverflow).fails(model.AGENTS)
        | to.on(CompressionFailed).fails(model.AGENTS)
    )


AGENTS: Mapping[Revision, Adapter[AgentError, Answer]] = by_revision(_agents)
