"""Tests of `to_response` and `SafeWsgi` with Flask: its promises to its users still hold."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import flask
import pytest
from flask import Flask, Response, request, session, stream_with_context
from flask.signals import got_request_exception, request_finished, request_tearing_down
from sentry_sdk.integrations.flask import FlaskIntegration
from sentry_sdk.integrations.logging import LoggingIntegration
from werkzeug.debug import DebuggedApplication
from werkzeug.exceptions import NotFound
from werkzeug.test import Client

from seamwise import Failure, Raised, Result, Success, or_raise
from seamwise.seams.http import current_request_id
from seamwise.seams.http.serving.results import to_response
from seamwise.seams.http.serving.wsgi import SafeWsgi
from tests.seams.framework_cases import ADAPTER, CASES, Busy, LoggedOut, Missing, check
from tests.seams.wsgi_servers import fetch, wsgiref_server
from tests.sentry_events import sentry_events

ID = {'X-Request-ID': 'r-1'}
Outcome = Result[object, Missing | LoggedOut | Busy]


def respond(result: Outcome) -> Response:
    operation = f'{request.method} {request.url_rule}'
    answer = to_response(result, ADAPTER, headers=request.headers, operation=operation)
    return Response(answer.body, answer.status, answer.headers)


def create_app() -> Flask:
    app = Flask('users')
    app.secret_key = 'for tests'  # noqa: S105
    app.config['PROPAGATE_EXCEPTIONS'] = True

    @app.route('/sync/<name>')
    def sync_case(name: str) -> Response:
        return respond(CASES[name].result)

    @app.route('/async/<name>')
    async def async_case(name: str) -> Response:
        return respond(CASES[name].result)

    @app.route('/broken')
    def broken() -> Response:
        raise ZeroDivisionError('the inside')

    return app


def sent(app: Flask, path: str, *, method: str = 'GET') -> Any:
    with wsgiref_server(SafeWsgi(app)) as port:
        return fetch(port, path, method=method)


# Results


@pytest.mark.parametrize('name', CASES)
@pytest.mark.parametrize('kind', ['sync', 'async'])
def test_every_result_has_its_response(kind: str, name: str) -> None:
    answer = create_app().test_client().get(f'/{kind}/{name}', headers=ID)
    headers = {key.lower(): value for key, value in answer.headers.items()}
    check(name, answer.status_code, headers, answer.data)


@pytest.mark.parametrize('name', CASES)
def test_a_real_server_sends_the_same(name: str) -> None:
    answer = sent(create_app(), f'/sync/{name}')
    check(name, *answer)


def test_a_head_request_gets_the_headers_without_the_body() -> None:
    answer = sent(create_app(), '/sync/value', method='HEAD')
    assert (answer.status, answer.body) == (200, b'')
    assert int(answer.headers['content-length']) > 0


def test_options_are_answered_by_flask() -> None:
    answer = create_app().test_client().options('/sync/value')
    assert set(answer.headers['Allow'].split(', ')) == {'GET', 'HEAD', 'OPTIONS'}


def test_a_failure_is_logged_with_its_route(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        create_app().test_client().get('/sync/missing', headers=ID)
    [record] = caplog.records
    assert (vars(record)['operation'], vars(record)['status']) == ('GET /sync/<name>', 404)


def test_hooks_sessions_and_own_headers_apply_to_a_failure() -> None:
    app = create_app()

    @app.before_request
    def remember() -> None:
        session['seen'] = True

    @app.after_request
    def mark(response: Response) -> Response:
        response.headers['X-Mark'] = str(response.status_code)
        return response

    answer = app.test_client().get('/sync/missing')
    assert answer.headers['X-Mark'] == '404'
    assert answer.headers['Set-Cookie'].startswith('session=')
    assert answer.headers['Vary'] == 'Accept, Accept-Language, Cookie'


def test_signals_are_sent_for_a_failure() -> None:
    app, names = create_app(), list[str]()

    def finished(sender: Flask, response: Response, **_: Any) -> None:
        names.append(f'finished {response.status_code}')

    def tearing_down(sender: Flask, **_: Any) -> None:
        names.append('tearing down')

    with (
        request_finished.connected_to(finished, app),
        request_tearing_down.connected_to(tearing_down, app),
    ):
        app.test_client().get('/sync/missing')
    assert names == ['finished 404', 'tearing down']


def test_error_handlers_and_abort_stay() -> None:
    app = create_app()

    @app.errorhandler(NotFound)
    def not_found(error: NotFound) -> tuple[str, int]:
        return 'our own page', 404

    @app.errorhandler(KeyError)
    def key_error(error: KeyError) -> tuple[str, int]:
        return 'a missing key', 400

    app.add_url_rule('/abort', view_func=lambda: flask.abort(404), endpoint='abort')
    app.add_url_rule('/key', view_func=lambda: request.args['key'], endpoint='key')
    client = Client(SafeWsgi(app))
    assert client.get('/abort').text == client.get('/nowhere').text == 'our own page'
    assert client.get('/key').status_code == 400
    # The page of the application replaces only that of Flask.
    assert 'USER_NOT_FOUND' in client.get('/sync/missing').text


def test_a_raised_failure_can_be_answered() -> None:
    app = create_app()

    @app.errorhandler(Raised)
    def failed(raised: Raised) -> Response:
        error: Any = raised.error
        return respond(Failure(error))

    @app.route('/raised')
    def raises() -> Response:
        missing: Result[str, Missing] = Failure(Missing('eve'))
        return respond(Success(or_raise(missing)))

    answer = app.test_client().get('/raised', headers=ID)
    headers = {key.lower(): value for key, value in answer.headers.items()}
    check('missing', answer.status_code, headers, answer.data)


# Defects


def test_a_defect_is_answered_and_recorded_once(caplog: pytest.LogCaptureFixture) -> None:
    answer = sent(create_app(), '/broken')
    [record] = [record for record in caplog.records if record.exc_info]
    body = json.loads(answer.body)
    assert (answer.status, answer.headers['content-type']) == (500, 'application/json')
    assert body['error']['details'] == {'ref': vars(record)['ref']}
    assert body['request_id'] == 'r-1'
    assert b'the inside' not in answer.body


def test_got_request_exception_is_sent_for_a_defect() -> None:
    app, exceptions = create_app(), list[BaseException]()

    def got(sender: Flask, exception: BaseException, **_: Any) -> None:
        exceptions.append(exception)

    with got_request_exception.connected_to(got, app):
        sent(app, '/broken')
    assert [type(error) for error in exceptions] == [ZeroDivisionError]


@pytest.mark.parametrize('is_wrapped', [True, False])
def test_a_test_client_raises_a_defect(is_wrapped: bool) -> None:
    app = create_app()
    app.testing = True
    if is_wrapped:
        app.wsgi_app = SafeWsgi(app.wsgi_app)  # type: ignore[method-assign]  # as Flask documents it
    with pytest.raises(ZeroDivisionError):
        app.test_client().get('/broken')


def test_a_test_client_in_a_with_block_keeps_the_context() -> None:
    app = create_app()
    app.wsgi_app = SafeWsgi(app.wsgi_app)  # type: ignore[method-assign]  # as Flask documents it
    with app.test_client() as client:
        client.get('/sync/value?page=2')
        assert request.args['page'] == '2'


def test_teardown_runs_after_a_defect() -> None:
    app, errors = create_app(), list[BaseException | None]()
    app.teardown_request(errors.append)
    sent(app, '/broken')
    assert [type(error) for error in errors] == [ZeroDivisionError]


def test_without_propagation_flask_answers_by_itself(caplog: pytest.LogCaptureFixture) -> None:
    app = create_app()
    app.config['PROPAGATE_EXCEPTIONS'] = False
    answer = sent(app, '/broken')
    assert (answer.status, answer.headers['content-type']) == (500, 'text/html; charset=utf-8')
    assert answer.headers['x-request-id'] == 'r-1'
    [record] = [record for record in caplog.records if record.exc_info]
    assert record.name == 'users'


def test_the_debugger_shows_a_defect_of_the_plain_application() -> None:
    app = create_app()
    app.debug = True
    with wsgiref_server(DebuggedApplication(app)) as port:
        answer = fetch(port, '/broken')
    assert b'<title>ZeroDivisionError' in answer.body


# Streams and contexts


def test_a_stream_keeps_the_request_and_its_id() -> None:
    def chunks() -> Iterator[str]:
        yield f'{request.args["page"]} '
        yield current_request_id() or ''

    app = create_app()
    app.add_url_rule('/stream', 'stream', lambda: Response(stream_with_context(chunks())))
    assert sent(app, '/stream?page=2').body == b'2 r-1'


def test_a_stream_that_breaks_stays_incomplete(caplog: pytest.LogCaptureFixture) -> None:
    def chunks() -> Iterator[str]:
        yield 'begun'
        raise ZeroDivisionError

    app = create_app()
    app.add_url_rule('/stream', 'stream', lambda: Response(chunks()))
    answer = sent(app, '/stream')
    assert (answer.status, answer.body) == (200, b'begun')
    [record] = [record for record in caplog.records if record.exc_info]
    assert vars(record)['context']['request_id'] == 'r-1'


def test_an_async_view_knows_the_request_id() -> None:
    app = create_app()

    @app.route('/id')
    async def id_() -> str:
        return current_request_id() or ''

    assert sent(app, '/id').body == b'r-1'


def test_a_file_is_sent_as_it_is(tmp_path: Any) -> None:
    (tmp_path / 'a.bin').write_bytes(b'\x00' * 100_000)
    app = create_app()
    app.add_url_rule('/file', 'file', lambda: flask.send_from_directory(tmp_path, 'a.bin'))
    answer = sent(app, '/file')
    assert (len(answer.body), answer.headers['content-length']) == (100_000, '100000')


# Sentry


def test_the_integration_of_sentry_receives_a_defect_once() -> None:
    integrations = [FlaskIntegration(), LoggingIntegration(event_level=None)]
    with sentry_events(integrations=integrations) as events:
        sent(create_app(), '/broken')
    [event] = events
    [error] = event['exception']['values']
    assert (error['type'], error['mechanism']['type']) == ('ZeroDivisionError', 'flask')
    assert event['transaction'] == 'broken'
