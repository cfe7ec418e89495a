"""Tests of `to_response` and `SafeWsgi` with Django: its promises to its users still hold."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from importlib import import_module
from typing import Any
from wsgiref.types import WSGIApplication

import httpx
import pytest
from sentry_sdk.integrations.django import DjangoIntegration
from sentry_sdk.integrations.logging import LoggingIntegration

from seamwise import Result
from seamwise.seams.http import HttpError, SafeErrors, current_request_id, negotiated
from seamwise.seams.http import response as error_response
from seamwise.seams.http.serving.results import to_response
from seamwise.seams.http.serving.wsgi import SafeWsgi
from tests.seams.framework_cases import ADAPTER, CASES, Busy, LoggedOut, Missing, check
from tests.seams.wsgi_servers import Fetched, fetch, wsgiref_server
from tests.sentry_events import sentry_events


def _module(name: str) -> Any:
    """Import a module of Django, which has no types."""
    return import_module(f'django{name}')


django, conf, signals = _module(''), _module('.conf'), _module('.core.signals')
asgi, wsgi, http = _module('.core.asgi'), _module('.core.wsgi'), _module('.http')
testing, urls = _module('.test'), _module('.urls')
empty = _module('.utils.functional').empty

Outcome = Result[object, Missing | LoggedOut | Busy]
every_case = pytest.mark.parametrize('name', CASES)


def respond(request: Any, result: Outcome) -> Any:
    route = request.resolver_match.route if request.resolver_match else ''
    answer = to_response(
        result, ADAPTER, headers=request.headers, operation=f'{request.method} {route}'
    )
    return http.HttpResponse(answer.body, status=answer.status, headers=answer.headers)


def sync_case(request: Any, name: str) -> Any:
    return respond(request, CASES[name].result)


async def async_case(request: Any, name: str) -> Any:
    return respond(request, CASES[name].result)


def broken(request: Any) -> Any:
    raise ZeroDivisionError('the inside')


async def async_broken(request: Any) -> Any:
    raise ZeroDivisionError('the inside')


def missing_page(request: Any) -> Any:
    raise http.Http404


def stream(request: Any) -> Any:
    def chunks() -> Iterator[str]:
        yield 'begun '
        if request.GET.get('broken'):
            raise ZeroDivisionError
        yield current_request_id() or ''

    return http.StreamingHttpResponse(chunks())


async def async_stream(request: Any) -> Any:
    async def chunks() -> AsyncIterator[str]:
        yield 'begun '
        yield current_request_id() or ''

    return http.StreamingHttpResponse(chunks())


def request_id(request: Any) -> Any:
    return http.HttpResponse(current_request_id())


async def async_request_id(request: Any) -> Any:
    return http.HttpResponse(current_request_id())


urlpatterns = [
    urls.path('sync/<str:name>', sync_case),
    urls.path('async/<str:name>', async_case),
    urls.path('broken', broken),
    urls.path('async-broken', async_broken),
    urls.path('missing-page', missing_page),
    urls.path('stream', stream),
    urls.path('async-stream', async_stream),
    urls.path('id', request_id),
    urls.path('async-id', async_request_id),
]


def handler500(request: Any) -> Any:
    answer = error_response(HttpError.unknown(), request_id=current_request_id(), body=negotiated)
    return http.HttpResponse(answer.body, status=answer.status, headers=answer.headers)


def handler404(request: Any, exception: Exception) -> Any:
    return http.HttpResponse('our own page', status=404)


@pytest.fixture(autouse=True)
def _django() -> Generator[None]:
    # A page of the documentation may have configured Django in the same process.
    settings: Any = conf.settings
    outer, settings._wrapped = settings._wrapped, empty
    settings.configure(
        ALLOWED_HOSTS=['*'],
        ROOT_URLCONF=__name__,
        LOGGING_CONFIG=None,
        SECRET_KEY='for tests',  # noqa: S106
        MIDDLEWARE=['django.middleware.common.CommonMiddleware'],
    )
    django.setup()
    urls.clear_url_caches()
    yield
    settings._wrapped = outer
    urls.clear_url_caches()


def sent(url: str, *, method: str = 'GET', app: WSGIApplication | None = None) -> Fetched:
    with wsgiref_server(SafeWsgi(app or wsgi.get_wsgi_application())) as port:
        return fetch(port, url, method=method)


def sent_by_asgi(url: str) -> httpx.Response:
    app: Any = SafeErrors(asgi.get_asgi_application())
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)

    async def get() -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url='http://test') as client:
            return await client.get(url, headers={'X-Request-ID': 'r-1'})

    return asyncio.run(get())


def defects(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.exc_info]


# Results


@every_case
@pytest.mark.parametrize('kind', ['sync', 'async'])
def test_every_result_has_its_response(kind: str, name: str) -> None:
    answer = testing.Client().get(f'/{kind}/{name}', headers={'X-Request-ID': 'r-1'})
    headers = {key.lower(): value for key, value in answer.headers.items()}
    check(name, answer.status_code, headers, answer.content)


@every_case
def test_the_asynchronous_test_client_receives_the_same(name: str) -> None:
    answer = asyncio.run(
        testing.AsyncClient().get(f'/async/{name}', headers={'X-Request-ID': 'r-1'})
    )
    headers = {key.lower(): value for key, value in answer.headers.items()}
    check(name, answer.status_code, headers, answer.content)


@every_case
def test_a_wsgi_server_sends_the_same(name: str) -> None:
    answer = sent(f'/sync/{name}')
    length = {'content-length': str(len(answer.body))}
    check(name, answer.status, {**answer.headers, **length}, answer.body)


@every_case
@pytest.mark.parametrize('kind', ['sync', 'async'])
def test_an_asgi_server_sends_the_same(kind: str, name: str) -> None:
    answer = sent_by_asgi(f'/{kind}/{name}')
    check(name, answer.status_code, answer.headers, answer.content)


def test_a_head_request_of_the_test_client_has_no_body() -> None:
    answer = testing.Client().head('/sync/value')
    assert (answer.status_code, answer.content) == (200, b'')
    assert int(answer['Content-Length']) > 0


def test_a_failure_is_logged_with_its_route(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        testing.Client().get('/sync/missing')
    [record] = [record for record in caplog.records if record.name == 'seamwise']
    assert (vars(record)['operation'], vars(record)['status']) == ('GET sync/<str:name>', 404)


def test_middleware_sees_a_failure_as_a_response() -> None:
    middleware = [
        'django.middleware.gzip.GZipMiddleware',
        'django.middleware.locale.LocaleMiddleware',
        'django.middleware.clickjacking.XFrameOptionsMiddleware',
    ]
    with testing.override_settings(MIDDLEWARE=middleware):
        answer = testing.Client().get('/sync/missing')
    assert answer.status_code == 404
    assert answer['X-Frame-Options'] == 'DENY'
    # Django adds to Vary, and does not name a header twice.
    assert answer['Vary'].split(', ').count('Accept-Language') == 1
    assert 'Accept' in answer['Vary'].split(', ')


def test_signals_are_sent_for_a_failure() -> None:
    finished: list[object] = []

    def receive(sender: object, **_: object) -> None:
        finished.append(sender)

    signals.request_finished.connect(receive)
    try:
        sent('/sync/missing')
    finally:
        signals.request_finished.disconnect(receive)
    assert len(finished) == 1


def test_pages_of_the_application_stay() -> None:
    assert sent('/missing-page').body == sent('/nowhere').body == b'our own page'
    assert sent('/sync/missing').headers['content-type'] == 'application/json'


# Defects


def check_defect(
    status: int, headers: Mapping[str, str], body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    [ref] = [vars(record)['ref'] for record in defects(caplog) if record.name == 'seamwise']
    parsed = json.loads(body)
    assert (status, headers['content-type']) == (500, 'application/json')
    assert (parsed['error']['details'], parsed['request_id']) == ({'ref': ref}, 'r-1')
    assert b'the inside' not in body


broken_urls = pytest.mark.parametrize('url', ['/broken', '/async-broken'])


@broken_urls
def test_a_defect_is_answered_by_the_handler(url: str, caplog: pytest.LogCaptureFixture) -> None:
    answer = sent(url)
    check_defect(*answer, caplog)
    # Django mails the administrators by this record.
    assert [record.name for record in defects(caplog)] == ['seamwise', 'django.request']


@broken_urls
def test_a_defect_is_answered_by_the_handler_under_asgi(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = sent_by_asgi(url)
    check_defect(answer.status_code, answer.headers, answer.content, caplog)


@broken_urls
def test_a_defect_that_propagates_is_answered_by_the_middleware(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with testing.override_settings(DEBUG_PROPAGATE_EXCEPTIONS=True):
        answer = sent(url)
    check_defect(*answer, caplog)
    assert [record.name for record in defects(caplog)] == ['seamwise']


def test_got_request_exception_is_sent_for_a_defect() -> None:
    received: list[object] = []

    def receive(sender: object, **_: object) -> None:
        received.append(sender)

    signals.got_request_exception.connect(receive)
    try:
        sent('/broken')
    finally:
        signals.got_request_exception.disconnect(receive)
    assert len(received) == 1


@pytest.mark.parametrize('is_propagated', [True, False])
def test_the_test_client_raises_a_defect(is_propagated: bool) -> None:
    with (
        testing.override_settings(DEBUG_PROPAGATE_EXCEPTIONS=is_propagated),
        pytest.raises(ZeroDivisionError),
    ):
        testing.Client().get('/broken')


def test_the_debug_page_is_shown() -> None:
    with testing.override_settings(DEBUG=True):
        answer = sent('/broken')
    assert b'ZeroDivisionError' in answer.body
    assert answer.headers['content-type'].startswith('text/')


# Streams and contexts


def test_a_stream_knows_the_request_id() -> None:
    assert sent('/stream').body == b'begun r-1'


def test_an_asynchronous_stream_knows_the_request_id() -> None:
    assert sent_by_asgi('/async-stream').content == b'begun r-1'


def test_a_stream_that_breaks_stays_incomplete(caplog: pytest.LogCaptureFixture) -> None:
    answer = sent('/stream?broken=1')
    assert (answer.status, answer.body) == (200, b'begun ')
    [record] = defects(caplog)
    assert vars(record)['context']['request_id'] == 'r-1'


@pytest.mark.parametrize('url', ['/id', '/async-id'])
def test_a_view_knows_the_request_id_under_both_interfaces(url: str) -> None:
    assert sent(url).body == sent_by_asgi(url).content == b'r-1'


# Sentry


@pytest.mark.parametrize('is_propagated', [True, False])
def test_the_integration_of_sentry_receives_a_defect_once(is_propagated: bool) -> None:
    integrations = [DjangoIntegration(), LoggingIntegration(event_level=None)]
    with (
        sentry_events(integrations=integrations) as events,
        testing.override_settings(DEBUG_PROPAGATE_EXCEPTIONS=is_propagated),
    ):
        sent('/broken')
    [event] = events
    [error] = event['exception']['values']
    assert (error['type'], error['mechanism']['type']) == ('ZeroDivisionError', 'django')
    assert event['transaction'] == '/broken'
