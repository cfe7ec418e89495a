"""Access to the server: hosts, origins and the token."""

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from seamwise.toolhost import Processor
from seamwise.toolhost.server import create_app
from seamwise.toolhost.server.access import OwnHosts

from .helpers import HEADERS, HOST, TOKEN, TOOLS, access, call, serving
from .live_helpers import page_client


def client_without_token() -> TestClient:
    app = create_app(Processor(TOOLS), access=access())
    return TestClient(app, base_url=f'http://{HOST}')


@pytest.mark.parametrize(
    'host',
    [
        'evil.example',
        'evil.example:8642',
        '127.0.0.1.evil.example',
        'localhost.',
        '0.0.0.0',  # noqa: S104 -- no socket
        '127.0.0.2',
        '[::1',
        '::1',
        'localhost:',
        'localhost:99999999',
        'localhost@evil.example',
        'localhost evil.example',
        '',
    ],
)
@pytest.mark.parametrize('path', ['/', '/healthz', '/v1/tools', '/nowhere'])
def test_a_request_for_another_host_is_refused(host: str, path: str) -> None:
    with serving() as client:
        response = client.get(path, headers={'host': host})
    assert response.status_code == 421
    assert response.json()['error']['code'] == 'MISDIRECTED_REQUEST'


@pytest.mark.parametrize('host', ['127.0.0.1', '127.0.0.1:1', 'LocalHost:8642'])
def test_a_request_for_an_own_host_is_served(host: str) -> None:
    with serving() as client:
        assert client.get('/v1/tools', headers={'host': host}).status_code == 200


def test_an_address_in_brackets_is_an_own_host() -> None:
    hosts = OwnHosts.of(['::1'])
    assert hosts.includes('[::1]:8642')
    assert not hosts.includes('[::2]:8642')


def test_a_server_for_every_address_is_reached_by_address_but_not_by_a_foreign_name() -> None:
    hosts = OwnHosts.of(['0.0.0.0', 'tools'], has_every_address=True)  # noqa: S104 -- no socket
    assert hosts.includes('192.0.2.7:80')
    assert hosts.includes('[2001:db8::1]')
    assert hosts.includes('tools:80')
    assert not hosts.includes('192.0.2.7.evil.example')


@pytest.mark.parametrize(
    'origin',
    ['https://evil.example', 'null', 'http://127.0.0.1', 'http://127.0.0.1:1', 'file://', HOST, ''],
)
@pytest.mark.parametrize('path', ['/v1/calls', '/v1/calls/stream'])
def test_a_page_of_another_origin_is_refused(origin: str, path: str) -> None:
    with serving() as client:
        response = client.post(path, json=call('echo', value=1), headers={'origin': origin})
    assert response.status_code == 403
    assert 'access-control-allow-origin' not in response.headers


@pytest.mark.parametrize('origin', [f'http://{HOST}', f'https://{HOST}', f'HTTP://{HOST}'])
def test_a_page_of_the_server_itself_is_served(origin: str) -> None:
    with serving() as client:
        response = client.post('/v1/calls', json=call('echo', value=1), headers={'origin': origin})
    assert response.status_code == 200


def test_a_preflight_of_a_browser_allows_nothing() -> None:
    headers = {
        'origin': 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,authorization',
    }
    with client_without_token() as client:
        response = client.options('/v1/calls', headers=headers)
    assert response.status_code == 403
    assert not [name for name in response.headers if name.startswith('access-control')]


@pytest.mark.parametrize(
    'value',
    [
        None,
        '',
        TOKEN,
        'Bearer',
        'Bearer ',
        f'Basic {TOKEN}',
        f'Bearer {TOKEN}x',
        f'Bearer {TOKEN[:-1]}',
        f'Bearer {TOKEN.upper()}',
        'Bearer \xe9\xff',
    ],
)
@pytest.mark.parametrize(
    ('method', 'path'), [('POST', '/v1/calls'), ('POST', '/v1/calls/stream'), ('GET', '/v1/tools')]
)
def test_a_request_without_the_token_is_refused(value: str | None, method: str, path: str) -> None:
    headers = {} if value is None else {b'authorization': value.encode('latin-1')}
    with client_without_token() as client:
        response = client.request(method, path, json=call('echo', value=1), headers=headers)
    assert response.status_code == 401
    assert response.headers['www-authenticate'] == 'Bearer'
    assert response.json()['error']['code'] == 'UNAUTHORIZED'


def test_the_scheme_of_the_token_ignores_case() -> None:
    with client_without_token() as client:
        response = client.get('/v1/tools', headers={'authorization': f'bearer {TOKEN}'})
    assert response.status_code == 200


def test_a_path_of_the_api_that_does_not_exist_needs_the_token_too() -> None:
    with client_without_token() as client:
        assert client.get('/v1/nowhere').status_code == 401
        assert client.get('/v1/nowhere', headers=HEADERS).status_code == 404


def test_an_application_below_a_prefix_needs_the_token_too() -> None:
    app = Starlette(routes=[Mount('/tools', create_app(Processor(TOOLS), access=access()))])
    with TestClient(app, base_url=f'http://{HOST}') as client:
        assert client.get('/tools/v1/tools').status_code == 401
        assert client.get('/tools/v1/tools', headers=HEADERS).status_code == 200
        assert client.get('/tools/healthz').status_code == 200


def test_the_token_is_not_shown() -> None:
    assert TOKEN not in repr(access())


@pytest.mark.parametrize('path', ['/', '/healthz', '/openapi.json'])
def test_pages_without_secrets_need_no_token(path: str) -> None:
    with client_without_token() as client:
        assert client.get(path).status_code == 200


def test_the_token_in_the_url_is_not_accepted() -> None:
    with client_without_token() as client:
        assert client.get(f'/v1/tools?token={TOKEN}&access_token={TOKEN}').status_code == 401


@pytest.mark.parametrize(
    'headers',
    [
        {'host': 'evil.example'},
        {'origin': 'https://evil.example'},
        {'origin': 'null'},
        {'host': 'evil.example', 'origin': 'http://evil.example'},
    ],
)
def test_a_websocket_of_a_foreign_page_is_refused(headers: dict[str, str]) -> None:
    with page_client() as client:
        session = client.post('/v1/sessions').json()['data']['session_id']
        url = f'ws://{HOST}/v1/sessions/{session}/ws'
        with (
            pytest.raises(WebSocketDisconnect) as closed,
            client.websocket_connect(url, headers=headers),
        ):
            pytest.fail('the WebSocket was accepted')
    assert closed.value.code == 1008


@pytest.mark.parametrize('path', ['/v1/sessions', '/v1/sessions/s-1/messages', '/v1/metrics'])
def test_the_sessions_need_the_token(path: str) -> None:
    with page_client(token=None) as client:
        assert client.post(path, json={}).status_code == 401
        assert client.get(path).status_code == 401
