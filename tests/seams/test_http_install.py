"""Tests of the promises of FastAPI for a route, which hold with `install` as without it."""

import dataclasses
import datetime
import ipaddress
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal
from enum import Enum
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from uuid import UUID

import pytest
from fastapi import APIRouter, BackgroundTasks, Depends, FastAPI, Request, Response
from fastapi.exceptions import ResponseValidationError
from fastapi.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    StreamingResponse,
)
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel, ConfigDict, Field, computed_field
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from starlette.applications import Starlette
from starlette.routing import Route
from typing_extensions import TypedDict, override

from seamwise import Category, Do, Failure, Raised, Result, Secret, Success, TaggedError, fallible
from seamwise.seams.http import (
    Accepted,
    Body,
    Created,
    NoContent,
    ResultRoute,
    bare,
    endpoint,
    envelope,
    install,
    named,
    negotiated,
    on,
    problem,
)


class NoSuchUser(
    TaggedError,
    namespace='test_http_install',
    category=Category.NOT_FOUND,
    message='There is no user {uid}.',
):
    uid: int


class Full(TaggedError, namespace='test_http_install', category=Category.CAPACITY, message='Full.'):
    retry_after: float | None = None


TABLE = on(NoSuchUser).responds(404, 'NO_SUCH_USER')


class PublicUser(BaseModel):
    name: str
    nickname: str | None = Field(default=None, serialization_alias='nickName')


class User(PublicUser):
    password_hash: str = 'argon2id$v=19$'  # noqa: S105 -- an invented hash


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    user_name: str = Field(alias='userName')

    @computed_field
    def upper(self) -> str:
        return self.user_name.upper()


class Base(DeclarativeBase):
    """Base of the mapped classes."""


class UserRow(Base):
    __tablename__ = 'users'

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


class RowModel(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    name: str


class Colour(Enum):
    RED = 'red'


@dataclasses.dataclass
class Point:
    x: int
    y: Decimal


class Pair(NamedTuple):
    left: int
    right: str


class Options(TypedDict):
    depth: int


class UpperJSONResponse(JSONResponse):
    """JSON in upper case, as an own fast encoder would be another one."""

    media_type = 'application/vnd.upper+json'

    @override
    def render(self, content: Any) -> bytes:
        return json.dumps(content).upper().encode()


def numbers() -> Iterator[int]:
    yield from range(3)


def responding(handler: Callable[..., Any], **settings: Any) -> FastAPI:
    app = FastAPI()
    app.get('/', **settings)(handler)
    return app


def answer_of(app: FastAPI) -> Any:
    with TestClient(app, follow_redirects=False) as client:
        return client.get('/', headers={'x-request-id': 'r-1'})


def plain_handler(value: Callable[[], Any], annotation: Any) -> Callable[..., Any]:
    def show():  # type: ignore[no-untyped-def]  # the annotation is set below
        return value()

    if annotation is not None:
        show.__annotations__['return'] = annotation
    return show


def result_handler(value: Callable[[], Any], annotation: Any) -> Callable[..., Any]:
    def show():  # type: ignore[no-untyped-def]  # the annotation is set below
        return Success(value())

    if annotation is not None:
        result: Any = Result
        show.__annotations__['return'] = result[annotation, NoSuchUser]
    return show


WHEN = datetime.datetime(2026, 2, 20, 10, 30, 0, 5, tzinfo=datetime.UTC)

CASES = [
    pytest.param(lambda: User(name='ada'), PublicUser, {}, id='model by annotation'),
    pytest.param(lambda: User(name='ada'), User, {'response_model': PublicUser}, id='model'),
    pytest.param(lambda: [User(name='ada')], list[PublicUser], {}, id='list'),
    pytest.param(lambda: {'a': User(name='ada')}, dict[str, PublicUser], {}, id='dict of models'),
    pytest.param(lambda: User(name='ada'), PublicUser | None, {}, id='optional'),
    pytest.param(lambda: None, PublicUser | None, {}, id='none'),
    pytest.param(lambda: {'name': 'ada', 'password_hash': 'x'}, PublicUser, {}, id='dict'),
    pytest.param(lambda: {'name': 'ada'}, None, {'response_model': PublicUser}, id='no annotation'),
    pytest.param(lambda: Aliased(userName='ada'), Aliased, {}, id='alias, computed field'),
    pytest.param(
        lambda: Aliased(userName='a'), Aliased, {'response_model_by_alias': False}, id='no alias'
    ),
    pytest.param(lambda: UserRow(id=1, name='ada'), RowModel, {}, id='row'),
    pytest.param(lambda: [UserRow(id=1, name='ada')], list[RowModel], {}, id='rows'),
    pytest.param(lambda: UserRow(id=1, name='ada'), None, {}, id='row without a model'),
    pytest.param(lambda: {'row': UserRow(id=1, name='ada')}, None, {}, id='row in a dict'),
    *(
        pytest.param(lambda: User(name='ada', nickname=None), User, settings, id=str(settings))
        for settings in (
            {'response_model_include': {'name'}},
            {'response_model_exclude': {'password_hash'}},
            {'response_model_by_alias': False},
            {'response_model_exclude_unset': True},
            {'response_model_exclude_defaults': True},
            {'response_model_exclude_none': True},
            {'response_model': None},
        )
    ),
    pytest.param(numbers, None, {}, id='generator'),
    pytest.param(numbers, list[int], {'response_model': None}, id='generator without a model'),
    pytest.param(lambda: Path('/srv/a'), Path, {}, id='path'),
    pytest.param(lambda: Path('/srv/a'), None, {}, id='path without a model'),
    pytest.param(lambda: {'ip': ipaddress.ip_address('10.0.0.5')}, None, {}, id='address'),
    pytest.param(lambda: ipaddress.ip_address('::1'), ipaddress.IPv6Address, {}, id='IPv6'),
    pytest.param(lambda: Point(1, Decimal('1.50')), Point, {}, id='dataclass'),
    pytest.param(lambda: Point(1, Decimal('1.50')), None, {}, id='dataclass without a model'),
    pytest.param(lambda: Decimal('1.50'), None, {}, id='Decimal without a model'),
    pytest.param(lambda: Decimal('1.50'), Decimal, {}, id='Decimal'),
    pytest.param(lambda: [WHEN, WHEN.date(), WHEN.time()], None, {}, id='times without a model'),
    pytest.param(lambda: WHEN, datetime.datetime, {}, id='datetime'),
    pytest.param(lambda: datetime.timedelta(hours=1), None, {}, id='timedelta without a model'),
    pytest.param(lambda: datetime.timedelta(hours=1), datetime.timedelta, {}, id='timedelta'),
    pytest.param(lambda: UUID(int=7), None, {}, id='UUID'),
    pytest.param(lambda: Colour.RED, Colour, {}, id='enum'),
    pytest.param(lambda: {Colour.RED: 1}, None, {}, id='enum as key'),
    pytest.param(lambda: {1: 'a', None: 'b'}, None, {}, id='keys that are no strings'),
    pytest.param(lambda: Pair(1, 'a'), None, {}, id='named tuple'),
    pytest.param(lambda: Pair(1, 'a'), Pair, {}, id='named tuple with a model'),
    pytest.param(lambda: {'depth': 1, 'more': 2}, Options, {}, id='typed dict'),
    pytest.param(lambda: b'bytes', bytes, {}, id='bytes'),
    pytest.param(lambda: {'name': 'ada', 'more': Colour.RED}, Any, {}, id='Any'),
    pytest.param(lambda: [Decimal('1.50'), WHEN], list[Any], {}, id='list of Any'),
    pytest.param(lambda: {3}, set[int], {}, id='set'),
    pytest.param(lambda: frozenset({3}), None, {}, id='frozenset'),
    pytest.param(lambda: 'caf\u00e9 \u2028 </script>', str, {}, id='text'),
    pytest.param(lambda: 2**70, int, {}, id='large int'),
    pytest.param(lambda: [1.0, 1e300, -0.0], list[float], {}, id='floats'),
    pytest.param(lambda: 0, int, {}, id='zero'),
    pytest.param(lambda: False, bool, {}, id='false'),
    pytest.param(list, list[int], {}, id='empty list'),
    pytest.param(lambda: '', str, {}, id='empty text'),
    pytest.param(lambda: [1, 'a', None, 2.5], None, {'status_code': 201}, id='status 201'),
    pytest.param(lambda: {'name': 'a'}, None, {'response_class': JSONResponse}, id='JSONResponse'),
    pytest.param(
        lambda: {'a': 1}, dict[str, int], {'response_class': UpperJSONResponse}, id='own JSON'
    ),
    pytest.param(lambda: '<b>ada</b>', str, {'response_class': HTMLResponse}, id='HTML'),
    pytest.param(lambda: 'ada', str, {'response_class': PlainTextResponse}, id='text class'),
    pytest.param(lambda: '/x', str, {'response_class': RedirectResponse}, id='redirect class'),
    pytest.param(
        lambda: __file__, str, {'response_class': FileResponse, 'response_model': None}, id='file'
    ),
    pytest.param(lambda: PlainTextResponse('a', 418), Response, {}, id='response'),
    pytest.param(lambda: StreamingResponse(iter([b'a', b'b'])), StreamingResponse, {}, id='stream'),
    pytest.param(lambda: FileResponse(__file__), FileResponse, {}, id='file response'),
    pytest.param(lambda: JSONResponse({'a': 1}, 207), JSONResponse, {}, id='JSON response'),
    *(
        pytest.param(lambda: None, None, {'status_code': status}, id=f'status {status}')
        for status in (204, 205, 304)
    ),
]


@pytest.mark.parametrize(('value', 'annotation', 'settings'), CASES)
def test_with_bare_bodies_a_response_is_that_of_the_plain_route(
    value: Callable[[], Any], annotation: Any, settings: dict[str, Any]
) -> None:
    plain = answer_of(responding(plain_handler(value, annotation), **settings))
    app = responding(result_handler(value, annotation), **settings)
    install(app, TABLE, body=bare)
    own = answer_of(app)
    assert own.headers.pop('x-request-id') == 'r-1'
    assert (own.status_code, own.content) == (plain.status_code, plain.content)
    assert own.headers.multi_items() == plain.headers.multi_items()


@pytest.mark.parametrize(('value', 'annotation', 'settings'), CASES)
def test_the_data_in_an_envelope_are_those_of_the_plain_route(
    value: Callable[[], Any], annotation: Any, settings: dict[str, Any]
) -> None:
    plain = answer_of(responding(plain_handler(value, annotation), **settings))
    app = responding(result_handler(value, annotation), **settings)
    install(app, TABLE)
    own = answer_of(app)
    assert own.status_code == plain.status_code
    is_response = isinstance(annotation, type) and issubclass(annotation, Response)
    if (
        plain.headers.get('content-type') == 'application/json'
        and plain.content
        and not is_response
    ):
        assert own.json()['data'] == plain.json()
        assert own.json()['success'] is True
        assert own.headers['content-type'] == 'application/json'
    else:
        assert own.content == plain.content


@pytest.mark.parametrize(('value', 'annotation', 'settings'), CASES)
def test_a_plain_handler_answers_as_without_install(
    value: Callable[[], Any], annotation: Any, settings: dict[str, Any]
) -> None:
    plain = answer_of(responding(plain_handler(value, annotation), **settings))
    app = responding(plain_handler(value, annotation), **settings)
    install(app, TABLE)
    own = answer_of(app)
    assert own.headers.pop('x-request-id') == 'r-1'
    assert (own.status_code, own.content) == (plain.status_code, plain.content)
    assert own.headers.multi_items() == plain.headers.multi_items()


def set_cookie(response: Response) -> None:
    response.set_cookie('seen', '1')
    response.status_code = 202


def set_cookie_inside(_: Annotated[None, Depends(set_cookie)]) -> None:
    """Depend on a function that changes the response."""


def nothing() -> None:
    """Leave the response as it is."""


@pytest.mark.parametrize(
    ('dependency', 'override'),
    [(set_cookie, None), (set_cookie_inside, None), (nothing, set_cookie)],
)
def test_a_dependency_or_its_override_changes_the_response(
    dependency: Callable[..., None], override: Callable[..., None] | None
) -> None:
    app = FastAPI(dependencies=[Depends(dependency)])
    install(app, TABLE)

    @app.get('/')
    async def show() -> Result[PublicUser, NoSuchUser]:
        return Success(User(name='ada'))

    with TestClient(app) as client:
        if override is not None:
            assert client.get('/').status_code == 200
            app.dependency_overrides[dependency] = override
        response = client.get('/')
    assert (response.status_code, response.cookies['seen']) == (202, '1')
    assert response.json()['data'] == {'name': 'ada', 'nickName': None}


def test_telemetry_of_fastapi_has_its_span_for_the_value_of_a_success() -> None:
    api = pytest.importorskip('fastapi.telemetry', reason='only newer versions of FastAPI have it')
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    telemetry = api.TelemetryConfig(tracer_provider=provider, metrics=False, logs=False)
    app = FastAPI(telemetry=telemetry)
    install(app, TABLE)

    @app.get('/')
    async def show() -> Result[PublicUser, NoSuchUser]:
        return Success(User(name='ada'))

    assert answer_of(app).json()['data'] == {'name': 'ada', 'nickName': None}
    spans = [span.name for span in exporter.get_finished_spans()]
    assert spans == ['fastapi.dependencies', 'fastapi.endpoint', 'fastapi.serialization', 'GET /']


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=['Cs'])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=['Cs'])), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(JSON_VALUES)
def test_any_json_value_is_that_of_the_plain_route(value: Any) -> None:
    plain = answer_of(responding(plain_handler(lambda: value, None)))
    bare_app, enveloped_app = (responding(result_handler(lambda: value, None)) for _ in range(2))
    install(bare_app, TABLE, body=bare)
    install(enveloped_app, TABLE)
    assert answer_of(bare_app).json() == plain.json()
    assert answer_of(enveloped_app).json()['data'] == plain.json()


def test_a_field_that_the_declared_model_leaves_out_is_not_sent() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/')
    def show() -> Result[PublicUser, NoSuchUser]:
        return Success(User(name='ada'))

    assert 'argon2id' not in answer_of(app).text
    assert answer_of(app).json()['data'] == {'name': 'ada', 'nickName': None}


def test_a_value_that_does_not_fit_the_model_is_a_defect() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/', response_model=PublicUser)
    def show() -> Result[object, NoSuchUser]:
        return Success({'surname': 'lovelace'})

    with pytest.raises(ResponseValidationError):
        answer_of(app)
    answer = TestClient(app, raise_server_exceptions=False).get('/')
    assert (answer.status_code, answer.json()['error']['code']) == (500, 'INTERNAL')
    assert 'lovelace' not in answer.text


@pytest.mark.parametrize('body', [negotiated, envelope, problem, bare, named])
def test_an_injected_response_sets_status_headers_and_cookies(body: Body) -> None:
    app = FastAPI()
    install(app, TABLE, body=body)

    def add_cookie(response: Response) -> None:
        response.set_cookie('session', 's-1')
        response.set_cookie('theme', 'dark')

    @app.get('/', dependencies=[Depends(add_cookie)], status_code=201)
    def show(response: Response) -> Result[str, NoSuchUser]:
        response.headers['x-total'] = '7'
        response.status_code = 202
        return Success('ada')

    answer = answer_of(app)
    assert (answer.status_code, answer.headers['x-total']) == (202, '7')
    assert dict(answer.cookies) == {'session': 's-1', 'theme': 'dark'}
    assert 'ada' in answer.text
    assert answer.headers.get_list('content-length') == [str(len(answer.content))]
    assert answer.headers.get_list('x-request-id') == ['r-1']


def test_background_tasks_run_after_a_success() -> None:
    app = FastAPI()
    install(app, TABLE)
    done: list[str] = []

    def audit(tasks: BackgroundTasks) -> None:
        tasks.add_task(done.append, 'dependency')

    @app.get('/', dependencies=[Depends(audit)])
    def show(tasks: BackgroundTasks) -> Result[str, NoSuchUser]:
        tasks.add_task(done.append, 'handler')
        return Success('ada')

    assert answer_of(app).json()['data'] == 'ada'
    assert done == ['dependency', 'handler']


def test_a_failure_has_its_own_status_and_no_headers_of_the_injected_response() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/', status_code=201)
    def show(response: Response) -> Result[str, NoSuchUser]:
        response.headers['x-total'] = '7'
        response.status_code = 202
        return Failure(NoSuchUser(7))

    answer = answer_of(app)
    assert answer.status_code == 404
    assert 'x-total' not in answer.headers


def test_a_secret_is_masked_where_there_is_no_model() -> None:
    class Account(Struct):
        name: str
        key: Secret[str]

    app = FastAPI()
    install(app, TABLE, body=bare)

    @app.get('/')
    def show() -> Result[Account, NoSuchUser]:
        return Success(Account('ada', Secret('hunter2')))

    assert answer_of(app).json() == {'name': 'ada', 'key': '***'}


# Created, Accepted, NoContent


def test_created_has_its_status_and_location() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/')
    def show() -> Result[Created[PublicUser], NoSuchUser]:
        return Success(Created(User(name='ada'), location='/users/caf\u00e9 1\r\nx: y'))

    answer = answer_of(app)
    assert answer.status_code == 201
    assert answer.headers['location'] == '/users/caf%C3%A9%201%0D%0Ax:%20y'
    assert answer.json()['data'] == {'name': 'ada', 'nickName': None}
    assert 'x' not in answer.headers


def test_accepted_and_no_content_have_their_status() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/accepted')
    def accept() -> Result[Accepted[int], NoSuchUser]:
        return Success(Accepted(7))

    @app.get('/nothing')
    async def nothing() -> Result[NoContent, NoSuchUser]:
        return Success(NoContent())

    @app.get('/either/{is_new}')
    def either(*, is_new: bool) -> Result[Created[int] | NoContent, NoSuchUser]:
        return Success(Created(1) if is_new else NoContent())

    client = TestClient(app)
    assert (client.get('/accepted').status_code, client.get('/accepted').json()['data']) == (202, 7)
    nothing_answer = client.get('/nothing')
    assert (nothing_answer.status_code, nothing_answer.content) == (204, b'')
    assert 'content-type' not in nothing_answer.headers
    assert client.get('/either/true').status_code == 201
    assert (client.get('/either/false').status_code, client.get('/either/false').content) == (
        204,
        b'',
    )


# Handlers


def as_sync(uid: int) -> Result[int, NoSuchUser]:
    assert threading.current_thread() is not threading.main_thread()
    return Success(uid) if uid else Failure(NoSuchUser(uid))


async def as_async(uid: int) -> Result[int, NoSuchUser]:
    return Success(uid) if uid else Failure(NoSuchUser(uid))


@fallible
async def in_direct_style(do: Do[NoSuchUser], uid: int) -> int:
    return do(await as_async(uid))


class SyncCallable:
    def __call__(self, uid: int) -> Result[int, NoSuchUser]:
        return as_sync(uid)


class AsyncCallable:
    async def __call__(self, uid: int) -> Result[int, NoSuchUser]:
        return await as_async(uid)


class Service:
    async def method(self, uid: int) -> Result[int, NoSuchUser]:
        return await as_async(uid)


def with_bonus(uid: int, bonus: int) -> Result[int, NoSuchUser]:
    return as_sync(uid + bonus)


def undeclared(uid: int):  # type: ignore[no-untyped-def]  # a handler without a return annotation
    return as_sync(uid)


HANDLERS: list[Any] = [
    as_sync,
    as_async,
    in_direct_style,
    SyncCallable(),
    AsyncCallable(),
    Service().method,
    partial(with_bonus, bonus=0),
    partial(AsyncCallable()),
    undeclared,
    endpoint(TABLE)(as_sync),
    endpoint(TABLE)(as_async),
    endpoint(TABLE)(AsyncCallable()),
]


@pytest.mark.parametrize('handler', HANDLERS, ids=[str(index) for index in range(len(HANDLERS))])
def test_every_kind_of_handler_can_return_results(handler: Any) -> None:
    app = FastAPI()
    app.get('/{uid}')(handler)
    install(app, TABLE)
    client = TestClient(app)
    assert client.get('/7').json()['data'] == 7
    answer = client.get('/0')
    assert (answer.status_code, answer.json()['error']['code']) == (404, 'NO_SUCH_USER')


def test_a_declared_result_must_be_returned() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/plain')
    def plain() -> Result[int, NoSuchUser]:
        return 7  # type: ignore[return-value]  # the case under test

    @app.get('/nested')
    def nested() -> Result[Any, NoSuchUser]:
        return Success(Success(1))

    @app.get('/coroutine')
    def coroutine() -> Result[int, NoSuchUser]:
        return as_async(1)  # type: ignore[return-value]  # the case under test

    @app.get('/awaitable')
    async def awaitable() -> Result[int, NoSuchUser]:
        return as_async(1)  # type: ignore[return-value]  # the case under test

    client = TestClient(app)
    for path, message in {
        '/plain': 'plain must return a Result, not int',
        '/nested': 'nested returned a result in a Success; return the inner',
        '/coroutine': 'coroutine returned a coroutine; declare it with `async def`',
        '/awaitable': 'awaitable returned a coroutine; await its result',
    }.items():
        with pytest.raises(TypeError, match=message):
            client.get(path)


# Routers and the order of installation


def user_router() -> APIRouter:
    router = APIRouter(prefix='/users')

    @router.get('/{uid}', response_model=PublicUser)
    async def show(uid: int) -> Result[User, NoSuchUser]:
        return Success(User(name='ada')) if uid else Failure(NoSuchUser(uid))

    return router


def nested_router() -> APIRouter:
    router = APIRouter(prefix='/v1')
    router.include_router(user_router())
    return router


def check_users(client: TestClient, path: str) -> None:
    assert client.get(f'{path}/7').json()['data'] == {'name': 'ada', 'nickName': None}
    answer = client.get(f'{path}/0')
    assert (answer.status_code, answer.json()['error']['code']) == (404, 'NO_SUCH_USER')


def test_routers_can_be_included_before_install() -> None:
    app = FastAPI()
    app.include_router(user_router())
    app.include_router(nested_router(), prefix='/api')
    install(app, TABLE)
    check_users(TestClient(app), '/users')
    check_users(TestClient(app), '/api/v1/users')


def test_routers_can_be_included_after_install() -> None:
    app = FastAPI()
    install(app, TABLE)
    app.include_router(user_router())
    app.include_router(nested_router(), prefix='/api')
    check_users(TestClient(app), '/users')
    check_users(TestClient(app), '/api/v1/users')


def test_a_router_can_be_included_twice_and_in_two_applications() -> None:
    router = user_router()
    gone = on(NoSuchUser).responds(410, 'USER_GONE')
    first, second = FastAPI(), FastAPI()
    first.include_router(router, prefix='/a')
    first.include_router(router, prefix='/b')
    second.include_router(router)
    install(first, TABLE)
    install(second, gone, body=named)
    check_users(TestClient(first), '/a/users')
    check_users(TestClient(first), '/b/users')
    answer = TestClient(second).get('/users/0')
    assert (answer.status_code, answer.json()['name']) == (410, 'NoSuchUser')


def test_a_plain_route_of_a_shared_router_answers_without_install_too() -> None:
    router = APIRouter()
    router.get('/plain')(lambda: {'a': 1})
    installed, plain = FastAPI(), FastAPI()
    installed.include_router(router)
    plain.include_router(router)
    install(installed, TABLE)
    assert TestClient(installed).get('/plain').json() == {'a': 1}
    assert TestClient(plain).get('/plain').json() == {'a': 1}


def test_routes_can_be_added_to_an_included_router_before_the_start() -> None:
    app, router = FastAPI(), APIRouter()
    app.include_router(router, prefix='/late')
    install(app, TABLE)
    router.get('/{uid}')(as_async)
    client = TestClient(app)
    assert client.get('/late/7').json()['data'] == 7
    assert client.get('/late/0').status_code == 404


def test_routes_can_be_added_after_the_start() -> None:
    app, router = FastAPI(), APIRouter(route_class=ResultRoute)
    install(app, TABLE)
    with TestClient(app) as client:
        assert client.get('/7').status_code == 404
        app.get('/{uid}')(as_async)
        router.get('/{uid}')(as_sync)
        app.include_router(router, prefix='/router')
        assert client.get('/7').json()['data'] == 7
        assert client.get('/0').json()['error']['code'] == 'NO_SUCH_USER'
        assert client.get('/router/0').json()['error']['code'] == 'NO_SUCH_USER'


class TimedRoute(APIRoute):
    """A route class as in the documentation of FastAPI."""

    @override
    def get_route_handler(self) -> Callable[..., Any]:
        original = super().get_route_handler()

        async def timed(request: Request) -> Response:
            response = await original(request)
            response.headers['x-timed'] = self.path
            return response

        return timed


@pytest.mark.parametrize('is_first', [True, False])
def test_an_own_route_class_keeps_its_methods(*, is_first: bool) -> None:
    app = FastAPI()
    if is_first:
        install(app, TABLE)
    router = APIRouter(route_class=TimedRoute)
    router.get('/users/{uid}')(as_async)
    app.include_router(router, prefix='/v1')
    if not is_first:
        install(app, TABLE)
    client = TestClient(app)
    good, bad = client.get('/v1/users/7'), client.get('/v1/users/0')
    assert (good.json()['data'], bad.json()['error']['code']) == (7, 'NO_SUCH_USER')
    assert good.headers['x-timed'] == bad.headers['x-timed'] == '/users/{uid}'
    assert isinstance(router.routes[0], TimedRoute)


def test_dependencies_of_routers_and_inclusions_run() -> None:
    seen: list[str] = []
    app = FastAPI(dependencies=[Depends(lambda: seen.append('app'))])
    router = APIRouter(dependencies=[Depends(lambda: seen.append('router'))])
    router.get('/{uid}', dependencies=[Depends(lambda: seen.append('route'))])(as_async)
    app.include_router(router, dependencies=[Depends(lambda: seen.append('include'))])
    install(app, TABLE)
    assert TestClient(app).get('/7').json()['data'] == 7
    assert sorted(seen) == ['app', 'include', 'route', 'router']


@pytest.mark.parametrize(
    ('mount', 'request_path', 'operation'),
    [
        ('/shop', '/shop/items/7', 'GET /shop/items/{item}'),
        # Only the value of the parameter is known.
        ('/shops/{name}', '/shops/ann/items/7', 'GET /items/{item}'),
    ],
)
def test_the_operation_of_a_mounted_route_has_the_path_of_the_mount(
    mount: str, request_path: str, operation: str, caplog: pytest.LogCaptureFixture
) -> None:
    app, inner = FastAPI(), FastAPI()
    for each in (app, inner):
        install(each, TABLE)

    @inner.get('/items/{item}')
    async def show(item: int) -> int:
        raise ZeroDivisionError

    app.mount(mount, inner)
    TestClient(app, raise_server_exceptions=False).get(request_path)
    [record] = [record for record in caplog.records if record.name == 'seamwise']
    assert vars(record)['context']['operation'] == operation


def test_a_mounted_application_is_independent() -> None:
    inner, app = FastAPI(), FastAPI()
    inner.include_router(user_router())
    install(inner, TABLE, body=named)
    app.mount('/inner', inner)
    install(app, TABLE)
    client = TestClient(app)
    assert client.get('/inner/users/7').json() == {'name': 'ada', 'nickName': None}
    assert client.get('/inner/users/0').json()['name'] == 'NoSuchUser'


def test_names_urls_and_the_routes_of_the_application_stay() -> None:
    app = FastAPI()
    app.get('/users/{uid}', name='user', tags=['users'], summary='Show', operation_id='show')(
        as_async
    )
    install(app, TABLE)
    assert app.url_path_for('user', uid='7') == '/users/7'
    [operation] = app.openapi()['paths']['/users/{uid}'].values()
    assert (operation['tags'], operation['summary'], operation['operationId']) == (
        ['users'],
        'Show',
        'show',
    )


def test_install_twice_is_a_runtime_error() -> None:
    app = FastAPI()
    install(app, TABLE)
    with pytest.raises(RuntimeError, match='was called for this application before'):
        install(app, TABLE)


def test_install_after_the_start_is_a_runtime_error() -> None:
    app = FastAPI()
    with TestClient(app) as client:
        client.get('/')
    with pytest.raises(RuntimeError, match='has started already'):
        install(app, TABLE)


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ((object(), TABLE), 'takes an application of FastAPI or Starlette, not object'),
        ((FastAPI(), None), 'install takes an adapter'),
        ((FastAPI().router, TABLE), 'takes an application of FastAPI or Starlette, not APIRouter'),
    ],
)
def test_a_wrong_argument_is_a_type_error(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        install(*arguments)


def test_a_body_that_is_no_format_is_a_type_error() -> None:
    with pytest.raises(TypeError, match='A body format has `media_type`'):
        install(FastAPI(), TABLE, body='bare')  # type: ignore[arg-type]  # the case under test


def test_a_result_route_without_install_says_what_to_do() -> None:
    app, router = FastAPI(), APIRouter(route_class=ResultRoute)
    router.get('/{uid}')(as_async)
    app.include_router(router)
    with pytest.raises(RuntimeError, match='its application has no adapter: call'):
        TestClient(app).get('/7')


# Missing arms


def full_handler() -> Result[int, NoSuchUser | Full]:
    return Failure(Full())


def test_a_missing_arm_is_a_type_error_of_install() -> None:
    app = FastAPI()
    router = APIRouter(prefix='/rooms')
    router.post('/{room}')(full_handler)
    app.include_router(router, prefix='/v1')
    with pytest.raises(
        TypeError, match=r'POST /v1/rooms/\{room\}: the adapter has no arm for Full'
    ):
        install(app, TABLE)


def test_a_missing_arm_for_a_dependency_is_a_type_error() -> None:
    def room() -> Result[int, Full]:
        return Success(1)

    def nested(room: Annotated[int, Depends(room)]) -> int:
        return room

    app = FastAPI()

    @app.get('/rooms', dependencies=[Depends(nested)])
    def show() -> int:
        return 1

    with pytest.raises(TypeError, match='GET /rooms: the adapter has no arm for Full'):
        install(app, TABLE)


def test_an_own_adapter_of_an_endpoint_is_used_for_its_errors() -> None:
    app = FastAPI()
    app.get('/full')(endpoint(TABLE | FULL)(full_handler))
    install(app, TABLE)
    answer = TestClient(app).get('/full')
    assert (answer.status_code, answer.json()['error']['code']) == (503, 'FULL')


FULL = on(Full).responds(503, 'FULL')


# Starlette


def test_in_starlette_endpoints_have_the_body_of_install() -> None:
    @endpoint(TABLE)
    async def show(request: Request) -> Result[int, NoSuchUser]:
        return as_sync_value(int(request.path_params['uid']))

    app = Starlette(routes=[Route('/{uid}', show)])
    install(app, TABLE, body=named)
    client = TestClient(app)
    assert client.get('/0').json()['name'] == 'NoSuchUser'
    assert client.get('/7').json() == 7


def as_sync_value(uid: int) -> Result[int, NoSuchUser]:
    return Success(uid) if uid else Failure(NoSuchUser(uid))


async def letters() -> AsyncIterator[str]:
    yield 'a'
    yield 'b'


def test_an_async_generator_in_a_stream_is_sent() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/')
    async def show() -> Result[StreamingResponse, NoSuchUser]:
        return Success(StreamingResponse(letters()))

    assert answer_of(app).text == 'ab'


# Decorators around `endpoint`


def loud(handler: Any) -> Any:
    @wraps(handler)
    async def call(*args: Any, **kwargs: Any) -> Any:
        response = await handler(*args, **kwargs)
        response.headers['x-loud'] = 'yes'
        return response

    return call


@pytest.mark.parametrize('is_installed', [True, False])
def test_a_decorator_on_top_of_endpoint_is_kept(*, is_installed: bool) -> None:
    app = FastAPI()
    app.get('/{uid}')(loud(endpoint(TABLE)(as_async)))
    if is_installed:
        install(app, TABLE)
    client = TestClient(app)
    assert client.get('/7').headers['x-loud'] == client.get('/0').headers['x-loud'] == 'yes'
    assert (client.get('/7').json()['data'], client.get('/0').status_code) == (7, 404)


@pytest.mark.parametrize('is_installed', [True, False])
def test_a_decorator_below_endpoint_is_kept(*, is_installed: bool) -> None:
    app = FastAPI()
    app.get('/{uid}')(endpoint(TABLE)(in_direct_style))
    if is_installed:
        install(app, TABLE)
    client = TestClient(app)
    assert (client.get('/7').json()['data'], client.get('/0').status_code) == (7, 404)


@pytest.mark.parametrize('is_installed', [True, False])
def test_a_raised_error_is_a_failure_where_the_adapter_covers_it(*, is_installed: bool) -> None:
    app = FastAPI()

    @app.get('/{uid}')
    @endpoint(TABLE)
    def show(uid: int) -> Result[int, NoSuchUser]:
        raise Raised(NoSuchUser(uid) if uid else Full())

    if is_installed:
        install(app, TABLE)
    client = TestClient(app)
    assert client.get('/7').json()['error']['code'] == 'NO_SUCH_USER'
    with pytest.raises(Raised):
        client.get('/0')


def test_the_document_is_generated_once_until_a_route_is_added() -> None:
    app = FastAPI()
    install(app, TABLE)
    router = APIRouter()
    router.get('/first')(as_async)
    app.include_router(router)
    document = app.openapi()
    assert app.openapi() is document
    router.get('/second')(as_async)
    assert set(app.openapi()['paths']) == {'/first', '/second'}
