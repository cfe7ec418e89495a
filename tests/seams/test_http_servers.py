"""Tests of one application under uvicorn, hypercorn and granian."""

import json
from collections.abc import Iterator

import httpx2
import pytest

from tests.seams.servers import TIMEOUT, Refused, connected, running_process
from tests.strategies import PLANTED

pytestmark = pytest.mark.slow


@pytest.fixture(scope='module', params=['uvicorn', 'hypercorn', 'granian'])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    with running_process(request.param, 'tests.seams.http_service:app') as port:
        yield port


@pytest.fixture
def client(port: int) -> Iterator[httpx2.Client]:
    with httpx2.Client(
        base_url=f'http://127.0.0.1:{port}', timeout=TIMEOUT, headers={'x-request-id': 'r-1'}
    ) as client:
        yield client


@pytest.mark.parametrize(
    ('method', 'path', 'body', 'status', 'code'),
    [
        ('GET', '/users/nobody', None, 404, 'GONE'),
        ('GET', '/nowhere', None, 404, 'RESOURCE_NOT_FOUND'),
        ('DELETE', '/numbers', None, 405, 'METHOD_NOT_ALLOWED'),
        ('POST', '/numbers', b'["x"]', 400, 'INVALID_REQUEST'),
        ('POST', '/numbers', b'[' + b'1,' * 1000 + b'1]', 413, 'PAYLOAD_TOO_LARGE'),
        ('GET', '/defect', None, 500, 'INTERNAL'),
    ],
)
def test_errors_are_answered_in_the_body_format(
    client: httpx2.Client, method: str, path: str, body: bytes | None, status: int, code: str
) -> None:
    headers = {'content-type': 'application/json'} if body else {}
    answer = client.request(method, path, content=body, headers=headers)
    assert (answer.status_code, answer.json()['error']['code']) == (status, code)
    assert answer.json()['request_id'] == answer.headers['x-request-id'] == 'r-1'
    assert PLANTED not in answer.text


def test_values_are_answered(client: httpx2.Client) -> None:
    assert client.get('/users/ada').json()['data'] == 'ada'
    assert client.post('/numbers', json=[1, 2]).json()['data'] == 3


def test_a_failure_ends_a_stream_of_events(client: httpx2.Client) -> None:
    text = client.get('/events').text
    assert text.startswith('data: "first"\n\n')
    *_, last = [line for line in text.splitlines() if line]
    assert json.loads(last.removeprefix('data: '))['error']['code'] == 'GONE'
    assert 'event: error\n' in text


def test_a_failure_closes_a_websocket_with_a_code(port: int) -> None:
    with connected(port, '/talk') as connection:
        assert connection.receive() == 'ada'
        assert connection.receive_close() == (1008, 'GONE')


def test_a_failure_before_accept_is_an_http_response(port: int) -> None:
    with pytest.raises(Refused) as refusal, connected(port, '/refused'):
        pytest.fail('it was accepted')
    assert refusal.value.status == 404
    assert json.loads(refusal.value.body)['error']['code'] == 'GONE'
