"""Logging of a whole program: `log.setup` in this process, and the output of real servers."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from logging.config import dictConfig
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from uvicorn.config import LOGGING_CONFIG

from seamwise import Category, Secret, TaggedError, report_defect
from seamwise.catalog.storage import RecordNotFound
from seamwise.seams import log
from seamwise.seams.http.request_ids import request_id_headers
from seamwise.seams.log import setup
from seamwise.seams.reporting.request_context import serving
from tests.ports import free_port
from tests.strategies import PLANTED

REQUEST_ID = 'req-0123456789abcdef0123456789abcdef'
ROOT = Path(__file__).parents[2]
TIMEOUT = 20.0
"""Seconds after which a test fails if a server does not respond."""

SERVER_LOGGERS = ('uvicorn', 'uvicorn.error', 'uvicorn.access', 'hypercorn.error')


class Locked(
    TaggedError,
    namespace='test_log_setup',
    category=Category.CONFLICT,
    message='The account of {name} is locked, so that nothing can be paid from it any more today.',
):
    name: str
    key: Secret[str]


@pytest.fixture(autouse=True)
def _restored_logging() -> Iterator[None]:
    loggers = [logging.getLogger(), *map(logging.getLogger, SERVER_LOGGERS)]
    before = [
        (logger, [*logger.handlers], [*logger.filters], logger.level, logger.propagate)
        for logger in loggers
    ]
    yield
    for logger, handlers, filters, level, propagate in before:
        logger.handlers[:] = handlers
        logger.filters[:] = filters
        logger.setLevel(level)
        logger.propagate = propagate
    structlog.reset_defaults()


# In this process


def test_json_lines_have_the_request_id_and_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    setup('json')
    with serving('r-1'):
        logging.getLogger('shop').info('token=%s', PLANTED, extra={'amount': 7})
    values = json.loads(capsys.readouterr().err)
    assert (values['level'], values['logger'], values['message']) == ('info', 'shop', 'token=***')
    assert (values['request_id'], values['amount']) == ('r-1', 7)


def test_lines_outside_a_request_have_no_request_id(capsys: pytest.CaptureFixture[str]) -> None:
    setup('json')
    logging.getLogger('shop').info('started')
    assert 'request_id' not in capsys.readouterr().err
    setup('console')
    logging.getLogger('shop').info('started')
    assert 'request_id' not in capsys.readouterr().err


def test_a_failure_in_the_console_fits_into_eighty_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    setup('console')
    log.FailureLog().failed(
        Locked('ann', Secret(PLANTED)),
        seam='http',
        operation='POST /accounts/{id}/payments',
        request_id=REQUEST_ID,
        status=409,
        duration=0.0101,
    )
    text = capsys.readouterr().err
    assert text[8:] == (
        ' INFO     seamwise: POST /accounts/{id}/payments failed: The account of\n'
        '         ann is locked, so that nothing can be paid from it any more today.\n'
        '         (Locked)\n'
        f'         name=ann key=*** request_id={REQUEST_ID}\n'
        '         status=409 duration_ms=11\n'
    )
    assert max(map(len, text.splitlines())) <= 80


def test_the_console_shows_each_line_of_a_message_and_the_traceback_indented(
    capsys: pytest.CaptureFixture[str],
) -> None:
    setup('console')
    try:
        raise ValueError(f'token={PLANTED}')
    except ValueError:
        logging.getLogger('shop').exception('two\nlines', extra={'text': 'a b'})
    lines = capsys.readouterr().err.splitlines()
    assert lines[0][8:] == ' ERROR    shop: two'
    assert lines[1:4] == [
        '         lines',
        '         text="a b"',
        '         Traceback (most recent call last):',
    ]
    assert lines[-1] == '         ValueError: token=***'


def test_the_console_shows_a_defect_once_with_its_context(
    capsys: pytest.CaptureFixture[str],
) -> None:
    setup('console')
    report = report_defect(KeyError('k'), request_id='r-1')
    assert capsys.readouterr().err[8:] == (
        f" ERROR    seamwise: defect {report.ref}: KeyError: 'k'\n"
        "         KeyError: 'k'\n"
        '         request_id: r-1\n'
    )


def test_the_console_shows_the_error_and_the_causes_of_an_event(
    capsys: pytest.CaptureFixture[str],
) -> None:
    setup('console')
    error = log.record(RecordNotFound('user', 'u-17'))
    causes = [{'type': 'OSError', 'message': 'disk'}]
    logging.getLogger('shop').info('refused', extra={**error.extra(), 'chain': causes})
    assert capsys.readouterr().err[8:] == (
        ' INFO     shop: refused\n'
        "         RecordNotFound: There is no user 'u-17'.\n"
        '         caused by OSError: disk\n'
    )


def test_the_console_has_colours_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = os.openpty()
    with os.fdopen(slave, 'w') as terminal, os.fdopen(master, 'rb', buffering=0) as reader:
        monkeypatch.setattr(sys, 'stderr', terminal)
        setup('console')
        logging.getLogger('shop').error('closed')
        terminal.flush()
        assert b' \x1b[31mERROR   \x1b[0m shop: closed' in reader.read(200)


def test_structlog_and_logging_have_the_same_form(capsys: pytest.CaptureFixture[str]) -> None:
    setup('json')
    with structlog.contextvars.bound_contextvars(tenant='t-1'):
        structlog.get_logger('shop').warning('paid %d', 7, name='bob', token=PLANTED)
    values = json.loads(capsys.readouterr().err)
    assert (values['level'], values['logger'], values['message']) == ('warning', 'shop', 'paid 7')
    assert (values['name'], values['token'], values['tenant']) == ('bob', '***', 't-1')


def test_an_error_in_an_event_of_structlog_becomes_its_fields(
    capsys: pytest.CaptureFixture[str],
) -> None:
    setup('json')
    structlog.get_logger('shop').warning('refused', error=RecordNotFound('user', 'u-17'))
    values = json.loads(capsys.readouterr().err)
    assert (values['level'], values['event']) == ('warning', 'refused')
    assert (values['error_type'], values['message']) == (
        'RecordNotFound',
        "There is no user 'u-17'.",
    )


def test_exceptions_of_structlog_have_a_traceback_without_secrets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    setup('json')
    try:
        raise ValueError(f'token={PLANTED}')
    except ValueError:
        structlog.get_logger('shop').exception('failed')
    text = capsys.readouterr().err
    values = json.loads(text)
    assert PLANTED not in text
    assert values['error_type'] == 'ValueError'
    assert values['exception'].endswith('ValueError: token=***')


def test_structlog_events_below_the_level_are_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    setup('json', level='WARNING')
    structlog.get_logger('shop').info('paid')
    assert not capsys.readouterr().err


def test_a_second_call_replaces_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    setup('json')
    setup('console', level=logging.ERROR)
    logging.getLogger('shop').warning('slow')
    logging.getLogger('shop').error('down')
    assert capsys.readouterr().err[8:] == ' ERROR    shop: down\n'


def test_handlers_of_the_terminal_are_replaced_and_others_stay(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root = logging.getLogger()
    file = logging.FileHandler(tmp_path / 'log.txt')
    root.addHandler(logging.StreamHandler(sys.stderr))
    root.addHandler(file)
    try:
        setup('json')
        logging.getLogger('shop').error('closed')
    finally:
        root.removeHandler(file)
        file.close()
    assert capsys.readouterr().err.count('closed') == 1
    assert (tmp_path / 'log.txt').read_text(encoding='utf-8') == 'closed\n'


def test_handlers_of_others_see_the_unchanged_record(caplog: pytest.LogCaptureFixture) -> None:
    setup('json')
    error = ValueError(PLANTED)
    report_defect(error)
    logging.getLogger('uvicorn.error').error('Exception in ASGI application\n', exc_info=error)
    record = caplog.records[-1]
    assert record.getMessage() == 'Exception in ASGI application\n'
    assert record.exc_info is not None
    assert record.exc_info[1] is error


def test_handlers_that_uvicorn_adds_later_are_removed(capsys: pytest.CaptureFixture[str]) -> None:
    setup('json')
    dictConfig(LOGGING_CONFIG)
    logging.getLogger('uvicorn.error').info('started')
    logging.getLogger('uvicorn.access').info('%s - "%s %s HTTP/%s" %d', 'a', 'GET', '/', '1.1', 200)
    output = capsys.readouterr()
    assert [json.loads(line)['message'] for line in output.err.splitlines()] == [
        'started',
        'a - "GET / HTTP/1.1" 200',
    ]
    assert not output.out


def test_an_access_log_that_is_turned_off_stays_off() -> None:
    logger = logging.getLogger('uvicorn.access')
    logger.handlers, logger.propagate = [], False
    setup('json')
    assert not logger.hasHandlers()


def test_an_unknown_style_or_level_is_refused() -> None:
    style: Any = 'xml'
    with pytest.raises(ValueError, match=r"must be 'json' or 'console', not 'xml'"):
        setup(style)
    with pytest.raises(ValueError, match='LOUD'):
        setup('json', level='loud')


# Request ids


def test_the_filter_keeps_a_request_id_and_has_a_default() -> None:
    own = logging.makeLogRecord({'request_id': 'r-2'})
    with serving('r-1'):
        log.RequestIdFilter().filter(own)
    outside: Any = logging.makeLogRecord({})
    log.RequestIdFilter(default='-').filter(outside)
    assert (vars(own)['request_id'], outside.request_id) == ('r-2', '-')


def test_structlog_events_have_the_request_id(capsys: pytest.CaptureFixture[str]) -> None:
    structlog.configure(
        processors=[log.add_request_id, structlog.processors.KeyValueRenderer(sort_keys=True)]
    )
    logger = structlog.get_logger()
    with serving('r-1'):
        logger.info('paid')
        logger.info('paid', request_id='r-2')
    logger.info('paid')
    assert capsys.readouterr().out.splitlines() == [
        "event='paid' request_id='r-1'",
        "event='paid' request_id='r-2'",
        "event='paid'",
    ]


def test_an_outgoing_call_has_the_request_id() -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text=request.headers.get('x-request-id', 'none'))

    with httpx.Client(transport=httpx.MockTransport(respond)) as client:
        with serving('r-1'):
            inside = client.get('https://bank.example', headers=request_id_headers())
        outside = client.get('https://bank.example', headers=request_id_headers())
    assert (inside.text, outside.text) == ('r-1', 'none')


# Servers


class Server:
    """A server with the application of `logged_app` in another process."""

    def __init__(self, folder: Path, arguments: list[str], style: str) -> None:
        self._port = free_port()
        self._output = folder / 'output.txt'
        environment = {
            **os.environ,
            'TEST_STYLE': style,
            'TEST_REQUEST_ID': REQUEST_ID,
            'PYTHONPATH': os.pathsep.join([str(ROOT / 'src'), str(ROOT)]),
        }
        arguments = [argument.format(port=self._port) for argument in arguments]
        with self._output.open('wb') as output:
            self._process = subprocess.Popen(
                [sys.executable, *arguments], stdout=output, stderr=output, env=environment
            )

    def output_of(self, *paths: str) -> str:
        """Return the output of the server for requests of some paths, until it has ended."""
        try:
            self._wait()
            for path in paths:
                httpx.get(f'http://127.0.0.1:{self._port}{path}', timeout=TIMEOUT)
        finally:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(TIMEOUT)
        return self._output.read_text(encoding='utf-8')

    def _wait(self) -> None:
        deadline = time.monotonic() + TIMEOUT
        while True:
            try:
                socket.create_connection(('127.0.0.1', self._port), 1.0).close()
            except OSError:
                assert time.monotonic() < deadline, self._output.read_text(encoding='utf-8')
                time.sleep(0.05)
            else:
                return


APP = 'tests.seams.logged_app:app'
RUN = 'import uvicorn; from tests.seams.logged_app import app; uvicorn.run(app, port={port})'
SERVERS: Mapping[str, list[str]] = {
    'uvicorn': ['-m', 'uvicorn', APP, '--port', '{port}'],
    'uvicorn.run': ['-c', RUN],
    'hypercorn': ['-m', 'hypercorn', APP, '-b', '127.0.0.1:{port}', '--access-logfile', '-'],
}
PATHS = (f'/rejected?token={PLANTED}', '/reported', '/unreported')


@pytest.mark.slow
@pytest.mark.parametrize('server', SERVERS)
def test_a_server_logs_json_lines_each_once(server: str, tmp_path: Path) -> None:
    text = Server(tmp_path, SERVERS[server], 'json').output_of(*PATHS)
    assert PLANTED not in text
    lines = [json.loads(line) for line in text.splitlines()]
    [failure] = [line for line in lines if line.get('tag') == 'CredentialsRejected']
    assert failure['duration_ms'] == 12
    [bank] = [line for line in lines if line['logger'] == 'shop.bank']
    assert (bank['name'], bank['password']) == ('bank', '***')
    [defect] = [line for line in lines if line.get('error_type') == 'RuntimeError']
    [reference] = [line for line in lines if line.get('ref') == defect['ref'] and line != defect]
    assert reference['message'].endswith(f'(reported as defect {defect["ref"]})')
    assert 'exception' not in reference
    [unreported] = [line for line in lines if line.get('error_type') == 'ValueError']
    assert unreported['exception'].endswith('ValueError: token=***')
    accesses = [line for line in lines if line['logger'].endswith('.access')]
    assert len(accesses) == len(PATHS)
    for line in (failure, bank, defect, reference, *accesses):
        assert line['request_id'] == REQUEST_ID


@pytest.mark.slow
@pytest.mark.parametrize('server', SERVERS)
def test_a_server_logs_readable_lines_each_once(server: str, tmp_path: Path) -> None:
    text = Server(tmp_path, SERVERS[server], 'console').output_of(*PATHS)
    assert PLANTED not in text
    assert '\x1b' not in text
    assert text.count('failed: bank rejects the credentials') == 1
    assert text.count('reported as') == 1
    assert text.count('RuntimeError: no connection to') == 2, 'in the line and in the report'
    assert text.count('ValueError: token=***') == 1
    assert text.count('/rejected') == 2, 'the failure and the access'
    own_lines = [line for line in text.splitlines() if ' File "' not in line]
    assert [line for line in own_lines if not line.startswith(('         ', '0', '1', '2'))] == []


@pytest.mark.slow
def test_the_access_log_of_uvicorn_can_be_turned_off(tmp_path: Path) -> None:
    arguments = [*SERVERS['uvicorn'], '--no-access-log', '--log-level', 'warning']
    text = Server(tmp_path, arguments, 'json').output_of('/rejected')
    assert {json.loads(line)['logger'] for line in text.splitlines()} == {
        'shop',
        'shop.bank',
        'seamwise',
    }


@pytest.mark.slow
def test_the_terminal_handlers_of_a_log_config_are_replaced(tmp_path: Path) -> None:
    config = tmp_path / 'logging.json'
    config.write_text(json.dumps(LOGGING_CONFIG), encoding='utf-8')
    arguments = [*SERVERS['uvicorn'], '--log-config', str(config)]
    text = Server(tmp_path, arguments, 'json').output_of('/rejected')
    assert {json.loads(line)['logger'] for line in text.splitlines()} == {
        'shop',
        'shop.bank',
        'seamwise',
        'uvicorn.error',
        'uvicorn.access',
    }
