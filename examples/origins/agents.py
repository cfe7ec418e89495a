"""An agent framework: layers of providers, agents and an API, with one envelope for all answers."""

from typing import TypeAlias, assert_never

from fastapi import FastAPI

from seamwise import Failure, Result, attempt, when
from seamwise.catalog.agents import AgentBusy, AgentFailed
from seamwise.catalog.models import ModelNotFound, ProviderUnavailable
from seamwise.catalog.network import UpstreamRateLimited
from seamwise.seams.http import HttpError, envelope, install, on
from seamwise.seams.http.tables import MODELS, NETWORK

ProviderError: TypeAlias = ModelNotFound | ProviderUnavailable | UpstreamRateLimited
LIMITED = {'busy-model': 1.5}


def connect(model: str) -> str:
    """Open a connection: infrastructure that raises."""
    if model == 'down-model':
        raise ConnectionRefusedError(111, 'Connection refused')
    return f'answer of {model}'


REFUSED = when(ConnectionError).becomes(lambda cause: ProviderUnavailable('acme', cause=cause))


def complete(model: str) -> Result[str, ProviderError]:
    """Ask a provider; its errors say whether they are retryable, and which provider it was."""
    if model in LIMITED:
        return Failure(UpstreamRateLimited('acme', retry_after=LIMITED[model]))
    if not model.endswith('-model'):
        return Failure(ModelNotFound('acme', model, ('small-model',)))
    return attempt(lambda: connect(model), REFUSED)


def run_agent(agent: str, model: str) -> Result[str, AgentBusy | AgentFailed]:
    """Run an agent, which adds its name and type to the error of a provider."""
    if agent == 'agent-9':
        return Failure(AgentBusy(agent, retry_after=2.0))
    return complete(model).alt(lambda cause: AgentFailed(agent, 'assistant', cause))


AS_CAUSE = on(AgentFailed).responds_as_cause(MODELS | NETWORK, status=502, code='AGENT_FAILED')


def to_http(error: AgentBusy | AgentFailed) -> HttpError:
    match error:
        case AgentBusy():
            return HttpError.of(error, 409, 'AGENT_BUSY')
        case AgentFailed():
            return AS_CAUSE(error)
        case _:
            assert_never(error)


app = FastAPI()
install(app, to_http, body=envelope)


@app.post('/agents/{agent}/{model}')
async def post(agent: str, model: str) -> Result[str, AgentBusy | AgentFailed]:
    return run_agent(agent, model)
