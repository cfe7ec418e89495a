"""Log of failures at a server's seams: once each, by category, with fields and without secrets."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from typing_extensions import override

from seamwise import Category, Cause, Failure, Secret, Success, TaggedError, on_defect
from seamwise.catalog.storage import RecordNotFound
from seamwise.catalog.tools import FileNotFound
from seamwise.policies import CircuitOpen, RateLimited
from seamwise.seams import jsonrpc, log, session
from seamwise.seams.log import FailureLog, JsonFormatter, RedactingFilter
from seamwise.seams.log.console import ConsoleFormatter
from seamwise.seams.reporting.levels import LEVELS
from seamwise.seams.reporting.request_context import serving
from tests.strategies import PLANTED


class PaymentFailed(
    TaggedError,
    namespace='test_failure_log',
    category=Category.EXECUTION,
    message='The payment of {amount} failed.',
):
    amount: int
    account: str
    key: Secret[str]
    cause: Cause | None = None


PAYMENT = PaymentFailed(
    7, f'postgresql://app:{PLANTED}@db.example.org', Secret(PLANTED), OSError(f'token={PLANTED}')
)
MISSING = RecordNotFound('user', 'u-17')
"""A constant, since errors can be reused."""


class Records(logging.Handler):
    """Handler that keeps the records."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Any] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture(name='records')
def _records() -> Iterator[list[Any]]:
    logger, handler = logging.getLogger('seamwise'), Records()
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    with serving('r-1'):
        yield handler.records
    logger.setLevel(logging.NOTSET)
    logger.removeHandler(handler)


# Records


def test_a_record_has_the_facts_of_the_failure(records: list[Any]) -> None:
    FailureLog().failed(
        MISSING,
        seam='http',
        operation='GET /users/{id}',
        request_id='r-2',
        duration=0.0101,
        status=404,
        ref='err_2f4ad7qz',
    )
    [record] = records
    assert record.name == 'seamwise'
    assert (
        record.getMessage() == "GET /users/{id} failed: There is no user 'u-17'. (RecordNotFound)"
    )
    assert {
        name: getattr(record, name)
        for name in (
            'tag',
            'category',
            'seam',
            'operation',
            'request_id',
            'fields',
            'duration_ms',
            'status',
            'ref',
            'error_type',
            'error_message',
        )
    } == {
        'tag': 'RecordNotFound',
        'category': 'not_found',
        'seam': 'http',
        'operation': 'GET /users/{id}',
        'request_id': 'r-2',
        'fields': {'kind': 'user', 'key': 'u-17'},
        'duration_ms': 11,
        'status': 404,
        'ref': 'err_2f4ad7qz',
        'error_type': 'RecordNotFound',
        'error_message': "There is no user 'u-17'.",
    }


class StepFailed(
    TaggedError, namespace='test_failure_log', category=Category.EXECUTION, message='Failed.'
):
    tool: str | int | Secret[str]
    step: int


def test_a_record_has_the_tool_of_any_class_as_log_record_has(records: list[Any]) -> None:
    errors: list[TaggedError] = [
        FileNotFound('read_file', 'a.txt'),
        StepFailed('deploy', 2),
        StepFailed(f'deploy token={PLANTED}', 2),
        StepFailed(Secret('deploy'), 2),
        StepFailed(7, 2),
        MISSING,
    ]
    for error in errors:
        FailureLog().failed(error, seam='session')
    tools = [getattr(record, 'tool', None) for record in records]
    assert tools == [log.record(error).tool for error in errors]
    assert tools == ['read_file', 'deploy', 'deploy token=***', None, None, None]


def test_a_console_shows_the_tool_once(records: list[Any]) -> None:
    FailureLog().failed(StepFailed('deploy', 2), seam='session')
    _, values = ConsoleFormatter().format(records[0]).split('\n')
    assert values.split() == ['tool=deploy', 'step=2', 'request_id=r-1']


def test_a_record_has_no_secret(records: list[Any]) -> None:
    FailureLog().failed(PAYMENT, seam='http', operation=f'GET /?token={PLANTED}')
    [record] = records
    assert PLANTED not in repr(record.__dict__) + record.getMessage()
    assert record.fields == {
        'amount': 7,
        'account': 'postgresql://***@db.example.org',
        'key': '***',
    }
    assert record.masked == 2
    assert record.chain == [{'type': 'OSError', 'message': 'token=***'}]


def test_the_request_id_is_that_of_the_request_that_is_being_served(records: list[Any]) -> None:
    FailureLog().failed(MISSING, seam='http', operation='get')
    assert records[0].request_id == 'r-1'


def test_records_of_one_operation_and_class_have_the_same_text_without_arguments(
    records: list[Any],
) -> None:
    """Sentry groups events without exception by this text."""
    for key in ('u-17', 'u-18'):
        FailureLog().failed(RecordNotFound('user', key), seam='http', operation='GET /100%s')
    assert [record.msg for record in records] == ['GET /100%%s failed: %s (RecordNotFound)'] * 2
    assert records[0].getMessage() == (
        "GET /100%s failed: There is no user 'u-17'. (RecordNotFound)"
    )


def test_a_json_line_has_the_attributes(records: list[Any]) -> None:
    FailureLog().failed(PAYMENT, seam='http', operation='POST /pay', status=502, duration=1.0)
    line = JsonFormatter().format(records[0])
    values = json.loads(line)
    assert PLANTED not in line
    assert values['level'] == 'error'
    assert values['message'] == 'The payment of 7 failed.'
    assert values['fields']['key'] == '***'
    assert (values['tag'], values['duration_ms']) == ('PaymentFailed', 1000)


def test_the_redacting_filter_keeps_the_attributes(records: list[Any]) -> None:
    FailureLog().failed(PAYMENT, seam='http', operation='POST /pay')
    record: Any = records[0]
    fields = record.fields
    RedactingFilter().filter(record)
    assert record.fields == fields
    assert record.getMessage() == 'POST /pay failed: The payment of 7 failed. (PaymentFailed)'


@pytest.mark.parametrize(('status', 'level'), [(None, 'ERROR'), (502, 'ERROR'), (400, 'INFO')])
def test_an_untagged_error_has_its_class_and_text(
    records: list[Any], status: int | None, level: str
) -> None:
    telemetry: Any = Counts()
    FailureLog(telemetry=telemetry).failed(
        f'token={PLANTED}', seam='http', operation='GET /', status=status
    )
    [record] = records
    assert (record.levelname, record.tag) == (level, 'str')
    assert record.getMessage() == 'GET / failed: token=*** (str)'
    assert not telemetry.counted


# Levels


@pytest.mark.parametrize('category', Category)
def test_every_category_has_a_level(category: Category) -> None:
    assert LEVELS[category] in {logging.INFO, logging.WARNING, logging.ERROR}


def test_the_level_depends_on_the_category(records: list[Any]) -> None:
    log = FailureLog()
    for error in (MISSING, RateLimited('bank', 5, 1.0, 0.5), PAYMENT):
        log.failed(error, seam='http', operation='pay')
    assert [record.levelname for record in records] == ['INFO', 'WARNING', 'ERROR']


def test_levels_can_be_set(records: list[Any]) -> None:
    log = FailureLog(levels={Category.NOT_FOUND: logging.DEBUG})
    log.failed(MISSING, seam='http', operation='get')
    log.failed(PAYMENT, seam='http', operation='pay')
    assert [record.levelname for record in records] == ['DEBUG', 'ERROR']


# Once


def test_a_failure_of_two_seams_is_logged_once(records: list[Any]) -> None:
    FailureLog().failed(MISSING, seam='jsonrpc', operation='users/get')
    FailureLog().failed(MISSING, seam='http', operation='POST /rpc')
    assert [record.seam for record in records] == ['jsonrpc']


def test_an_error_that_a_logged_one_has_caused_is_not_logged_again(records: list[Any]) -> None:
    FailureLog().failed(MISSING, seam='session', operation='chat')
    caused = PaymentFailed(7, 'a', Secret('k'), MISSING)
    FailureLog().failed(caused, seam='http', operation='POST /chat')
    assert [record.tag for record in records] == ['RecordNotFound']


def test_a_failure_that_a_thread_of_the_request_has_logged_is_not_logged_again(
    records: list[Any],
) -> None:
    log = FailureLog()
    with ThreadPoolExecutor(1) as pool:
        context = copy_context()
        pool.submit(
            context.run, lambda: log.failed(MISSING, seam='jsonrpc', operation='get')
        ).result()
    log.failed(MISSING, seam='http', operation='POST /rpc')
    assert len(records) == 1


def test_a_constant_error_of_two_requests_is_two_failures(records: list[Any]) -> None:
    log = FailureLog()
    for request_id in ('r-2', 'r-3'):
        with serving(request_id):
            log.failed(MISSING, seam='jsonrpc', operation='get')
            log.failed(MISSING, seam='http', operation='POST /rpc')
    assert [(record.request_id, record.seam) for record in records] == [
        ('r-2', 'jsonrpc'),
        ('r-3', 'jsonrpc'),
    ]


def test_a_constant_error_of_two_calls_in_one_batch_is_two_failures(records: list[Any]) -> None:
    for _ in range(2):
        FailureLog().failed(MISSING, seam='jsonrpc', operation='get')
    assert len(records) == 2


def test_a_constant_error_of_two_seams_outside_an_operation_is_two_failures(
    records: list[Any],
) -> None:
    def report() -> None:
        FailureLog().failed(MISSING, seam='session', operation='chat')
        FailureLog().failed(MISSING, seam='jsonrpc', operation='get')

    Context().run(report)
    assert len(records) == 2


def test_a_failure_of_two_seams_in_an_operation_is_logged_once(records: list[Any]) -> None:
    def report() -> None:
        log = FailureLog()
        for _ in range(2):
            with log.operation():
                log.failed(MISSING, seam='session', operation='chat')
                log.failed(MISSING, seam='jsonrpc', operation='get')

    Context().run(report)
    assert [record.seam for record in records] == ['session', 'session']


# Failing handlers


class FailingHandler(logging.Handler):
    """Handler whose target is down."""

    @override
    def emit(self, record: logging.LogRecord) -> None:
        raise ConnectionError(f'no log server at https://ann:{PLANTED}@logs.example.org')


@pytest.fixture(name='failing_log')
def _failing_log() -> FailureLog:
    logger = logging.Logger('failing')  # noqa: LOG001 -- only for this test
    logger.addHandler(FailingHandler())
    return FailureLog(logger)


def test_an_exception_of_a_handler_is_reported_on_stderr(
    failing_log: FailureLog, capsys: pytest.CaptureFixture[str]
) -> None:
    refs: list[str] = []
    remove = on_defect(lambda report, exception: refs.append(report.ref))
    try:
        failing_log.failed(MISSING, seam='http', operation='get')
    finally:
        remove()
    text = capsys.readouterr().err
    assert text.startswith(f'defect {refs[0]}: ConnectionError: no log server at https://***@')
    assert ', in emit' in text
    assert PLANTED not in text


def test_a_defect_is_reported_on_stderr_if_a_handler_fails(
    failing_log: FailureLog, capsys: pytest.CaptureFixture[str]
) -> None:
    report = failing_log.defect(KeyError('k'), seam='http', operation='get')
    text = capsys.readouterr().err
    assert text.count('defect err_') == 2
    assert f'defect {report.ref}: KeyError' in text


class FailingTelemetry:
    """Stands for metrics whose exporter is down."""

    def count(self, error: object, *, seam: str, operation: str) -> None:
        raise ConnectionError('no collector')


def test_an_exception_of_the_metrics_is_reported_on_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    telemetry: Any = FailingTelemetry()
    FailureLog(telemetry=telemetry).failed(MISSING, seam='http', operation='get')
    assert 'ConnectionError: no collector' in capsys.readouterr().err


# Spans and metrics


@pytest.fixture(name='spans')
def _spans() -> Iterator[tuple[Any, InMemorySpanExporter]]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider.get_tracer('test'), exporter
    provider.shutdown()


@pytest.mark.parametrize(
    ('error', 'status', 'is_error'),
    [
        (PAYMENT, 502, True),
        (CircuitOpen('bank', 5, 1.0, 'open'), 503, True),
        (MISSING, 404, False),
        (RateLimited('bank', 5, 1.0, 0.5), 429, False),
        (PAYMENT, 200, False),
        (PAYMENT, None, True),
        (CircuitOpen('bank', 5, 1.0, 'open'), None, True),
        (MISSING, None, False),
        (RateLimited('bank', 5, 1.0, 0.5), None, False),
    ],
)
def test_only_an_error_of_the_server_marks_the_span(
    spans: tuple[Any, InMemorySpanExporter], error: TaggedError, status: int | None, is_error: bool
) -> None:
    """Semantic conventions: a 4xx leaves the status of a server's span unset."""
    tracer, exporter = spans
    with tracer.start_as_current_span('GET /', kind=SpanKind.SERVER):
        FailureLog().failed(error, seam='http', operation='GET /', status=status)
    [span] = exporter.get_finished_spans()
    attributes = dict(span.attributes or {})
    if is_error:
        assert (span.status.status_code, attributes) == (
            StatusCode.ERROR,
            {'error.type': error.tag},
        )
    else:
        assert (span.status.status_code, attributes) == (StatusCode.UNSET, {})


def test_the_error_type_of_a_defect_is_the_class_of_its_exception(
    spans: tuple[Any, InMemorySpanExporter], records: list[Any]
) -> None:
    tracer, exporter = spans
    with tracer.start_as_current_span('GET /'):
        FailureLog().defect(json.JSONDecodeError('bad', '', 0), seam='http', operation='GET /')
    [span] = exporter.get_finished_spans()
    assert dict(span.attributes or {}) == {'error.type': 'json.decoder.JSONDecodeError'}
    assert span.status.status_code is StatusCode.ERROR
    [event] = span.events
    described = dict(event.attributes or {})
    assert event.name == 'exception'
    assert described['exception.type'] == 'json.decoder.JSONDecodeError'
    assert described['exception.message'] == 'bad: line 1 column 1 (char 0)'
    assert 'JSONDecodeError' in str(described['exception.stacktrace'])
    assert records[0].context == {'seam': 'http', 'operation': 'GET /', 'request_id': 'r-1'}


class Counts:
    """Telemetry that records its arguments."""

    def __init__(self) -> None:
        self.counted: list[tuple[object, str, str]] = []

    def count(self, error: object, *, seam: str, operation: str) -> None:
        self.counted.append((error, seam, operation))


def test_a_failure_is_counted_also_if_its_level_is_disabled() -> None:
    telemetry: Any = Counts()
    logger = logging.Logger('quiet', logging.CRITICAL)  # noqa: LOG001 -- only for this test
    FailureLog(logger, telemetry=telemetry).failed(MISSING, seam='http', operation='get')
    assert telemetry.counted == [(MISSING, 'http', 'get')]


def test_the_log_does_not_import_opentelemetry() -> None:
    code = (
        'import sys, logging\n'
        'from seamwise.seams.reporting.failure_log import FailureLog\n'
        'from seamwise.catalog.storage import RecordNotFound\n'
        "FailureLog().failed(RecordNotFound('a', 'b'), seam='http', operation='get')\n"
        "print(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    process = subprocess.run([sys.executable, '-c', code], capture_output=True, check=True)
    assert process.stdout == b'False\n'


# Seams

NO_ANSWER = jsonrpc.on(RecordNotFound).hidden()


class RecordingSession:
    """Session that records its events."""

    locale = 'en'
    session_id = 's-1'

    def __init__(self) -> None:
        self.sent: list[session.ErrorEvent] = []

    def send(self, event: session.ErrorEvent, /) -> None:
        self.sent.append(event)


def respond(error: RecordNotFound, **options: Any) -> jsonrpc.Response:
    adapter = jsonrpc.on(RecordNotFound).answers(-32001)
    return jsonrpc.response(
        Failure(error),
        id=1,
        adapter=adapter,
        protocol=jsonrpc.Protocol.JSON_RPC,
        revision='2.0',
        **options,
    )


def test_a_response_of_jsonrpc_logs_its_failure(records: list[Any]) -> None:
    respond(MISSING, operation='users/get')
    [record] = records
    assert (record.seam, record.operation, record.tag) == ('jsonrpc', 'users/get', 'RecordNotFound')


def test_a_success_of_jsonrpc_is_not_logged(records: list[Any]) -> None:
    jsonrpc.response(
        Success(1), id=1, adapter=NO_ANSWER, protocol=jsonrpc.Protocol.JSON_RPC, revision='2.0'
    )
    assert not records


def test_a_session_logs_the_failure_that_it_publishes(records: list[Any]) -> None:
    adapter = session.on(RecordNotFound).publishes('error.permanent', 'ERR_USER_001')
    receiver = RecordingSession()
    session.publish(Failure(MISSING), receiver, adapter=adapter, operation='get_user')
    [record] = records
    assert (record.seam, record.operation, record.tag) == ('session', 'get_user', 'RecordNotFound')
    assert len(receiver.sent) == 1


def test_a_failure_whose_adapter_raises_is_logged_as_a_defect_only(records: list[Any]) -> None:
    hidden = session.on(RecordNotFound).hidden()
    session.publish(Failure(MISSING), RecordingSession(), adapter=hidden)
    [record] = records
    assert record.error_type == 'RuntimeError'
    with pytest.raises(RuntimeError, match='was declared never to reach'):
        jsonrpc.response(
            Failure(MISSING),
            id=1,
            adapter=NO_ANSWER,
            protocol=jsonrpc.Protocol.JSON_RPC,
            revision='2.0',
        )
    assert len(records) == 1


def test_seams_take_a_log_with_its_own_logger_and_levels(records: list[Any]) -> None:
    logger, handler = logging.Logger('own'), Records()  # noqa: LOG001 -- only for this test
    logger.addHandler(handler)
    log = FailureLog(logger, levels={Category.NOT_FOUND: logging.CRITICAL})
    respond(MISSING, log=log)
    respond(RecordNotFound('user', 'u-19'), log=logger)
    session.publish(
        Failure(RecordNotFound('user', 'u-18')),
        RecordingSession(),
        adapter=session.on(RecordNotFound).publishes('error.permanent', 'ERR_USER_001'),
        log=log,
    )
    assert [record.levelname for record in handler.records] == [
        'CRITICAL',
        'INFO',
        'CRITICAL',
    ]
    assert not records


def test_the_client_gets_its_answer_although_the_log_handler_fails(
    failing_log: FailureLog, capsys: pytest.CaptureFixture[str]
) -> None:
    response = respond(MISSING, log=failing_log)
    assert isinstance(response, jsonrpc.ErrorResponse)
    assert response.error.code == -32001
    receiver = RecordingSession()
    session.publish(
        Failure(RecordNotFound('user', 'u-18')),
        receiver,
        adapter=session.on(RecordNotFound).publishes('error.permanent', 'ERR_USER_001'),
        log=failing_log,
    )
    assert [event.event for event in receiver.sent] == ['error.permanent']
    assert capsys.readouterr().err.count('defect err_') == 2
