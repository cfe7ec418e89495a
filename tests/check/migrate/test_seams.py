"""Handlers of FastAPI for exceptions before and after their migration, with the same requests."""

from pathlib import Path
from textwrap import dedent

import pytest

from seamwise.check.migrate.exception_classes import NotMigrated
from seamwise.check.migrate.migration import plan_migration
from tests.check.migrate.migrating import ERRORS, SERVICE, migrate, run, write_package

# The tests run mypy.
pytestmark = pytest.mark.slow

APP = """
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse

from shop.errors import Missing, ShopError, SoldOut
from shop.service import find, sell

app = FastAPI()
router = APIRouter()


@app.exception_handler(Missing)
async def missing(request: Request, exception: Missing) -> JSONResponse:
    \"\"\"Answer.\"\"\"
    return JSONResponse(
        status_code=404, content={'detail': str(exception), 'name': exception.name, 'more': [1]}
    )


@app.exception_handler(ShopError)
def wet(_: Request, error: ShopError) -> JSONResponse:
    return JSONResponse({'detail': f'{error}'}, 409)


@app.get('/find/{name}')
async def show(name: str) -> dict[str, int]:
    return {'left': find(name)}


@router.post('/sell/{name}', status_code=201)
def sold(name: str, count: int = 1) -> int:
    # Sold out has a handler of its own.
    try:
        return sell(name) * count
    except SoldOut as error:
        raise HTTPException(410, detail=str(error)) from error


def price(name: str) -> int:
    return find(name) * 10


@router.get('/price/{name}')
def priced(amount: Annotated[int, Depends(price)]) -> int:
    return amount


app.include_router(router)
"""
CALLS = """
from fastapi.testclient import TestClient

from shop.app import app

client = TestClient(app, raise_server_exceptions=False)
for method, path in [
    *(('GET', f'/find/{name}') for name in ('milk', 'coat', 'mate')),
    *(('POST', f'/sell/{name}') for name in ('milk', 'coat', 'mate', 'tea', 'mate?count=x')),
    *(('GET', f'/price/{name}') for name in ('milk', 'coat', 'mate')),
    ('GET', '/nothing'),
    ('POST', '/find/mate'),
]:
    answer = client.request(method, path)
    print(method, path, answer.status_code, answer.headers['content-type'], answer.text)
"""


def test_handlers_of_exceptions_become_a_table_with_the_same_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'shop'
    sources = {'errors': ERRORS, 'service': SERVICE, 'app': APP, 'calls': CALLS}
    write_package(folder, {name: dedent(text).lstrip() for name, text in sources.items()})
    before = run(folder, 'calls')
    assert '404 application/json {"detail":"no milk","name":"milk","more":[1]}' in before[1]
    migration = migrate(folder)
    assert run(folder, 'calls') == before
    app = (folder / 'app.py').read_text()
    assert 'exception_handler(Missing)' not in app
    assert 'install(app, ERRORS, body=ErrorBody())' in app
    assert "on(Missing).responds(\n        404,\n        'MISSING'" in app
    assert "@app.get('/find/{name}')\n@fallible\nasync def show(do: Do[" in app
    assert 'shop.app.show' in migration.functions
    assert not plan_migration(['shop']).unwrap().contents


def test_a_dependency_without_a_table_keeps_its_exceptions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = """
    from typing import Annotated

    from fastapi import Depends, FastAPI
    from fastapi.testclient import TestClient


    class Missing(Exception):
        pass


    def price(name: str) -> int:
        if name == 'milk':
            raise Missing(name)
        return 10


    app = FastAPI()


    @app.get('/{name}')
    def show(amount: Annotated[int, Depends(price)]) -> int:
        return amount


    client = TestClient(app, raise_server_exceptions=False)
    print(client.get('/mate').text, client.get('/milk').status_code)
    """
    folder = tmp_path / 'shop'
    write_package(folder, {'app': dedent(source).lstrip()})
    before = run(folder, 'app')
    (item,) = migrate(folder).not_migrated
    assert item.reason.startswith('is used as a value')
    assert run(folder, 'app') == before


ROUTES = """
from fastapi import APIRouter, FastAPI, HTTPException

from shop.errors import Missing, Soaked, SoldOut
from shop.service import find, sell

app = FastAPI()
router = APIRouter(prefix='/more')


@app.get('/find/{name}')
async def show(name: str) -> dict[str, int]:
    # Look it up.
    try:
        left = find(name)
    except Missing as error:
        raise HTTPException(status_code=404, detail=str(error)) from error
    except Soaked:
        raise HTTPException(409, 'wet')
    else:
        left += 1
    return {'left': left}


@router.post('/sell/{name}', status_code=201)
def sold(name: str, count: int = 1) -> int:
    try:
        return sell(name) * count
    except SoldOut as problem:
        raise HTTPException(410, detail=f'sold: {problem}') from problem
    except Missing as problem:
        raise HTTPException(404, detail=str(problem)) from None
    except Soaked:
        raise HTTPException(409, 'wet')


@router.post('/give/{name}')
def give(name: str) -> int:
    try:
        return find(name)
    except Missing as error:
        raise HTTPException(404, str(error))
    except Soaked:
        raise HTTPException(409, 'wet')


app.include_router(router)
"""
ROUTES_CALLS = """
from fastapi.testclient import TestClient

from shop.app import app

client = TestClient(app, raise_server_exceptions=False)
for method, path in [
    *(('GET', f'/find/{name}') for name in ('milk', 'coat', 'mate')),
    *(('POST', f'/more/sell/{name}') for name in ('milk', 'coat', 'mate', 'tea', 'mate?count=x')),
    *(('POST', f'/more/give/{name}') for name in ('milk', 'coat', 'mate')),
    ('GET', '/nothing'),
]:
    answer = client.request(method, path)
    print(method, path, answer.status_code, answer.headers['content-type'], answer.text)
"""


def test_http_exceptions_of_routes_become_a_table_with_the_same_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'shop'
    sources = {'errors': ERRORS, 'service': SERVICE, 'app': ROUTES, 'calls': ROUTES_CALLS}
    write_package(folder, {name: dedent(text).lstrip() for name, text in sources.items()})
    before = run(folder, 'calls')
    assert '404 application/json {"detail":"no milk"}' in before[1]
    migrate(folder)
    assert run(folder, 'calls') == before
    app = (folder / 'app.py').read_text()
    assert 'raise HTTPException' not in app
    assert 'install(app, ERRORS, body=ErrorBody())' in app
    assert '    # Look it up.\n    left = do(find(name))\n    left += 1\n' in app
    assert not plan_migration(['shop']).unwrap().contents


def test_routes_with_different_answers_keep_their_clauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'shop'
    other = ROUTES.replace('raise HTTPException(404, str(error))', "raise HTTPException(403, 'no')")
    sources = {'errors': ERRORS, 'service': SERVICE, 'app': other, 'calls': ROUTES_CALLS}
    write_package(folder, {name: dedent(text).lstrip() for name, text in sources.items()})
    before = run(folder, 'calls')
    kept = migrate(folder).not_migrated
    assert run(folder, 'calls') == before
    app = (folder / 'app.py').read_text()
    assert 'on(Missing)' not in app
    assert app.count('case Missing()') == 3
    assert 'on(SoldOut)' in app
    reasons = {item.reason.partition(' at ')[0] for item in kept if item.name == 'Missing'}
    assert reasons == {'has a clause'}


WRAPPED_CALLS = """
from fastapi.testclient import TestClient

from shop.app import app

client = TestClient(app, raise_server_exceptions=False)
for method, path in [
    *(('GET', f'/find/{name}') for name in ('milk', 'coat', 'mate', 'four')),
    *(('POST', f'/sell/{name}') for name in ('milk', 'coat', 'mate', 'tea', 'mate?count=x')),
    ('GET', '/nothing'),
]:
    answer = client.request(method, path)
    print(method, path, answer.status_code, answer.headers['content-type'], answer.text)
"""
MIDDLEWARES = """
from collections.abc import Awaitable, Callable

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import JSONResponse

from shop.errors import ShopError
from shop.guard import Guard, note
from shop.service import find, sell

app = FastAPI()
router = APIRouter()
app.add_middleware(Guard)


@app.middleware('http')
async def answer(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    \"\"\"Answer errors.\"\"\"
    note(request.url.path)
    try:
        response = await call_next(request)
    except ShopError as problem:
        return JSONResponse({'detail': str(problem), 'more': [1]}, status_code=409)
    return response


@app.get('/find/{name}')
async def show(name: str) -> dict[str, int]:
    return {'left': find(name)}


@router.post('/sell/{name}', status_code=201)
def sold(name: str, count: int = 1) -> int:
    return sell(name) * count


app.include_router(router)
"""
GUARD = """
from fastapi.responses import JSONResponse
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import Response

from shop.errors import Missing, SoldOut


class Guard(BaseHTTPMiddleware):
    \"\"\"Answer errors.\"\"\"

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        try:
            return await call_next(request)
        except Missing as error:
            return JSONResponse({'detail': str(error), 'name': error.name}, status_code=404)
        except SoldOut:
            return JSONResponse(content={'detail': 'none'}, status_code=410)


def note(text: str) -> None:
    print('noted', text)
"""
DECORATED = """
from fastapi import APIRouter, FastAPI

from shop.guard import handle_errors, handle_more
from shop.service import find, sell

app = FastAPI()
router = APIRouter()


@app.get('/find/{name}')
@handle_more
async def show(name: str) -> dict[str, int]:
    if name == 'mate':
        raise ValueError('mate')
    return {'left': find(name)}


@router.post('/sell/{name}', status_code=201)
@handle_errors
def sold(name: str, count: int = 1) -> int:
    return sell(name) * count


app.include_router(router)
"""
DECORATORS = """
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from fastapi import HTTPException

from shop.errors import Missing, Soaked, SoldOut

P = ParamSpec('P')
T = TypeVar('T')


def handle_errors(function: Callable[P, T]) -> Callable[P, T]:
    \"\"\"Answer errors.\"\"\"

    @wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except Missing as error:
            raise HTTPException(404, str(error)) from error
        except SoldOut as error:
            raise HTTPException(status_code=410, detail=f'sold: {error}') from error
        except Soaked:
            raise HTTPException(409, 'wet') from None

    return wrapper


def handle_more(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    @wraps(function)
    async def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await function(*args, **kwargs)
        except Missing as error:
            raise HTTPException(404, detail=str(error)) from error
        except Soaked:
            raise HTTPException(409, 'wet') from None
        except ValueError as error:
            raise HTTPException(422, str(error)) from error

    return wrapper
"""


def migrate_wrapped(folder: Path, app: str, guard: str) -> tuple[str, str, list[NotMigrated]]:
    """Migrate an application with the same answers, and return its new sources."""
    sources = {
        'errors': ERRORS,
        'service': SERVICE,
        'app': app,
        'guard': guard,
        'calls': WRAPPED_CALLS,
    }
    write_package(folder, {name: source.lstrip() for name, source in sources.items()})
    before = run(folder, 'calls')
    assert 'GET /find/milk 404 application/json {"detail":"no milk"' in before[1]
    kept = migrate(folder).not_migrated
    assert run(folder, 'calls') == before
    assert not plan_migration(['shop']).unwrap().contents
    return (folder / 'app.py').read_text(), (folder / 'guard.py').read_text(), [*kept]


def test_middlewares_that_answer_exceptions_become_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app, guard, kept = migrate_wrapped(tmp_path / 'shop', MIDDLEWARES, GUARD)
    assert not kept
    assert 'Guard' not in app + guard
    assert 'from shop.guard import note\n' in app
    # What else it does stays.
    assert '    note(request.url.path)\n    response = await call_next(request)\n' in app
    assert "details=lambda problem: {'detail': str(problem), 'more': [1]}" in app
    assert 'install(app, ERRORS, body=ErrorBody())' in app


def test_a_middleware_that_also_handles_other_exceptions_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    broad = MIDDLEWARES.replace(
        '    return response\n',
        '    except Exception:\n'
        "        return JSONResponse({'detail': 'unknown'}, status_code=500)\n"
        '    return response\n',
    ).replace(
        '    return {', "    if name == 'four':\n        raise ZeroDivisionError\n    return {"
    )
    app, guard, kept = migrate_wrapped(tmp_path / 'shop', broad, GUARD)
    assert 'install' not in app
    assert 'case Missing() as error:' in guard
    reasons = {item.name: item.reason for item in kept if 'middleware' in item.reason}
    assert reasons.keys() == {'ShopError', 'Exception'}


def test_a_middleware_around_another_one_keeps_its_clauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    timed = """

@app.middleware('http')
async def count(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    response = await call_next(request)
    response.headers['X-Counted'] = '1'
    return response

"""
    inner = MIDDLEWARES.replace(
        'app.add_middleware(Guard)\n', f'{timed}\napp.add_middleware(Guard)\n'
    )
    app, guard, _ = migrate_wrapped(tmp_path / 'shop', inner, GUARD)
    assert 'install' not in app
    assert 'case Missing() as error:' in guard


def test_decorators_of_routes_that_answer_exceptions_become_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app, guard, kept = migrate_wrapped(tmp_path / 'shop', DECORATED, DECORATORS)
    assert not kept
    assert 'handle_errors' not in app + guard
    assert 'from shop.guard import handle_more\n' in app
    assert "@app.get('/find/{name}')\n@handle_more\n@fallible\nasync def show(" in app
    assert guard.count('except ') == 1
    assert '        except ValueError as error:\n' in guard
