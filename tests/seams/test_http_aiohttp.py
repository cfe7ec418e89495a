"""Tests of `to_response` with aiohttp: its promises to its users still hold."""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.typedefs import Handler

from seamwise import Result
from seamwise.seams.http import HttpError, negotiated
from seamwise.seams.http import response as error_response
from seamwise.seams.http.serving.results import to_response
from tests.seams.framework_cases import ADAPTER, CASES, Busy, LoggedOut, Missing, check

ID = {'X-Request-ID': 'r-1'}
Outcome = Result[object, Missing | LoggedOut | Busy]
every_case = pytest.mark.parametrize('name', CASES)


def respond(request: web.Request, result: Outcome) -> web.Response:
    resource = request.match_info.route.resource
    operation = f'{request.method} {resource.canonical if resource else ""}'
    answer = to_response(result, ADAPTER, headers=request.headers, operation=operation)
    return web.Response(body=answer.body, status=answer.status, headers=answer.headers)


async def case(request: web.Request) -> web.Response:
    return respond(request, CASES[request.match_info['name']].result)


class CaseView(web.View):
    async def get(self) -> web.Response:
        response = respond(self.request, CASES['missing'].result)
        response.set_cookie('seen', 'yes')
        return response


async def broken(request: web.Request) -> web.Response:
    raise ZeroDivisionError('the inside')


async def upstream(request: web.Request) -> web.Response:
    raise ConnectionResetError('of another connection')


async def redirect(request: web.Request) -> web.Response:
    raise web.HTTPFound('/cases/value')


async def stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b'begun')
    raise ZeroDivisionError


@web.middleware
async def answer_defects(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer defects, as on the page of the documentation."""
    try:
        return await handler(request)
    except web.HTTPException:
        raise
    except Exception as error:
        if isinstance(error, ConnectionError) and request.transport is None:
            return web.Response(status=499)
        defect = HttpError.unknown()
        if request.writer.output_size > 0:
            raise
        accept, request_id = request.headers.get('Accept'), request.headers.get('X-Request-ID')
        answer = error_response(defect, body=negotiated, accept=accept, request_id=request_id)
        return web.Response(body=answer.body, status=answer.status, headers=answer.headers)


def create_app() -> web.Application:
    app = web.Application(middlewares=[answer_defects])
    app.add_routes(
        [
            web.get('/cases/{name}', case),
            web.view('/view', CaseView),
            web.get('/broken', broken),
            web.get('/upstream', upstream),
            web.get('/redirect', redirect),
            web.get('/stream', stream),
        ]
    )
    return app


Use = Callable[[TestClient[web.Request, web.Application]], Coroutine[Any, Any, None]]


def run(use: Use, app: web.Application | None = None, **options: Any) -> None:
    async def serve() -> None:
        async with TestClient(TestServer(app or create_app()), **options) as client:
            await use(client)

    asyncio.run(asyncio.wait_for(serve(), 30))


def defects(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.exc_info]


# Results


@every_case
def test_every_result_has_its_response(name: str) -> None:
    async def use(client: TestClient[web.Request, web.Application]) -> None:
        answer = await client.get(f'/cases/{name}', headers=ID)
        headers = {key.lower(): value for key, value in answer.headers.items()}
        check(name, answer.status, headers, await answer.read())

    run(use)


def test_a_head_request_has_the_length_but_no_body() -> None:
    async def use(client: TestClient[web.Request, web.Application]) -> None:
        answer = await client.head('/cases/value')
        assert (answer.status, await answer.read()) == (200, b'')
        assert int(answer.headers['Content-Length']) > 0

    run(use)


def test_several_accept_headers_are_one_list() -> None:
    async def use(client: TestClient[web.Request, web.Application]) -> None:
        headers = [('Accept', 'application/problem+json'), ('Accept', 'text/html')]
        answer = await client.get('/cases/missing', headers=headers)
        assert answer.content_type == 'application/problem+json'

    run(use)


def test_a_failure_is_logged_with_its_route(caplog: pytest.LogCaptureFixture) -> None:
    async def use(client: TestClient[web.Request, web.Application]) -> None:
        await client.get('/cases/missing', headers=ID)

    with caplog.at_level(logging.INFO, 'seamwise'):
        run(use)
    [record] = [record for record in caplog.records if record.name == 'seamwise']
    assert (vars(record)['operation'], vars(record)['status']) == ('GET /cases/{name}', 404)
    assert vars(record)['request_id'] == 'r-1'


def test_class_based_views_signals_and_cookies_apply_to_a_failure() -> None:
    async def mark(request: web.Request, response: web.StreamResponse) -> None:
        response.headers['X-Mark'] = str(response.status)

    async def use(client: TestClient[web.Request, web.Application]) -> None:
        answer = await client.get('/view', headers=ID)
        assert (answer.status, answer.headers['X-Mark']) == (404, '404')
        assert answer.cookies['seen'].value == 'yes'

    app = create_app()
    app.on_response_prepare.append(mark)
    run(use, app)


def test_exceptions_of_aiohttp_answer_as_before() -> None:
    async def use(client: TestClient[web.Request, web.Application]) -> None:
        assert (await client.get('/nowhere')).status == 404
        not_allowed = await client.post('/cases/value')
        assert (not_allowed.status, not_allowed.headers['Allow']) == (405, 'GET,HEAD')
        found = await client.get('/redirect', allow_redirects=False)
        assert (found.status, found.headers['Location']) == (302, '/cases/value')

    run(use)


def test_many_requests_at_once_keep_their_ids() -> None:
    async def use(client: TestClient[web.Request, web.Application]) -> None:
        async def ask(number: int) -> str:
            answer = await client.get('/cases/missing', headers={'X-Request-ID': f'r-{number}'})
            body: dict[str, str] = await answer.json()
            return body['request_id']

        assert await asyncio.gather(*map(ask, range(20))) == [f'r-{n}' for n in range(20)]

    run(use)


# Defects


def test_a_defect_is_answered_and_recorded_once(caplog: pytest.LogCaptureFixture) -> None:
    async def use(client: TestClient[web.Request, web.Application]) -> None:
        answer = await client.get('/broken', headers=ID)
        text = await answer.text()
        [record] = defects(caplog)
        body = json.loads(text)
        assert (answer.status, answer.content_type) == (500, 'application/json')
        assert body['error']['details'] == {'ref': vars(record)['ref']}
        assert body['request_id'] == 'r-1'
        assert 'the inside' not in text

    run(use)


def test_a_stream_that_breaks_stays_incomplete(caplog: pytest.LogCaptureFixture) -> None:
    async def use(client: TestClient[web.Request, web.Application]) -> None:
        answer = await client.get('/stream')
        assert answer.status == 200
        with pytest.raises(aiohttp.ClientPayloadError):
            await answer.read()

    run(use)
    assert len([record for record in defects(caplog) if record.name == 'seamwise']) == 1


def test_cancellation_passes_through_the_middleware(caplog: pytest.LogCaptureFixture) -> None:
    cancelled = asyncio.Event()

    async def wait(request: web.Request) -> web.Response:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return web.Response()

    async def serve() -> None:
        app = create_app()
        app.router.add_get('/wait', wait)
        server = TestServer(app)
        await server.start_server()
        async with TestClient(server) as client:
            with pytest.raises(TimeoutError):
                await client.get('/wait', timeout=aiohttp.ClientTimeout(0.1))
            await asyncio.wait_for(cancelled.wait(), 10)

    asyncio.run(serve())
    assert not [record for record in defects(caplog) if record.name == 'seamwise']


def test_a_client_that_vanishes_during_its_upload_is_no_defect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outcomes: list[BaseException | bytes] = []

    async def upload(request: web.Request) -> web.Response:
        try:
            outcomes.append(await request.read())
        except BaseException as error:
            outcomes.append(error)
            raise
        return web.Response()

    async def use() -> None:
        app = web.Application(middlewares=[answer_defects])
        app.add_routes([web.post('/upload', upload)])
        # A `TestServer` would cancel the handler.
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, '127.0.0.1', 0)
        await site.start()
        _, writer = await asyncio.open_connection(*runner.addresses[0])
        writer.write(b'POST /upload HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\nbegin')
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.close()
        await writer.wait_closed()
        while not outcomes:  # noqa: ASYNC110 -- aiohttp has no event
            await asyncio.sleep(0.01)
        await runner.cleanup()

    asyncio.run(asyncio.wait_for(use(), 30))
    assert [isinstance(outcome, ConnectionError) for outcome in outcomes] == [True]
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


def test_another_connection_that_breaks_is_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    async def use(client: TestClient[web.Request, web.Application]) -> None:
        answer = await client.get('/upstream')
        assert answer.status == 500

    run(use)
    assert len(defects(caplog)) == 1
