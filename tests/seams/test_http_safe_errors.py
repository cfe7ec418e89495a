"""The outermost layer: defects, disconnects, cancellation, and what frameworks answer by themselves."""

import asyncio
import gzip
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi import FastAPI, HTTPException, Query
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
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

from seamwise import Category, Failure, Result, Success, TaggedError, report_defect
from seamwise.seams.http import HttpError, SafeErrors, bad_request, endpoint, not_found, on, unknown
from seamwise.seams.http.exchange import Exchange, Message, exchange_of
from tests.strategies import PLANTED

REF = re.compile(r'err_[a-z2-7]{8}')
MESSAGE = 'The server met an unexpected condition.'


class Lost(
    TaggedError, namespace='test_http_safe_errors', category=Category.NOT_FOUND, message='Lost.'
):
    pass


def broken(request: Request) -> Response:
    raise ValueError(f'password={PLANTED} at {request.url.path}')


def refused(request: Request) -> Response:
    return PlainTextResponse('no', 404)


def starlette(handler: Callable[[Request], Any]) -> Starlette:
    return Starlette(routes=[Route('/', handler, methods=['GET', 'POST'])])


def inside(app: Starlette) -> Any:
    app.add_middleware(SafeErrors)
    return app


def around(app: Starlette) -> Any:
    return SafeErrors(app)


def around_debug(app: Starlette) -> Any:
    app.debug = True
    return SafeErrors(app)


def with_base_middleware(app: Starlette) -> Any:
    async def pass_on(
        request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        return await call_next(request)

    app.add_middleware(BaseHTTPMiddleware, dispatch=pass_on)
    return inside(app)


PLACES = [inside, around, around_debug, with_base_middleware]
placed = pytest.mark.parametrize('place', PLACES)


def client_of(app: Any) -> TestClient:
    return TestClient(app, headers={'x-request-id': 'r-1'})


def records(
    caplog: pytest.LogCaptureFixture, level: int = logging.ERROR
) -> list[logging.LogRecord]:
    return [
        one
        for one in caplog.records
        if one.levelno == level and one.name.startswith(('seamwise', 'mine'))
    ]


# Defects


@placed
@pytest.mark.parametrize('accept', ['*/*', 'text/html', 'application/problem+json'])
def test_a_defect_is_a_safe_answer_and_one_record(
    place: Callable[[Starlette], Any], accept: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client_of(place(starlette(broken))).get('/', headers={'accept': accept})
    assert answer.status_code == 500
    [record] = records(caplog)
    [ref] = REF.findall(record.getMessage())
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
    assert 'ValueError: password=***' in record.getMessage()
    assert 'request_id: r-1' in record.getMessage()
    assert (vars(record)['ref'], vars(record)['request_id']) == (ref, 'r-1')
    assert PLANTED not in answer.text + record.getMessage()


@dataclass(frozen=True)
class _FrozenError(Exception):
    """What refuses every attribute, notes too."""

    number: int


@placed
def test_an_exception_that_takes_no_note_is_a_defect_like_others(
    place: Callable[[Starlette], Any], caplog: pytest.LogCaptureFixture
) -> None:
    def handler(request: Request) -> Response:
        raise _FrozenError(1)

    answer = TestClient(place(starlette(handler)), raise_server_exceptions=False).get('/')
    assert answer.json()['error']['code'] == 'INTERNAL'
    assert '_FrozenError' in records(caplog)[0].getMessage()


@placed
@pytest.mark.parametrize('value', [object(), 1 + 2j], ids=['object', 'complex'])
def test_a_value_that_has_no_json_is_a_defect_with_a_safe_body(
    place: Callable[[Starlette], Any], value: object, caplog: pytest.LogCaptureFixture
) -> None:
    @endpoint(on(Lost).responds(404, 'LOST'))
    async def handler(request: Request) -> Result[object, Lost]:
        return Success(value)

    answer = TestClient(place(starlette(handler)), raise_server_exceptions=False).get('/')
    assert (answer.status_code, answer.json()['error']['code']) == (500, 'INTERNAL')
    assert answer.json()['error']['details']['ref'] in records(caplog)[0].getMessage()
    assert 'had begun' not in records(caplog)[0].getMessage()


def test_an_adapter_that_makes_something_else_is_a_defect_and_no_success(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def wrong(error: object) -> HttpError:
        return 'no HttpError'  # type: ignore[return-value]  # pyright: ignore[reportReturnType]  # what a caller without checker may do

    @endpoint(wrong)
    async def handler(request: Request) -> Result[object, Lost]:
        return Failure(Lost())

    assert client_of(inside(starlette(handler))).get('/').json()['error']['code'] == 'INTERNAL'
    assert 'makes an HttpError of an error, not str' in records(caplog)[0].getMessage()


@pytest.mark.parametrize('kind', ['json_invalid', 'missing'])
def test_a_refusal_without_a_place_stays_a_refusal(kind: str) -> None:
    def handler(request: Request) -> Response:
        return JSONResponse({'detail': [{'loc': [], 'msg': 'x', 'type': kind}]}, 422)

    answer = client_of(inside(starlette(handler))).get('/')
    assert (answer.status_code, answer.json()['error']['message']) == (
        400,
        'The request is not valid.',
    )


def test_json_of_ones_own_is_known_in_any_case_of_its_type() -> None:
    def handler(request: Request) -> Response:
        return Response(b'{"mine":1}', 422, headers={'content-type': 'Application/JSON'})

    answer = client_of(inside(starlette(handler))).get('/')
    assert (answer.status_code, answer.json()) == (422, {'mine': 1})


def test_a_log_of_ones_own_gets_the_one_record(caplog: pytest.LogCaptureFixture) -> None:
    client_of(SafeErrors(starlette(broken), log=logging.getLogger('mine'))).get('/')
    assert [(one.name, vars(one)['request_id']) for one in records(caplog)] == [('mine', 'r-1')]
    caplog.clear()
    logging.getLogger('mine').setLevel(logging.CRITICAL)
    client_of(SafeErrors(starlette(broken), log=logging.getLogger('mine'))).get('/')
    logging.getLogger('mine').setLevel(logging.NOTSET)
    assert records(caplog) == []


def test_a_defect_that_was_recorded_before_keeps_its_reference(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[str] = []

    def handler(request: Request) -> Response:
        try:
            return broken(request)
        except ValueError as met:
            seen.append(report_defect(met).ref)
            raise

    answer = client_of(inside(starlette(handler))).get('/')
    assert answer.json()['error']['details'] == {'ref': seen[0]}
    assert len(records(caplog)) == 1


def test_what_is_logged_later_belongs_to_no_request(caplog: pytest.LogCaptureFixture) -> None:
    client_of(inside(starlette(broken))).get('/')
    logging.getLogger('seamwise').error('later')
    assert not hasattr(caplog.records[-1], 'request_id')


@placed
def test_an_adapter_that_raises_is_a_defect_with_a_safe_body(
    place: Callable[[Starlette], Any], caplog: pytest.LogCaptureFixture
) -> None:
    def adapter(error: Lost) -> HttpError:
        raise KeyError(PLANTED)

    @endpoint(adapter)
    async def handler(request: Request) -> Result[str, Lost]:
        return Failure(Lost())

    answer = client_of(place(starlette(handler))).get('/')
    assert (answer.status_code, answer.json()['error']['code']) == (500, 'INTERNAL')
    assert len(records(caplog)) == 1


def test_a_hidden_error_and_a_value_without_json_are_defects(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @endpoint(on(Lost).hidden())
    async def hidden(request: Request) -> Result[str, Lost]:
        return Failure(Lost())

    @endpoint(on(Lost).responds(404, 'LOST_NOT_FOUND'))
    async def unwritable(request: Request) -> Result[object, Lost]:
        return Success(object())

    for handler in (hidden, unwritable):
        answer = client_of(inside(starlette(handler))).get('/')
        assert (answer.status_code, answer.json()['error']['message']) == (500, MESSAGE)
    first, second = (one.getMessage() for one in records(caplog))
    assert 'Lost was declared never to reach the http seam' in first
    assert 'TypeError: object has no JSON form.' in second


def test_once_the_answer_has_begun_it_is_left_incomplete_and_the_record_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def half() -> Iterator[bytes]:
        yield b'half'
        raise ValueError(PLANTED)

    async def handler(request: Request) -> Response:
        return StreamingResponse(half())

    sent = run(inside(starlette(handler)))
    assert [one['type'] for one in sent] == ['http.response.start', 'http.response.body']
    assert sent[-1]['more_body']
    [record] = records(caplog)
    assert 'response: already started, the connection is closed' in record.getMessage()
    assert 'request_id: r-1' in record.getMessage()


def test_a_background_task_that_fails_is_recorded_and_the_answer_stands(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def handler(request: Request) -> Response:
        return Response('done', background=BackgroundTask(broken, request))

    assert client_of(inside(starlette(handler))).get('/').text == 'done'
    assert 'response: already started' in records(caplog)[0].getMessage()


@placed
def test_a_500_that_the_application_answers_itself_is_a_defect_too(
    place: Callable[[Starlette], Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def handler(request: Request) -> Response:
        raise HTTPException(500, f'token={PLANTED}')

    answer = client_of(place(starlette(handler))).get('/')
    assert (answer.status_code, answer.json()['error']['message']) == (500, MESSAGE)
    assert 'The application responded 500 by itself: token=***' in records(caplog)[0].getMessage()
    assert PLANTED not in answer.text


def test_a_500_of_a_form_of_its_own_passes() -> None:
    async def handler(request: Request) -> Response:
        return JSONResponse({'error': 'mine'}, 500)

    assert client_of(inside(starlette(handler))).get('/').json() == {'error': 'mine'}


def test_what_a_handler_of_the_framework_makes_of_a_defect_is_not_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def tell_all(request: Request, met: Exception) -> Response:
        return JSONResponse({'error': repr(met)}, 500)

    answer = client_of(
        SafeErrors(Starlette(routes=[Route('/', broken)], exception_handlers={500: tell_all}))
    ).get('/')
    assert (answer.status_code, answer.json()['error']['message']) == (500, MESSAGE)
    assert PLANTED not in answer.text
    assert len(records(caplog)) == 1


@placed
def test_a_response_that_a_result_holds_is_nobody_elses_failure(
    place: Callable[[Starlette], Any],
) -> None:
    @endpoint(on(Lost).responds(404, 'LOST_NOT_FOUND'))
    async def handler(request: Request) -> Result[Response, Lost]:
        return Success(PlainTextResponse('my own', 404))

    answer = client_of(place(starlette(handler))).get('/')
    assert (answer.status_code, answer.text, answer.headers['x-request-id']) == (
        404,
        'my own',
        'r-1',
    )


def test_what_a_route_has_caught_itself_is_answered_by_unknown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    try:
        raise ValueError(PLANTED)
    except ValueError:
        answer = unknown()
    assert (answer.status, answer.code, answer.type, answer.message) == (
        500,
        'INTERNAL',
        'UnknownError',
        MESSAGE,
    )
    assert [answer.details] == [{'ref': vars(one)['ref']} for one in records(caplog)]
    assert REF.fullmatch(str(unknown().details['ref']))


# Nobody waits any more


class Server:
    """The messages that an application sends for one request; the client may be gone."""

    def __init__(self, *, gone_at: int = 99, received: list[Message] | None = None) -> None:
        self.sent: list[Message] = []
        self._gone_at = gone_at
        self._received = received or [{'type': 'http.request', 'body': b'', 'more_body': False}]

    async def receive(self) -> Message:
        if self._received:
            return self._received.pop(0)
        await asyncio.Event().wait()
        pytest.fail('nothing comes')

    async def send(self, message: Message) -> None:
        if len(self.sent) >= self._gone_at:
            raise OSError('the client is gone')
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


def nobody_waited(caplog: pytest.LogCaptureFixture) -> bool:
    assert records(caplog) == []
    found = records(caplog, logging.DEBUG)
    return [(vars(one)['status'], vars(one)['request_id']) for one in found] == [(499, 'r-1')]


@pytest.fixture(autouse=True)
def _debug(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, 'seamwise')


def stream(request: Request) -> Response:
    return StreamingResponse(iter([b'one', b'two', b'three']))


@pytest.mark.parametrize('gone_at', [0, 1, 2])
@pytest.mark.parametrize('place', [inside, around])
def test_a_client_that_leaves_while_it_is_answered_is_no_defect(
    place: Callable[[Starlette], Any], gone_at: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert len(run(place(starlette(stream)), Server(gone_at=gone_at))) == gone_at
    assert nobody_waited(caplog)


@pytest.mark.parametrize('handler', [broken, refused], ids=['defect', 'framework'])
def test_a_client_that_leaves_before_it_hears_of_the_failure_is_no_second_one(
    handler: Any, caplog: pytest.LogCaptureFixture
) -> None:
    run(SafeErrors(starlette(handler)), Server(gone_at=0))
    assert [vars(one)['status'] for one in records(caplog, logging.DEBUG)] == [499]
    assert len(records(caplog)) == (handler is broken)


def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_defect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def handler(request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    gone: list[Message] = [
        {'type': 'http.request', 'body': b'ha', 'more_body': True},
        {'type': 'http.disconnect'},
    ]
    assert run(inside(starlette(handler)), Server(received=gone)) == []
    assert nobody_waited(caplog)


def test_a_group_of_disconnects_is_none_and_one_with_a_defect_is_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def gone(scope: Any, receive: Any, send: Any) -> None:
        raise ExceptionGroup('', [ClientDisconnect(), ExceptionGroup('', [ClientDisconnect()])])

    async def both(scope: Any, receive: Any, send: Any) -> None:
        raise ExceptionGroup('', [ClientDisconnect(), ValueError('a bug')])

    assert run(SafeErrors(gone)) == []
    assert nobody_waited(caplog)
    assert run(SafeErrors(both))[0]['status'] == 500


def test_a_bug_beside_a_disconnect_is_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(scope: Any, receive: Any, send: Any) -> None:
        try:
            raise ClientDisconnect
        except ClientDisconnect:
            {}['a bug']  # type: ignore[index]

    run(SafeErrors(handler))
    assert len(records(caplog)) == 1


def test_cancellation_passes(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(scope: Any, receive: Any, send: Any) -> None:
        raise asyncio.CancelledError

    server = Server()

    async def cancelled() -> None:
        with pytest.raises(asyncio.CancelledError):
            await server.run(SafeErrors(handler))

    asyncio.run(cancelled())
    assert server.sent == []
    assert nobody_waited(caplog)


def test_an_oserror_of_the_application_itself_is_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(scope: Any, receive: Any, send: Any) -> None:
        raise OSError('the disk')

    assert run(SafeErrors(handler))[0]['status'] == 500
    assert len(records(caplog)) == 1


def test_what_is_no_http_passes_untouched() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope['type'])
        raise ValueError(scope['type'])

    async def both() -> None:
        for kind in ('lifespan', 'websocket'):
            with pytest.raises(ValueError, match=kind):
                await SafeErrors(app)({'type': kind}, Server().receive, Server().send)

    asyncio.run(both())
    assert seen == ['lifespan', 'websocket']


# Frameworks


class Item(BaseModel):
    name: str
    sizes: list[int]


def fastapi() -> FastAPI:
    app = FastAPI()

    @app.post('/items')
    async def add(item: Item) -> Item:
        return item

    @app.get('/items')
    async def show(size: int = Query(gt=0), name: str = 'a') -> dict[str, int]:
        return {name: size}

    @app.get('/raise/{status}')
    async def refuse(status: int, detail: str = 'No.') -> None:
        raise HTTPException(status, detail, {'Retry-After': '5'} if status in {429, 503} else None)

    @app.get('/odd')
    async def odd() -> None:
        raise HTTPException(418, {'my': 'detail'})

    app.add_middleware(RequestBodyLimitMiddleware, max_body_size=100_000)
    return app


@pytest.fixture(params=PLACES)
def client(request: pytest.FixtureRequest) -> TestClient:
    return client_of(request.param(fastapi()))


def error_of(answer: Any) -> dict[str, Any]:
    body: dict[str, Any] = answer.json()
    assert (body['success'], body['request_id'], answer.headers['x-request-id']) == (
        False,
        'r-1',
        'r-1',
    )
    assert answer.headers['content-type'] == 'application/json'
    assert int(answer.headers['content-length']) == len(answer.content)
    error: dict[str, Any] = body['error']
    return error


def test_a_route_that_is_not_there(client: TestClient) -> None:
    answer = client.get('/nowhere')
    assert answer.status_code == 404
    assert error_of(answer) == {
        'code': 'RESOURCE_NOT_FOUND',
        'type': 'NotFoundError',
        'message': 'Not Found',
        'retryable': False,
    }


def test_a_method_that_is_not_allowed_says_which_are(client: TestClient) -> None:
    answer = client.delete('/items')
    assert (answer.status_code, answer.headers['allow'], error_of(answer)['code']) == (
        405,
        'GET, POST',
        'METHOD_NOT_ALLOWED',
    )


def test_a_body_over_the_limit(client: TestClient) -> None:
    answer = client.post(
        '/items',
        content=b'{"name":"' + b'x' * 100_000 + b'"}',
        headers={'content-type': 'application/json'},
    )
    assert (answer.status_code, error_of(answer)['code']) == (413, 'PAYLOAD_TOO_LARGE')


def test_a_body_that_is_not_valid_is_400_with_every_place(client: TestClient) -> None:
    answer = client.post('/items', json={'name': 7, 'sizes': [1, f'password={PLANTED}']})
    assert answer.status_code == 400
    assert error_of(answer) == {
        'code': 'INVALID_REQUEST',
        'type': 'BadRequest',
        'message': 'The body of the request is not valid.',
        'details': {
            'kind': 'Body',
            'errors': [
                {'pointer': '/body/name', 'detail': 'Input should be a valid string'},
                {
                    'pointer': '/body/sizes/1',
                    'detail': 'Input should be a valid integer, unable to parse string as an integer',
                },
            ],
        },
        'retryable': False,
    }
    assert PLANTED not in answer.text


def test_the_places_of_a_problem(client: TestClient) -> None:
    answer = client.get('/items?size=0', headers={'accept': 'application/problem+json'})
    assert answer.headers['content-type'] == 'application/problem+json'
    assert answer.json()['errors'] == [
        {'pointer': '/query/size', 'detail': 'Input should be greater than 0'}
    ]
    assert answer.json()['status'] == answer.status_code == 400


@pytest.mark.parametrize(
    'body', [b'{"name": ', b'\xff\xfe', b'[' * 90_000], ids=['cut', 'no UTF-8', 'deep']
)
def test_a_body_that_is_no_json_is_400(client: TestClient, body: bytes) -> None:
    answer = client.post('/items', content=body, headers={'content-type': 'application/json'})
    assert (answer.status_code, error_of(answer)['code']) == (400, 'INVALID_REQUEST')


def test_of_ten_thousand_wrong_places_the_first_are_told(client: TestClient) -> None:
    answer = client.post('/items', json={'name': 'a', 'sizes': ['x'] * 10_000})
    assert len(error_of(answer)['details']['errors']) == 50
    assert len(answer.content) < 8192


@pytest.mark.parametrize(
    ('status', 'code', 'retryable'),
    [
        (400, 'INVALID_REQUEST', False),
        (401, 'UNAUTHORIZED', False),
        (403, 'FORBIDDEN', False),
        (404, 'RESOURCE_NOT_FOUND', False),
        (409, 'REQUEST_CONFLICT', False),
        (413, 'PAYLOAD_TOO_LARGE', False),
        (415, 'UNSUPPORTED_MEDIA_TYPE', False),
        (422, 'UNPROCESSABLE_CONTENT', False),
        (429, 'RATE_LIMITED', True),
        (499, 'STATUS_499', False),
        (502, 'UPSTREAM_ERROR', True),
        (503, 'SERVICE_UNAVAILABLE', True),
        (504, 'TIMEOUT', True),
    ],
)
def test_an_http_exception_has_the_code_of_its_status(
    client: TestClient, status: int, code: str, *, retryable: bool
) -> None:
    answer = client.get(f'/raise/{status}', params={'detail': f'No: password={PLANTED}'})
    error = error_of(answer)
    assert (answer.status_code, error['code'], error['retryable']) == (status, code, retryable)
    assert error['message'] == 'No: password=***'
    assert error.get('retry_after_ms') == (5000 if status in {429, 503} else None)
    assert answer.headers.get('retry-after') == ('5' if status in {429, 503} else None)
    assert answer.headers.get('www-authenticate') == ('Bearer' if status == 401 else None)


def test_a_detail_of_a_form_of_its_own_passes(client: TestClient) -> None:
    answer = client.get('/odd')
    assert (answer.status_code, answer.json()) == (418, {'detail': {'my': 'detail'}})
    assert answer.headers['x-request-id'] == 'r-1'


def test_plain_starlette_answers_alike() -> None:
    sub = client_of(inside(starlette(stream)))
    assert error_of(sub.get('/nowhere'))['code'] == 'RESOURCE_NOT_FOUND'
    answer = sub.delete('/')
    assert error_of(answer)['code'] == 'METHOD_NOT_ALLOWED'
    assert set(answer.headers['allow'].split(', ')) == {'GET', 'HEAD', 'POST'}


def test_an_application_inside_another_answers_alike() -> None:
    app = Starlette()
    app.mount('/inner', fastapi())
    outer = client_of(inside(app))
    assert error_of(outer.get('/inner/nowhere'))['code'] == 'RESOURCE_NOT_FOUND'
    assert error_of(outer.get('/inner/items'))['code'] == 'INVALID_REQUEST'


def test_a_refusal_of_another_middleware_in_plain_text_comes_in_the_envelope_too() -> None:
    async def limited(scope: Any, receive: Any, send: Any) -> None:
        await PlainTextResponse('Slow down.', 429, {'Retry-After': '2'})(scope, receive, send)

    answer = client_of(SafeErrors(limited)).get('/')
    assert (error_of(answer)['message'], error_of(answer)['retry_after_ms']) == ('Slow down.', 2000)


def test_methods_of_routes_outside_of_a_mount_are_none_of_its_own() -> None:
    app = Starlette(routes=[Route('/', broken, methods=['PUT'])])
    app.mount('/inner', starlette(stream))
    assert client_of(inside(app)).delete('/inner/').headers['allow'] == 'GET, HEAD, POST'


def test_a_405_of_somebody_who_names_no_method_allows_none() -> None:
    async def refusing(scope: Any, receive: Any, send: Any) -> None:
        await PlainTextResponse('No.', 405)(scope, receive, send)

    assert client_of(SafeErrors(refusing)).get('/').headers['allow'] == ''


def test_an_empty_refusal_is_given_words() -> None:
    async def empty(scope: Any, receive: Any, send: Any) -> None:
        await Response(status_code=410)(scope, receive, send)

    assert error_of(client_of(SafeErrors(empty)).get('/')) == {
        'code': 'GONE',
        'type': 'Gone',
        'message': 'Gone',
        'retryable': False,
    }


@pytest.mark.parametrize(
    'own',
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
def test_an_answer_of_ones_own_form_passes(own: Response) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await own(scope, receive, send)

    sent = run(SafeErrors(app))
    assert sent[0]['status'] == own.status_code
    given = [one for one in own.raw_headers if one[0] != b'x-request-id']
    assert sent[0]['headers'] == [*given, (b'x-request-id', b'r-1')]
    if not isinstance(own, StreamingResponse):
        assert b''.join(one.get('body', b'') for one in sent[1:]) == own.body


def test_compressed_failures_of_a_handler_under_endpoint_pass() -> None:
    @endpoint(on(Lost).responds(404, 'LOST_NOT_FOUND', details=lambda _: {'text': 'x' * 1000}))
    async def handler(request: Request) -> Result[str, Lost]:
        return Failure(Lost())

    app = starlette(handler)
    app.add_middleware(GZipMiddleware)
    answer = client_of(inside(app)).get('/', headers={'accept-encoding': 'gzip'})
    assert (
        answer.status_code,
        answer.headers['content-encoding'],
        answer.json()['request_id'],
    ) == (404, 'gzip', 'r-1')


def test_other_messages_of_a_server_pass_in_their_order() -> None:
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
    assert [one['type'] for one in sent] == ['http.response.start', 'http.response.pathsend']


# Small answers and exchanges


def test_small_answers() -> None:
    assert not_found(f'No password={PLANTED}').message == 'No password=***'
    assert (bad_request('No.').details, bad_request('No.', kind='Query').details) == (
        {'kind': 'Request'},
        {'kind': 'Query'},
    )
    assert bad_request('x' * 2000).message.endswith('… (976 more)')


def test_an_exchange_is_begun_once_and_keeps_its_id() -> None:
    scope: MutableMapping[str, Any] = {
        'headers': [(b'accept', b'a/b'), (b'accept', b'c/d;q=0.5'), (b'x-request-id', b'a b')]
    }
    first = exchange_of(scope)
    assert exchange_of(scope) is exchange_of(dict(scope)) is first
    assert first == Exchange(first.request_id, 'a/b, c/d;q=0.5')
    assert first.request_id.startswith('req-')


@pytest.mark.parametrize(
    'ids', [[b'r-1', b'r-2'], [b''], [b'x' * 129], ['é'.encode('latin-1')], [b'a\tb']]
)
def test_an_id_that_could_do_harm_is_replaced(ids: list[bytes]) -> None:
    assert exchange_of({'headers': [(b'x-request-id', one) for one in ids]}).request_id.startswith(
        'req-'
    )


def test_a_request_id_is_everywhere_the_same() -> None:
    answer = TestClient(inside(starlette(broken))).get('/')
    assert answer.headers['x-request-id'] == json.loads(answer.text)['request_id']
