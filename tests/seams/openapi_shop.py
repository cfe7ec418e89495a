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
from seamwise.seams.http import Body, Created, HttpError, install, negotiated, on
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

ERRORS: tuple[
    UserNotFound | TeamNotFound | UserExists | QuotaExceeded | StoreDown | Unauthenticated, ...
] = (
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
    install(app, TABLE, body=body, log=logging.getLogger('tests.openapi_shop'))

    @app.get('/users/{uid}')
    async def show(
        uid: int,
    ) -> Result[
        User,
        UserNotFound | TeamNotFound | UserExists | QuotaExceeded | StoreDown | Unauthenticated,
    ]:
        if uid < len(ERRORS):
            return Failure(ERRORS[uid])
        if uid == 200:
            raise ValueError('a defect')
        return Success(User(uid=uid, name='ann'))

    @app.post('/users')
    async def create(user: NewUser) -> Result[Created[User], NameRefused]:
        if user.name == '':
            return Failure(NameRefused(user.name))
        return Success(Created(User(uid=100, name=user.name)))

    @app.get('/users')
    async def index(prefix: str = '') -> Result[list[User], QuotaExceeded]:
        return Success([User(uid=100, name=f'{prefix}ann')])

    @app.get('/any')
    async def anything() -> Result[object, StoreDown]:
        return Success([1, 'a'])

    @app.delete('/users/{uid}', status_code=204)
    async def delete(uid: int) -> Result[None, UserNotFound]:
        return Success(None)

    return app


def shop_document(app: FastAPI) -> dict[str, Any]:
    """Return the document of an application of `build_shop`, as JSON."""
    document: dict[str, Any] = json.loads(json.dumps(app.openapi()))
    return document


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
