"""Handlers that return Results, under Starlette and FastAPI."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastapi import Depends, FastAPI
from msgspec import Struct
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from seamwise import Category, Do, Failure, Result, Secret, Success, TaggedError, fallible
from seamwise.seams.http import HttpError, endpoint, named, on, problem


class Gone(
    TaggedError,
    namespace='test_http_endpoint',
    category=Category.NOT_FOUND,
    message='There is no {name!r}.',
):
    name: str


class Busy(
    TaggedError, namespace='test_http_endpoint', category=Category.CAPACITY, message='Busy.'
):
    retry_after: float | None = None


TABLE = on(Gone).responds(404, 'THING_NOT_FOUND') | on(Busy).responds(503, 'BUSY')


class Thing(Struct, frozen=True):
    name: str
    token: Secret[str]


class Model(BaseModel):
    name: str


def find(name: str) -> Result[Thing, Gone | Busy]:
    if name == 'busy':
        return Failure(Busy(1.5))
    return Success(Thing(name, Secret('hunter2'))) if name == 'good' else Failure(Gone(name))


@endpoint(TABLE)
async def in_the_loop(request: Request) -> Result[Thing, Gone | Busy]:
    return find(request.path_params['name'])


@endpoint(TABLE)
def in_a_thread(request: Request) -> Result[Thing, Gone | Busy]:
    assert threading.current_thread() is not threading.main_thread()
    return find(request.path_params['name'])


@endpoint(TABLE)
@fallible
async def in_direct_style(do: Do[Gone | Busy], request: Request) -> Thing:
    return do(find(request.path_params['name']))


class Handler:
    async def __call__(self, request: Request) -> Result[Thing, Gone | Busy]:
        return find(request.path_params['name'])


HANDLERS: list[Callable[[Request], Any]] = [
    in_the_loop,
    in_a_thread,
    in_direct_style,
    endpoint(TABLE)(Handler()),
]


def starlette_client(handler: Callable[[Request], Any]) -> TestClient:
    return TestClient(Starlette(routes=[Route('/things/{name}', handler)]))


def fastapi_client(handler: Callable[..., Any], path: str = '/things/{name}') -> TestClient:
    app = FastAPI()
    app.get(path)(handler)
    return TestClient(app)


CLIENTS = [starlette_client, fastapi_client]


@pytest.mark.parametrize('client_of', CLIENTS)
@pytest.mark.parametrize('handler', HANDLERS, ids=['async', 'sync', 'fallible', 'callable'])
def test_a_result_is_answered(
    handler: Callable[[Request], Any], client_of: Callable[[Any], TestClient]
) -> None:
    with client_of(handler) as client:
        good, gone, busy = (
            client.get(f'/things/{name}', headers={'x-request-id': 'r-1'})
            for name in ('good', 'bad', 'busy')
        )
    assert (good.status_code, good.json()['data']) == (200, {'name': 'good', 'token': '***'})
    assert (gone.status_code, gone.json()['error']['code']) == (404, 'THING_NOT_FOUND')
    assert (
        busy.status_code,
        busy.headers['retry-after'],
        busy.json()['error']['retry_after_ms'],
    ) == (503, '2', 1500)
    assert {one.json()['request_id'] for one in (good, gone, busy)} == {'r-1'}
    assert {one.headers['x-request-id'] for one in (good, gone, busy)} == {'r-1'}


def test_a_handler_of_fastapi_needs_no_request_and_keeps_what_it_declares() -> None:
    def who(user: str = 'ann') -> str:
        return user

    @endpoint(TABLE)
    async def show(
        name: str, user: Annotated[str, Depends(who)], limit: int = 5
    ) -> Result[list[object], Gone]:
        shown: list[object] = [name, user, limit]
        return Success(shown)

    with fastapi_client(show) as client:
        assert client.get('/things/a?limit=7&user=bob').json()['data'] == ['a', 'bob', 7]
        document = client.get('/openapi.json').json()
    assert [one['name'] for one in document['paths']['/things/{name}']['get']['parameters']] == [
        'name',
        'limit',
        'user',
    ]


def test_a_model_of_pydantic_is_a_value_like_any_other() -> None:
    @endpoint(TABLE)
    async def show(name: str) -> Result[list[Model], Gone]:
        return Success([Model(name=f'{name} caf\udce9')])

    with fastapi_client(show) as client:
        assert client.get('/things/a').json()['data'] == [{'name': 'a caf\ufffd'}]


def words() -> Iterator[str]:
    yield from ('one\n', 'two\n')


@pytest.mark.parametrize('client_of', CLIENTS)
def test_a_response_passes_as_it_is(client_of: Callable[[Any], TestClient]) -> None:
    @endpoint(TABLE)
    async def stream(request: Request) -> Result[StreamingResponse, Gone]:
        return Success(StreamingResponse(words(), 206, media_type='text/plain'))

    @endpoint(TABLE)
    def refuse(request: Request) -> Result[PlainTextResponse, Gone]:
        return Success(PlainTextResponse('mine', 418, headers={'X-Request-ID': 'my-own'}))

    with client_of(stream) as client:
        answer = client.get('/things/a', headers={'x-request-id': 'r-1'})
    assert (answer.status_code, answer.text, answer.headers['x-request-id']) == (
        206,
        'one\ntwo\n',
        'r-1',
    )
    with client_of(refuse) as client:
        answer = client.get('/things/a')
    assert (answer.status_code, answer.text, answer.headers['x-request-id']) == (
        418,
        'mine',
        'my-own',
    )


def test_the_form_is_chosen_by_the_route_or_by_the_client() -> None:
    def handler(request: Request) -> Result[object, Gone]:
        return Failure(Gone('a'))

    def answer(accept: str, made: Callable[[Request], Any]) -> tuple[str, list[str]]:
        with starlette_client(made) as client:
            given = client.get('/things/a', headers={'accept': accept})
        return given.headers['content-type'], [*given.json()]

    plain = ['success', 'error', 'timestamp', 'request_id']
    assert answer('*/*', endpoint(TABLE)(handler)) == ('application/json', plain)
    assert answer('image/png', endpoint(TABLE)(handler)) == ('application/json', plain)
    assert (
        answer('application/problem+json', endpoint(TABLE)(handler))[0]
        == 'application/problem+json'
    )
    assert (
        answer('application/json', endpoint(TABLE, body=problem)(handler))[0]
        == 'application/problem+json'
    )
    assert answer('application/problem+json', endpoint(TABLE, body=named)(handler)) == (
        'application/json',
        ['name', 'data'],
    )


def test_a_plain_function_that_matches_will_do_for_an_adapter() -> None:
    def by_hand(error: Gone) -> HttpError:
        return HttpError(status=410, code='GONE', type='Gone', message='Gone.', retryable=False)

    @endpoint(by_hand)
    async def show(request: Request) -> Result[str, Gone]:
        return Failure(Gone('a'))

    with starlette_client(show) as client:
        assert client.get('/things/a').status_code == 410


def test_a_handler_that_returns_no_result_is_a_defect() -> None:
    def broken(request: Request) -> Any:
        return {'a': 1}

    with (
        starlette_client(endpoint(TABLE)(broken)) as client,
        pytest.raises(TypeError, match='must return a Result, not dict'),
    ):
        client.get('/things/a')


def test_a_handler_is_not_called_without_a_request() -> None:
    def show(name: str) -> Result[str, Gone]:
        return Success(name)

    with pytest.raises(TypeError, match='must be called with a Request'):
        endpoint(TABLE)(show)('a')


def test_names_that_only_type_checkers_import_do_not_get_in_the_way() -> None:
    async def show(request: 'Request', other: 'NoSuchName' = 1) -> Result[str, Gone]:  # type: ignore[name-defined]  # noqa: F821 -- that is the case
        return Success('a')

    handler: Callable[..., Any] = show  # pyright: ignore[reportUnknownVariableType]  # that name is unknown on purpose
    with starlette_client(endpoint(TABLE)(handler)) as client:
        assert client.get('/things/a').json()['data'] == 'a'


def test_the_handler_stays_what_it_was_to_whoever_looks() -> None:
    assert in_the_loop.__name__ == 'in_the_loop'


# Types

CASE = """
from collections.abc import Callable
from typing import Never
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import assert_type
from collections.abc import Coroutine
from seamwise import Category, Result, Success, TaggedError
from seamwise.seams.http import endpoint, on

class Gone(TaggedError, category=Category.NOT_FOUND): ...
class Busy(TaggedError, category=Category.CAPACITY): ...

table = on(Gone).responds(404, 'GONE')

@endpoint(table)
async def good(request: Request) -> Result[int, Gone]: return Success(1)

@endpoint(table)
def also_good(name: str, limit: int = 1) -> Result[int, Gone]: return Success(1)

@endpoint(table)
def never_fails(name: str) -> Success[int]: return Success(1)

def takes(handler: Callable[[Request], Coroutine[object, Never, Response]]) -> None: ...
takes(good)
assert_type(also_good('a'), Response)

@endpoint(table)  # want
async def uncovered(request: Request) -> Result[int, Gone | Busy]: return Success(1)

@endpoint(table)  # want
def uncovered_too(name: str) -> Result[int, Busy]: return Success(1)

@endpoint(table)  # want
def no_result(name: str) -> int: return 1
"""


@pytest.mark.parametrize(
    'checker',
    [
        [
            sys.executable,
            '-m',
            'mypy',
            '--strict',
            '--no-incremental',
            '--no-error-summary',
            '--config-file=',
        ],
        [str(Path(sys.executable).with_name('pyright')), '--pythonpath', sys.executable],
    ],
    ids=['mypy', 'pyright'],
)
def test_a_handler_with_an_error_that_nobody_covers_does_not_type_check(
    checker: list[str], tmp_path: Path
) -> None:
    case = tmp_path / 'case.py'
    case.write_text(CASE, encoding='utf-8')
    done = subprocess.run(
        [*checker, str(case)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    wanted = [number for number, line in enumerate(CASE.splitlines(), 1) if line.endswith('# want')]
    reported = {
        int(line.split('case.py:')[1].split(':')[0])
        for line in done.stdout.splitlines()
        if 'case.py:' in line and 'error' in line
    }
    near = {number: any(line in {number, number + 1} for line in reported) for number in wanted}
    assert all(near.values()), done.stdout
    assert reported <= {line for number in wanted for line in (number, number + 1)}, done.stdout


# Without Starlette

WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] == 'starlette':
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import seamwise.seams.http as http
from seamwise.seams.http import SafeErrors, openapi, tables
assert http.envelope(1, request_id='r-1')
try:
    http.endpoint
except ImportError as missing:
    print(missing)
"""


def test_without_starlette_only_the_endpoint_is_missing_and_says_so() -> None:
    done = subprocess.run(
        [sys.executable, '-I', '-c', WITHOUT], capture_output=True, text=True, check=True
    )
    assert done.stdout == "`endpoint` needs Starlette: pip install 'seamwise[http]'\n"


def test_the_seam_itself_loads_no_framework() -> None:
    code = 'import sys, seamwise.seams.http, seamwise.seams.http.tables; print(sorted({"starlette", "fastapi", "anyio"} & {*sys.modules}))'
    assert (
        subprocess.run(
            [sys.executable, '-I', '-c', code], capture_output=True, text=True, check=True
        ).stdout
        == '[]\n'
    )


def test_the_seam_has_no_other_names() -> None:
    from seamwise.seams import http  # noqa: PLC0415 -- its module is what is looked at

    with pytest.raises(AttributeError, match='no_such_name'):
        _ = http.no_such_name  # type: ignore[attr-defined]
