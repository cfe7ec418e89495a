"""Tests of WebSockets with `install`: failures, defects, disconnects, invalid requests."""

import asyncio
import json
import logging
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Annotated, Any

import pytest
from fastapi import Depends, FastAPI, HTTPException, Query, WebSocket, WebSocketException
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.testclient import WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect

from seamwise import Category, Failure, Raised, Result, TaggedError
from seamwise.seams.http import SafeErrors, install, named, on
from tests.seams.servers import Refused, connected, running, wait_until
from tests.strategies import PLANTED


class Unknown(
    TaggedError,
    namespace='test_http_websockets',
    category=Category.AUTHENTICATION,
    message='Who are you?',
):
    pass


class Busy(
    TaggedError, namespace='test_http_websockets', category=Category.CAPACITY, message='Busy.'
):
    retry_after: float = 2.0


class Broken(
    TaggedError, namespace='test_http_websockets', category=Category.EXECUTION, message='Broken.'
):
    pass


TABLE = (
    on(Unknown).responds(401, 'UNKNOWN')
    | on(Busy).responds(503, 'BUSY')
    | on(Broken).responds(502, 'BROKEN')
)
ERRORS: dict[str, Callable[[], Exception]] = {
    'unknown': lambda: Raised(Unknown()),
    'busy': lambda: Raised(Busy()),
    'broken': lambda: Raised(Broken()),
    'defect': lambda: ValueError(f'password={PLANTED}'),
}


def exception(kind: str) -> Exception:
    return ERRORS[kind]()


def refuse() -> Result[str, Unknown]:
    return Failure(Unknown())


def application() -> FastAPI:
    app = FastAPI()
    install(app, TABLE)

    @app.websocket('/before/{kind}')
    async def before(socket: WebSocket, kind: str) -> None:
        raise exception(kind)

    @app.websocket('/after/{kind}')
    async def after(socket: WebSocket, kind: str) -> None:
        await socket.accept()
        await socket.send_text('hello')
        raise exception(kind)

    @app.websocket('/refused')
    async def refused(socket: WebSocket, user: Annotated[str, Depends(refuse)]) -> None:
        pytest.fail('it must not run')

    @app.websocket('/checked')
    async def checked(socket: WebSocket, size: Annotated[int, Query(gt=0)]) -> None:
        await socket.accept()
        await socket.close()

    @app.websocket('/echo')
    async def echo(socket: WebSocket) -> None:
        await socket.accept()
        while True:
            await socket.send_text(await socket.receive_text())

    @app.websocket('/handled/{status}')
    async def handled(socket: WebSocket, status: int) -> None:
        await socket.accept()
        await socket.send_text('hello')
        raise HTTPException(status)

    @app.websocket('/own')
    async def own(socket: WebSocket) -> None:
        raise WebSocketException(4001, 'own reason')

    @app.websocket('/closed')
    async def closed(socket: WebSocket) -> None:
        await socket.accept()
        await socket.close(1000)
        raise ValueError('after the end')

    return app


@pytest.fixture(scope='module')
def port() -> Generator[int]:
    with running(application()) as port:
        yield port


@pytest.fixture(autouse=True)
def _debug(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, 'seamwise')


def denial(port: int, path: str) -> Refused:
    with pytest.raises(Refused) as raised, connected(port, path):
        pytest.fail('it was accepted')
    return raised.value


def own_records(caplog: pytest.LogCaptureFixture) -> list[Any]:
    return [record for record in caplog.records if record.name == 'seamwise']


@pytest.mark.parametrize(
    ('path', 'status', 'code'),
    [
        ('/before/unknown', 401, 'UNKNOWN'),
        ('/before/busy', 503, 'BUSY'),
        ('/before/broken', 502, 'BROKEN'),
        ('/before/defect', 500, 'INTERNAL'),
        ('/refused', 401, 'UNKNOWN'),
    ],
)
def test_before_accept_the_answer_is_an_http_response(
    port: int, path: str, status: int, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    response = denial(port, path)
    body = json.loads(response.body)
    assert (response.status, body['error']['code']) == (status, code)
    assert body['request_id'] == response.headers['x-request-id'] == 'r-1'
    assert PLANTED not in str(body)
    wait_until(lambda: bool(own_records(caplog)))
    [record] = own_records(caplog)
    if code == 'INTERNAL':
        assert body['error']['details']['ref'] == record.ref
    else:
        assert (record.operation, record.status) == ('WEBSOCKET ' + _template(path), status)


def _template(path: str) -> str:
    return '/before/{kind}' if path.startswith('/before') else path


@pytest.mark.parametrize(
    ('kind', 'code', 'reason'),
    [
        ('unknown', 1008, 'UNKNOWN'),
        ('busy', 1013, 'BUSY'),
        ('broken', 1011, 'BROKEN'),
        ('defect', 1011, 'INTERNAL err_'),
    ],
)
def test_after_accept_the_connection_is_closed_with_a_code(
    port: int, kind: str, code: int, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with connected(port, f'/after/{kind}') as connection:
        assert connection.receive() == 'hello'
        own_code, own_reason = connection.receive_close()
    assert (own_code, own_reason[: len(reason)]) == (code, reason)
    wait_until(lambda: bool(own_records(caplog)))
    [record] = own_records(caplog)
    if kind == 'defect':
        assert own_reason == f'INTERNAL {record.ref}'
    else:
        assert record.operation == 'WEBSOCKET /after/{kind}'


@pytest.mark.parametrize(
    ('status', 'code', 'reason'),
    [(423, 1008, 'LOCKED'), (500, 1011, 'INTERNAL'), (503, 1013, 'SERVICE_UNAVAILABLE')],
)
def test_an_http_exception_after_accept_closes_with_a_code(
    port: int, status: int, code: int, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with connected(port, f'/handled/{status}') as connection:
        assert connection.receive() == 'hello'
        assert connection.receive_close() == (code, reason)
    # As in HTTP, where it is an answer of the application.
    assert own_records(caplog) == []


def test_a_disconnect_of_the_client_is_no_defect(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with connected(port, '/echo') as connection:
        connection.send('a')
        assert connection.receive() == 'a'
    wait_until(lambda: bool(own_records(caplog)))
    assert [record.levelno for record in own_records(caplog)] == [logging.DEBUG]


def test_an_invalid_request_is_refused_without_its_values(port: int) -> None:
    response = denial(port, f'/checked?size={PLANTED}')
    assert response.status == 403
    assert PLANTED.encode() not in response.body
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        TestClient(application()).websocket_connect(f'/checked?size={PLANTED}'),
    ):
        pytest.fail('it was accepted')
    assert (closed.value.code, closed.value.reason) == (1008, 'INVALID_REQUEST')


def test_a_websocket_exception_of_the_framework_stays() -> None:
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        TestClient(application()).websocket_connect('/own'),
    ):
        pytest.fail('it was accepted')
    assert (closed.value.code, closed.value.reason) == (4001, 'own reason')


def test_a_defect_after_the_close_is_recorded_only(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with connected(port, '/closed') as connection:
        assert connection.receive_close()[0] == 1000
    wait_until(lambda: bool(own_records(caplog)))
    [record] = own_records(caplog)
    assert record.ref


def test_a_defect_is_raised_again() -> None:
    client = TestClient(application())
    socket = client.websocket_connect('/after/defect')
    with pytest.raises(ValueError, match='password'), socket:
        socket.receive_text()


def test_the_denial_has_the_body_format_of_the_application() -> None:
    async def talk(socket: WebSocket) -> None:
        raise Raised(Unknown())

    app = Starlette(routes=[WebSocketRoute('/ws', talk)])
    install(app, TABLE, body=named)
    with (
        pytest.raises(WebSocketDenialResponse) as refusal,
        TestClient(app).websocket_connect('/ws'),
    ):
        pytest.fail('it was accepted')
    assert refusal.value.json()['name'] == 'Unknown'


def test_without_the_extension_a_refused_connection_is_closed_with_a_code() -> None:
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise Raised(Busy())

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {'type': 'websocket.connect'}

    scope: dict[str, Any] = {'type': 'websocket', 'path': '/', 'headers': []}
    asyncio.run(SafeErrors(app, adapter=TABLE)(scope, receive, send))
    assert sent == [{'type': 'websocket.close', 'code': 1013, 'reason': 'BUSY'}]


@pytest.mark.parametrize('step', ['accept', 'send', 'close'])
def test_a_disconnect_at_any_send_is_no_defect(step: str, caplog: pytest.LogCaptureFixture) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({'type': 'websocket.accept'})
        await send({'type': 'websocket.send', 'text': 'a'})
        await send({'type': 'websocket.close', 'code': 1000})

    async def send(message: Any) -> None:
        if message['type'] == f'websocket.{step}':
            raise OSError('the client is disconnected')

    async def receive() -> Any:
        return {'type': 'websocket.connect'}

    scope: dict[str, Any] = {'type': 'websocket', 'path': '/', 'headers': []}
    asyncio.run(SafeErrors(app)(scope, receive, send))
    assert [record.levelno for record in own_records(caplog)] == [logging.DEBUG]


def test_cancellation_of_a_connection_propagates(caplog: pytest.LogCaptureFixture) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise asyncio.CancelledError

    async def run() -> None:
        scope: dict[str, Any] = {'type': 'websocket', 'path': '/', 'headers': []}
        with pytest.raises(asyncio.CancelledError):
            await SafeErrors(app)(scope, None, None)  # type: ignore[arg-type]  # not called

    asyncio.run(run())
    assert [record.levelno for record in own_records(caplog)] == [logging.DEBUG]


def lost_connection(app: Any, *messages: dict[str, Any]) -> None:
    """Run a WebSocket whose client sends some messages, and has left when it is sent to."""
    inbox = iter([{'type': 'websocket.connect'}, *messages])

    async def receive() -> Any:
        return next(inbox)

    async def send(message: Any) -> None:
        if message['type'] == 'websocket.send':
            raise OSError('the client is disconnected')

    scope: dict[str, Any] = {'type': 'websocket', 'path': '/', 'headers': []}
    asyncio.run(SafeErrors(app)(scope, receive, send))


def test_the_second_use_of_a_lost_connection_is_no_defect(caplog: pytest.LogCaptureFixture) -> None:
    async def send_twice(scope: Any, receive: Any, send: Any) -> None:
        socket = WebSocket(scope, receive, send)
        await socket.accept()
        with suppress(WebSocketDisconnect):
            await socket.send_text('a')
        await socket.send_text('b')

    async def receive_twice(scope: Any, receive: Any, send: Any) -> None:
        socket = WebSocket(scope, receive, send)
        await socket.accept()
        await socket.receive()
        await socket.receive()

    lost_connection(send_twice)
    lost_connection(receive_twice, {'type': 'websocket.disconnect', 'code': 1001})
    assert [record.levelno for record in own_records(caplog)] == [logging.DEBUG] * 2


def test_the_use_of_a_connection_that_the_application_has_closed_is_a_defect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def send_after_close(scope: Any, receive: Any, send: Any) -> None:
        socket = WebSocket(scope, receive, send)
        await socket.accept()
        await socket.close()
        await socket.send_text('late')

    with pytest.raises(RuntimeError, match='once a close message has been sent'):
        lost_connection(send_after_close)
    assert [record.levelno for record in own_records(caplog)] == [logging.ERROR]
