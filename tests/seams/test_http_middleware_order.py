"""Tests of `install` together with other middleware, in every order."""

import itertools
from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated, Any, Literal, cast

import pytest
from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Discriminator, Field, Tag
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from typing_extensions import override

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.http import install, named, on

ORIGIN = 'https://shop.example.org'
LIMIT = 1000


class Gone(
    TaggedError,
    namespace='test_http_middleware_order',
    category=Category.NOT_FOUND,
    message='Gone.',
):
    text: str


TABLE = on(Gone).responds(404, 'GONE', headers={'Vary': 'Origin'})


class Tracing(BaseHTTPMiddleware):
    @override
    async def dispatch(
        self, request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        response = await call_next(request)
        response.headers['x-trace'] = 't-1'
        return response


class Item(BaseModel):
    name: str
    size: int = Field(gt=0)


MIDDLEWARE: list[tuple[Any, dict[str, Any]]] = [
    (
        CORSMiddleware,
        {'allow_origins': [ORIGIN], 'allow_credentials': True, 'expose_headers': ['x-request-id']},
    ),
    (GZipMiddleware, {'minimum_size': 200}),
    (SessionMiddleware, {'secret_key': 'k'}),
    (Tracing, {}),
]


def routes(app: FastAPI) -> None:
    @app.get('/success')
    def success(request: Request) -> Result[str, Gone]:
        request.session['user'] = 'ada'
        return Success('x' * 500)

    @app.get('/failure')
    def failure(request: Request) -> Result[str, Gone]:
        request.session['user'] = 'ada'
        return Failure(Gone('x' * 500))

    @app.get('/defect')
    def defect() -> Result[str, Gone]:
        raise ZeroDivisionError

    @app.get('/refused')
    def refused() -> None:
        raise HTTPException(403, 'x' * 500)

    @app.post('/items')
    def add(item: Item) -> Result[Item, Gone]:
        return Success(item)


def orders() -> Iterator[Any]:
    for order in itertools.permutations(range(len(MIDDLEWARE))):
        for position in range(len(MIDDLEWARE) + 1):
            yield pytest.param(order, position, id=f'{order}-{position}')


@pytest.mark.parametrize(('order', 'position'), [*orders()])
def test_every_order_keeps_the_promises_of_each_middleware(
    order: tuple[int, ...], position: int
) -> None:
    app = FastAPI(max_body_size=LIMIT)
    for count, index in enumerate(order):
        if count == position:
            install(app, TABLE)
        class_, options = MIDDLEWARE[index]
        app.add_middleware(class_, **options)
    if position == len(order):
        install(app, TABLE)
    routes(app)
    client = TestClient(app, raise_server_exceptions=False)
    headers = {'origin': ORIGIN, 'accept-encoding': 'gzip', 'x-request-id': 'r-1'}
    for path, status, is_long in [
        ('/success', 200, True),
        ('/failure', 404, True),
        ('/refused', 403, True),
        ('/nowhere', 404, False),
        ('/items', 405, False),
        ('/defect', 500, False),
    ]:
        answer = client.get(path, headers=headers)
        assert answer.status_code == status
        assert answer.json()['request_id'] == answer.headers['x-request-id'] == 'r-1'
        assert answer.headers['access-control-allow-origin'] == ORIGIN
        assert answer.headers['access-control-allow-credentials'] == 'true'
        assert answer.headers['access-control-expose-headers'] == 'x-request-id'
        assert answer.headers['x-trace'] == 't-1'
        varies = {item.strip() for item in answer.headers['vary'].split(',')}
        assert 'Origin' in varies
        if status != 200:
            assert {'Accept', 'Accept-Language'} <= varies
        if is_long:
            assert answer.headers['content-encoding'] == 'gzip'
            assert 'Accept-Encoding' in varies
        assert ('session' in answer.cookies) == (path in {'/success', '/failure'})
        client.cookies.clear()


@pytest.mark.parametrize('is_first', [True, False])
@pytest.mark.parametrize('limit', ['option', 'middleware'])
@pytest.mark.parametrize('is_chunked', [True, False])
def test_a_body_over_the_limit_is_answered_in_the_body_format(
    limit: str, *, is_first: bool, is_chunked: bool
) -> None:
    app = FastAPI(max_body_size=LIMIT) if limit == 'option' else FastAPI()
    if is_first:
        install(app, TABLE, body=named)
    if limit == 'middleware':
        app.add_middleware(RequestBodyLimitMiddleware, max_body_size=LIMIT)
    if not is_first:
        install(app, TABLE, body=named)
    routes(app)
    body = b'{"name":"' + b'x' * LIMIT + b'"}'
    answer = TestClient(app).post(
        '/items',
        content=iter([body[:500], body[500:]]) if is_chunked else body,
        headers={'content-type': 'application/json'},
    )
    assert (answer.status_code, answer.json()['name']) == (413, 'PayloadTooLarge')
    assert answer.headers['x-request-id']


def test_a_middleware_outside_answers_for_itself() -> None:
    app = FastAPI()
    install(app, TABLE)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=['shop.example.org'])
    routes(app)
    answer = TestClient(app).get('/failure', headers={'host': 'evil.example.org'})
    assert (answer.status_code, answer.text) == (400, 'Invalid host header')
    answer = TestClient(app).get('/nowhere', headers={'host': 'shop.example.org'})
    assert answer.json()['error']['code'] == 'RESOURCE_NOT_FOUND'


def test_a_preflight_request_is_that_of_the_middleware() -> None:
    app = FastAPI()
    app.add_middleware(CORSMiddleware, allow_origins=[ORIGIN], allow_methods=['PUT'])
    install(app, TABLE)
    answer = TestClient(app).options(
        '/items', headers={'origin': ORIGIN, 'access-control-request-method': 'PUT'}
    )
    assert (answer.status_code, answer.text) == (200, 'OK')


# Own handlers


async def own_page(request: Request, error: Exception) -> Response:
    return Response(f'own {type(error).__name__}', 418)


@pytest.mark.parametrize('is_first', [True, False])
@pytest.mark.parametrize(
    ('key', 'path', 'params'),
    [
        ('HTTPException', '/refused', {}),
        (404, '/nowhere', {}),
        ('RequestValidationError', '/checked', {'n': 'x'}),
        ('ZeroDivisionError', '/defect', {}),
    ],
)
def test_an_own_handler_is_kept(
    key: str | int, path: str, params: dict[str, str], *, is_first: bool
) -> None:
    from fastapi.exceptions import RequestValidationError  # noqa: PLC0415
    from starlette.exceptions import HTTPException as StarletteHTTPException  # noqa: PLC0415

    kinds: dict[str | int, Any] = {
        'HTTPException': StarletteHTTPException,
        'RequestValidationError': RequestValidationError,
        'ZeroDivisionError': ZeroDivisionError,
        404: 404,
    }
    app = FastAPI()
    if is_first:
        install(app, TABLE)
    app.add_exception_handler(kinds[key], own_page)
    if not is_first:
        install(app, TABLE)
    routes(app)

    @app.get('/checked')
    def checked(n: int) -> Result[int, Gone]:
        return Success(n)

    answer = TestClient(app).get(path, params=params)
    assert (answer.status_code, answer.text[:4]) == (418, 'own ')


@pytest.mark.parametrize('is_first', [True, False])
@pytest.mark.parametrize('key', [Exception, 500])
def test_an_own_handler_for_all_exceptions_answers_defects(
    key: Any, *, is_first: bool, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    if is_first:
        install(app, TABLE)
    app.add_exception_handler(key, own_page)
    if not is_first:
        install(app, TABLE)
    routes(app)
    answer = TestClient(app, raise_server_exceptions=False).get('/defect')
    assert (answer.status_code, answer.text) == (418, 'own ZeroDivisionError')
    assert len([record for record in caplog.records if record.name == 'seamwise']) == 1
    assert TestClient(app).get('/refused').json()['error']['code'] == 'FORBIDDEN'


def test_debug_shows_the_page_of_starlette_and_records_the_defect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = FastAPI(debug=True)
    install(app, TABLE)
    routes(app)
    answer = TestClient(app, raise_server_exceptions=False).get('/defect')
    assert 'Traceback' in answer.text
    assert len([record for record in caplog.records if record.name == 'seamwise']) == 1


# Nothing of the input in the answer

MARKER = 'MARK3R'


def with_value_in_its_message(value: str) -> str:
    raise ValueError(f'{value!r} is not allowed, nor is {value.upper()} at all')


class Cat(BaseModel):
    kind: Literal['cat']
    lives: int


class Dog(BaseModel):
    kind: Literal['dog']
    name: Annotated[str, Field(max_length=3)]


def kind_of(value: Any) -> Any:
    members = cast('dict[str, Any]', value) if isinstance(value, dict) else {}
    return members.get('kind')


Pet = Annotated[Cat | Dog, Field(discriminator='kind')]
Other = Annotated[Annotated[Cat, Tag('cat')] | Annotated[Dog, Tag('dog')], Discriminator(kind_of)]


class Everything(BaseModel):
    checked: Annotated[str, AfterValidator(with_value_in_its_message)] | None = None
    pet: Pet | None = None
    other: Other | None = None
    sizes: dict[int, int] = {}
    names: dict[str, int] = {}
    literal: Literal['a', 'b'] | None = None
    pattern: Annotated[str, Field(pattern='^[a-z]$')] | None = None
    number: float | None = None
    flags: list[bool] = []
    model_config = {'extra': 'forbid'}


def echo_app() -> TestClient:
    app = FastAPI()
    install(app, TABLE)

    @app.post('/{number}')
    def add(
        number: int, body: Everything, size: Annotated[int | None, Query(gt=0)] = None
    ) -> Result[int, Gone]:
        return Success(1)

    return TestClient(app)


def is_in(body: object, pointer: str) -> bool:
    """Return whether a JSON Pointer leads to a value, or to a missing member of an object."""
    names = [name.replace('~1', '/').replace('~0', '~') for name in pointer.split('/')[1:]]
    for index, name in enumerate(names):
        members = cast('dict[str, object]', body)
        if isinstance(body, list):
            members = {str(key): item for key, item in enumerate(cast('list[object]', body))}
        if name not in members:
            return index == len(names) - 1
        body = members[name]
    return True


CLIENT = echo_app()
marked = st.text(st.characters(codec='ascii'), max_size=6).flatmap(
    lambda before: st.text(st.characters(codec='ascii'), max_size=6).map(
        lambda after: f'{before}{MARKER}{after}'
    )
)
values = st.recursive(
    marked,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(marked, inner, max_size=2),
    max_leaves=4,
)
pets = st.fixed_dictionaries({'kind': values}, optional={'lives': values, 'name': values})
kinds_of_pets = st.fixed_dictionaries(
    {'kind': st.sampled_from(['cat', 'dog'])}, optional={'lives': values, 'name': values}
)
bodies: st.SearchStrategy[Any] = st.one_of(
    values,
    st.fixed_dictionaries(
        {},
        optional={
            'checked': values,
            'pet': values | pets | kinds_of_pets,
            'other': values | pets | kinds_of_pets,
            'sizes': values,
            'names': values,
            'literal': values,
            'pattern': values,
            'number': values,
            'flags': values,
        },
    ),
    st.dictionaries(marked, values, min_size=1, max_size=3),
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(bodies)
def test_an_invalid_body_is_refused_without_its_values(body: Any) -> None:
    answer = CLIENT.post('/1', json=body)
    if answer.status_code == 200:
        return
    assert answer.status_code == 400
    for problem in answer.json()['error']['details'].get('errors', ()):
        assert MARKER.lower() not in problem['detail'].lower()
        # A pointer contains keys of the body, and no values.
        assert is_in(body, problem['pointer'])


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    st.text('abcXYZ019-_ ', max_size=4), st.text('abcXYZ019-_&= ', max_size=9).map(MARKER.__add__)
)
def test_invalid_parameters_are_refused_without_their_values(path: str, query: str) -> None:
    answer = CLIENT.post(f'/{MARKER}{path}', json={}, params={'size': query})
    assert answer.status_code == 400
    assert MARKER not in answer.text


@pytest.mark.parametrize(
    'content',
    [b'{"a": MARK3R}', b'MARK3R', b'{"MARK3R": 1', b'\xff MARK3R', b'[' * 5000 + b'MARK3R'],
)
def test_a_body_that_is_not_json_is_refused_without_it(content: bytes) -> None:
    answer = CLIENT.post('/1', content=content, headers={'content-type': 'application/json'})
    assert answer.status_code == 400
    assert MARKER not in answer.text
