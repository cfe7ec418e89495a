"""Tests of `to_response` and `SafeErrors` with Litestar: its promises to its users still hold."""

import json
import logging
from collections.abc import AsyncIterator
from typing import Any, TypeAlias

import httpx
import pytest
from litestar import Litestar, Request, Response, get, route
from litestar.background_tasks import BackgroundTask
from litestar.di import NamedDependency, Provide
from litestar.exceptions import ClientException, NotAuthorizedException
from litestar.middleware.session.client_side import CookieBackendConfig
from litestar.params import FromPath, FromQuery
from litestar.response import Stream
from litestar.status_codes import HTTP_500_INTERNAL_SERVER_ERROR
from litestar.testing import TestClient
from litestar.types import Scope

from seamwise import Failure, Result
from seamwise.seams.http import SafeErrors, current_request_id
from seamwise.seams.http.serving.results import to_response
from tests.seams.asgi_requests import request as send
from tests.seams.framework_cases import ADAPTER, CASES, Busy, LoggedOut, Missing, check

AnyRequest: TypeAlias = Request[Any, Any, Any]
Outcome = Result[object, Missing | LoggedOut | Busy]
every_case = pytest.mark.parametrize('name', CASES)
every_kind = pytest.mark.parametrize('kind', ['async', 'thread', 'sync'])


def respond(request: AnyRequest, result: Outcome) -> Response[bytes]:
    operation = f'{request.method} {request.scope["path_template"]}'
    answer = to_response(result, ADAPTER, headers=request.headers, operation=operation)
    return Response(answer.body, status_code=answer.status, headers=answer.headers)


@route('/async/{name:str}', http_method=['GET', 'HEAD'])
async def async_case(request: AnyRequest, name: FromPath[str]) -> Response[bytes]:
    return respond(request, CASES[name].result)


@get('/thread/{name:str}', sync_to_thread=True)
def thread_case(request: AnyRequest, name: FromPath[str]) -> Response[bytes]:
    return respond(request, CASES[name].result)


@get('/sync/{name:str}', sync_to_thread=False)
def sync_case(request: AnyRequest, name: FromPath[str]) -> Response[bytes]:
    return respond(request, CASES[name].result)


@get('/broken')
async def broken() -> None:
    raise ZeroDivisionError('the inside')


@get('/unconverted')
async def unconverted() -> object:
    return Failure(Missing('the inside'))


@get('/refused')
async def refused() -> None:
    raise NotAuthorizedException('no', headers={'WWW-Authenticate': 'Bearer'})


@get('/stream')
async def stream(broken: FromQuery[bool] = False) -> Stream:
    async def chunks() -> AsyncIterator[str]:
        yield 'begun '
        if broken:
            raise ZeroDivisionError
        yield current_request_id() or ''

    return Stream(chunks())


@get('/ids', dependencies={'id_': Provide(current_request_id, sync_to_thread=True)})
async def ids(id_: NamedDependency[str | None]) -> list[str | None]:
    return [id_, current_request_id()]


def raise_again(request: AnyRequest, error: Exception) -> Response[Any]:
    raise error


def create_app(*handlers: Any, **options: Any) -> Litestar:
    options = {
        'exception_handlers': {HTTP_500_INTERNAL_SERVER_ERROR: raise_again},
        'logging_config': None,
        **options,
    }
    return Litestar(
        [async_case, thread_case, sync_case, broken, unconverted, refused, stream, ids, *handlers],
        **options,
    )


def sent(url: str, app: Litestar | None = None, *, method: str = 'GET') -> httpx.Response:
    return send(SafeErrors(app or create_app()), url, method=method)  # type: ignore[arg-type]  # its scope is a TypedDict


def defects(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.exc_info]


# Results


@every_case
@every_kind
def test_every_result_has_its_response(kind: str, name: str) -> None:
    answer = sent(f'/{kind}/{name}')
    check(name, answer.status_code, answer.headers, answer.content)


@every_case
def test_the_test_client_receives_the_same_without_middleware(name: str) -> None:
    with TestClient(create_app()) as client:
        answer = client.get(f'/async/{name}', headers={'X-Request-ID': 'r-1'})
    check(name, answer.status_code, answer.headers, answer.content)


def test_a_head_request_has_the_length_of_the_body() -> None:
    answer = sent('/async/value', method='HEAD')
    assert answer.status_code == 200
    assert int(answer.headers['content-length']) > 0


def test_a_failure_is_logged_with_its_route(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, 'seamwise'):
        sent('/async/missing')
    [record] = [record for record in caplog.records if record.name == 'seamwise']
    assert (vars(record)['operation'], vars(record)['status']) == ('GET /async/{name}', 404)
    assert vars(record)['request_id'] == 'r-1'


def test_hooks_sessions_and_background_tasks_apply_to_a_failure() -> None:
    calls: list[str] = []

    @get('/all')
    async def everything(request: AnyRequest) -> Response[bytes]:
        request.session['seen'] = True
        response = respond(request, CASES['missing'].result)
        response.background = BackgroundTask(calls.append, 'background')
        return response

    async def after_request(response: Response[Any]) -> Response[Any]:
        response.headers['X-Mark'] = 'marked'
        return response

    async def after_response(request: AnyRequest) -> None:
        calls.append('after response')

    config = CookieBackendConfig(secret=b'0123456789abcdef')
    app = create_app(
        everything,
        after_request=after_request,
        after_response=after_response,
        middleware=[config.middleware],
    )
    answer = sent('/all', app)
    assert (answer.status_code, answer.headers['X-Mark']) == (404, 'marked')
    assert answer.headers['set-cookie'].startswith('session')
    assert calls == ['background', 'after response']


def test_errors_of_litestar_keep_their_form() -> None:
    answer = sent('/refused')
    assert (answer.status_code, answer.json()['detail']) == (401, 'no')
    assert answer.headers['www-authenticate'] == 'Bearer'
    assert sent('/nowhere').json()['status_code'] == 404
    assert sent('/async/value', method='POST').status_code == 405
    assert sent('/stream?broken=perhaps').status_code == 400


def test_exception_handlers_of_the_application_stay() -> None:
    @get('/key')
    async def key() -> None:
        raise KeyError('a')

    def refuse(request: AnyRequest, error: KeyError) -> Response[str]:
        return Response('a missing key', status_code=409)

    handlers = {HTTP_500_INTERNAL_SERVER_ERROR: raise_again, KeyError: refuse}
    assert sent('/key', create_app(key, exception_handlers=handlers)).status_code == 409


# Defects


def test_a_defect_is_answered_and_recorded_once(caplog: pytest.LogCaptureFixture) -> None:
    answer = sent('/broken')
    [record] = defects(caplog)
    assert (answer.status_code, answer.headers['content-type']) == (500, 'application/json')
    assert answer.json()['error']['details'] == {'ref': vars(record)['ref']}
    assert answer.json()['request_id'] == 'r-1'
    assert 'the inside' not in answer.text


def test_a_result_that_nothing_converts_is_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    answer = sent('/unconverted')
    assert answer.status_code == 500
    assert 'the inside' not in answer.text
    assert len(defects(caplog)) == 1


def test_a_defect_reaches_the_hooks_of_the_application() -> None:
    errors: list[type[Exception]] = []

    async def after_exception(error: Exception, scope: Scope) -> None:
        errors.append(type(error))

    sent('/broken', create_app(after_exception=[after_exception]))
    assert set(errors) == {ZeroDivisionError}


def test_the_test_client_raises_a_defect() -> None:
    app: Any = SafeErrors(create_app())  # type: ignore[arg-type]  # its scope is a TypedDict
    with TestClient(app) as client, pytest.raises(ZeroDivisionError):
        client.get('/broken')


def test_without_the_handler_litestar_answers_by_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answer = sent('/broken', create_app(exception_handlers={}))
    assert answer.json() == {'status_code': 500, 'detail': 'Internal Server Error'}
    assert answer.headers['x-request-id'] == 'r-1'
    assert not defects(caplog)


def test_the_debug_page_is_shown_without_the_handler() -> None:
    app = SafeErrors(create_app(exception_handlers={}, debug=True))  # type: ignore[arg-type]  # its scope is a TypedDict
    assert 'ZeroDivisionError' in send(app, '/broken', accept='text/html').text


# Streams and contexts


def test_a_stream_knows_the_request_id() -> None:
    assert sent('/stream').text == 'begun r-1'


def test_a_stream_that_breaks_stays_incomplete(caplog: pytest.LogCaptureFixture) -> None:
    answer = sent('/stream?broken=true')
    assert (answer.status_code, answer.text) == (200, 'begun ')
    [record] = defects(caplog)
    assert vars(record)['context']['request_id'] == 'r-1'
    assert vars(record)['error_type'] == 'ZeroDivisionError'


def test_handlers_and_dependencies_know_the_request_id() -> None:
    assert json.loads(sent('/ids').content) == ['r-1', 'r-1']


def test_the_openapi_document_is_that_of_litestar() -> None:
    paths = create_app().openapi_schema.to_schema()['paths']
    assert '/async/{name}' in paths


def test_an_error_of_the_client_is_no_defect(caplog: pytest.LogCaptureFixture) -> None:
    @get('/client')
    async def client_error() -> None:
        raise ClientException('no')

    assert sent('/client', create_app(client_error)).status_code == 400
    assert not defects(caplog)
