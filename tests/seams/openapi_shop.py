"""A FastAPI application with errors of every kind, its document and its answers."""

import json
import logging
from typing import Any

import msgspec
from fastapi import FastAPI
from pydantic import BaseModel
from starlette.testclient import TestClient

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.catalog.access import Unauthenticated
from seamwise.seams.adapter import Adapter
from seamwise.seams.http import HttpError, SafeErrors, endpoint, negotiated, on
from seamwise.seams.http.bodies import Body
from seamwise.seams.http.openapi_document import Operation, add_errors
from seamwise.seams.http.tables import ACCESS

# Errors


class Address(msgspec.Struct, frozen=True):
    """A part of an error."""

    street: str
    number: int | None = None


class UserNotFound(TaggedError, category=Category.NOT_FOUND, message='There is no user {uid}.'):
    """The user does not exist."""

    uid: int


class TeamNotFound(TaggedError, category=Category.NOT_FOUND, message='There is no team {team}.'):
    """The team of the user does not exist."""

    team: str


class UserExists(TaggedError, category=Category.CONFLICT, message='{name} exists.'):
    """The name is in use."""

    name: str
    homes: tuple[Address, ...]
    since: str | None = None


class NameRefused(TaggedError, category=Category.VALIDATION, message='{name} is not a name.'):
    """The name is not one of a person."""

    name: str


class QuotaExceeded(TaggedError, category=Category.QUOTA, message='The limit is {limit}.'):
    """The account has used its quota."""

    limit: int
    retry_after: float | None = None


class StoreDown(TaggedError, category=Category.UNAVAILABLE, message='{host} is down.'):
    """The store does not answer."""

    host: str


TABLE: Adapter[Any, HttpError] = (
    on(UserNotFound).responds(404, 'USER_NOT_FOUND')
    | on(TeamNotFound).responds(404, 'TEAM_NOT_FOUND', docs='https://docs.example.org/team')
    | on(UserExists).responds(409, 'USER_EXISTS')
    | on(NameRefused).responds(400, 'NAME_REFUSED')
    | on(QuotaExceeded).responds(429, 'QUOTA_EXCEEDED')
    | on(StoreDown).responds(503, 'STORE_DOWN')
    | ACCESS
)

ERRORS: tuple[TaggedError, ...] = (
    UserNotFound(7),
    TeamNotFound('red'),
    UserExists('ann', (Address('High St', 3), Address('Low St')), '2026'),
    UserExists('ann', ()),
    QuotaExceeded(3, 1.5),
    QuotaExceeded(3),
    StoreDown('10.0.0.5'),
    Unauthenticated('Bearer'),
)
"""The failure of user number n is the error n, of `/users/{uid}`."""

# The application


class NewUser(BaseModel):
    name: str


class User(NewUser):
    uid: int


def build_shop(body: Body = negotiated) -> FastAPI:
    """Return the application; user 100 exists, and user 200 is a defect."""
    app = FastAPI()
    app.add_middleware(SafeErrors, log=logging.getLogger('tests.openapi_shop'))

    @app.get('/users/{uid}', response_model=User)
    @endpoint(TABLE, body=body)
    async def show(uid: int) -> Result[User, TaggedError]:
        if uid < len(ERRORS):
            return Failure(ERRORS[uid])
        if uid == 200:
            raise ValueError('a defect')
        return Success(User(uid=uid, name='ann'))

    @app.post('/users', response_model=User, status_code=201)
    @endpoint(TABLE, body=body)
    async def create(user: NewUser) -> Result[User, NameRefused]:
        if user.name == '':
            return Failure(NameRefused(user.name))
        return Success(User(uid=100, name=user.name))

    @app.get('/users', response_model=list[User])
    @endpoint(TABLE, body=body)
    async def index(prefix: str = '') -> Result[list[User], QuotaExceeded]:
        return Success([User(uid=100, name=f'{prefix}ann')])

    @app.get('/any')
    @endpoint(TABLE, body=body)
    async def anything() -> Result[object, StoreDown]:
        return Success([1, 'a'])

    @app.delete('/users/{uid}', status_code=204)
    @endpoint(TABLE, body=body)
    async def delete(uid: int) -> Result[None, UserNotFound]:
        return Success(None)

    return app


OPERATIONS = (
    Operation('/users/{uid}', 'get', tuple({type(error): None for error in ERRORS}), True),
    Operation('/users', 'post', (NameRefused,), True),
    Operation('/users', 'get', (QuotaExceeded,), True),
    Operation('/any', 'get', (StoreDown,), True),
    Operation('/users/{uid}', 'delete', (UserNotFound,), True),
)


def shop_document(app: FastAPI, body: object = negotiated) -> dict[str, Any]:
    """Return the document of an application of `build_shop`, as JSON."""
    document = app.openapi()
    add_errors(document, OPERATIONS, TABLE, body=body)
    result: dict[str, Any] = json.loads(json.dumps(document))
    return result


def shop_answers(app: FastAPI, accept: str = '*/*') -> list[tuple[str, str, Any]]:
    """Return the path, the method and the response of requests with every kind of answer."""
    client = TestClient(app, raise_server_exceptions=False, headers={'accept': accept})
    uids = [*range(len(ERRORS)), 100, 'no-number']
    return [
        *(('/users/{uid}', 'get', client.get(f'/users/{uid}')) for uid in uids),
        ('/users', 'post', client.post('/users', json={'name': 'ann'})),
        ('/users', 'post', client.post('/users', json={'name': ''})),
        ('/users', 'post', client.post('/users', json={'name': 1})),
        ('/users', 'get', client.get('/users')),
        ('/any', 'get', client.get('/any')),
    ]
