"""Tests of `endpoint`: handlers that return Results, in Starlette and FastAPI."""

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
    namespace='test_http_endpoints',
    category=Category.NOT_FOUND,
    message='There is no {name!r}.',
):
    name: str


class Busy(
    TaggedError, namespace='test_http_endpoints', category=Category.CAPACITY, message='Busy.'
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
async def async_handler(request: Request) -> Result[Thing, Gone | Busy]:
    return find(request.path_params['name'])


@endpoint(TABLE)
def sync_handler(request: Request) -> Result[Thing, Gone | Busy]:
    assert threading.current_thread() is not threading.main_thread()
    return find(request.path_params['name'])


@endpoint(TABLE)
@fallible
async def direct_style_handler(do: Do[Gone | Busy], request: Request) -> Thing:
    return do(find(request.path_params['name']))


class Handler:
    async def __call__(self, request: Request) -> Result[Thing, Gone | Busy]:
        return find(request.path_params['name'])


HANDLERS: list[Callable[[Request], Any]] = [
    async_handler,
    sync_handler,
    direct_style_handler,
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
def test_a_result_becomes_the_response(
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
    assert {response.json()['request_id'] for response in (good, gone, busy)} == {'r-1'}
    assert {response.headers['x-request-id'] for response in (good, gone, busy)} == {'r-1'}


def test_a_fastapi_handler_keeps_its_parameters_and_needs_no_request() -> None:
    def current_user(user: str = 'ann') -> str:
        return user

    @endpoint(TABLE)
    async def read_model(
        name: str, user: Annotated[str, Depends(current_user)], limit: int = 5
    ) -> Result[list[object], Gone]:
        values: list[object] = [name, user, limit]
        return Success(values)

    with fastapi_client(read_model) as client:
        assert client.get('/things/a?limit=7&user=bob').json()['data'] == ['a', 'bob', 7]
        document = client.get('/openapi.json').json()
    assert [item['name'] for item in document['paths']['/things/{name}']['get']['parameters']] == [
        'name',
        'limit',
        'user',
    ]


def test_a_pydantic_model_is_encoded_as_a_value() -> None:
    @endpoint(TABLE)
    async def read_model(name: str) -> Result[list[Model], Gone]:
        return Success([Model(name=f'{name} caf\udce9')])

    with fastapi_client(read_model) as client:
        assert client.get('/things/a').json()['data'] == [{'name': 'a caf\ufffd'}]


def words() -> Iterator[str]:
    yield from ('one\n', 'two\n')


@pytest.mark.parametrize('client_of', CLIENTS)
def test_a_response_in_a_success_is_sent_unchanged(client_of: Callable[[Any], TestClient]) -> None:
    @endpoint(TABLE)
    async def stream(request: Request) -> Result[StreamingResponse, Gone]:
        return Success(StreamingResponse(words(), 206, media_type='text/plain'))

    @endpoint(TABLE)
    def refuse(request: Request) -> Result[PlainTextResponse, Gone]:
        return Success(PlainTextResponse('mine', 418, headers={'X-Request-ID': 'my-own'}))

    with client_of(stream) as client:
        response = client.get('/things/a', headers={'x-request-id': 'r-1'})
    assert (response.status_code, response.text, response.headers['x-request-id']) == (
        206,
        'one\ntwo\n',
        'r-1',
    )
    with client_of(refuse) as client:
        response = client.get('/things/a')
    assert (response.status_code, response.text, response.headers['x-request-id']) == (
        418,
        'mine',
        'my-own',
    )


def test_the_body_format_is_chosen_by_the_route_or_by_accept() -> None:
    def handler(request: Request) -> Result[object, Gone]:
        return Failure(Gone('a'))

    def media_type_and_keys(
        accept: str, decorated: Callable[[Request], Any]
    ) -> tuple[str, list[str]]:
        with starlette_client(decorated) as client:
            response = client.get('/things/a', headers={'accept': accept})
        return response.headers['content-type'], [*response.json()]

    envelope_keys = ['success', 'error', 'timestamp', 'request_id']
    assert media_type_and_keys('*/*', endpoint(TABLE)(handler)) == (
        'application/json',
        envelope_keys,
    )
    assert media_type_and_keys('image/png', endpoint(TABLE)(handler)) == (
        'application/json',
        envelope_keys,
    )
    assert (
        media_type_and_keys('application/problem+json', endpoint(TABLE)(handler))[0]
        == 'application/problem+json'
    )
    assert (
        media_type_and_keys('application/json', endpoint(TABLE, body=problem)(handler))[0]
        == 'application/problem+json'
    )
    assert media_type_and_keys(
        'application/problem+json', endpoint(TABLE, body=named)(handler)
    ) == (
        'application/json',
        ['name', 'data'],
    )


def test_endpoint_without_parentheses_is_refused() -> None:
    def of_nothing() -> object:
        pytest.fail('It is refused.')

    def declared(error: Gone) -> Result[Thing, Gone | Busy]:
        pytest.fail('It is refused.')

    bare: Any = endpoint
    for handler in (of_nothing, declared, async_handler, staticmethod(of_nothing)):
        with pytest.raises(TypeError, match=r'@endpoint needs paren.*`@endpoint\(adapter\)`'):
            bare(handler)

    def unknown(error: 'Unknown') -> 'Unknown':  # type: ignore[name-defined]  # noqa: F821
        pytest.fail('It is refused.')

    with pytest.raises(TypeError, match='a name that does not exist at run time'):
        bare(unknown)


def test_a_plain_function_can_be_the_adapter() -> None:
    def to_http_error(error: Gone) -> HttpError:
        return HttpError(status=410, code='GONE', type='Gone', message='Gone.', retryable=False)

    @endpoint(to_http_error)
    async def read_model(request: Request) -> Result[str, Gone]:
        return Failure(Gone('a'))

    with starlette_client(read_model) as client:
        assert client.get('/things/a').status_code == 410


def test_a_handler_that_returns_no_result_raises_a_type_error() -> None:
    def broken(request: Request) -> Any:
        return {'a': 1}

    with (
        starlette_client(endpoint(TABLE)(broken)) as client,
        pytest.raises(TypeError, match='must return a Result, not dict'),
    ):
        client.get('/things/a')


def test_a_handler_raises_a_type_error_without_a_request() -> None:
    def read_model(name: str) -> Result[str, Gone]:
        return Success(name)

    with pytest.raises(TypeError, match='must be called with a Request'):
        endpoint(TABLE)(read_model)('a')


def test_annotations_for_type_checkers_only_are_not_evaluated() -> None:
    async def read_model(request: 'Request', other: 'NoSuchName' = 1) -> Result[str, Gone]:  # type: ignore[name-defined]  # noqa: F821 -- the case under test
        return Success('a')

    handler: Callable[..., Any] = read_model  # pyright: ignore[reportUnknownVariableType]  # the name is unknown on purpose
    with starlette_client(endpoint(TABLE)(handler)) as client:
        assert client.get('/things/a').json()['data'] == 'a'


def test_a_decorated_handler_keeps_its_name() -> None:
    assert async_handler.__name__ == 'async_handler'


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


@pytest.mark.slow
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
def test_an_error_that_the_adapter_does_not_cover_is_a_type_error(
    checker: list[str], tmp_path: Path
) -> None:
    case = tmp_path / 'case.py'
    case.write_text(CASE, encoding='utf-8')
    process = subprocess.run(
        [*checker, str(case)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    expected_lines = [
        number for number, line in enumerate(CASE.splitlines(), 1) if line.endswith('# want')
    ]
    reported = {
        int(line.split('case.py:')[1].split(':')[0])
        for line in process.stdout.splitlines()
        if 'case.py:' in line and 'error' in line
    }
    # A checker may report the decorator or the line below it.
    hits = {
        number: any(line in {number, number + 1} for line in reported) for number in expected_lines
    }
    assert all(hits.values()), process.stdout
    assert reported <= {line for number in expected_lines for line in (number, number + 1)}, (
        process.stdout
    )


# Without Starlette

WITHOUT_STARLETTE = """
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


def test_without_starlette_only_endpoint_raises_an_import_error() -> None:
    process = subprocess.run(
        [sys.executable, '-I', '-c', WITHOUT_STARLETTE], capture_output=True, text=True, check=True
    )
    assert process.stdout == "`endpoint` needs Starlette: pip install 'seamwise[http]'\n"


def test_importing_the_seam_loads_no_framework() -> None:
    code = (
        'import sys, seamwise.seams.http, seamwise.seams.http.tables; '
        'print(sorted({"starlette", "fastapi", "anyio"} & {*sys.modules}))'
    )
    assert (
        subprocess.run(
            [sys.executable, '-I', '-c', code], capture_output=True, text=True, check=True
        ).stdout
        == '[]\n'
    )


def test_an_unknown_name_of_the_seam_is_an_attribute_error() -> None:
    from seamwise.seams import http  # noqa: PLC0415 -- the module object is under test

    with pytest.raises(AttributeError, match='no_such_name'):
        _ = http.no_such_name  # type: ignore[attr-defined]
