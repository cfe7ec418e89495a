"""Tests of `SafeErrors`: defects, disconnects and cancellation; all other responses stay."""

import asyncio
import gzip
import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from fastapi import Depends, FastAPI
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.testclient import TestClient

from seamwise import Category, Failure, Result, Success, TaggedError, or_raise, report_defect
from seamwise.seams.adapter import Adapter
from seamwise.seams.http import HttpError, SafeErrors, endpoint, install, on
from seamwise.seams.http.serving.exchange import Message, exchange_of
from tests.strategies import PLANTED

REF = re.compile(r'err_[a-z2-7]{8}')
MESSAGE = 'The server met an unexpected condition.'


class Lost(
    TaggedError, namespace='test_http_safe_errors', category=Category.NOT_FOUND, message='Lost.'
):
    pass


def raise_value_error(request: Request) -> Response:
    raise ValueError(f'password={PLANTED} at {request.url.path}')


def plain_404(request: Request) -> Response:
    return PlainTextResponse('no', 404)


def starlette_app(handler: Callable[[Request], Any]) -> Starlette:
    return Starlette(routes=[Route('/', handler, methods=['GET', 'POST'])])


def as_middleware(app: Starlette) -> Any:
    app.add_middleware(SafeErrors)
    return app


def around_router(app: Starlette) -> Any:
    return SafeErrors(app.router)


def with_base_http_middleware(app: Starlette) -> Any:
    async def forward(
        request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        return await call_next(request)

    app.add_middleware(BaseHTTPMiddleware, dispatch=forward)
    return as_middleware(app)


SETUPS = [as_middleware, around_router, with_base_http_middleware]
each_setup = pytest.mark.parametrize('wrap', SETUPS)


def client_of(app: Any) -> TestClient:
    return TestClient(app, raise_server_exceptions=False, headers={'x-request-id': 'r-1'})


def records(
    caplog: pytest.LogCaptureFixture, level: int = logging.ERROR
) -> list[logging.LogRecord]:
    return [
        record
        for record in caplog.records
        if record.levelno == level and record.name.startswith(('seamwise', 'mine'))
    ]


def logged_text(record: logging.LogRecord) -> str:
    return f'{record.getMessage()}\n{record.exc_text}'


# Defects


@pytest.mark.parametrize('wrap', SETUPS)
def test_a_defect_is_raised_again_after_its_answer(wrap: Callable[[Starlette], Any]) -> None:
    app, server = wrap(starlette_app(raise_value_error)), Server()
    with pytest.raises(ValueError, match='password'):
        run(app, server)
    assert [message['type'] for message in server.sent] == [
        'http.response.start',
        'http.response.body',
    ]
    with pytest.raises(ValueError, match='password'):
        TestClient(app).get('/')


def test_an_outer_middleware_sees_a_defect_and_its_answer() -> None:
    seen: list[object] = []

    class Monitor:
        def __init__(self, app: Any) -> None:
            self._app = app

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            async def observed(message: Any) -> None:
                seen.append(message['type'])
                await send(message)

            try:
                await self._app(scope, receive, observed)
            except ValueError as error:
                seen.append(error)
                raise

    app = starlette_app(raise_value_error)
    app.add_middleware(SafeErrors)
    app.add_middleware(Monitor)
    client_of(app).get('/')
    assert seen[:2] == ['http.response.start', 'http.response.body']
    assert isinstance(seen[2], ValueError)


def test_a_wrapped_application_of_starlette_answers_its_defects_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answer = client_of(SafeErrors(starlette_app(raise_value_error))).get('/')
    assert (answer.status_code, answer.text) == (500, 'Internal Server Error')
    assert answer.headers['x-request-id'] == 'r-1'
    [record] = records(caplog)
    assert 'ValueError: password=***' in logged_text(record)


@each_setup
@pytest.mark.parametrize('accept', ['*/*', 'text/html', 'application/problem+json'])
def test_a_defect_has_a_safe_response_and_one_record(
    wrap: Callable[[Starlette], Any], accept: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client_of(wrap(starlette_app(raise_value_error))).get('/', headers={'accept': accept})
    assert answer.status_code == 500
    [record] = records(caplog)
    [ref] = REF.findall(logged_text(record))
    if accept == 'application/problem+json':
        assert (answer.json()['detail'], answer.json()['code']) == (MESSAGE, 'INTERNAL')
    else:
        assert answer.json()['error'] == {
            'code': 'INTERNAL',
            'type': 'UnknownError',
            'message': MESSAGE,
            'details': {'ref': ref},
            'retryable': False,
        }
    assert answer.headers['x-request-id'] == 'r-1'
    assert 'ValueError' not in answer.text
    assert 'ValueError: password=***' in logged_text(record)
    assert 'request_id: r-1' in logged_text(record)
    assert (vars(record)['ref'], vars(record)['context']) == (
        ref,
        {'request_id': 'r-1', 'seam': 'http', 'operation': 'GET /'},
    )
    assert PLANTED not in answer.text + logged_text(record)


@dataclass(frozen=True)
class _FrozenError(Exception):
    """An exception that accepts no attributes, and so no notes."""

    number: int


@each_setup
def test_a_frozen_exception_is_a_defect(
    wrap: Callable[[Starlette], Any], caplog: pytest.LogCaptureFixture
) -> None:
    def handler(request: Request) -> Response:
        raise _FrozenError(1)

    answer = client_of(wrap(starlette_app(handler))).get('/')
    assert answer.json()['error']['code'] == 'INTERNAL'
    assert '_FrozenError' in logged_text(records(caplog)[0])


@each_setup
@pytest.mark.parametrize('value', [object(), 1 + 2j], ids=['object', 'complex'])
def test_a_value_without_a_json_form_is_a_defect_with_a_safe_body(
    wrap: Callable[[Starlette], Any], value: object, caplog: pytest.LogCaptureFixture
) -> None:
    @endpoint(on(Lost).responds(404, 'LOST'))
    async def handler(request: Request) -> Result[object, Lost]:
        return Success(value)

    answer = client_of(wrap(starlette_app(handler))).get('/')
    assert (answer.status_code, answer.json()['error']['code']) == (500, 'INTERNAL')
    assert answer.json()['error']['details']['ref'] in logged_text(records(caplog)[0])
    assert 'already started' not in logged_text(records(caplog)[0])


def test_an_adapter_that_returns_no_http_error_is_a_defect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wrong: Any = Adapter({Lost: lambda _: 'no HttpError'})

    @endpoint(wrong)
    async def handler(request: Request) -> Result[object, Lost]:
        return Failure(Lost())

    assert (
        client_of(as_middleware(starlette_app(handler))).get('/').json()['error']['code']
        == 'INTERNAL'
    )
    assert 'instead of HttpError; each seam has a table of its own' in logged_text(
        records(caplog)[0]
    )


def test_a_configured_logger_gets_the_record(caplog: pytest.LogCaptureFixture) -> None:
    client_of(SafeErrors(starlette_app(raise_value_error), log=logging.getLogger('mine'))).get('/')
    assert [(record.name, vars(record)['context']['request_id']) for record in records(caplog)] == [
        ('mine', 'r-1')
    ]
    caplog.clear()
    logging.getLogger('mine').setLevel(logging.CRITICAL)
    client_of(SafeErrors(starlette_app(raise_value_error), log=logging.getLogger('mine'))).get('/')
    logging.getLogger('mine').setLevel(logging.NOTSET)
    assert records(caplog) == []


def test_a_recorded_defect_keeps_its_reference(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refs: list[str] = []

    def handler(request: Request) -> Response:
        try:
            return raise_value_error(request)
        except ValueError as error:
            refs.append(report_defect(error).ref)
            raise

    answer = client_of(as_middleware(starlette_app(handler))).get('/')
    assert answer.json()['error']['details'] == {'ref': refs[0]}
    assert len(records(caplog)) == 1


def test_a_later_record_has_no_request_id(caplog: pytest.LogCaptureFixture) -> None:
    client_of(as_middleware(starlette_app(raise_value_error))).get('/')
    logging.getLogger('seamwise').error('later')
    assert not hasattr(caplog.records[-1], 'request_id')


@each_setup
def test_an_adapter_that_raises_is_a_defect_with_a_safe_body(
    wrap: Callable[[Starlette], Any], caplog: pytest.LogCaptureFixture
) -> None:
    def answer_to(error: Lost) -> HttpError:
        raise KeyError(PLANTED)

    adapter: Adapter[Lost, HttpError] = Adapter({Lost: answer_to})

    @endpoint(adapter)
    async def handler(request: Request) -> Result[str, Lost]:
        return Failure(Lost())

    answer = client_of(wrap(starlette_app(handler))).get('/')
    assert (answer.status_code, answer.json()['error']['code']) == (500, 'INTERNAL')
    assert len(records(caplog)) == 1


def test_a_hidden_error_and_a_value_without_json_are_defects(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @endpoint(on(Lost).hidden())
    async def hidden(request: Request) -> Result[str, Lost]:
        return Failure(Lost())

    @endpoint(on(Lost).responds(404, 'LOST_NOT_FOUND'))
    async def without_json(request: Request) -> Result[object, Lost]:
        return Success(object())

    for handler in (hidden, without_json):
        answer = client_of(as_middleware(starlette_app(handler))).get('/')
        assert (answer.status_code, answer.json()['error']['message']) == (500, MESSAGE)
    first, second = (logged_text(record) for record in records(caplog))
    assert 'Lost was declared never to reach the http seam' in first
    assert 'TypeError: object has no JSON form.' in second


def test_a_defect_in_a_started_response_leaves_it_incomplete(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def half() -> Iterator[bytes]:
        yield b'half'
        raise ValueError(PLANTED)

    async def handler(request: Request) -> Response:
        return StreamingResponse(half())

    server = Server()
    with pytest.raises(ValueError, match=PLANTED):
        run(as_middleware(starlette_app(handler)), server)
    sent = server.sent
    assert [message['type'] for message in sent] == ['http.response.start', 'http.response.body']
    assert sent[-1]['more_body']
    [record] = records(caplog)
    assert 'response: already started, the connection is closed' in logged_text(record)
    assert 'request_id: r-1' in logged_text(record)


def test_a_failed_background_task_is_recorded_after_the_response(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def handler(request: Request) -> Response:
        return Response('done', background=BackgroundTask(raise_value_error, request))

    assert client_of(as_middleware(starlette_app(handler))).get('/').text == 'done'
    assert 'response: already started' in logged_text(records(caplog)[0])


@each_setup
def test_a_response_in_a_result_is_not_an_error_page_of_the_framework(
    wrap: Callable[[Starlette], Any],
) -> None:
    @endpoint(on(Lost).responds(404, 'LOST_NOT_FOUND'))
    async def handler(request: Request) -> Result[Response, Lost]:
        return Success(PlainTextResponse('my own', 404))

    answer = client_of(wrap(starlette_app(handler))).get('/')
    assert (answer.status_code, answer.text, answer.headers['x-request-id']) == (
        404,
        'my own',
        'r-1',
    )


def test_unknown_records_the_exception_that_a_route_caught(
    caplog: pytest.LogCaptureFixture,
) -> None:
    try:
        raise ValueError(PLANTED)
    except ValueError:
        error = HttpError.unknown()
    assert (error.status, error.code, error.type, error.message) == (
        500,
        'INTERNAL',
        'UnknownError',
        MESSAGE,
    )
    assert [error.details] == [{'ref': vars(record)['ref']} for record in records(caplog)]
    assert REF.fullmatch(str(HttpError.unknown().details['ref']))


# Disconnects


class Server:
    """A server that records the messages for one request; its client may disconnect."""

    def __init__(self, *, disconnect_at: int = 99, received: list[Message] | None = None) -> None:
        self.sent: list[Message] = []
        self._disconnect_at = disconnect_at
        self._received = received or [{'type': 'http.request', 'body': b'', 'more_body': False}]

    async def receive(self) -> Message:
        if self._received:
            return self._received.pop(0)
        await asyncio.Event().wait()
        pytest.fail('there is no further message')

    async def send(self, message: Message) -> None:
        if len(self.sent) >= self._disconnect_at:
            raise OSError('the client is disconnected')
        self.sent.append(message)

    async def run(self, app: Any, method: str = 'GET') -> None:
        headers = [(b'x-request-id', b'r-1'), (b'host', b'test')]
        scope: MutableMapping[str, Any] = {
            'type': 'http',
            'asgi': {'spec_version': '2.4'},
            'method': method,
            'path': '/',
            'raw_path': b'/',
        }
        await app(
            {
                **scope,
                'root_path': '',
                'query_string': b'',
                'headers': headers,
                'server': ('test', 80),
            },
            self.receive,
            self.send,
        )


def run(app: Any, server: Server | None = None) -> list[Message]:
    server = server or Server()
    asyncio.run(server.run(app))
    return server.sent


def only_disconnect_logged(caplog: pytest.LogCaptureFixture) -> bool:
    assert records(caplog) == []
    [record] = records(caplog, logging.DEBUG)
    return (vars(record)['status'], vars(record)['request_id']) == (499, 'r-1')


@pytest.fixture(autouse=True)
def _debug(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, 'seamwise')


def stream(request: Request) -> Response:
    return StreamingResponse(iter([b'one', b'two', b'three']))


@pytest.mark.parametrize('disconnect_at', [0, 1, 2])
@pytest.mark.parametrize('wrap', [as_middleware, around_router])
def test_a_disconnect_during_the_response_is_not_a_defect(
    wrap: Callable[[Starlette], Any], disconnect_at: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert (
        len(run(wrap(starlette_app(stream)), Server(disconnect_at=disconnect_at))) == disconnect_at
    )
    assert only_disconnect_logged(caplog)


def test_a_disconnect_before_the_answer_to_a_defect_adds_no_defect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(ValueError, match='password'):
        run(around_router(starlette_app(raise_value_error)), Server(disconnect_at=0))
    assert [vars(record)['status'] for record in records(caplog, logging.DEBUG)] == [499]
    assert len(records(caplog)) == 1


def test_a_disconnect_before_an_error_page_of_the_framework_is_not_a_defect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert run(around_router(starlette_app(plain_404)), Server(disconnect_at=0)) == []
    assert only_disconnect_logged(caplog)


def test_a_disconnect_during_the_request_body_is_not_a_defect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def handler(request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    messages: list[Message] = [
        {'type': 'http.request', 'body': b'ha', 'more_body': True},
        {'type': 'http.disconnect'},
    ]
    assert run(as_middleware(starlette_app(handler)), Server(received=messages)) == []
    assert only_disconnect_logged(caplog)


def test_a_group_of_exceptions_is_a_defect_unless_all_are_disconnects(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def disconnect_only(scope: Any, receive: Any, send: Any) -> None:
        raise ExceptionGroup('', [ClientDisconnect(), ExceptionGroup('', [ClientDisconnect()])])

    async def disconnect_and_bug(scope: Any, receive: Any, send: Any) -> None:
        raise ExceptionGroup('', [ClientDisconnect(), ValueError('a bug')])

    assert run(SafeErrors(disconnect_only)) == []
    assert only_disconnect_logged(caplog)
    server = Server()
    with pytest.raises(ExceptionGroup):
        run(SafeErrors(disconnect_and_bug), server)
    assert server.sent[0]['status'] == 500


def test_a_bug_while_a_disconnect_is_handled_is_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(scope: Any, receive: Any, send: Any) -> None:
        try:
            raise ClientDisconnect
        except ClientDisconnect:
            {}['a bug']  # type: ignore[index]

    with pytest.raises(KeyError):
        run(SafeErrors(handler))
    assert len(records(caplog)) == 1


def test_cancellation_propagates(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(scope: Any, receive: Any, send: Any) -> None:
        raise asyncio.CancelledError

    server = Server()

    async def run_cancelled() -> None:
        with pytest.raises(asyncio.CancelledError):
            await server.run(SafeErrors(handler))

    asyncio.run(run_cancelled())
    assert server.sent == []
    assert only_disconnect_logged(caplog)


@pytest.mark.parametrize('steps', range(25))
def test_cancellation_at_any_await_ends_the_request_without_a_defect(
    steps: int, caplog: pytest.LogCaptureFixture
) -> None:
    entered: list[str] = []

    async def resource() -> AsyncIterator[Result[int, Lost]]:
        entered.append('begin')
        try:
            await asyncio.sleep(0)
            yield Success(1)
            await asyncio.sleep(0)
        finally:
            entered.append('end')

    app = FastAPI()
    install(app, on(Lost).responds(404, 'LOST'))

    @app.get('/')
    async def show(number: Annotated[int, Depends(resource)]) -> Result[int, Lost]:
        for _ in range(5):
            await asyncio.sleep(0)
        return Failure(Lost())

    async def run_cancelled() -> None:
        task = asyncio.create_task(Server().run(app))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(run_cancelled())
    assert records(caplog) == []
    assert entered in ([], ['begin', 'end'])


@pytest.mark.parametrize('disconnect_at', range(4))
def test_a_disconnect_at_any_send_of_a_stream_of_events_is_no_defect(
    disconnect_at: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def events() -> AsyncIterator[str]:
        yield 'data: 1\n\n'
        or_raise(Failure(Lost()))

    app = FastAPI()
    install(app, on(Lost).responds(404, 'LOST'))
    app.get('/')(lambda: StreamingResponse(events(), media_type='text/event-stream'))
    server = Server(disconnect_at=disconnect_at)
    run(app, server)
    assert records(caplog) == []
    assert len(server.sent) == min(disconnect_at, 3)


def test_nothing_follows_the_end_of_a_stream_of_events_whose_background_task_fails() -> None:
    """A server raises an exception for a message after the end (ASGI HTTP spec 2.4)."""

    async def fail() -> None:
        raise ValueError('a bug')

    async def handler(request: Request) -> Response:
        return StreamingResponse(
            iter(['data: 1\n\n']), media_type='text/event-stream', background=BackgroundTask(fail)
        )

    for is_debug in (True, False):
        app, server = starlette_app(handler), Server()
        app.debug = is_debug
        install(app, on(Lost).responds(404, 'LOST'))
        with pytest.raises(ValueError, match='a bug'):
            run(app, server)
        ends = [not message.get('more_body') for message in server.sent[1:]]
        assert ends == [False, True]


def test_an_oserror_of_the_application_is_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(scope: Any, receive: Any, send: Any) -> None:
        raise OSError('the disk')

    server = Server()
    with pytest.raises(OSError, match='the disk'):
        run(SafeErrors(handler), server)
    assert server.sent[0]['status'] == 500
    assert len(records(caplog)) == 1


def test_an_exception_in_the_lifespan_is_not_a_defect_of_a_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise ValueError(scope['type'])

    with pytest.raises(ValueError, match='lifespan'):
        asyncio.run(SafeErrors(app)({'type': 'lifespan'}, Server().receive, Server().send))
    assert caplog.records == []


# Other responses


@pytest.mark.parametrize(
    'response',
    [
        HTMLResponse('<p>no</p>', 404),
        JSONResponse({'error': 'no'}, 404),
        JSONResponse({'detail': 'no', 'more': 1}, 404),
        Response(b'{"detail":', 400, media_type='application/json'),
        Response(gzip.compress(b'no'), 404, {'content-encoding': 'gzip'}, 'text/plain'),
        StreamingResponse(iter([b'a', b'b']), 404, media_type='text/plain'),
        RedirectResponse('/elsewhere', 307),
        PlainTextResponse('fine'),
    ],
)
def test_a_response_in_an_own_format_is_unchanged(response: Response) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await response(scope, receive, send)

    sent = run(SafeErrors(app))
    assert sent[0]['status'] == response.status_code
    headers = [item for item in response.raw_headers if item[0] != b'x-request-id']
    assert sent[0]['headers'] == [*headers, (b'x-request-id', b'r-1')]
    if not isinstance(response, StreamingResponse):
        assert b''.join(message.get('body', b'') for message in sent[1:]) == response.body


def test_a_compressed_failure_of_an_endpoint_is_unchanged() -> None:
    @endpoint(on(Lost).responds(404, 'LOST_NOT_FOUND', details=lambda _: {'text': 'x' * 1000}))
    async def handler(request: Request) -> Result[str, Lost]:
        return Failure(Lost())

    app = starlette_app(handler)
    app.add_middleware(GZipMiddleware)
    answer = client_of(as_middleware(app)).get('/', headers={'accept-encoding': 'gzip'})
    assert (
        answer.status_code,
        answer.headers['content-encoding'],
        answer.json()['request_id'],
    ) == (404, 'gzip', 'r-1')


def test_an_asgi_extension_message_is_forwarded_after_the_start() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(
            {
                'type': 'http.response.start',
                'status': 404,
                'headers': [(b'content-length', b'4'), (b'content-type', b'text/plain')],
            }
        )
        await send({'type': 'http.response.pathsend', 'path': '/a'})

    sent = run(SafeErrors(app))
    assert [message['type'] for message in sent] == [
        'http.response.start',
        'http.response.pathsend',
    ]


# Fallback responses and exchanges


def test_fallback_responses_have_safe_messages() -> None:
    assert HttpError.not_found(f'No password={PLANTED}').message == 'No password=***'
    assert (
        HttpError.bad_request('No.').details,
        HttpError.bad_request('No.', kind='Query').details,
    ) == (
        {'kind': 'Request'},
        {'kind': 'Query'},
    )
    assert HttpError.bad_request('x' * 2000).message.endswith('… (976 more)')


def test_an_exchange_is_created_once_per_request() -> None:
    scope: MutableMapping[str, Any] = {
        'headers': [(b'accept', b'a/b'), (b'accept', b'c/d;q=0.5'), (b'x-request-id', b'a b')]
    }
    first = exchange_of(scope)
    assert exchange_of(scope) is exchange_of(dict(scope)) is first
    assert first.accept == 'a/b, c/d;q=0.5'
    assert first.request_id.startswith('req-')


@pytest.mark.parametrize(
    'ids', [[b'r-1', b'r-2'], [b''], [b'x' * 129], ['é'.encode('latin-1')], [b'a\tb']]
)
def test_an_unsafe_request_id_is_replaced(ids: list[bytes]) -> None:
    assert exchange_of({'headers': [(b'x-request-id', id_) for id_ in ids]}).request_id.startswith(
        'req-'
    )


def test_a_request_id_is_the_same_in_header_and_body() -> None:
    answer = client_of(as_middleware(starlette_app(raise_value_error))).get('/')
    assert answer.headers['x-request-id'] == json.loads(answer.text)['request_id']
