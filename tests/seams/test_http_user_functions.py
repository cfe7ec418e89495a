"""Tests of Results from functions of users that are no handlers, which frameworks would drop.

Starlette and FastAPI promise that an exception handler answers for its exception, that tasks run
after the response in their order, that a middleware function sees and replaces responses, and that
functions for events run at the start and the end.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from fastapi import APIRouter, BackgroundTasks, FastAPI, HTTPException, Request, WebSocket
from fastapi.responses import PlainTextResponse, Response
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.endpoints import HTTPEndpoint, WebSocketEndpoint
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect

from seamwise import Category, Failure, Raised, Result, Success, TaggedError, or_raise
from seamwise.seams.http import Created, endpoint, install, on


class Sold(
    TaggedError,
    namespace='test_http_user_functions',
    category=Category.NOT_FOUND,
    message='{what} is sold.',
):
    what: str


class Lost(
    TaggedError, namespace='test_http_user_functions', category=Category.CONFLICT, message='Lost.'
):
    pass


TABLE = on(Sold).responds(404, 'SOLD')


def sold() -> Result[None, Sold]:
    return Failure(Sold('bike'))


async def sold_async() -> Result[None, Sold]:
    return Failure(Sold('bike'))


@pytest.fixture(autouse=True)
def _info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, 'seamwise')


def records(caplog: pytest.LogCaptureFixture) -> list[Any]:
    return [record for record in caplog.records if record.name == 'seamwise']


def application() -> FastAPI:
    app = FastAPI()
    install(app, TABLE)
    return app


# WebSockets


def socket_of_fastapi(handler: Any) -> Starlette:
    app = application()
    app.websocket('/')(handler)
    return app


def socket_of_starlette(handler: Any) -> Starlette:
    app = Starlette(routes=[WebSocketRoute('/', handler)])
    install(app, TABLE)
    return app


SOCKETS = [socket_of_fastapi, socket_of_starlette]


async def after(websocket: WebSocket) -> Result[None, Sold]:
    await websocket.accept()
    return Failure(Sold('bike'))


async def before(websocket: WebSocket) -> Result[None, Sold]:
    return Failure(Sold('bike'))


async def undeclared(websocket: WebSocket):  # type: ignore[no-untyped-def]  # as users write it
    await websocket.accept()
    return Failure(Sold('bike'))


async def succeeding(websocket: WebSocket) -> Result[None, Sold]:
    await websocket.accept()
    await websocket.close(1000)
    return Success(None)


def socket_of_mounted(handler: Any) -> Starlette:
    inner = FastAPI()
    inner.websocket('/')(handler)
    app = application()
    app.mount('/', inner)
    return app


def socket_of_mounted_starlette(handler: Any) -> Starlette:
    app = application()
    app.mount('/', Starlette(routes=[WebSocketRoute('/', handler)]))
    return app


SOCKETS.extend([socket_of_mounted, socket_of_mounted_starlette])


def test_the_socket_of_an_included_router_has_its_path_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    router, inner = APIRouter(prefix='/a'), APIRouter(prefix='/b')
    inner.websocket('/c/{kind}')(after)
    router.include_router(inner)
    app = application()
    app.include_router(router)
    with TestClient(app).websocket_connect('/a/b/c/1') as socket:
        assert socket.receive()['code'] == 1008
    assert [record.operation for record in records(caplog)] == ['WEBSOCKET /a/b/c/{kind}']


@pytest.mark.parametrize('create', SOCKETS)
@pytest.mark.parametrize('handler', [after, undeclared])
def test_a_failure_that_a_websocket_handler_returns_closes_with_a_code(
    create: Callable[[Any], Starlette], handler: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with TestClient(create(handler)).websocket_connect('/') as socket:
        closed = socket.receive()
    assert (closed['code'], closed['reason']) == (1008, 'SOLD')
    assert [record.tag for record in records(caplog)] == ['Sold']


@pytest.mark.parametrize('create', SOCKETS)
def test_before_accept_it_is_an_http_response(create: Callable[[Any], Starlette]) -> None:
    with (
        pytest.raises(WebSocketDenialResponse) as denial,
        TestClient(create(before)).websocket_connect('/'),
    ):
        pytest.fail('it was accepted')
    assert denial.value.status_code == 404


@pytest.mark.parametrize('create', SOCKETS)
def test_a_success_of_a_websocket_handler_changes_nothing(
    create: Callable[[Any], Starlette], caplog: pytest.LogCaptureFixture
) -> None:
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        TestClient(create(succeeding)).websocket_connect('/') as socket,
    ):
        socket.receive_text()
    assert closed.value.code == 1000
    assert records(caplog) == []


# Exception handlers


def handler_app(handler: Any, kind: Any = KeyError) -> FastAPI:
    app = application()
    app.add_exception_handler(kind, handler)

    @app.get('/')
    async def raise_it() -> str:
        raise KeyError

    @app.websocket('/talk')
    async def talk(websocket: WebSocket) -> None:
        await websocket.accept()
        raise KeyError

    return app


async def translate(request: Request, error: Exception) -> Result[None, Sold]:
    return Failure(Sold('bike'))


def translate_in_a_thread(request: Request, error: Exception) -> Result[None, Sold]:
    return Failure(Sold('bike'))


@pytest.mark.parametrize('handler', [translate, translate_in_a_thread])
def test_a_failure_of_an_exception_handler_is_answered(
    handler: Any, caplog: pytest.LogCaptureFixture
) -> None:
    answer = TestClient(handler_app(handler)).get('/', headers={'x-request-id': 'r-1'})
    assert (answer.status_code, answer.json()['error']['code']) == (404, 'SOLD')
    assert answer.headers['x-request-id'] == 'r-1'
    assert [record.tag for record in records(caplog)] == ['Sold']
    assert 'connection' not in answer.headers


@pytest.mark.parametrize('key', [Exception, 500])
def test_a_failure_of_the_handler_for_defects_is_answered(key: Any) -> None:
    client = TestClient(handler_app(translate, key), raise_server_exceptions=False)
    answer = client.get('/')
    assert (answer.status_code, answer.json()['error']['code']) == (404, 'SOLD')
    # The exception is raised again, and the server closes the connection.
    assert answer.headers['connection'] == 'close'


def test_a_failure_of_an_exception_handler_closes_a_websocket() -> None:
    with TestClient(handler_app(translate)).websocket_connect('/talk') as socket:
        closed = socket.receive()
    assert (closed['code'], closed['reason']) == (1008, 'SOLD')


def test_a_success_of_an_exception_handler_is_answered() -> None:
    async def instead(request: Request, error: Exception) -> Result[Created[str], Sold]:
        return Success(Created('made', location='/made'))

    async def response(request: Request, error: Exception) -> Result[Response, Sold]:
        return Success(PlainTextResponse('plain'))

    answer = TestClient(handler_app(instead)).get('/')
    assert (answer.status_code, answer.json()['data']) == (201, 'made')
    assert answer.headers['location'] == '/made'
    assert TestClient(handler_app(response)).get('/').text == 'plain'


def test_the_handlers_of_users_stay_in_the_application() -> None:
    app = handler_app(translate)
    TestClient(app).get('/')
    handlers: dict[Any, Any] = {**app.exception_handlers}
    assert handlers[KeyError] is translate


# Middleware functions


@pytest.mark.parametrize('is_raised', [True, False])
def test_a_failure_of_a_middleware_function_is_answered(
    caplog: pytest.LogCaptureFixture, *, is_raised: bool
) -> None:
    app = application()

    @app.middleware('http')
    async def check(request: Request, call_next: Any) -> Any:
        if is_raised:
            or_raise(sold())
        return sold()

    answer = TestClient(app).get('/', headers={'accept-language': 'de'})
    assert (answer.status_code, answer.json()['error']['code']) == (404, 'SOLD')
    assert [record.tag for record in records(caplog)] == ['Sold']


def test_a_middleware_function_raises_other_errors() -> None:
    app = application()

    @app.middleware('http')
    async def check(request: Request, call_next: Any) -> Any:
        raise Raised(Lost())

    with pytest.raises(Raised):
        TestClient(app).get('/')


class Raising:
    """Middleware of plain ASGI that raises an exception for some paths."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path = scope.get('path')
        if path == '/defect':
            raise ZeroDivisionError
        if path == '/failure':
            or_raise(sold())
        await self._app(scope, receive, send)
        if path == '/late':
            raise ZeroDivisionError


async def raise_at_once(request: Request, call_next: Any) -> Any:
    if request.url.path == '/defect':
        raise ZeroDivisionError
    return await call_next(request)


def behind_middleware(*, is_function: bool) -> FastAPI:
    app = application()
    if is_function:
        app.middleware('http')(raise_at_once)
    else:
        app.add_middleware(Raising)
    app.get('/late')(lambda: 'ok')
    return app


@pytest.mark.parametrize('is_function', [True, False])
def test_a_defect_of_middleware_is_answered_recorded_once_and_raised(
    caplog: pytest.LogCaptureFixture, *, is_function: bool
) -> None:
    app = behind_middleware(is_function=is_function)
    answer = TestClient(app, raise_server_exceptions=False).get('/defect')
    [record] = records(caplog)
    assert (answer.status_code, answer.json()['error']['details']) == (500, {'ref': record.ref})
    assert answer.headers['x-request-id'] == answer.json()['request_id']
    # The server closes the connection after an exception.
    assert answer.headers['connection'] == 'close'
    with pytest.raises(ZeroDivisionError):
        TestClient(app).get('/defect')


def test_a_defect_of_middleware_after_the_response_leaves_it_as_it_is(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = behind_middleware(is_function=False)
    answer = TestClient(app, raise_server_exceptions=False).get('/late')
    assert (answer.status_code, answer.json()) == (200, 'ok')
    assert [record.error_type for record in records(caplog)] == ['ZeroDivisionError']


def test_an_error_that_middleware_raises_is_answered_by_its_arm(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answer = TestClient(behind_middleware(is_function=False)).get('/failure')
    assert (answer.status_code, answer.json()['error']['code']) == (404, 'SOLD')
    assert [record.tag for record in records(caplog)] == ['Sold']


def test_an_own_handler_answers_the_defects_of_middleware(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = behind_middleware(is_function=False)

    @app.exception_handler(Exception)
    async def answer_all(request: Request, error: Exception) -> PlainTextResponse:
        return PlainTextResponse('sorry', 503)

    answer = TestClient(app, raise_server_exceptions=False).get('/defect')
    assert (answer.status_code, answer.text) == (503, 'sorry')
    assert [record.error_type for record in records(caplog)] == ['ZeroDivisionError']


def test_a_defect_of_middleware_closes_a_websocket(caplog: pytest.LogCaptureFixture) -> None:
    app = behind_middleware(is_function=False)
    client = TestClient(app)
    with pytest.raises(ZeroDivisionError), client.websocket_connect('/defect'):
        pytest.fail('it connected')
    assert [record.error_type for record in records(caplog)] == ['ZeroDivisionError']


# Background tasks


@pytest.mark.parametrize('task', [sold, sold_async])
def test_a_failure_of_a_background_task_is_logged_and_the_next_task_runs(
    task: Any, caplog: pytest.LogCaptureFixture
) -> None:
    app = application()
    done: list[str] = []

    @app.get('/task')
    async def start(tasks: BackgroundTasks) -> str:
        tasks.add_task(task)
        tasks.add_task(done.append, 'next')
        return 'ok'

    assert TestClient(app).get('/task').json() == 'ok'
    [record] = records(caplog)
    assert (record.tag, record.status, record.response) == ('Sold', 200, 'already started')
    assert record.operation == 'GET /task'
    assert done == ['next']


def test_a_failure_of_the_task_of_a_response_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    app = application()
    app.get('/')(lambda: PlainTextResponse('ok', background=BackgroundTask(sold)))

    @endpoint(TABLE)
    async def own(request: Request) -> Result[Response, Sold]:
        return Success(PlainTextResponse('ok', background=BackgroundTask(sold_async)))

    starlette = Starlette(routes=[Route('/', own)])
    install(starlette, TABLE)
    for number, each in enumerate([app, starlette]):
        assert TestClient(each).get('/').text == 'ok'
        assert [record.tag for record in records(caplog)] == ['Sold'] * (number + 1)


def test_one_list_of_tasks_serves_several_responses(caplog: pytest.LogCaptureFixture) -> None:
    app = application()
    tasks = BackgroundTasks([BackgroundTask(sold)])
    app.get('/')(lambda: PlainTextResponse('ok', background=tasks))
    for name in ('r-1', 'r-2'):
        TestClient(app).get('/', headers={'x-request-id': name})
    assert [record.request_id for record in records(caplog)] == ['r-1', 'r-2']


def test_an_error_of_a_task_without_an_arm_is_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    app = application()
    app.get('/')(lambda: PlainTextResponse('', background=BackgroundTask(lambda: Failure(Lost()))))
    assert TestClient(app, raise_server_exceptions=False).get('/').status_code == 200
    [record] = records(caplog)
    assert 'Lost' in record.getMessage() + str(record.exc_text)


# Events


@pytest.mark.parametrize('function', [sold, sold_async])
def test_a_failure_at_the_start_fails_it(function: Any) -> None:
    app = application()
    app.router.add_event_handler('startup', function)
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        return {'type': 'lifespan.startup'}

    async def send(message: Any) -> None:
        sent.append(message)

    with pytest.raises(Raised):
        asyncio.run(app({'type': 'lifespan', 'state': {}}, receive, send))
    [message] = sent
    assert message['type'] == 'lifespan.startup.failed'
    assert 'bike is sold' in message['message']


# Refused by name


async def plain(request: Request) -> Result[str, Sold]:
    return Success('ok')


class Page(HTTPEndpoint):
    async def get(self, request: Request) -> Result[str, Sold]:
        return Success('ok')


class Talk(WebSocketEndpoint):
    async def on_connect(self, websocket: WebSocket) -> Result[None, Sold]:  # type: ignore[override, explicit-override]  # as a user may write it
        return sold()


@pytest.mark.parametrize(
    ('route', 'message'),
    [
        (Route('/page', plain), '/page: plain returns a Result.*decorate it with `endpoint`'),
        (Route('/page', Page), '/page: Page.get returns a Result'),
        (Mount('/a', routes=[Route('/page', plain)]), '/page: plain returns a Result'),
        (WebSocketRoute('/talk', Talk), '/talk: Talk.on_connect returns a Result.*`or_raise`'),
        (
            WebSocketRoute('/talk', before, middleware=[Middleware(GZipMiddleware)]),
            '/talk: before returns a Result',
        ),
    ],
)
@pytest.mark.parametrize('create', [Starlette, FastAPI])
def test_a_result_that_starlette_does_not_see_is_refused_by_name(
    create: type[Starlette], route: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        install(create(routes=[route]), TABLE)


async def lose(request: Request, other: Any) -> Result[None, Lost]:
    return Failure(Lost())


def test_a_stream_of_results_is_refused_by_name() -> None:
    async def rooms() -> AsyncIterator[Result[int, Sold]]:
        yield Success(1)

    def rows() -> Iterator[Result[int, Sold]]:
        yield Success(1)

    for function in (rooms, rows):
        app = FastAPI()
        app.get('/rooms')(function)
        with pytest.raises(TypeError, match=f'GET /rooms: .*{function.__name__} yields Results'):
            install(app, TABLE)


def test_missing_arms_of_functions_are_refused_by_name() -> None:
    handled = application()
    handled.add_exception_handler(KeyError, lose)  # type: ignore[arg-type]  # install converts it
    passed = application()
    passed.middleware('http')(lose)
    for app, name in ((handled, 'exception handler lose'), (passed, 'middleware lose')):
        with (
            pytest.raises(TypeError, match=f'{name}: the adapter has no arm for Lost'),
            TestClient(app),
        ):
            pytest.fail('it started')


def test_functions_that_return_no_results_are_as_without_install() -> None:
    app = application()

    @app.exception_handler(KeyError)
    def translate(request: Request, error: KeyError) -> Response:
        return PlainTextResponse('own', 418)

    @app.middleware('http')
    async def stamp(request: Request, call_next: Any) -> Response:
        response: Response = await call_next(request)
        response.headers['x-stamp'] = '1'
        return response

    @app.get('/')
    def raise_it() -> None:
        raise KeyError

    @app.get('/http')
    def refuse() -> None:
        raise HTTPException(403)

    client = TestClient(app)
    answer = client.get('/')
    assert (answer.status_code, answer.text, answer.headers['x-stamp']) == (418, 'own', '1')
    assert client.get('/http').json()['error']['code'] == 'FORBIDDEN'
