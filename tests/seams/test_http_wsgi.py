"""Tests of `SafeWsgi` under the servers and the validator of the standard library, and others."""

import json
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO, StringIO
from typing import Any, NamedTuple, NoReturn
from wsgiref.handlers import SimpleHandler
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment
from wsgiref.util import FileWrapper, setup_testing_defaults
from wsgiref.validate import validator

import pytest
from sentry_sdk.integrations.logging import LoggingIntegration
from sentry_sdk.integrations.wsgi import SentryWsgiMiddleware

from seamwise import Failure, Result
from seamwise.catalog.storage import RecordNotFound
from seamwise.seams.http import current_request_id, problem
from seamwise.seams.http.serving.results import to_response
from seamwise.seams.http.serving.wsgi import SafeWsgi
from seamwise.seams.http.tables import STORAGE
from tests.seams.wsgi_servers import fetch, werkzeug_server, wsgiref_server
from tests.sentry_events import sentry_events

TEXT = [('Content-Type', 'text/plain')]
INSIDE = 'the inside'


class Sent(NamedTuple):
    """The bytes that a server sent, and what it wrote to its error log."""

    status: str
    headers: dict[str, str]
    body: bytes
    log: str

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = json.loads(self.body)['error']
        return error


def serve(
    app: WSGIApplication, *, method: str = 'GET', is_checked: bool = True, **environ: str
) -> Sent:
    """Serve one request as `wsgiref` does, with the validator around and inside the middleware."""
    wsgi: dict[str, Any] = {}
    setup_testing_defaults(wsgi)
    wsgi |= {'REQUEST_METHOD': method, 'QUERY_STRING': '', **environ}
    wsgi = {key: value for key, value in wsgi.items() if not key.startswith('wsgi.')}
    out, log = BytesIO(), StringIO()
    handler = SimpleHandler(BytesIO(), out, log, wsgi)
    handler.http_version = '1.1'
    handler.os_environ = {}
    middleware = SafeWsgi(validator(app) if is_checked else app)
    handler.run(validator(middleware) if is_checked else middleware)
    head, _, body = out.getvalue().partition(b'\r\n\r\n')
    status, *lines = head.decode('latin-1').split('\r\n')
    headers = {name.lower(): value for name, _, value in (line.partition(': ') for line in lines)}
    return Sent(status.removeprefix('HTTP/1.1 '), headers, body, log.getvalue())


def started(status: str, headers: object, exc_info: object = None, /) -> Callable[[bytes], object]:
    """Stand in for the `start_response` of a server."""
    return lambda _: None


def new_environ(**environ: object) -> WSGIEnvironment:
    setup_testing_defaults(environ)
    return environ


def defects(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.exc_info]


def fail() -> NoReturn:
    raise ZeroDivisionError(INSIDE)


# Defects


def raises_at_once(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    fail()


def raises_after_start(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    start_response('200 OK', TEXT)
    fail()


def raises_in_first_chunk(
    environ: WSGIEnvironment, start_response: StartResponse
) -> Iterator[bytes]:
    start_response('200 OK', TEXT)
    if environ:
        fail()
    yield b''


def raises_after_an_empty_chunk(
    environ: WSGIEnvironment, start_response: StartResponse
) -> Iterator[bytes]:
    start_response('200 OK', TEXT)
    yield b''
    fail()


BEFORE_THE_BODY = [raises_at_once, raises_after_start, raises_in_first_chunk]
before_the_body = pytest.mark.parametrize('app', BEFORE_THE_BODY)


@before_the_body
def test_a_defect_is_answered_recorded_and_raised_again(
    app: WSGIApplication, caplog: pytest.LogCaptureFixture
) -> None:
    sent = serve(app, HTTP_X_REQUEST_ID='r-1')
    [record] = defects(caplog)
    assert sent.status == '500 Internal Server Error'
    assert sent.headers['content-type'] == 'application/json'
    assert sent.headers['x-request-id'] == 'r-1'
    assert sent.headers['content-length'] == str(len(sent.body))
    assert sent.error['details'] == {'ref': vars(record)['ref']}
    assert json.loads(sent.body)['request_id'] == 'r-1'
    assert vars(record)['context']['request_id'] == 'r-1'
    assert INSIDE.encode() not in sent.body
    # The server sees the exception: its own log has the traceback.
    assert 'ZeroDivisionError' in sent.log


def test_a_defect_is_a_problem_for_a_client_that_prefers_it() -> None:
    sent = serve(raises_at_once, HTTP_ACCEPT='application/problem+json')
    assert sent.headers['content-type'] == 'application/problem+json'
    assert sent.headers['vary'] == 'Accept, Accept-Language'
    assert json.loads(sent.body)['status'] == 500


def test_the_body_format_can_be_chosen() -> None:
    app = SafeWsgi(raises_at_once, body=problem)
    body = next(iter(app(new_environ(), started)))
    assert json.loads(body)['code'] == 'INTERNAL'


def test_a_head_request_gets_no_body() -> None:
    sent = serve(raises_at_once, method='HEAD', is_checked=False)
    assert (sent.status, sent.body) == ('500 Internal Server Error', b'')
    assert int(sent.headers['content-length']) > 0


def test_headers_of_the_failed_response_are_not_sent() -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response('200 OK', [*TEXT, ('Set-Cookie', 'a=1'), ('Content-Length', '7')])
        fail()

    assert 'set-cookie' not in serve(app).headers


def test_a_response_that_has_started_stays_incomplete(caplog: pytest.LogCaptureFixture) -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterator[bytes]:
        start_response('200 OK', TEXT)
        yield b'begun'
        fail()

    sent = serve(app)
    assert (sent.status, sent.body) == ('200 OK', b'begun')
    assert 'ZeroDivisionError' in sent.log
    [record] = defects(caplog)
    assert vars(record)['context']['response'] == 'already started, the connection is closed'


def test_a_response_that_the_server_has_started_stays_incomplete(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # wsgiref sends the headers with an empty chunk, so it refuses others.
    sent = serve(raises_after_an_empty_chunk)
    assert (sent.status, sent.body) == ('200 OK', b'')
    assert 'ZeroDivisionError' in sent.log
    assert len(defects(caplog)) == 1


def test_a_response_that_was_written_stays_incomplete(caplog: pytest.LogCaptureFixture) -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response('200 OK', TEXT)(b'begun')
        fail()

    sent = serve(app)
    assert (sent.status, sent.body) == ('200 OK', b'begun')
    assert len(defects(caplog)) == 1


def test_a_server_that_takes_late_headers_gets_none() -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterator[bytes]:
        start_response('200 OK', TEXT)
        yield b'begun'
        fail()

    statuses: list[str] = []

    def start_response(
        status: str, headers: object, exc_info: object = None, /
    ) -> Callable[[bytes], object]:
        statuses.append(status)
        return lambda _: None

    chunks = iter(SafeWsgi(app)(new_environ(), start_response))
    assert next(chunks) == b'begun'
    with pytest.raises(ZeroDivisionError):
        next(chunks)
    assert statuses == ['200 OK']


def test_an_exception_of_write_is_no_defect(caplog: pytest.LogCaptureFixture) -> None:
    gone = BrokenPipeError()

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response('200 OK', TEXT)(b'begun')
        return []

    def start_response(status: str, headers: object, exc_info: object = None) -> Any:
        def write(chunk: bytes) -> NoReturn:
            raise gone

        return write

    environ = new_environ()
    with pytest.raises(BrokenPipeError) as caught:
        SafeWsgi(app)(environ, start_response)
    assert caught.value is gone
    assert not defects(caplog)


def test_an_exception_while_closing_is_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    class Body:
        def __iter__(self) -> Iterator[bytes]:
            return iter([b'all'])

        def close(self) -> None:
            fail()

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response('200 OK', TEXT)
        return Body()

    environ = new_environ()
    chunks: Any = SafeWsgi(app)(environ, started)
    assert [*chunks] == [b'all']
    with pytest.raises(ZeroDivisionError):
        chunks.close()
    assert len(defects(caplog)) == 1


def test_a_body_that_cannot_be_iterated_is_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Any:
        start_response('200 OK', TEXT)
        return 7

    assert serve(app, is_checked=False).status == '500 Internal Server Error'
    assert len(defects(caplog)) == 1


@pytest.mark.parametrize('exception', [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_that_ends_the_program_passes(
    exception: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        raise exception

    environ = new_environ()
    with pytest.raises(exception):
        SafeWsgi(app)(environ, started)
    assert not defects(caplog)


# Responses that stay


def test_a_response_stays_apart_from_the_request_id() -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response('418 Teapot', [*TEXT, ('Set-Cookie', 'a=1')])
        return [b'short and stout']

    sent = serve(app, HTTP_X_REQUEST_ID='r-1')
    assert (sent.status, sent.body) == ('418 Teapot', b'short and stout')
    assert sent.headers['set-cookie'] == 'a=1'
    assert sent.headers['x-request-id'] == 'r-1'
    assert sent.log == ''


def test_the_request_id_of_the_application_stays() -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response('200 OK', [*TEXT, ('x-request-ID', 'own')])
        return [b'']

    assert serve(app, HTTP_X_REQUEST_ID='r-1').headers['x-request-id'] == 'own'


def test_a_list_stays_a_list_so_that_the_server_knows_its_length() -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response('200 OK', TEXT)
        return [b'seven b']

    assert serve(app, is_checked=False).headers['content-length'] == '7'


def test_a_file_stays_one_that_the_server_can_send() -> None:
    file = FileWrapper(BytesIO(b'content'))

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response('200 OK', TEXT)
        return file

    environ = new_environ() | {'wsgi.file_wrapper': FileWrapper}
    assert SafeWsgi(app)(environ, started) is file


def test_chunks_are_sent_one_by_one() -> None:
    steps: list[str] = []

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterator[bytes]:
        start_response('200 OK', TEXT)
        for chunk in (b'a', b'b'):
            steps.append(f'made {chunk.decode()}')
            yield chunk

    environ = new_environ()
    chunks = SafeWsgi(app)(environ, started)
    steps.extend(f'sent {chunk.decode()}' for chunk in chunks)
    assert steps == ['made a', 'sent a', 'made b', 'sent b']


def test_a_body_is_closed_when_the_client_disconnects() -> None:
    closed: list[str | None] = []

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterator[bytes]:
        start_response('200 OK', TEXT)
        try:
            yield b'a'
            yield b'b'
        finally:
            closed.append(current_request_id())

    environ = new_environ(HTTP_X_REQUEST_ID='r-1')
    chunks: Any = SafeWsgi(app)(environ, started)
    assert next(chunks) == b'a'
    chunks.close()
    assert closed == ['r-1']


# Request ids


def test_the_request_id_is_known_during_the_call_and_the_body() -> None:
    seen: list[str | None] = []

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterator[bytes]:
        start_response('200 OK', TEXT)
        seen.append(current_request_id())
        yield b'a'
        seen.append(current_request_id())

    serve(app, HTTP_X_REQUEST_ID='r-1')
    assert seen == ['r-1', 'r-1']
    assert current_request_id() is None


def test_an_unsafe_request_id_is_replaced() -> None:
    sent = serve(raises_at_once, HTTP_X_REQUEST_ID='a b')
    assert sent.headers['x-request-id'].startswith('req-')
    assert json.loads(sent.body)['request_id'] == sent.headers['x-request-id']


def test_a_failure_has_the_request_id_and_the_duration_of_the_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        failed: Result[str, RecordNotFound] = Failure(RecordNotFound('user', 'ann'))
        response = to_response(failed, STORAGE, headers={}, operation='GET /users/{name}')
        start_response(f'{response.status} Not Found', [*response.headers.items()])
        return [response.body]

    with caplog.at_level(logging.INFO, 'seamwise'):
        sent = serve(app, HTTP_X_REQUEST_ID='r-1')
    [record] = caplog.records
    assert sent.error['code'] == 'RECORD_NOT_FOUND'
    assert vars(record)['request_id'] == 'r-1'
    assert vars(record)['duration_ms'] >= 1
    assert vars(record)['operation'] == 'GET /users/{name}'


# Servers


servers = pytest.mark.parametrize('serving', [wsgiref_server, werkzeug_server])


@servers
@before_the_body
def test_a_real_server_sends_the_whole_answer(
    serving: Callable[[WSGIApplication], Any], app: WSGIApplication
) -> None:
    with serving(SafeWsgi(app)) as port:
        response = fetch(port)
    body = json.loads(response.body)
    assert response.status == 500
    assert (body['error']['code'], body['request_id']) == ('INTERNAL', 'r-1')


@servers
def test_threads_of_a_server_keep_their_request_ids(
    serving: Callable[[WSGIApplication], Any],
) -> None:
    barrier = threading.Barrier(4)

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterator[bytes]:
        start_response('200 OK', TEXT)
        barrier.wait(10)
        yield (current_request_id() or '').encode()
        barrier.wait(10)
        yield (current_request_id() or '').encode()

    bodies: dict[str, bytes] = {}
    with serving(SafeWsgi(app)) as port:

        def ask(id_: str) -> None:
            bodies[id_] = fetch(port, headers={'X-Request-ID': id_}).body

        threads = [threading.Thread(target=ask, args=(f'r-{n}',)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert bodies == {f'r-{n}': f'r-{n}'.encode() * 2 for n in range(4)}


# Sentry


@before_the_body
def test_sentry_receives_a_defect_from_its_middleware_outside(app: WSGIApplication) -> None:
    with sentry_events(integrations=[LoggingIntegration(event_level=None)]) as events:
        serve(SentryWsgiMiddleware(SafeWsgi(app)), is_checked=False)
    [event] = events
    [error] = event['exception']['values']
    assert (error['type'], error['mechanism']['type']) == ('ZeroDivisionError', 'wsgi')
    assert event['request']['method'] == 'GET'


@before_the_body
def test_sentry_receives_a_defect_from_the_log_alone(app: WSGIApplication) -> None:
    with sentry_events() as events:
        serve(SafeWsgi(app), is_checked=False)
    [event] = events
    assert event['exception']['values'][-1]['type'] == 'ZeroDivisionError'
    assert event['extra']['ref'].startswith('err_')
