"""The five systems of the documents as short programs: what each shows at its seams."""

import asyncio
import json
from typing import Any

import pytest
from examples.origins import agents, boundaries, chat, planner, tools
from fastapi.testclient import TestClient

from seamwise import Failure, Result, Success, find_cause
from seamwise.catalog.agents import AgentBusy, AgentFailed
from seamwise.catalog.models import ModelNotFound, ProviderNotReady
from seamwise.catalog.network import CredentialsRejected, NetworkTimedOut, UpstreamRateLimited
from seamwise.catalog.protocols import McpTimedOut
from seamwise.catalog.sessions import InvalidInput
from seamwise.seams.planner import PLANNER, Decision, FallBack, Queue, Stop, Wait
from seamwise.seams.session import ErrorEvent, encode
from seamwise.testing import FakeWorld, assert_covers
from tests.sources.helpers import Records


class Chat:
    """A chat in Chinese that keeps its events."""

    locale = 'zh_CN'
    session_id = 's-1'

    def __init__(self) -> None:
        self.sent: list[ErrorEvent] = []

    def send(self, event: ErrorEvent, /) -> None:
        """Keep an event."""
        self.sent.append(event)


def test_each_function_covers_the_errors_of_its_service() -> None:
    assert_covers(tools.to_user, tools.ReadError)
    assert_covers(agents.to_http, AgentBusy | AgentFailed)
    assert_covers(chat.to_session, chat.SearchError)
    assert_covers(boundaries.to_cli, ModelNotFound | ProviderNotReady)
    assert_covers(boundaries.to_http, ModelNotFound | ProviderNotReady)


# 000: tools


@pytest.mark.parametrize(
    ('params', 'error_class', 'category'),
    [
        ({}, 'MissingParameter', 'tool_validation'),
        ({'path': 'src/ap.py'}, 'FileNotFound', 'file_operation'),
        ({'path': '.env', 'token': 'hunter2'}, 'PathForbidden', 'file_operation'),
    ],
)
def test_a_failed_tool_guides_the_model_and_is_logged(
    params: dict[str, str], error_class: str, category: str
) -> None:
    handler = Records()
    result, message = tools.read_file(params, 'c-1', handler.logger)
    content = json.loads(message.content)
    assert (content['error_class'], bool(content['suggestion'])) == (error_class, True)
    [record] = handler.records
    assert vars(record)['category'] == category
    assert 'hunter2' not in repr(vars(record))
    assert tools.to_user(result.failure()).exit_code in {2, 66, 77}


def test_a_tool_that_succeeds_logs_nothing_and_a_chunk_has_its_own_errors() -> None:
    handler = Records()
    result, _ = tools.read_file({'path': 'src/app.py'}, 'c-1', handler.logger)
    assert (result, handler.records) == (Success('print("hello")'), [])
    assert tools.parse_chunk('data: a') == Success('a')
    assert tools.parse_chunk('<html>').failure().position == 0


# 001: agents


@pytest.mark.parametrize(
    ('path', 'status', 'code', 'retryable'),
    [
        ('agent-7/large-model', 200, None, None),
        ('agent-7/busy-model', 429, 'RATE_LIMIT', True),
        ('agent-7/down-model', 503, 'SERVICE_UNAVAILABLE', True),
        ('agent-7/large-2', 404, 'MODEL_NOT_FOUND', False),
        ('agent-9/large-model', 409, 'AGENT_BUSY', True),
    ],
)
def test_the_api_answers_in_one_envelope(
    path: str, status: int, code: str | None, retryable: bool | None
) -> None:
    answer = TestClient(agents.app).post(f'/agents/{path}')
    body = answer.json()
    assert (answer.status_code, body['success']) == (status, status == 200)
    assert {'timestamp', 'request_id'} < body.keys()
    error = body.get('error', {})
    assert (error.get('code'), error.get('retryable')) == (code, retryable)


def test_the_cause_in_the_infrastructure_is_found_at_the_agent() -> None:
    failed = agents.run_agent('agent-7', 'down-model').failure()
    assert find_cause(failed, ConnectionRefusedError) is not None


# 002: the chat


def run_chat(*errors: Any) -> tuple[Result[str, Any], Chat, FakeWorld]:
    receiver, world = Chat(), FakeWorld(random=lambda: 0.0)
    results: list[Any] = [*map(Failure, errors), Success('found')]

    async def operation() -> Result[str, Any]:
        return results.pop(0)  # type: ignore[no-any-return]  # one of the results above

    result = asyncio.run(chat.execute(operation, receiver, world=world))
    return result, receiver, world


def test_a_rate_limit_of_a_minute_is_waited() -> None:
    result, receiver, world = run_chat(UpstreamRateLimited('openai', 60.0, limit=100))
    assert result == Success('found')
    assert world.slept == [60.0]
    assert [event.event for event in receiver.sent] == ['error.rate_limited']
    assert receiver.sent[0].metadata['limit'] == 100


@pytest.mark.parametrize(
    ('errors', 'names'),
    [
        (
            [NetworkTimedOut('search.example', 'search', 30.0)] * 3,
            ['error.timeout', 'error.retry_attempt'] * 2
            + ['error.recovery_failed', 'agent.error', 'agent.session_end'],
        ),
        (
            [CredentialsRejected('openai', ('OPENAI_API_KEY',))],
            ['error.recovery_failed', 'agent.error', 'agent.session_end'],
        ),
        ([InvalidInput('task_count > 0', 0)], ['error.validation']),
    ],
)
def test_two_lines_report_a_whole_operation(errors: list[Any], names: list[str]) -> None:
    result, receiver, _ = run_chat(*errors)
    assert result == Failure(errors[-1])
    assert [event.event for event in receiver.sent] == names
    event = receiver.sent[0]
    assert not event.show_content.isascii()
    common = {'error_code', 'error_type', 'timestamp', 'recoverable', 'recovery_strategy', 'stage'}
    assert common <= event.metadata.keys()


# 003: the planner


def test_the_planner_reacts_to_each_outcome() -> None:
    output = ''.join(
        f'<tool_call>{{"name": "{name}", "arguments": {{"city": "{city}"}}}}</tool_call>'
        for name, city in [('weather', 'Oslo'), ('weather', 'Olso'), ('weather', 'Ulm'), ('x', 'a')]
    )
    steps = asyncio.run(planner.run(output))
    assert steps == [
        'use the result',
        "correct the call: There is no city 'Olso'.",
        'retry with 2 times the time',
        "correct the call: There is no tool 'x'.",
    ]


@pytest.mark.parametrize(
    ('decision', 'step'),
    [
        (Wait(1500), 'wait 1500 ms'),
        (FallBack(), 'use another tool'),
        (Queue(), 'queue'),
        (Stop(), 'give up: MCP_TIMEOUT'),
    ],
)
def test_each_decision_has_a_step(decision: Decision, step: str) -> None:
    info = PLANNER(McpTimedOut('weather', 'tool_call', 30.0))
    assert planner.next_step(info, decision) == step


# 004: boundaries


def test_each_boundary_owns_its_shape() -> None:
    error = boundaries.get_model('acme', 'large-2').failure()
    assert isinstance(error, ModelNotFound)
    assert isinstance(error.cause, boundaries.NoSuchModelError)
    text = boundaries.to_cli(error)
    assert (text.exit_code, 'large-3' in text.text) == (66, True)
    stored = boundaries.to_session(error)
    assert stored.name == 'ProviderModelNotFoundError'
    assert b'"session.error"' in encode(stored.event('s-1'))


@pytest.mark.parametrize(
    ('path', 'status', 'name', 'data'),
    [
        (
            'acme/large-2',
            400,
            'ProviderModelNotFoundError',
            {'providerID': 'acme', 'modelID': 'large-2', 'suggestions': ['large-3', 'small-1']},
        ),
        ('umbra/a', 503, 'ProviderInitError', {'providerID': 'umbra'}),
    ],
)
def test_a_route_keeps_the_older_body(
    path: str, status: int, name: str, data: dict[str, object]
) -> None:
    answer = TestClient(boundaries.app).get(f'/models/{path}')
    assert answer.status_code == status
    assert answer.json() == {'name': name, 'data': data}


def test_an_unknown_rejection_remains_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(boundaries.MODELS, 'acme', None)
    with pytest.raises(TypeError):
        boundaries.get_model('acme', 'large-2')
