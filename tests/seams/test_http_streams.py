"""Tests of streams with `install`: failures and defects after the response has started."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping
from functools import partial
from typing import Any

import pytest
from fastapi import BackgroundTasks, FastAPI, HTTPException, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from fastapi.testclient import TestClient
from starlette.background import BackgroundTask
from starlette.responses import StreamingResponse

from seamwise import Category, Failure, Result, Success, TaggedError, or_raise
from seamwise.seams.http import install, named, on
from tests.seams.servers import running, wait_until
from tests.seams.test_http_server import send_raw
from tests.strategies import PLANTED


class Lost(
    TaggedError,
    namespace='test_http_streams',
    category=Category.CONNECTION,
    message='Lost {what}.',
):
    what: str


TABLE = on(Lost).responds(502, 'LOST')


def fetch(number: int) -> Result[int, Lost]:
    return Success(number) if number < 2 else Failure(Lost('it'))


async def events() -> AsyncIterator[str]:
    for number in range(5):
        yield f'data: {or_raise(fetch(number))}\n\n'


def sync_events() -> Iterator[str]:
    for number in range(5):
        yield f'data: {or_raise(fetch(number))}\n\n'


async def unfinished_event() -> AsyncIterator[str]:
    yield 'data: half'
    or_raise(fetch(2))


async def broken_events() -> AsyncIterator[str]:
    yield 'data: 0\n\n'
    raise ValueError(f'password={PLANTED}')


def stream(generator: Any, media_type: str) -> Any:
    return StreamingResponse(generator(), media_type=media_type)


def application() -> FastAPI:
    app = FastAPI()
    install(app, TABLE)
    for path, generator in {
        '/failing': events,
        '/sync': sync_events,
        '/half': unfinished_event,
        '/broken': broken_events,
    }.items():
        app.add_api_route(path, partial(stream, generator, 'text/event-stream'))
        app.add_api_route(f'/text{path}', partial(stream, generator, 'text/plain'))

    @app.get('/result')
    async def result() -> Result[StreamingResponse, Lost]:
        return Success(StreamingResponse(events(), media_type='text/event-stream; charset=utf-8'))

    @app.get('/fastapi', response_class=EventSourceResponse)
    async def typed() -> AsyncIterator[int]:
        for number in range(5):
            yield or_raise(fetch(number))
            # FastAPI discards items that wait to be sent when the generator raises.
            await asyncio.sleep(0.02)

    @app.get('/fastapi-sync', response_class=EventSourceResponse)
    def typed_sync() -> Iterator[int]:
        for number in range(5):
            yield or_raise(fetch(number))
            time.sleep(0.02)

    @app.get('/fastapi-broken', response_class=EventSourceResponse)
    async def typed_broken() -> AsyncIterator[ServerSentEvent]:
        yield ServerSentEvent(data=0)
        await asyncio.sleep(0.02)
        raise ValueError(f'password={PLANTED}')

    @app.get('/good', response_class=EventSourceResponse)
    async def good() -> AsyncIterator[ServerSentEvent]:
        yield ServerSentEvent(data={'a': 1}, event='item', id='7')

    @app.get('/lines')
    async def lines() -> AsyncIterator[int]:
        yield 1
        yield 2

    return app


def own_records(caplog: pytest.LogCaptureFixture) -> list[Any]:
    return [record for record in caplog.records if record.name == 'seamwise']


def parse(text: str) -> list[dict[str, str]]:
    """Return the events of a stream as a browser reads them."""
    blocks = [block for block in text.split('\n\n') if block.strip()]
    return [
        dict(line.split(': ', 1) for line in block.splitlines() if not line.startswith(':'))
        for block in blocks
    ]


@pytest.mark.parametrize(
    ('path', 'count'),
    [
        ('/failing', 2),
        ('/sync', 2),
        ('/half', 1),
        ('/result', 2),
        ('/fastapi', 2),
        ('/fastapi-sync', 2),
    ],
)
def test_a_failure_in_a_stream_of_events_is_an_error_event_and_one_record(
    path: str, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, 'seamwise')
    answer = TestClient(application()).get(path, headers={'x-request-id': 'r-1'})
    assert answer.status_code == 200
    *data, last = parse(answer.text)
    assert len(data) == count
    assert last['event'] == 'error'
    error = json.loads(last['data'])
    assert error['error']['code'] == 'LOST'
    assert error['request_id'] == 'r-1'
    [record] = own_records(caplog)
    # The client has seen 200; the level is that of the answer.
    assert (record.tag, record.status, record.exc_info) == ('Lost', 200, None)
    assert (record.response, record.levelno) == ('already started', logging.ERROR)
    assert record.operation == f'GET {path}'


@pytest.mark.parametrize('path', ['/broken', '/fastapi-broken'])
def test_a_defect_in_a_stream_of_events_is_an_error_event_and_raised_again(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises((ValueError, ExceptionGroup)):
        TestClient(application()).get(path)
    caplog.clear()
    answer = TestClient(application(), raise_server_exceptions=False).get(path)
    *data, last = parse(answer.text)
    assert len(data) == 1
    assert last['event'] == 'error'
    [record] = own_records(caplog)
    assert json.loads(last['data'])['error']['details'] == {'ref': record.ref}
    assert PLANTED not in answer.text


@pytest.mark.parametrize('is_async', [True, False])
@pytest.mark.parametrize(
    ('create', 'code'),
    [(partial(HTTPException, 423), 'LOCKED'), (partial(KeyError, 'a'), 'INTERNAL')],
)
def test_the_exception_of_a_stream_of_fastapi_keeps_its_class(
    create: partial[Exception], code: str, caplog: pytest.LogCaptureFixture, *, is_async: bool
) -> None:
    def items() -> Iterator[int]:
        yield 1
        raise create()

    async def items_async() -> AsyncIterator[int]:
        for item in items():
            yield item

    app = FastAPI()
    install(app, TABLE)
    app.get('/', response_class=EventSourceResponse)(items_async if is_async else items)
    answer = TestClient(app, raise_server_exceptions=False).get('/')
    assert json.loads(parse(answer.text)[-1]['data'])['error']['code'] == code
    [record] = own_records(caplog)
    # FastAPI streams events in a task group, which raises a group.
    assert record.error_type == create.func.__name__


def test_an_error_event_has_the_body_format_of_the_application() -> None:
    app = FastAPI()
    install(app, TABLE, body=named)
    app.get('/')(lambda: StreamingResponse(events(), media_type='text/event-stream'))
    *_, last = parse(TestClient(app).get('/').text)
    assert json.loads(last['data'])['name'] == 'Lost'


def test_streams_without_failures_are_unchanged() -> None:
    client = TestClient(application())
    assert client.get('/good').text == 'event: item\ndata: {"a": 1}\nid: 7\n\n'
    assert client.get('/lines').text == '1\n2\n'


@pytest.mark.parametrize('path', ['/text/failing', '/text/broken'])
def test_any_other_stream_is_cut_on_the_wire(path: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, 'seamwise')
    with running(application()) as port:
        request = f'GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
        answer = send_raw(port, request.encode())
        wait_until(lambda: bool(own_records(caplog)))
    # The last chunk has length 0; without it, the client sees that the stream is incomplete.
    assert answer.count(b'data: ') == (2 if 'failing' in path else 1)
    assert not answer.endswith(b'0\r\n\r\n')
    assert b'event: error' not in answer
    assert len(own_records(caplog)) == 1


def test_a_stream_of_events_with_a_failure_ends_completely_on_the_wire() -> None:
    with running(application()) as port:
        answer = send_raw(port, b'GET /fastapi HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    assert b'event: error' in answer
    assert answer.endswith(b'0\r\n\r\n')


async def counted(limit: int) -> AsyncIterator[int]:
    for number in range(limit):
        yield number


class Unfinished:
    """Middleware that fails before the end of a response."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Forward all but the end, and raise."""

        async def forward(message: MutableMapping[str, Any]) -> None:
            if message['type'] == 'http.response.start' or message.get('more_body'):
                await send(message)

        await self._app(scope, receive, forward)
        if scope['type'] == 'http':
            raise ValueError(f'password={PLANTED}')


def test_a_middleware_that_fails_in_a_stream_of_events_ends_it_with_an_error_event() -> None:
    app = application()
    app.add_middleware(Unfinished)
    app.get('/whole')(lambda: stream(lambda: iter(['data: 1\n\n']), 'text/event-stream'))
    response = TestClient(app, raise_server_exceptions=False).get('/whole')
    assert [event.get('event') for event in parse(response.text)] == [None, 'error']
    assert PLANTED not in response.text


def test_a_partial_function_with_a_yield_is_streamed_as_without_install() -> None:
    plain, installed = FastAPI(), FastAPI()
    install(installed, TABLE)
    answers: list[tuple[int, str]] = []
    for app in (plain, installed):
        app.add_api_route('/', partial(counted, 2), response_class=EventSourceResponse)
        response = TestClient(app).get('/')
        answers.append((response.status_code, response.text))
    assert answers[0] == answers[1] == (200, 'data: 0\n\ndata: 1\n\n')


def test_a_stream_ends_before_its_background_task() -> None:
    async def later() -> None:
        steps.append('background')

    async def one_event() -> AsyncIterator[str]:
        yield 'data: 0\n\n'

    def answer() -> StreamingResponse:
        return StreamingResponse(
            one_event(), media_type='text/event-stream', background=BackgroundTask(later)
        )

    async def receive() -> dict[str, object]:
        await asyncio.sleep(60)
        raise AssertionError('the response does not end')

    async def send(message: MutableMapping[str, Any]) -> None:
        if message['type'] == 'http.response.body' and not message.get('more_body'):
            steps.append('end')

    steps: list[str] = []
    app = FastAPI()
    install(app, TABLE)
    app.add_api_route('/', answer)
    scope: dict[str, Any] = {
        'type': 'http',
        'method': 'GET',
        'path': '/',
        'root_path': '',
        'headers': [],
        'query_string': b'',
        'asgi': {'version': '3.0', 'spec_version': '2.4'},
    }
    asyncio.run(app(scope, receive, send))
    assert steps == ['end', 'background']


# Errors after the start, which nobody can answer any more


class Own(Exception):
    """An exception that the application has a handler for."""


def late_app(raised: Exception) -> FastAPI:
    app = FastAPI()
    install(app, TABLE)

    @app.exception_handler(Own)
    async def own(request: Request, error: Own) -> Response:
        return Response('own', 418)

    async def failing() -> AsyncIterator[str]:
        yield 'data: 1\n\n'
        raise raised

    def later() -> None:
        raise raised

    @app.get('/events')
    def events() -> Response:
        return StreamingResponse(failing(), media_type='text/event-stream')

    @app.get('/text')
    def text() -> Response:
        return StreamingResponse(failing(), media_type='text/plain')

    @app.get('/task')
    def task(tasks: BackgroundTasks) -> str:
        tasks.add_task(later)
        return 'ok'

    return app


@pytest.mark.parametrize('path', ['/events', '/text', '/task'])
@pytest.mark.parametrize('create', [partial(HTTPException, 423, 'locked'), Own])
def test_an_exception_with_a_handler_is_reported_as_itself_after_the_start(
    path: str, create: Callable[[], Exception], caplog: pytest.LogCaptureFixture
) -> None:
    # Each exception object is reported once.
    raised, second = create(), create()
    answer = TestClient(late_app(raised), raise_server_exceptions=False).get(path)
    [record] = own_records(caplog)
    assert record.error_type == type(raised).__name__
    if path == '/events':
        *_, last = parse(answer.text)
        code = 'LOCKED' if isinstance(raised, HTTPException) else 'INTERNAL'
        assert json.loads(last['data'])['error']['code'] == code
    with pytest.raises(type(raised)) as seen:
        TestClient(late_app(second)).get(path)
    assert seen.value is second


def test_a_runtime_error_with_a_cause_stays_itself(caplog: pytest.LogCaptureFixture) -> None:
    error = RuntimeError('another')
    error.__cause__ = KeyError()
    with pytest.raises(RuntimeError, match='another'):
        TestClient(late_app(error)).get('/text')
    assert own_records(caplog)[0].error_type == 'RuntimeError'


@pytest.mark.parametrize('is_installed', [True, False])
def test_a_failure_in_a_mounted_application_has_the_status_that_was_sent(
    caplog: pytest.LogCaptureFixture, *, is_installed: bool
) -> None:
    caplog.set_level(logging.INFO, 'seamwise')
    outer, inner = FastAPI(), FastAPI()
    install(outer, TABLE)
    if is_installed:
        install(inner, TABLE)
    outer.mount('/inner', inner)
    inner.get('/')(lambda: or_raise(fetch(2)))
    answer = TestClient(outer, raise_server_exceptions=False).get('/inner/')
    [record] = own_records(caplog)
    assert answer.status_code == record.status == (502 if is_installed else 500)
    assert getattr(record, 'response', None) == (None if is_installed else 'already started')
