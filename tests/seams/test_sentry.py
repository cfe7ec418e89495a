"""Defects and failures of a service in Sentry, with its real SDK and an offline transport."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.seams.sentry_scenarios import SCENARIOS, OrdersLost, reporting
from tests.strategies import PLANTED

ROOT = Path(__file__).parents[2]
NAMES = [*SCENARIOS, 'a hook']
WITHOUT_LOGGING = {'no integration', 'no logging integration', 'a hook'}
CAPTURING = [name for name in NAMES if name != 'no integration']
REDACTED = [name for name in CAPTURING if name != 'reported outside of Sentry']

pytestmark = pytest.mark.slow


@pytest.fixture(scope='module', name='captured')
def _captured() -> dict[str, dict[str, list[Any]]]:
    process = subprocess.run(
        [sys.executable, '-c', 'from tests.seams.sentry_scenarios import main; main()'],
        capture_output=True,
        check=True,
        cwd=ROOT,
        timeout=120,
    )
    events: dict[str, dict[str, list[Any]]] = json.loads(process.stdout)
    return events


@pytest.mark.parametrize('path', ['/defect', '/thread'])
@pytest.mark.parametrize('name', CAPTURING)
def test_a_defect_arrives_exactly_once_with_its_class_and_stack(
    captured: dict[str, dict[str, list[Any]]], name: str, path: str
) -> None:
    [event] = captured[name][path]
    error = event['exception']['values'][-1]
    assert (error['module'], error['type']) == ('tests.seams.sentry_scenarios', OrdersLost.__name__)
    frame = error['stacktrace']['frames'][-1]
    assert (frame['function'], frame['in_app'], frame['vars']['retries']) == ('connect', True, '3')


@pytest.mark.parametrize('name', REDACTED)
def test_an_event_of_a_defect_has_no_secret(
    captured: dict[str, dict[str, list[Any]]], name: str
) -> None:
    for event in captured[name]['/defect'] + captured[name]['/thread']:
        assert PLANTED not in json.dumps(event)
        frame = event['exception']['values'][-1]['stacktrace']['frames'][-1]
        assert frame['vars']['dsn'] == "'postgresql://***@db.example.org/orders'"


def test_an_event_of_the_log_has_the_reference_and_the_cause(
    captured: dict[str, dict[str, list[Any]]],
) -> None:
    [event] = captured['default integrations']['/defect']
    assert event['extra']['ref'].startswith('err_')
    assert event['extra']['context']['operation'] == 'GET /defect'
    assert event['request']['url'] == 'http://testserver/defect'
    assert [error['type'] for error in event['exception']['values']] == [
        'ConnectionRefusedError',
        'OrdersLost',
    ]


def test_an_event_of_a_framework_keeps_its_mechanism(
    captured: dict[str, dict[str, list[Any]]],
) -> None:
    [event] = captured['no logging integration']['/defect']
    mechanism = event['exception']['values'][-1]['mechanism']
    assert (mechanism['type'], mechanism['handled']) == ('starlette', False)


@pytest.mark.parametrize('name', NAMES)
def test_a_failure_does_not_arrive_as_an_exception(
    captured: dict[str, dict[str, list[Any]]], name: str
) -> None:
    events = captured[name]['/failure']
    assert len(events) == (name not in WITHOUT_LOGGING)
    for event in events:
        assert 'exception' not in event
        assert event['logentry']['message'] == 'GET /failure failed: %s (HostUnreachable)'
        assert event['extra']['tag'] == 'HostUnreachable'
        assert PLANTED not in json.dumps(event)


# Others that see an exception


class Watcher:
    """ASGI middleware that sees exceptions, as agents for application performance do."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.seen: list[Exception] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            self.seen.append(error)
            raise


@pytest.fixture(name='watcher')
def _watcher() -> Watcher:
    return Watcher(reporting())


def test_a_middleware_outside_sees_the_exception_itself(watcher: Watcher) -> None:
    response = TestClient(watcher, raise_server_exceptions=False).get('/defect')
    [error] = watcher.seen
    assert response.status_code == 500
    assert isinstance(error, OrdersLost)
    assert PLANTED in str(error), 'the exception itself is unchanged'
    assert isinstance(error.__cause__, ConnectionRefusedError)


def test_the_test_client_raises_the_exception(watcher: Watcher) -> None:
    with pytest.raises(OrdersLost):
        TestClient(watcher).get('/defect')
