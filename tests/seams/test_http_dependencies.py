"""Tests of dependencies that return Results: a Success is unwrapped, a Failure ends the request."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from contextvars import copy_context
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Security, WebSocket
from fastapi.security import APIKeyHeader, HTTPBearer, OAuth2PasswordBearer, SecurityScopes
from fastapi.testclient import TestClient
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from starlette.websockets import WebSocketDisconnect

from seamwise import Category, Failure, Raised, Result, Success, TaggedError
from seamwise.policies import bulkhead, circuit, deadline
from seamwise.seams.http import endpoint, install, named, on
from seamwise.seams.log import FailureLog
from seamwise.seams.reporting.operations import Operation, current_operation


class NotSignedIn(
    TaggedError,
    namespace='test_http_dependencies',
    category=Category.AUTHENTICATION,
    message='Sign in.',
):
    pass


class Broken(
    TaggedError, namespace='test_http_dependencies', category=Category.EXECUTION, message='Broken.'
):
    pass


class Uncovered(
    TaggedError, namespace='test_http_dependencies', category=Category.EXECUTION, message='No arm.'
):
    pass


TABLE = on(NotSignedIn).responds(401, 'NOT_SIGNED_IN') | on(Broken).responds(503, 'BROKEN')
UserResult = Result[str, NotSignedIn]


def yielding() -> Iterator[Result[str, Uncovered]]:
    yield Failure(Uncovered())


async def yielding_async() -> AsyncGenerator[Result[str, Uncovered], None]:
    yield Failure(Uncovered())


@pytest.mark.parametrize('dependency', [yielding, yielding_async])
def test_the_errors_of_a_dependency_with_yield_need_arms(dependency: Any) -> None:
    def create_app() -> FastAPI:
        app = FastAPI()
        app.get('/', dependencies=[Depends(dependency)])(lambda: None)
        return app

    with pytest.raises(TypeError, match=re.escape('GET /: the adapter has no arm for Uncovered.')):
        install(create_app(), TABLE)
    app = create_app()
    install(app, TABLE | on(Uncovered).responds(409, 'UNCOVERED'))
    assert '409' in app.openapi()['paths']['/']['get']['responses']


def sign_in(user: str = '') -> UserResult:
    return Success(user) if user else Failure(NotSignedIn())


async def sign_in_async(user: str = '') -> UserResult:
    await asyncio.sleep(0)
    return sign_in(user)


def sign_in_yield(user: str = '') -> Iterator[UserResult]:
    yield sign_in(user)


async def sign_in_async_yield(user: str = '') -> AsyncIterator[UserResult]:
    yield sign_in(user)


class SignIn:
    def __call__(self, user: str = '') -> UserResult:
        return sign_in(user)


class SignInAsync:
    async def __call__(self, user: str = '') -> UserResult:
        return sign_in(user)


class SignInYield:
    def __call__(self, user: str = '') -> Iterator[UserResult]:
        yield sign_in(user)


class SignInAsyncYield:
    async def __call__(self, user: str = '') -> AsyncIterator[UserResult]:
        yield sign_in(user)


class Accounts:
    def sign_in(self, user: str = '') -> UserResult:
        return sign_in(user)


def sign_in_with(realm: str, user: str = '') -> UserResult:
    assert realm == 'r'
    return sign_in(user)


async def sign_in_async_with(realm: str, user: str = '') -> UserResult:
    return sign_in_with(realm, user)


def sign_in_yield_with(realm: str, user: str = '') -> Iterator[UserResult]:
    yield sign_in_with(realm, user)


@wraps(sign_in)
def decorated_sign_in(*args: Any, **kwargs: Any) -> UserResult:
    return sign_in(*args, **kwargs)


def raising_sign_in(user: str = '') -> str:
    if not user:
        raise Raised(NotSignedIn())
    return user


def plain_sign_in(user: str = '') -> str:
    return sign_in(user).value_or('')


def nested_sign_in(name: Annotated[str, Depends(sign_in)]) -> str:
    return name


async def nested_async(name: Annotated[str, Depends(nested_sign_in)]) -> UserResult:
    return Success(name)


def nested_default(name: str = Depends(sign_in_yield)) -> Iterator[str]:
    yield name


def undeclared(user: str = ''):  # type: ignore[no-untyped-def]  # without an annotation
    return sign_in(user)


DEPENDENCIES: list[Any] = [
    sign_in,
    sign_in_async,
    sign_in_yield,
    sign_in_async_yield,
    SignIn(),
    SignInAsync(),
    SignInYield(),
    SignInAsyncYield(),
    Accounts().sign_in,
    partial(sign_in_with, 'r'),
    partial(sign_in_async_with, 'r'),
    partial(sign_in_yield_with, 'r'),
    partial(SignInAsync()),
    decorated_sign_in,
    raising_sign_in,
    nested_sign_in,
    nested_async,
    nested_default,
    undeclared,
]


def without_address(value: object) -> str:
    """Return a name that is the same in all processes of a test run."""
    return re.sub(' at 0x[0-9a-f]+', '', repr(value))


each_dependency = pytest.mark.parametrize('dependency', DEPENDENCIES, ids=without_address)


def refused(answer: Any) -> bool:
    return (answer.status_code, answer.json()['error']['code']) == (401, 'NOT_SIGNED_IN')


@each_dependency
@pytest.mark.parametrize('is_async', [True, False])
def test_a_success_reaches_the_handler_unwrapped_and_a_failure_ends_the_request(
    dependency: Any, *, is_async: bool
) -> None:
    app = FastAPI()
    install(app, TABLE)
    calls: list[str] = []

    if is_async:

        @app.get('/')
        async def show_async(user: Annotated[str, Depends(dependency)]) -> Result[str, Broken]:
            calls.append(user)
            return Success(user)

    else:

        @app.get('/')
        def show(user: str = Depends(dependency)) -> Result[str, Broken]:
            calls.append(user)
            return Success(user)

    client = TestClient(app)
    assert client.get('/?user=ada').json()['data'] == 'ada'
    assert refused(client.get('/'))
    assert calls == ['ada']


@each_dependency
def test_a_plain_handler_gets_unwrapped_values_too(dependency: Any) -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/')
    def show(user: Annotated[str, Depends(dependency)]) -> dict[str, str]:
        return {'user': user}

    client = TestClient(app)
    assert client.get('/?user=ada').json() == {'user': 'ada'}
    assert refused(client.get('/'))


@each_dependency
@pytest.mark.parametrize('place', ['app', 'router', 'include', 'route'])
def test_a_dependency_without_a_parameter_ends_the_request(dependency: Any, place: str) -> None:
    def at(name: str) -> list[Any]:
        return [Depends(dependency)] if name == place else []

    app, router = FastAPI(dependencies=at('app')), APIRouter(dependencies=at('router'))
    calls: list[str] = []

    @router.get('/', dependencies=at('route'))
    def show() -> Result[str, Broken]:
        calls.append('show')
        return Success('shown')

    app.include_router(router, prefix='/r', dependencies=at('include'))
    install(app, TABLE)
    client = TestClient(app)
    assert client.get('/r/?user=ada').json()['data'] == 'shown'
    assert refused(client.get('/r/'))
    assert calls == ['show']


def test_a_result_is_not_unwrapped_twice() -> None:
    app = FastAPI()
    install(app, TABLE)

    def wrapped() -> Result[Result[str, Broken], NotSignedIn]:
        return Success(Success('ada'))

    @app.get('/')
    def show(user: Annotated[Any, Depends(wrapped)]) -> Result[str, Broken]:
        assert user == Success('ada')
        return Success('shown')

    assert TestClient(app).get('/').json()['data'] == 'shown'


# Caching, classes, security schemes


def counted(calls: list[int]) -> Callable[[], Result[int, NotSignedIn]]:
    def count() -> Result[int, NotSignedIn]:
        calls.append(1)
        return Success(len(calls))

    return count


def test_a_dependency_is_called_once_for_a_request() -> None:
    calls: list[int] = []
    count = counted(calls)

    def first(n: Annotated[int, Depends(count)]) -> Result[int, Broken]:
        return Success(n)

    app = FastAPI(dependencies=[Depends(count)])
    install(app, TABLE)

    @app.get('/', dependencies=[Depends(count)])
    def show(
        a: Annotated[int, Depends(first)], b: Annotated[int, Depends(count)]
    ) -> Result[list[int], Broken]:
        return Success([a, b])

    assert TestClient(app).get('/').json()['data'] == [1, 1]
    assert calls == [1]


def test_a_dependency_without_cache_is_called_each_time() -> None:
    calls: list[int] = []
    count = counted(calls)
    app = FastAPI()
    install(app, TABLE)

    @app.get('/')
    def show(
        a: Annotated[int, Depends(count, use_cache=False)],
        b: Annotated[int, Depends(count, use_cache=False)],
    ) -> Result[list[int], Broken]:
        return Success([a, b])

    assert TestClient(app).get('/').json()['data'] == [1, 2]


class Page:
    def __init__(self, size: int = 10) -> None:
        self.size = size


def test_a_class_as_a_dependency_is_its_instance() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/')
    def show(page: Annotated[Page, Depends()]) -> Result[int, Broken]:
        return Success(page.size)

    assert TestClient(app).get('/?size=3').json()['data'] == 3


def scoped(scopes: SecurityScopes, user: str = '') -> Result[list[str], NotSignedIn]:
    return Success([user, *scopes.scopes]) if user else Failure(NotSignedIn())


def test_security_scopes_reach_a_dependency() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/')
    def show(
        user: Annotated[list[str], Security(scoped, scopes=['read', 'write'])],
    ) -> Result[list[str], Broken]:
        return Success(user)

    client = TestClient(app)
    assert client.get('/?user=ada').json()['data'] == ['ada', 'read', 'write']
    assert refused(client.get('/'))


@pytest.mark.parametrize(
    ('scheme', 'headers', 'name'),
    [
        (HTTPBearer(), {'authorization': 'Bearer t'}, 'HTTPBearer'),
        (APIKeyHeader(name='x-key'), {'x-key': 't'}, 'APIKeyHeader'),
        (
            OAuth2PasswordBearer('/token', scopes={'read': 'Read'}),
            {'authorization': 'Bearer t'},
            'OAuth2PasswordBearer',
        ),
    ],
)
def test_security_schemes_work_and_are_documented(
    scheme: Any, headers: dict[str, str], name: str
) -> None:
    def user(token: Annotated[Any, Depends(scheme)]) -> Result[str, NotSignedIn]:
        return Success(getattr(token, 'credentials', token))

    app = FastAPI()
    install(app, TABLE)

    @app.get('/')
    def show(user: Annotated[str, Depends(user)]) -> Result[str, Broken]:
        return Success(user)

    client = TestClient(app)
    assert client.get('/', headers=headers).json()['data'] == 't'
    answer = client.get('/')
    assert (answer.status_code, answer.json()['error']['code']) in {
        (401, 'UNAUTHORIZED'),
        (403, 'FORBIDDEN'),
    }
    assert name in app.openapi()['components']['securitySchemes']
    assert app.openapi()['paths']['/']['get']['security']


# Overrides


def test_an_override_with_a_result_is_unwrapped_or_ends_the_request() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/')
    def show(user: Annotated[str, Depends(nested_sign_in)]) -> Result[str, Broken]:
        return Success(user)

    client = TestClient(app)
    app.dependency_overrides[sign_in] = lambda: Success('bob')
    assert client.get('/').json()['data'] == 'bob'
    app.dependency_overrides[sign_in] = lambda: Failure(Broken())
    assert client.get('/').json()['error']['code'] == 'BROKEN'
    app.dependency_overrides[sign_in] = lambda: 'carl'
    assert client.get('/').json()['data'] == 'carl'
    app.dependency_overrides = {nested_sign_in: lambda: 'dora'}
    assert client.get('/').json()['data'] == 'dora'
    app.dependency_overrides = {}
    assert client.get('/?user=eve').json()['data'] == 'eve'


def test_an_override_may_have_parameters_and_a_yield() -> None:
    app = FastAPI()
    install(app, TABLE)
    events: list[str] = []

    @app.get('/')
    async def show(user: Annotated[str, Depends(sign_in)]) -> Result[str, Broken]:
        events.append('handler')
        return Success(user)

    async def override(alias: str = 'x') -> AsyncIterator[UserResult]:
        events.append('begin')
        yield Success(alias)
        events.append('end')

    app.dependency_overrides[sign_in] = override
    assert TestClient(app).get('/?alias=ada').json()['data'] == 'ada'
    assert events == ['begin', 'handler', 'end']


# Precedence and exceptions


def test_a_failure_of_a_dependency_comes_before_an_invalid_request() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/{number}')
    def show(number: int, user: Annotated[str, Depends(sign_in)]) -> Result[int, Broken]:
        return Success(number)

    client = TestClient(app)
    assert refused(client.get('/no-number'))
    answer = client.get('/no-number?user=ada')
    assert (answer.status_code, answer.json()['error']['code']) == (400, 'INVALID_REQUEST')


def test_an_uncovered_raised_error_is_a_defect() -> None:
    app = FastAPI()
    install(app, TABLE)

    def fail() -> str:
        raise Raised(Uncovered())

    @app.get('/')
    def show(user: Annotated[str, Depends(fail)]) -> Result[str, Broken]:
        return Success(user)

    with pytest.raises(Raised):
        TestClient(app).get('/')
    answer = TestClient(app, raise_server_exceptions=False).get('/')
    assert (answer.status_code, answer.json()['error']['code']) == (500, 'INTERNAL')


def test_an_http_exception_of_a_dependency_is_answered_in_the_body_format() -> None:
    app = FastAPI()
    install(app, TABLE, body=named)

    def refuse() -> str:
        raise HTTPException(403, 'Go away.')

    @app.get('/')
    def show(user: Annotated[str, Depends(refuse)]) -> Result[str, Broken]:
        return Success(user)

    answer = TestClient(app).get('/')
    assert (answer.status_code, answer.json()) == (
        403,
        {'name': 'Forbidden', 'data': {'message': 'Go away.'}},
    )


def test_each_failure_of_a_dependency_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, 'seamwise')
    for dependency in DEPENDENCIES:
        app = FastAPI()
        install(app, TABLE)

        @app.get('/users/{uid}')
        def show(uid: int, user: Annotated[str, Depends(dependency)]) -> Result[str, Broken]:
            return Success(user)

        caplog.clear()
        TestClient(app).get('/users/7', headers={'x-request-id': 'r-1'})
        [record] = [record for record in caplog.records if record.name == 'seamwise']
        values = vars(record)
        assert (values['tag'], values['operation'], values['request_id'], values['status']) == (
            'NotSignedIn',
            'GET /users/{uid}',
            'r-1',
            401,
        )


# Transactions


def tracked(events: list[object]) -> Any:
    async def track() -> AsyncIterator[str]:
        try:
            yield 'resource'
        except BaseException as error:
            events.append(error)
            raise
        else:
            events.append('committed')

    return track


@pytest.mark.parametrize('is_nested', [True, False])
def test_a_dependency_with_yield_sees_a_failure_of_the_handler(*, is_nested: bool) -> None:
    events: list[object] = []
    track = tracked(events)

    def nested(resource: Annotated[str, Depends(track)]) -> str:
        return resource

    app = FastAPI()
    install(app, TABLE)

    @app.get('/{kind}')
    async def show(
        kind: str, resource: Annotated[str, Depends(nested if is_nested else track)]
    ) -> Result[str, Broken]:
        return Success(resource) if kind == 'good' else Failure(Broken())

    client = TestClient(app)
    assert client.get('/good').json()['data'] == 'resource'
    answer = client.get('/bad')
    assert (answer.status_code, answer.json()['error']['code']) == (503, 'BROKEN')
    assert events[0] == 'committed'
    assert isinstance(events[1], Raised)
    assert events[1].error == Broken()


def test_a_dependency_that_swallows_the_exception_gets_a_clear_error() -> None:
    async def swallow() -> AsyncIterator[str]:
        with suppress(Raised):
            yield 'resource'

    app = FastAPI()
    install(app, TABLE)

    @app.get('/')
    async def show(resource: Annotated[str, Depends(swallow)]) -> Result[str, Broken]:
        return Failure(Broken())

    answer = TestClient(app, raise_server_exceptions=False).get('/')
    assert answer.status_code >= 500


# FastAPI runs the two halves of a synchronous dependency in two contexts.


LOG = FailureLog()
BULKHEAD = bulkhead(8, name='reads')
BLOCKS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    'operation': LOG.operation,
    'bulkhead': BULKHEAD.acquire,
    'deadline and bulkhead': (deadline(5.0, name='reads') >> BULKHEAD).acquire,
    'circuit': circuit(name='reads').acquire,
}


@pytest.mark.parametrize('is_async_handler', [True, False])
@pytest.mark.parametrize('is_async', [True, False])
@pytest.mark.parametrize('name', BLOCKS)
def test_a_dependency_may_hold_a_block_around_the_handler(
    name: str, *, is_async: bool, is_async_handler: bool
) -> None:
    def held() -> Iterator[str]:
        with BLOCKS[name]():
            yield name

    async def held_async() -> AsyncIterator[str]:
        with BLOCKS[name]():
            yield name

    app = FastAPI()
    install(app, TABLE)
    dependency = Depends(held_async if is_async else held)

    def show(kind: str, value: Annotated[str, dependency]) -> Result[str, Broken]:
        return Success(value) if kind == 'good' else Failure(Broken())

    async def show_async(kind: str, value: Annotated[str, dependency]) -> Result[str, Broken]:
        return show(kind, value)

    app.get('/{kind}')(show_async if is_async_handler else show)
    client = TestClient(app)
    assert client.get('/good').json()['data'] == name
    assert client.get('/bad').json()['error']['code'] == 'BROKEN'
    assert BULKHEAD.in_flight == 0


def test_a_context_copied_inside_an_operation_leaves_it_too() -> None:
    operation = LOG.operation()

    def leave() -> Operation:
        operation.__exit__(None, None, None)
        return current_operation()

    def enter() -> None:
        outer = current_operation()
        operation.__enter__()
        inner = current_operation()
        assert inner is not outer
        assert copy_context().run(leave) is outer
        assert current_operation() is inner

    copy_context().run(enter)


def test_an_earlier_dependency_with_yield_sees_the_failure_of_a_later_one() -> None:
    events: list[object] = []
    app = FastAPI()
    install(app, TABLE)

    @app.get('/')
    async def show(
        resource: Annotated[str, Depends(tracked(events))], user: Annotated[str, Depends(sign_in)]
    ) -> Result[str, Broken]:
        return Success(user)

    assert refused(TestClient(app).get('/'))
    assert [type(event) for event in events] == [Raised]


class Base(DeclarativeBase):
    """Base of the mapped classes."""


class Order(Base):
    __tablename__ = 'orders'

    id: Mapped[int] = mapped_column(primary_key=True)


def test_a_failure_rolls_a_transaction_back(tmp_path: Path) -> None:
    engine = create_async_engine(f'sqlite+aiosqlite:///{tmp_path}/db')
    sessions = async_sessionmaker(engine)

    async def transaction() -> AsyncIterator[AsyncSession]:
        async with sessions() as session, session.begin():
            yield session

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        yield
        await engine.dispose()

    app = FastAPI(lifespan=lifespan)
    install(app, TABLE)

    @app.post('/{kind}')
    async def add(
        kind: str, session: Annotated[AsyncSession, Depends(transaction)]
    ) -> Result[int, Broken]:
        session.add(Order())
        await session.flush()
        if kind == 'raised':
            raise Raised(Broken())
        return Success(1) if kind == 'good' else Failure(Broken())

    @app.get('/count')
    async def count(session: Annotated[AsyncSession, Depends(transaction)]) -> Result[int, Broken]:
        return Success((await session.scalar(select(func.count()).select_from(Order))) or 0)

    with TestClient(app) as client:
        assert client.post('/bad').status_code == 503
        assert client.post('/raised').status_code == 503
        assert client.get('/count').json()['data'] == 0
        assert client.post('/good').status_code == 200
        assert client.get('/count').json()['data'] == 1


# `endpoint` alone


@each_dependency
def test_under_endpoint_alone_a_direct_dependency_is_unwrapped_or_ends_the_request(
    dependency: Any,
) -> None:
    if dependency in {raising_sign_in, nested_sign_in, nested_async, nested_default}:
        pytest.skip('only a direct dependency with a Result')
    app = FastAPI()
    calls: list[str] = []

    @app.get('/')
    @endpoint(TABLE)
    def show(user: Annotated[str, Depends(dependency)]) -> Result[str, Broken | NotSignedIn]:
        calls.append(user)
        return Success(user)

    client = TestClient(app)
    assert client.get('/?user=ada').json()['data'] == 'ada'
    assert refused(client.get('/'))
    assert calls == ['ada']


@pytest.mark.parametrize(
    'dependency', [nested_sign_in, nested_async, nested_default], ids=without_address
)
def test_under_endpoint_alone_a_nested_failure_has_its_status(dependency: Any) -> None:
    app = FastAPI()
    calls: list[str] = []

    @app.get('/')
    @endpoint(TABLE)
    def show(user: Annotated[str, Depends(dependency)]) -> Result[str, Broken | NotSignedIn]:
        calls.append(user)
        return Success(user)

    client = TestClient(app)
    assert client.get('/?user=ada').json()['data'] == 'ada'
    answer = client.get('/')
    assert (answer.status_code, answer.headers['www-authenticate']) == (401, 'Bearer')
    assert calls == ['ada']


def test_under_endpoint_alone_a_dependency_without_a_parameter_is_refused() -> None:
    app = FastAPI()

    @app.get('/', dependencies=[Depends(sign_in)])
    @endpoint(TABLE)
    def show() -> Result[str, Broken]:
        raise AssertionError('it must not run')

    router = APIRouter(dependencies=[Depends(sign_in)])
    router.get('/routed')(endpoint(TABLE)(sign_in))
    app.include_router(router)
    for path in ('/', '/routed'):
        with pytest.raises(TypeError, match=r'sign_in.*returns a Result, and no parameter of the'):
            TestClient(app).get(path, params={'user': 'ada'})


def test_with_install_the_dependencies_of_an_endpoint_are_resolved() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/', dependencies=[Depends(sign_in_yield)])
    @endpoint(TABLE)
    def show(user: Annotated[str, Depends(nested_sign_in)]) -> Result[str, Broken]:
        return Success(user)

    client = TestClient(app)
    assert client.get('/?user=ada').json()['data'] == 'ada'
    assert refused(client.get('/'))


# WebSockets


@each_dependency
def test_a_dependency_of_a_websocket_is_unwrapped_or_ends_the_connection(dependency: Any) -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.websocket('/ws')
    async def talk(socket: WebSocket, user: Annotated[str, Depends(dependency)]) -> None:
        await socket.accept()
        await socket.send_json({'user': user})
        await socket.close()

    client = TestClient(app)
    with client.websocket_connect('/ws?user=ada') as socket:
        assert socket.receive_json() == {'user': 'ada'}
    with pytest.raises(Exception) as raised, client.websocket_connect('/ws'):  # noqa: PT011 -- one of two kinds
        pytest.fail('it was accepted')
    status = getattr(raised.value, 'status_code', None)
    assert status == 401 or isinstance(raised.value, WebSocketDisconnect)


def test_a_request_as_a_parameter_of_a_dependency_is_that_of_the_request() -> None:
    app = FastAPI()
    install(app, TABLE)

    async def path(request: Request) -> Result[str, NotSignedIn]:
        return Success(request.url.path)

    @app.get('/a')
    async def show(path: Annotated[str, Depends(path)]) -> Result[str, Broken]:
        return Success(path)

    assert TestClient(app).get('/a').json()['data'] == '/a'
