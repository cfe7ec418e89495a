"""Tests of the promises of FastAPI for a route, with `endpoint` and without it."""

import ipaddress
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter, BackgroundTasks, Depends, FastAPI, Response
from fastapi.exceptions import ResponseValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse
from fastapi.testclient import TestClient
from msgspec import Struct
from pydantic import BaseModel, Field
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from seamwise import Category, Failure, Result, Secret, Success, TaggedError
from seamwise.seams.http import SafeErrors, endpoint, on


class NoSuchUser(
    TaggedError,
    namespace='test_http_fastapi',
    category=Category.NOT_FOUND,
    message='There is no user {uid}.',
):
    uid: int


TABLE = on(NoSuchUser).responds(404, 'NO_SUCH_USER')


class PublicUser(BaseModel):
    name: str
    nickname: str | None = Field(default=None, serialization_alias='nickName')


class User(PublicUser):
    password_hash: str = 'argon2id$v=19$'  # noqa: S105 -- an invented hash


class Base(DeclarativeBase):
    """Base of the mapped classes."""


class UserRow(Base):
    __tablename__ = 'users'

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


class UserStruct(Struct):
    name: str
    password_hash: str = 'argon2id$v=19$'  # noqa: S105 -- an invented hash


def respond(app: FastAPI) -> Any:
    with TestClient(app, follow_redirects=False) as client:
        return client.get('/')


def plain_answer(value: Any, **settings: Any) -> Any:
    """Return the answer of a plain FastAPI route."""
    app = FastAPI()

    def show() -> Any:
        return value()

    # FastAPI takes a return annotation as the response model.
    show.__annotations__.clear()
    app.get('/', **settings)(show)
    return respond(app)


def own_answer(value: Any, **settings: Any) -> Any:
    """Return the answer of the same route with `endpoint`."""
    app = FastAPI()

    @app.get('/', **settings)
    @endpoint(TABLE)
    def show() -> Result[Any, NoSuchUser]:
        return Success(value())

    return respond(app)


def numbers() -> Iterator[int]:
    yield from range(3)


@pytest.mark.parametrize(
    ('value', 'settings'),
    [
        pytest.param(lambda: User(name='ada'), {'response_model': PublicUser}, id='model'),
        pytest.param(lambda: [User(name='ada')], {'response_model': list[PublicUser]}, id='list'),
        pytest.param(
            lambda: {'name': 'ada', 'password_hash': 'x'}, {'response_model': PublicUser}, id='dict'
        ),
        pytest.param(lambda: UserStruct('ada'), {'response_model': PublicUser}, id='struct'),
        pytest.param(lambda: UserRow(id=1, name='ada'), {'response_model': PublicUser}, id='row'),
        pytest.param(lambda: User(name='ada'), {}, id='no model'),
        *(
            pytest.param(
                lambda: User(name='ada', nickname=None),
                {'response_model': User, **settings},
                id=str(settings),
            )
            for settings in (
                {'response_model_include': {'name'}},
                {'response_model_exclude': {'password_hash'}},
                {'response_model_by_alias': False},
                {'response_model_exclude_unset': True},
                {'response_model_exclude_defaults': True},
                {'response_model_exclude_none': True},
            )
        ),
        pytest.param(numbers, {}, id='generator'),
        pytest.param(lambda: Path('/srv/a'), {}, id='path'),
        pytest.param(lambda: {'ip': ipaddress.ip_address('10.0.0.5')}, {}, id='address'),
        pytest.param(lambda: {'row': UserRow(id=1, name='ada')}, {}, id='row without a model'),
        pytest.param(lambda: [1, 'a', None, 2.5], {'status_code': 201}, id='status'),
        pytest.param(lambda: {'name': 'ada'}, {'response_class': JSONResponse}, id='JSONResponse'),
    ],
)
def test_the_data_and_the_status_are_those_of_the_plain_route(
    value: Callable[[], object], settings: dict[str, Any]
) -> None:
    plain, own = plain_answer(value, **settings), own_answer(value, **settings)
    assert own.json()['data'] == plain.json()
    assert own.status_code == plain.status_code
    assert own.json()['success'] is True


def test_a_field_that_the_response_model_leaves_out_is_not_sent() -> None:
    answer = own_answer(lambda: User(name='ada'), response_model=PublicUser)
    assert 'argon2id' not in answer.text


@pytest.mark.parametrize('status', [204, 205, 304])
def test_a_status_without_body_sends_none(status: int) -> None:
    plain = plain_answer(lambda: None, status_code=status)
    own = own_answer(lambda: None, status_code=status)
    assert (own.status_code, own.content) == (plain.status_code, plain.content) == (status, b'')
    assert 'content-length' not in own.headers
    assert 'content-type' not in own.headers
    assert own.headers['x-request-id']


@pytest.mark.parametrize(
    ('value', 'class_'),
    [
        ('<b>ada</b>', HTMLResponse),
        ('ada', PlainTextResponse),
        ('/elsewhere', RedirectResponse),
    ],
)
def test_a_response_class_that_is_not_json_gets_the_value_itself(
    value: str, class_: type[Response]
) -> None:
    plain = plain_answer(lambda: value, response_class=class_)
    own = own_answer(lambda: value, response_class=class_)
    assert own.headers.pop('x-request-id')
    assert (own.status_code, own.content) == (plain.status_code, plain.content)
    assert dict(own.headers) == dict(plain.headers)


def test_status_headers_and_cookies_of_the_injected_response_are_sent() -> None:
    app = FastAPI()

    def add_cookie(response: Response) -> None:
        response.set_cookie('session', 's-1')

    @app.get('/', dependencies=[Depends(add_cookie)], status_code=201)
    @endpoint(TABLE)
    def show(response: Response) -> Result[str, NoSuchUser]:
        response.headers['x-total'] = '7'
        response.status_code = 202
        return Success('ada')

    answer = respond(app)
    assert answer.status_code == 202
    assert answer.headers['x-total'] == '7'
    assert answer.cookies['session'] == 's-1'
    assert answer.json()['data'] == 'ada'


def test_headers_of_a_dependency_are_sent_if_the_handler_takes_no_response() -> None:
    app = FastAPI()

    def add_header(response: Response) -> None:
        response.headers['x-total'] = '7'
        response.status_code = 203

    @app.get('/', dependencies=[Depends(add_header)])
    @endpoint(TABLE)
    async def show() -> Result[str, NoSuchUser]:
        return Success('ada')

    answer = respond(app)
    assert (answer.status_code, answer.headers['x-total']) == (203, '7')


def test_a_failure_has_its_own_status_and_no_headers_of_the_injected_response() -> None:
    app = FastAPI()

    @app.get('/', status_code=201)
    @endpoint(TABLE)
    def show(response: Response) -> Result[str, NoSuchUser]:
        response.headers['x-total'] = '7'
        response.status_code = 202
        return Failure(NoSuchUser(7))

    answer = respond(app)
    assert answer.status_code == 404
    assert 'x-total' not in answer.headers


def test_background_tasks_run_after_the_answer() -> None:
    app = FastAPI()
    sent: list[str] = []

    @app.get('/')
    @endpoint(TABLE)
    def show(tasks: BackgroundTasks) -> Result[str, NoSuchUser]:
        tasks.add_task(sent.append, 'mail')
        return Success('ada')

    assert respond(app).status_code == 200
    assert sent == ['mail']


def test_a_value_that_does_not_fit_the_response_model_is_a_defect() -> None:
    app = FastAPI()

    @app.get('/', response_model=PublicUser)
    @endpoint(TABLE)
    def show() -> Result[object, NoSuchUser]:
        return Success({'surname': 'lovelace'})

    with TestClient(app) as client, pytest.raises(ResponseValidationError):
        client.get('/')
    with TestClient(SafeErrors(app), raise_server_exceptions=False) as client:
        answer = client.get('/')
    assert answer.status_code == 500
    assert 'lovelace' not in answer.text


def test_routers_and_their_prefixes_keep_the_response_model() -> None:
    router = APIRouter()

    @router.get('/users/{uid}', response_model=PublicUser, status_code=201)
    @endpoint(TABLE)
    def show(uid: int) -> Result[User, NoSuchUser]:
        return Success(User(name=f'user {uid}'))

    app = FastAPI()
    app.include_router(router, prefix='/v1')
    with TestClient(app) as client:
        answer = client.get('/v1/users/7')
    assert answer.status_code == 201
    assert answer.json()['data'] == {'name': 'user 7', 'nickName': None}


def test_a_secret_is_masked_in_values_that_fastapi_encodes() -> None:
    answer = own_answer(
        lambda: {'path': Path('/srv'), 'token': Secret('hunter2'), 'rows': numbers()}
    )
    assert answer.json()['data'] == {'path': '/srv', 'token': '***', 'rows': [0, 1, 2]}


def test_the_schema_shows_neither_of_the_added_parameters() -> None:
    app = FastAPI()

    @app.get('/users/{uid}')
    @endpoint(TABLE)
    def show(uid: int) -> Result[str, NoSuchUser]:
        return Success(str(uid))

    operation = app.openapi()['paths']['/users/{uid}']['get']
    assert [parameter['name'] for parameter in operation['parameters']] == ['uid']


def test_a_result_inside_a_result_is_a_defect() -> None:
    with pytest.raises(TypeError, match='show returned a result in a Success; return the inner'):
        own_answer(lambda: Success(1))


def test_a_sync_handler_that_returns_a_coroutine_is_a_defect() -> None:
    async def later() -> Result[int, NoSuchUser]:
        return Success(1)

    app = FastAPI()

    def show() -> Any:
        return later()

    app.get('/')(endpoint(TABLE)(show))
    with pytest.raises(TypeError, match='show returned a coroutine; declare it with `async def`'):
        respond(app)
