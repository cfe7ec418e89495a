"""Tests of the gateway in applications of FastAPI and Starlette, and under other servers."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypercorn.config import Config
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp
from typing_extensions import override

from seamwise.live import Event, EventLog, MemoryLog
from seamwise.seams.http import install
from seamwise.seams.http.tables import STORAGE
from tests.live.gateway.event_streams import read_events
from tests.live.gateway.running import (
    ORIGIN,
    Address,
    create,
    do_nothing,
    echo,
    eventually,
    run_app,
)
from tests.live.gateway.sockets import CONNECT, open_socket, say

pytestmark = pytest.mark.anyio


class Tagging(BaseHTTPMiddleware):
    @override
    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        response = await call_next(request)
        response.headers['x-tag'] = 'yes'
        return response


async def use(address: Address, log: EventLog) -> None:
    """Use each route of a gateway whose sessions repeat what they receive."""
    async with address.http() as http:
        begun = (await http.post('/v1/sessions')).json()['data']
        session = begun['session_id']
        async with read_events(address, session) as stream:
            assert stream.response.status_code == 200
            await stream.next()
            async with open_socket(address, session, CONNECT) as socket:
                assert (await socket.next())['metadata']['replay'] == 'new'
                path = f'/v1/sessions/{session}/messages'
                response = await http.post(path, json=say('Hello'))
                assert response.status_code == 202
                for source in (socket, stream):
                    names = [(await source.next()) for _ in range(2)]
                    assert len(names) == 2
                await socket.send({'event': 'user.cancel'})
                _, code = await socket.rest()
                assert code == 1000
            items = [item.event for item in await stream.rest() if item.event is not None]
            assert items == ['user.cancel', 'agent.session_end']
        top = (await log.replay(session, None)).unwrap().top
        async with read_events(address, session, last=str(top)) as stream:
            assert stream.response.status_code == 204
        assert (await http.get('/v1/other')).status_code == 404
    await eventually(lambda: not log._hub.sessions)  # type: ignore[attr-defined]  # of the stores


def home(_: Request) -> Response:
    return PlainTextResponse('home')


def starlette_app(gateway: ASGIApp) -> ASGIApp:
    return Starlette(routes=[Route('/', home), Mount('/live', gateway)])


def fastapi_app(gateway: ASGIApp) -> ASGIApp:
    app = FastAPI()
    app.get('/')(lambda: 'home')
    app.mount('/live', gateway)
    return app


def installed_app(gateway: ASGIApp) -> ASGIApp:
    app = FastAPI()
    install(app, STORAGE)
    app.mount('/live', gateway)
    return app


def app_with_middleware(gateway: ASGIApp) -> ASGIApp:
    middleware = [
        Middleware(CORSMiddleware, allow_origins=[ORIGIN]),
        Middleware(GZipMiddleware),
        Middleware(Tagging),
    ]
    return Starlette(routes=[Mount('/live', gateway)], middleware=middleware)


def nested_app(gateway: ASGIApp) -> ASGIApp:
    return Starlette(routes=[Mount('/', Starlette(routes=[Mount('/live', gateway)]))])


@pytest.mark.parametrize('server', [{'ws': 'auto'}, {'ws': 'wsproto'}, {'http': 'h11'}])
async def test_the_gateway_works_under_each_protocol_of_uvicorn(server: dict[str, str]) -> None:
    async with (
        MemoryLog() as log,
        run_app(starlette_app(create(log, open=echo)), **server) as address,
    ):
        await use(address, log)


@pytest.mark.parametrize(
    'build', [starlette_app, fastapi_app, installed_app, app_with_middleware, nested_app]
)
async def test_the_gateway_works_in_an_application(build: Any) -> None:
    async with MemoryLog() as log, run_app(build(create(log, open=echo))) as address:
        await use(address, log)


async def test_two_gateways_live_in_one_process() -> None:
    async with MemoryLog() as log, MemoryLog() as other:
        routes = [Mount('/live', create(log, open=echo)), Mount('/other', create(other, open=echo))]
        async with run_app(Starlette(routes=routes)) as address:
            await use(address, log)
            async with httpx.AsyncClient(base_url=f'http://127.0.0.1:{address.port}') as http:
                begun = (await http.post('/other/v1/sessions')).json()['data']
                path = f'/v1/sessions/{begun["session_id"]}/messages'
                assert (await http.post('/live' + path, json=say())).status_code == 404
                assert (await http.post('/other' + path, json=say())).status_code == 202


async def test_cors_lets_a_page_of_an_allowed_origin_read_the_stream() -> None:
    async with MemoryLog() as log:
        (await log.end('s-1', Event('agent.session_end'))).unwrap()
        async with (
            run_app(app_with_middleware(create(log))) as address,
            read_events(address, 's-1', Origin=ORIGIN) as stream,
        ):
            headers = stream.response.headers
            assert headers['access-control-allow-origin'] == ORIGIN
            assert headers['x-tag'] == 'yes'
            assert len(await stream.rest()) == 2


async def test_the_gateway_is_an_application_of_its_own() -> None:
    async with (
        MemoryLog() as log,
        run_app(create(log, open=echo)) as address,
        httpx.AsyncClient(base_url=f'http://127.0.0.1:{address.port}') as http,
    ):
        assert (await http.post('/v1/sessions')).status_code == 201
        assert (await http.get('/live/v1/sessions')).status_code == 404


def test_the_test_client_of_starlette_works() -> None:
    log = MemoryLog()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with log:
            yield

    gateway = create(log, open=echo)
    app = Starlette(routes=[Mount('/live', gateway)], lifespan=lifespan)
    with TestClient(app) as client:
        begun = client.post('/live/v1/sessions').json()['data']
        path = f'/live/v1/sessions/{begun["session_id"]}'
        with client.websocket_connect(f'{path}/ws', subprotocols=['seamwise.v1']) as socket:
            accepted: object = socket.accepted_subprotocol
            assert accepted == 'seamwise.v1'
            socket.send_json(CONNECT)
            assert socket.receive_json()['metadata']['replay'] == 'new'
            socket.send_json(say('Hello'))
            assert [socket.receive_json()['event'] for _ in range(2)] == [
                'user.message',
                'agent.message',
            ]
        assert client.post(f'{path}/messages', json={'event': 'user.cancel'}).status_code == 202
        text = client.get(f'{path}/events').text
        assert text.startswith('retry: 2000\n\n')
        assert 'event: agent.session_end\n' in text
    # Each block has an event loop of its own.
    with TestClient(app) as client:
        assert client.post('/live/v1/sessions').status_code == 201


async def test_hypercorn_serves_the_gateway() -> None:
    hypercorn: Any = import_module('hypercorn.asyncio')
    config = Config()
    config.bind = ['127.0.0.1:0']
    config.loglevel = 'CRITICAL'
    stop = asyncio.Event()
    async with MemoryLog() as log:
        app: Any = starlette_app(create(log, open=echo))
        [listener] = config.create_sockets().insecure_sockets
        listener.listen()
        config.bind = [f'fd://{listener.fileno()}']
        running = asyncio.create_task(hypercorn.serve(app, config, shutdown_trigger=stop.wait))
        try:
            await use(Address(listener.getsockname()[1]), log)
        finally:
            stop.set()
            await running
            listener.detach()


async def test_nothing_remains_in_a_process_after_its_clients() -> None:
    async with MemoryLog() as log, run_app(starlette_app(create(log, open=do_nothing))) as address:
        (await log.begin('s-1')).unwrap()
        for _ in range(3):
            async with (
                read_events(address, 's-1') as stream,
                open_socket(address, 's-1', CONNECT) as socket,
            ):
                await stream.next()
                await socket.next()
        await eventually(lambda: not log._hub.sessions)
        names = {task.get_name() for task in asyncio.all_tasks()}
        assert {name for name in names if name.startswith(('live', 'outbox'))} == set()
