"""Tests of the start of an application whose adapter lacks an arm, and of its lifespan.

Starlette promises that a server does not start if the lifespan fails, and that the lifespan of the
application runs once, before the first request.
"""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from re import escape
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI, WebSocket
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount, Router

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.http import install, on
from tests.ports import free_port
from tests.seams.servers import is_open, running_process, wait_until

ROOT = Path(__file__).parents[2]


class Known(
    TaggedError, namespace='test_http_start', category=Category.NOT_FOUND, message='Known.'
):
    pass


class Full(TaggedError, namespace='test_http_start', category=Category.CAPACITY, message='Full.'):
    pass


TABLE = on(Known).responds(404, 'KNOWN')
MISSING = 'GET /full: the adapter has no arm for Full. Add `on(Full).responds(…)` to it.'


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[dict[str, str]]:
    app.state.has_started = True
    yield {'name': 'ada'}


def create_app(**options: Any) -> FastAPI:
    """Return an application with a route that has no arm, and one that is fine."""
    app = FastAPI(lifespan=lifespan, **options)
    install(app, TABLE)

    @app.get('/full')
    async def full() -> Result[str, Full]:
        return Failure(Full())

    @app.get('/fine')
    async def fine() -> Result[str, Known]:
        return Success('fine')

    return app


app = create_app()


@pytest.mark.parametrize('middleware', [[], [Middleware(GZipMiddleware)]])
def test_a_missing_arm_of_a_later_route_fails_the_start(middleware: list[Middleware]) -> None:
    app = create_app(middleware=middleware)
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        return {'type': 'lifespan.startup'}

    async def send(message: Any) -> None:
        sent.append(message)

    with pytest.raises(TypeError, match=escape(MISSING)):
        asyncio.run(app({'type': 'lifespan', 'state': {}}, receive, send))
    assert sent == [{'type': 'lifespan.startup.failed', 'message': MISSING}]
    assert not hasattr(app.state, 'has_started')


def test_the_test_client_raises_the_problem_of_the_start() -> None:
    with pytest.raises(TypeError, match=escape(MISSING)), TestClient(create_app()):
        pytest.fail('it started')


def test_without_a_lifespan_a_missing_arm_is_logged_once_and_other_routes_work(
    caplog: pytest.LogCaptureFixture,
) -> None:
    client = TestClient(create_app(), raise_server_exceptions=False)
    for _ in range(2):
        assert client.get('/fine').json()['data'] == 'fine'
    answer = client.get('/full')
    assert (answer.status_code, answer.json()['error']['code']) == (500, 'INTERNAL')
    messages = [record.getMessage() for record in caplog.records if record.name == 'seamwise']
    assert messages.count(MISSING) == 1


@pytest.mark.parametrize('way', ['itself', 'in a router', 'in an application of Starlette'])
def test_a_missing_arm_of_a_mounted_application_fails_the_start(way: str) -> None:
    app, inner = FastAPI(), create_app()
    install(app, TABLE)
    mounted: Any = inner
    if way == 'in a router':
        mounted = Router([Mount('/deep', inner)])
    elif way == 'in an application of Starlette':
        mounted = Starlette(routes=[Mount('/deep', inner)])
    app.mount('/inner', mounted)
    with pytest.raises(TypeError, match=escape(MISSING)), TestClient(app):
        pytest.fail('it started')


def test_a_missing_arm_of_a_websocket_fails_install() -> None:
    app = FastAPI()

    @app.websocket('/talk/{room}')
    async def talk(socket: WebSocket) -> Result[None, Full]:
        return Failure(Full())

    with pytest.raises(TypeError, match=r'WebSocket /talk/\{room\}: the adapter has no arm for'):
        install(app, TABLE)


def test_the_lifespan_of_an_application_runs_and_its_state_arrives() -> None:
    app = FastAPI(lifespan=lifespan)
    install(app, TABLE)
    app.get('/name')(lambda: app.state.has_started)
    with TestClient(app) as client:
        assert client.get('/name').json() is True
        assert client.app_state == {'name': 'ada'}


def test_a_stack_that_is_built_again_has_the_middleware_once() -> None:
    """OpenTelemetry and others build the stack again, and expect Starlette's outermost layer."""
    app = FastAPI()
    app.add_middleware(GZipMiddleware)
    install(app, TABLE)
    own = [*app.user_middleware]
    first, second = app.build_middleware_stack(), app.build_middleware_stack()
    assert type(first).__name__ == type(second).__name__ == 'ServerErrorMiddleware'
    assert app.user_middleware == own


COMMANDS = {
    'uvicorn': ['uvicorn', '--port'],
    'hypercorn': ['hypercorn', '--bind'],
    'granian': ['granian', '--interface', 'asgi', '--port'],
}


@pytest.mark.slow
@pytest.mark.parametrize('server', COMMANDS)
def test_a_server_does_not_start_with_a_missing_arm(server: str) -> None:
    port = free_port()
    bind = f'127.0.0.1:{port}' if server == 'hypercorn' else str(port)
    ended = subprocess.run(
        [sys.executable, '-m', *COMMANDS[server], bind, 'tests.seams.test_http_start:app'],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    # The status of hypercorn is 0 after any start that fails.
    assert server == 'hypercorn' or ended.returncode != 0
    assert MISSING in ended.stdout + ended.stderr
    assert not is_open(port)


@pytest.mark.slow
def test_a_server_without_lifespan_serves_the_other_routes() -> None:
    target = 'tests.seams.test_http_start:app'
    with running_process('uvicorn', target, '--lifespan', 'off') as port:
        wait_until(lambda: is_open(port))
        with httpx2.Client(base_url=f'http://127.0.0.1:{port}') as client:
            assert client.get('/fine').json()['data'] == 'fine'
            assert client.get('/full').json()['error']['code'] == 'INTERNAL'
