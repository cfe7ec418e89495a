"""Tests of body formats: each reaches every layer of an application, also an own one."""

import json
from datetime import datetime
from typing import Any

import msgspec
import pytest
from fastapi import FastAPI, Request, Response
from fastapi.testclient import TestClient
from typing_extensions import override

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.http import (
    Body,
    Created,
    HttpError,
    bare,
    endpoint,
    envelope,
    install,
    named,
    negotiated,
    on,
    problem,
    tagged,
)


class Gone(
    TaggedError, namespace='test_http_bodies', category=Category.NOT_FOUND, message='No {name}.'
):
    name: str


TABLE = on(Gone).responds(404, 'GONE')


class MessagePack:
    """A format of an application."""

    media_type = 'application/msgpack'

    def value(self, value: object, /, *, request_id: str, now: datetime) -> bytes:
        return msgspec.msgpack.encode({'ok': value, 'id': request_id})

    def error(self, error: HttpError, /, *, request_id: str, now: datetime) -> bytes:
        return msgspec.msgpack.encode({'failed': error.code, 'id': request_id})


def application(body: Body) -> TestClient:
    app = FastAPI(max_body_size=1000)
    install(app, TABLE, body=body)

    @app.get('/success')
    def success() -> Result[dict[str, int], Gone]:
        return Success({'a': 1})

    @app.get('/created')
    def created() -> Result[Created[int], Gone]:
        return Success(Created(7, location='/x/7'))

    @app.get('/endpoint')
    @endpoint(TABLE)
    def under_endpoint() -> Result[dict[str, int], Gone]:
        return Success({'a': 1})

    @app.get('/failure')
    async def failure() -> Result[int, Gone]:
        return Failure(Gone('ada'))

    @app.get('/defect')
    async def defect() -> Result[int, Gone]:
        raise ZeroDivisionError

    @app.post('/checked')
    async def checked(sizes: list[int]) -> Result[int, Gone]:
        return Success(len(sizes))

    @app.get('/plain')
    def plain() -> dict[str, int]:
        return {'a': 1}

    return TestClient(app, raise_server_exceptions=False, headers={'x-request-id': 'r-1'})


ERRORS = [
    ('GET', '/failure', 404, 'GONE', 'Gone'),
    ('GET', '/nowhere', 404, 'RESOURCE_NOT_FOUND', 'NotFoundError'),
    ('GET', '/checked', 405, 'METHOD_NOT_ALLOWED', 'MethodNotAllowed'),
    ('POST', '/checked', 400, 'INVALID_REQUEST', 'BadRequest'),
    ('GET', '/defect', 500, 'INTERNAL', 'UnknownError'),
]


def code_and_tag(body: Body, content: bytes, media_type: str) -> tuple[str | None, str | None]:
    """Return the code and the tag of an error in a body, where the format has them."""
    if isinstance(body, MessagePack):
        assert media_type == 'application/msgpack'
        return msgspec.msgpack.decode(content)['failed'], None
    data: Any = json.loads(content)
    if body in {problem, bare}:
        assert media_type == 'application/problem+json'
        assert (data['instance'], data['type']) == ('r-1', f'urn:seamwise:error:{data["code"]}')
        return data['code'], data['tag']
    assert media_type == 'application/json'
    if body is named:
        return None, data['name']
    if body is tagged:
        return None, data['_tag']
    return data['error']['code'], data['error']['type']


@pytest.mark.parametrize(
    'body',
    [negotiated, envelope, problem, bare, named, tagged, MessagePack()],
    ids=lambda body: type(body).__name__,
)
def test_a_format_reaches_every_layer(body: Body) -> None:
    client = application(body)
    for method, path, status, code, tag in ERRORS:
        answer = client.request(method, path, json=None if method == 'GET' else ['x'])
        assert answer.status_code == status
        own_code, own_tag = code_and_tag(body, answer.content, answer.headers['content-type'])
        assert own_code in {code, None}
        assert own_tag in {tag, None}
        assert answer.headers['x-request-id'] == 'r-1'
        assert answer.headers['content-length'] == str(len(answer.content))
    large = client.post('/checked', content=b'[' + b' ' * 2000 + b']')
    assert large.status_code == 413
    assert code_and_tag(body, large.content, large.headers['content-type'])[0] in {
        'PAYLOAD_TOO_LARGE',
        None,
    }


@pytest.mark.parametrize('path', ['/success', '/endpoint'])
@pytest.mark.parametrize(
    'body', [negotiated, envelope, problem], ids=lambda body: type(body).__name__
)
def test_values_are_in_the_envelope(body: Body, path: str) -> None:
    answer = application(body).get(path)
    assert answer.headers['content-type'] == 'application/json'
    assert list(answer.json()) == ['success', 'data', 'timestamp', 'request_id']
    assert answer.json()['data'] == {'a': 1}


@pytest.mark.parametrize('path', ['/success', '/endpoint', '/plain'])
@pytest.mark.parametrize('body', [bare, named, tagged], ids=lambda body: type(body).__name__)
def test_values_are_as_they_are(body: Body, path: str) -> None:
    answer = application(body).get(path)
    assert answer.headers['content-type'] == 'application/json'
    assert answer.json() == {'a': 1}


@pytest.mark.parametrize('path', ['/success', '/endpoint'])
def test_an_own_format_writes_values(path: str) -> None:
    answer = application(MessagePack()).get(path)
    assert answer.headers['content-type'] == 'application/msgpack'
    assert msgspec.msgpack.decode(answer.content) == {'ok': {'a': 1}, 'id': 'r-1'}


def test_an_own_format_keeps_status_and_location() -> None:
    answer = application(MessagePack()).get('/created')
    assert (answer.status_code, answer.headers['location']) == (201, '/x/7')
    assert msgspec.msgpack.decode(answer.content)['ok'] == 7


def test_a_plain_handler_is_not_written_by_a_format() -> None:
    for body in (envelope, MessagePack()):
        answer = application(body).get('/plain')
        assert answer.json() == {'a': 1}


def test_accept_decides_per_request_with_negotiated() -> None:
    client = application(negotiated)
    answer = client.get('/failure', headers={'accept': 'application/problem+json'})
    assert answer.headers['content-type'] == 'application/problem+json'
    assert answer.json() | {'instance': 'r-1'} == {
        'type': 'urn:seamwise:error:GONE',
        'title': 'Gone',
        'status': 404,
        'detail': 'No ada.',
        'instance': 'r-1',
        'code': 'GONE',
        'retryable': False,
        'tag': 'Gone',
        'name': 'ada',
    }


def test_a_defect_as_a_problem_has_its_reference() -> None:
    answer = application(bare).get('/defect')
    assert answer.json()['ref'].startswith('err_')


def test_a_format_that_fails_is_a_defect_of_its_own() -> None:
    class Broken(MessagePack):
        @override
        def value(self, value: object, /, *, request_id: str, now: datetime) -> bytes:
            raise RuntimeError('no form')

    answer = application(Broken()).get('/success')
    assert answer.status_code == 500
    assert msgspec.msgpack.decode(answer.content)['failed'] == 'INTERNAL'


@pytest.mark.parametrize('body', [MessagePack(), bare], ids=lambda body: type(body).__name__)
def test_starlette_middleware_and_own_responses_stay(body: Body) -> None:
    app = FastAPI()
    install(app, TABLE, body=body)

    @app.get('/')
    def show(request: Request) -> Result[Response, Gone]:
        return Success(Response('mine', 404))

    assert TestClient(app).get('/').text == 'mine'
