"""Tests of the request id and of the log records of an application with `install`."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any

import httpx2
import pytest
from fastapi import APIRouter, BackgroundTasks, Depends, FastAPI
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from seamwise import Category, Failure, Raised, Result, Success, TaggedError
from seamwise.seams.http import current_request_id, endpoint, install, on


class Gone(
    TaggedError, namespace='test_http_request_context', category=Category.NOT_FOUND, message='Gone.'
):
    pass


TABLE = on(Gone).responds(404, 'GONE')
CONSTANT = Gone()


def application(seen: list[str | None]) -> FastAPI:
    app = FastAPI()
    install(app, TABLE)

    def note() -> None:
        seen.append(current_request_id())

    async def note_async() -> Result[None, Gone]:
        seen.append(current_request_id())
        return Success(None)

    async def note_yield() -> AsyncIterator[None]:
        note()
        yield
        note()

    @app.get('/async', dependencies=[Depends(note), Depends(note_async), Depends(note_yield)])
    async def show(tasks: BackgroundTasks) -> Result[str | None, Gone]:
        tasks.add_task(note)
        await asyncio.gather(asyncio.to_thread(note), note_async())
        return Success(current_request_id())

    @app.get('/sync', dependencies=[Depends(note)])
    def show_sync(tasks: BackgroundTasks) -> Result[str | None, Gone]:
        tasks.add_task(note)
        return Success(current_request_id())

    return app


@pytest.mark.parametrize(('path', 'count'), [('/async', 7), ('/sync', 2)])
def test_every_layer_of_a_request_has_its_id(path: str, count: int) -> None:
    seen: list[str | None] = []
    answer = TestClient(application(seen)).get(path, headers={'x-request-id': 'r-1'})
    assert answer.json()['data'] == 'r-1'
    assert seen == ['r-1'] * count
    assert current_request_id() is None


def test_concurrent_requests_do_not_mix_their_ids() -> None:
    app = FastAPI()
    install(app, TABLE)
    all_started = asyncio.Barrier(20)

    @app.get('/')
    async def show() -> Result[str | None, Gone]:
        await all_started.wait()
        return Success(current_request_id())

    async def run() -> list[Any]:
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url='http://test') as client:
            return await asyncio.gather(
                *(client.get('/', headers={'x-request-id': f'r-{number}'}) for number in range(20))
            )

    answers = asyncio.run(run())
    assert [answer.json()['data'] for answer in answers] == [f'r-{n}' for n in range(20)]
    assert [answer.headers['x-request-id'] for answer in answers] == [f'r-{n}' for n in range(20)]


def failing_application() -> FastAPI:
    app = FastAPI()
    install(app, TABLE)

    def dependency() -> Result[int, Gone]:
        return Failure(CONSTANT)

    async def with_yield() -> AsyncIterator[int]:
        yield 1

    router = APIRouter(prefix='/users')

    @router.get('/plain/{uid}')
    async def plain(uid: int) -> Result[int, Gone]:
        return Failure(CONSTANT)

    @router.get('/sync/{uid}')
    def sync(uid: int) -> Result[int, Gone]:
        return Failure(CONSTANT)

    @router.get('/endpoint/{uid}')
    @endpoint(TABLE)
    async def under_endpoint(uid: int) -> Result[int, Gone]:
        return Failure(CONSTANT)

    @router.get('/raised/{uid}')
    async def raised(uid: int) -> Result[int, Gone]:
        raise Raised(CONSTANT)

    @router.get('/dependency/{uid}')
    async def depending(uid: int, number: Annotated[int, Depends(dependency)]) -> int:
        return number

    @router.get('/yield/{uid}')
    async def yielding(uid: int, number: Annotated[int, Depends(with_yield)]) -> Result[int, Gone]:
        return Failure(CONSTANT)

    app.include_router(router, prefix='/v1')
    return app


@pytest.mark.parametrize('kind', ['plain', 'sync', 'endpoint', 'raised', 'dependency', 'yield'])
def test_each_failure_is_logged_once(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, 'seamwise')
    client = TestClient(failing_application())
    # The error is a constant: the same object is a new failure in another request.
    for number in (1, 2):
        client.get(f'/v1/users/{kind}/{number}', headers={'x-request-id': f'r-{number}'})
    records: list[Any] = [record for record in caplog.records if record.name == 'seamwise']
    assert [record.request_id for record in records] == ['r-1', 'r-2']
    for record in records:
        assert (record.tag, record.seam, record.status, record.levelno) == (
            'Gone',
            'http',
            404,
            logging.INFO,
        )
        assert record.operation == f'GET /v1/users/{kind}/{{uid}}'
        assert 0 <= record.duration_ms < 10_000


def test_under_endpoint_alone_the_operation_is_known_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, 'seamwise')

    @endpoint(TABLE)
    async def show(request: Request) -> Result[int, Gone]:
        return Failure(CONSTANT)

    plain, router = FastAPI(), APIRouter(prefix='/users')
    router.get('/{uid}')(show)
    plain.include_router(router, prefix='/v1')
    TestClient(plain).get('/v1/users/7')
    TestClient(Starlette(routes=[Route('/users/{uid}', show)])).get('/users/7')
    assert [
        vars(record)['operation'] for record in caplog.records if record.name == 'seamwise'
    ] == [
        'GET /v1/users/{uid}',
        'GET /users/{uid}',
    ]


def test_a_defect_is_recorded_with_its_operation(caplog: pytest.LogCaptureFixture) -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/users/{uid}')
    async def show(uid: int) -> Result[int, Gone]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        TestClient(app).get('/users/7', headers={'x-request-id': 'r-1'})
    [record] = [record for record in caplog.records if record.name == 'seamwise']
    assert vars(record)['context'] == {
        'seam': 'http',
        'operation': 'GET /users/{uid}',
        'request_id': 'r-1',
    }


@pytest.mark.parametrize('is_mounted', [True, False])
def test_a_defect_of_a_mounted_application_is_recorded_once(
    caplog: pytest.LogCaptureFixture, *, is_mounted: bool
) -> None:
    inner = FastAPI()
    install(inner, TABLE)

    @inner.get('/users/{uid}')
    async def show(uid: int) -> Result[int, Gone]:
        raise ZeroDivisionError

    app = inner
    if is_mounted:
        app = FastAPI()
        app.mount('/inner', inner)
        install(app, TABLE)
    path = '/inner/users/7' if is_mounted else '/users/7'
    answer = TestClient(app, raise_server_exceptions=False).get(path)
    [record] = [record for record in caplog.records if record.name == 'seamwise']
    assert answer.json()['error']['details'] == {'ref': vars(record)['ref']}
