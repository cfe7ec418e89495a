"""The sessions of the page, through its application."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketTestSession

from .helpers import HOST, TOKEN, call
from .live_helpers import page_client

BOTH = ['seamwise.v1', f'token.{TOKEN}']


def begin(client: TestClient) -> str:
    response = client.post('/v1/sessions')
    assert response.status_code in {200, 201}
    session: str = response.json()['data']['session_id']
    return session


@contextmanager
def connected(
    client: TestClient, session: str, *, protocols: list[str] | None = None
) -> Generator[WebSocketTestSession]:
    url = f'ws://{HOST}/v1/sessions/{session}/ws'
    headers = {'origin': f'http://{HOST}'}
    protocols = BOTH if protocols is None else protocols
    with client.websocket_connect(url, protocols, headers=headers) as line:
        line.send_json({'event': 'user.connect'})
        yield line


def read_until(line: WebSocketTestSession, name: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    while not events or events[-1]['event'] != name:
        events.append(line.receive_json())
    return events


def run(line: WebSocketTestSession, output: object) -> list[dict[str, Any]]:
    line.send_json({'event': 'user.message', 'metadata': {'output': output}})
    return read_until(line, 'agent.tool_result')


def test_a_message_runs_its_calls_and_every_step_is_a_numbered_event() -> None:
    with page_client() as client, connected(client, begin(client)) as line:
        notice, *events = run(line, call('find', path='b.txt'))
    assert notice['event'] == 'system.notice'
    assert [event['event'] for event in events] == [
        'user.message',
        'agent.tool_call',
        'error.correctable',
        'agent.tool_result',
    ]
    assert [event['seq'] for event in events] == [1, 2, 3, 4]


def test_the_content_is_the_output_where_nothing_else_is() -> None:
    with page_client() as client, connected(client, begin(client)) as line:
        line.send_json(
            {'event': 'user.message', 'content': '<tool_call>{"name":"crash"}</tool_call>'}
        )
        assert read_until(line, 'agent.tool_result')[-1]['metadata']['tool'] == 'crash'


def test_the_tools_of_the_demonstration_run_too() -> None:
    with page_client() as client, connected(client, begin(client)) as line:
        events = run(line, call('demo_service', city='Oslo'))
    assert events[-1]['metadata']['success'] is True
    assert 'agent.tool_progress' in [event['event'] for event in events]


def test_metrics_are_those_of_all_sessions() -> None:
    with page_client() as client:
        for _ in range(2):
            with connected(client, begin(client)) as line:
                run(line, call('find', path='b.txt'))
        data = client.get('/v1/metrics').json()['data']
    assert data['error_rates'] == [
        {'type': 'FileNotFound', 'count': 2, 'per_minute': data['error_rates'][0]['per_minute']}
    ]
    assert data['unrecoverable']['sessions'] == 2
    assert data['error_paths'] == [{'steps': ['error.correctable', 'failed'], 'count': 2}]


def test_the_token_of_a_browser_is_percent_encoded() -> None:
    encoded = ''.join(f'%{ord(char):02x}' for char in TOKEN)
    protocols = ['seamwise.v1', f'token.{encoded}']
    with page_client(token=None) as client:
        client.headers['authorization'] = f'Bearer {TOKEN}'
        session = begin(client)
        del client.headers['authorization']
        with connected(client, session, protocols=protocols) as line:
            assert line.receive_json()['event'] == 'system.notice'


@pytest.mark.parametrize('protocols', [['seamwise.v1', 'token.wrong'], ['seamwise.v1'], []])
def test_a_websocket_needs_the_token(protocols: list[str]) -> None:
    with page_client(token=None) as client:
        client.headers['authorization'] = f'Bearer {TOKEN}'
        session = begin(client)
        del client.headers['authorization']
        with connected(client, session, protocols=protocols) as line:
            message = line.receive()
            while message['type'] != 'websocket.close':
                message = line.receive()
    assert message['code'] == 4401
