"""Tests of `install`: errors of the framework, and invalid requests, in the body format."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from fastapi import FastAPI, HTTPException, Query
from pydantic import BaseModel, Field
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from seamwise.seams.http import HttpError, install
from seamwise.seams.http.serving.framework_errors import from_validation_errors
from seamwise.seams.http.shape import defect
from seamwise.seams.http.tables import STORAGE
from tests.strategies import PLANTED


class Item(BaseModel):
    name: str
    sizes: list[int]


def with_install(app: Starlette) -> Starlette:
    install(app, STORAGE)
    return app


def with_base_http_middleware(app: Starlette) -> Starlette:
    async def forward(request: Request, call_next: Any) -> Any:
        return await call_next(request)

    install(app, STORAGE)
    app.add_middleware(BaseHTTPMiddleware, dispatch=forward)
    return app


def with_gzip(app: Starlette) -> Starlette:
    app.add_middleware(GZipMiddleware, minimum_size=1)
    install(app, STORAGE)
    return app


SETUPS: list[Callable[[Starlette], Starlette]] = [
    with_install,
    with_base_http_middleware,
    with_gzip,
]


def client_of(app: Any) -> TestClient:
    return TestClient(app, raise_server_exceptions=False, headers={'x-request-id': 'r-1'})


def fastapi_app() -> FastAPI:
    app = FastAPI()

    @app.post('/items')
    async def add(item: Item) -> Item:
        return item

    @app.get('/items')
    async def read_item(size: int = Query(gt=0), name: str = 'a') -> dict[str, int]:
        return {name: size}

    @app.get('/raise/{status}')
    async def refuse(status: int, detail: str = 'No.') -> None:
        raise HTTPException(status, detail, {'Retry-After': '5'} if status in {429, 503} else None)

    @app.get('/own-detail')
    async def own_detail() -> None:
        raise HTTPException(418, {'my': 'detail', 'password': PLANTED})

    @app.get('/elsewhere')
    async def elsewhere() -> None:
        raise HTTPException(307, headers={'Location': '/items?size=1'})

    @app.get('/challenge')
    async def challenge() -> None:
        raise HTTPException(401, headers={'WWW-Authenticate': 'Basic realm="notes"'})

    app.add_middleware(RequestBodyLimitMiddleware, max_body_size=100_000)
    return app


@pytest.fixture(params=SETUPS)
def client(request: pytest.FixtureRequest) -> TestClient:
    return client_of(request.param(fastapi_app()))


def error_in(answer: Any) -> dict[str, Any]:
    body: dict[str, Any] = answer.json()
    assert (body['success'], body['request_id'], answer.headers['x-request-id']) == (
        False,
        'r-1',
        'r-1',
    )
    assert answer.headers['content-type'] == 'application/json'
    if 'content-encoding' not in answer.headers:
        assert int(answer.headers['content-length']) == len(answer.content)
    error: dict[str, Any] = body['error']
    return error


def test_an_unknown_route_is_404(client: TestClient) -> None:
    answer = client.get('/nowhere')
    assert answer.status_code == 404
    assert error_in(answer) == {
        'code': 'RESOURCE_NOT_FOUND',
        'type': 'NotFoundError',
        'message': 'Not Found',
        'retryable': False,
    }


def test_a_405_lists_the_allowed_methods(client: TestClient) -> None:
    answer = client.delete('/items')
    assert (answer.status_code, answer.headers['allow'], error_in(answer)['code']) == (
        405,
        'GET, POST',
        'METHOD_NOT_ALLOWED',
    )


def test_a_body_over_the_limit_is_413(client: TestClient) -> None:
    answer = client.post(
        '/items',
        content=b'{"name":"' + b'x' * 100_000 + b'"}',
        headers={'content-type': 'application/json'},
    )
    assert (answer.status_code, error_in(answer)['code']) == (413, 'PAYLOAD_TOO_LARGE')


def test_an_invalid_body_is_400_with_every_invalid_value(client: TestClient) -> None:
    answer = client.post('/items', json={'name': 7, 'sizes': [1, f'password={PLANTED}']})
    assert answer.status_code == 400
    assert error_in(answer) == {
        'code': 'INVALID_REQUEST',
        'type': 'BadRequest',
        'message': 'The body of the request is not valid.',
        'details': {
            'kind': 'Body',
            'errors': [
                {'pointer': '/name', 'detail': 'Input should be a valid string'},
                {
                    'pointer': '/sizes/1',
                    'detail': (
                        'Input should be a valid integer, unable to parse string as an integer'
                    ),
                },
            ],
        },
        'retryable': False,
    }
    assert PLANTED not in answer.text


def test_a_problem_locates_the_invalid_query_parameter(client: TestClient) -> None:
    answer = client.get('/items?size=0', headers={'accept': 'application/problem+json'})
    assert answer.headers['content-type'] == 'application/problem+json'
    assert answer.json()['errors'] == [
        {'pointer': '/size', 'detail': 'Input should be greater than 0', 'in': 'query'}
    ]
    assert answer.json()['status'] == answer.status_code == 400


@pytest.mark.parametrize(
    'body', [b'{"name": ', b'\xff\xfe', b'[' * 90_000], ids=['cut', 'no UTF-8', 'deep']
)
def test_a_body_that_is_not_json_is_400(client: TestClient, body: bytes) -> None:
    answer = client.post('/items', content=body, headers={'content-type': 'application/json'})
    assert (answer.status_code, error_in(answer)['code']) == (400, 'INVALID_REQUEST')


def test_only_the_first_50_invalid_values_are_listed(client: TestClient) -> None:
    answer = client.post('/items', json={'name': 'a', 'sizes': ['x'] * 10_000})
    assert len(error_in(answer)['details']['errors']) == 50
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
        (429, 'RATE_LIMIT', True),
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
    error = error_in(answer)
    assert (answer.status_code, error['code'], error['retryable']) == (status, code, retryable)
    assert error['message'] == 'No: password=***'
    assert error.get('retry_after_ms') == (5000 if status in {429, 503} else None)
    assert answer.headers.get('retry-after') == ('5' if status in {429, 503} else None)
    assert answer.headers.get('www-authenticate') == ('Bearer' if status == 401 else None)


def test_a_detail_that_is_no_text_is_in_the_details(client: TestClient) -> None:
    answer = client.get('/own-detail')
    assert answer.status_code == 418
    assert error_in(answer)['message'] == "I'm a Teapot"
    assert error_in(answer)['details'] == {'detail': {'my': 'detail', 'password': '***'}}


@pytest.mark.parametrize('status', [204, 304])
def test_an_http_exception_without_a_body_has_none(client: TestClient, status: int) -> None:
    answer = client.get(f'/raise/{status}')
    assert (answer.status_code, answer.content) == (status, b'')


def test_an_http_exception_that_is_no_error_is_that_of_the_framework(client: TestClient) -> None:
    answer = client.get('/elsewhere', follow_redirects=False)
    assert (answer.status_code, answer.headers['location']) == (307, '/items?size=1')
    assert answer.json() == {'detail': 'Temporary Redirect'}


def test_an_own_header_of_an_http_exception_is_sent(client: TestClient) -> None:
    answer = client.get('/challenge')
    assert answer.status_code == 401
    assert answer.headers['www-authenticate'] == 'Basic realm="notes"'


def hello(request: Request) -> Response:
    return PlainTextResponse('hello')


def starlette_app() -> Starlette:
    return Starlette(routes=[Route('/', hello, methods=['GET', 'POST'])])


def test_error_pages_of_starlette_have_the_same_form() -> None:
    client = client_of(with_install(starlette_app()))
    assert error_in(client.get('/nowhere'))['code'] == 'RESOURCE_NOT_FOUND'
    answer = client.delete('/')
    assert error_in(answer)['code'] == 'METHOD_NOT_ALLOWED'
    assert answer.headers['allow'] == 'GET, HEAD, POST'


def test_a_mounted_application_keeps_its_own_error_pages() -> None:
    app = Starlette()
    app.mount('/inner', fastapi_app())
    client = client_of(with_install(app))
    answer = client.get('/inner/nowhere')
    assert (answer.status_code, answer.json()) == (404, {'detail': 'Not Found'})
    assert answer.headers['x-request-id'] == 'r-1'
    assert error_in(client.get('/nowhere'))['code'] == 'RESOURCE_NOT_FOUND'


def test_a_mounted_application_can_have_its_own_install() -> None:
    app = Starlette()
    app.mount('/inner', with_install(fastapi_app()))
    client = client_of(with_install(app))
    assert error_in(client.get('/inner/nowhere'))['code'] == 'RESOURCE_NOT_FOUND'
    assert error_in(client.get('/inner/items'))['code'] == 'INVALID_REQUEST'


def test_a_405_in_a_mount_lists_only_the_methods_of_its_routes() -> None:
    inner = Mount('/inner', routes=[Route('/', hello, methods=['GET', 'POST'])])
    app = Starlette(routes=[Route('/', hello, methods=['PUT']), inner])
    assert client_of(with_install(app)).delete('/inner/').headers['allow'] == 'GET, HEAD, POST'


def test_a_405_of_a_handler_has_an_allow_header() -> None:
    def refuse(request: Request) -> Response:
        raise HTTPException(405)

    app = Starlette(routes=[Route('/', refuse)])
    answer = client_of(with_install(app)).get('/')
    assert error_in(answer)['message'] == 'Method Not Allowed'
    assert answer.headers['allow'] == 'GET, HEAD'


@pytest.mark.parametrize('kind', ['json_invalid', 'missing'])
def test_a_validation_error_without_a_location_is_400(kind: str) -> None:
    answer = from_validation_errors([{'loc': [], 'msg': 'x', 'type': kind}])
    assert (answer.status, answer.message) == (400, 'The request is not valid.')
    assert from_validation_errors([]).message == 'The request is not valid.'


class Cat(BaseModel):
    kind: Literal['cat']
    lives: int


class Dog(BaseModel):
    kind: Literal['dog']
    name: str


class Home(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator='kind')]
    others: list[Cat | Dog] = []
    sizes: dict[int, int] = {}
    alias: int = Field(default=0, alias='the/alias~')


def test_pointers_lead_into_the_body_also_through_unions() -> None:
    app = FastAPI()
    install(app, STORAGE)

    @app.post('/home')
    def add(home: Home) -> None: ...

    body = {
        'pet': {'kind': 'cat', 'lives': 'x'},
        'others': [{'kind': 'dog'}],
        'sizes': {'a': 1},
        'the/alias~': 'x',
    }
    answer = TestClient(app).post('/home', json=body)
    pointers = {problem['pointer'] for problem in answer.json()['error']['details']['errors']}
    assert pointers == {
        '/pet/lives',
        '/others/0/kind',
        '/others/0/lives',
        '/others/0/name',
        '/sizes/a',
        '/the~1alias~0',
    }
    answer = TestClient(app).post('/home', json={'pet': {'kind': 'cow', 'secret': 'x'}})
    assert answer.json()['error']['details']['errors'] == [
        {
            'pointer': '/pet',
            'detail': "Input tag does not match any of the expected tags: 'cat', 'dog'",
        }
    ]


def test_a_pointer_does_not_lead_into_a_text() -> None:
    error = {'loc': ('body', 'name', 0), 'msg': 'x', 'type': 'x'}
    [problem] = from_validation_errors([error], {'name': 'Ann'}).problems
    assert problem.pointer == '/name'


@pytest.mark.parametrize(
    ('message', 'value', 'expected'),
    [
        ('Value error, must be even', 3, 'Value error, must be even'),
        ("Value error, '42' is taken", '42', "Value error, '…' is taken"),
        ('Value error, HUNTER2 is taken', 'hunter2', 'Input is not valid'),
        ('Value error, no unte in it', 'hunter2', 'Input is not valid'),
        (
            'Value error, ann is no pin',
            {'pin': 'ann', 'more': ['hunter2']},
            'Value error, … is no …',
        ),
        ('Value error, hunter2', {'a': [{'hunter2': None}]}, 'Input is not valid'),
    ],
)
def test_the_message_of_a_validator_does_not_contain_the_input(
    message: str, value: object, expected: str
) -> None:
    error = {'type': 'value_error', 'loc': ('body', 'a'), 'msg': message, 'input': value}
    assert from_validation_errors([error]).problems[0].detail == expected


@pytest.mark.parametrize(
    'ours',
    [
        HttpError.bad_request('x'),
        HttpError.unauthorized(),
        HttpError.not_found('x'),
        HttpError.rate_limited(1.0),
        defect('err_1'),
        HttpError.unavailable(),
        HttpError.timed_out(),
    ],
    ids=lambda ours: str(ours.status),
)
def test_a_status_has_one_code_whether_a_route_returns_or_raises_it(
    client: TestClient, ours: HttpError
) -> None:
    error = error_in(client.get(f'/raise/{ours.status}'))
    assert (error['code'], error['type']) == (ours.code, ours.type)
