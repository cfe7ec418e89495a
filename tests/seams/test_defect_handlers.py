"""Tests of defect reports with log handlers that read the exception of a record."""

import io
import logging
import logging.handlers
import pickle
import queue
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from sentry_sdk.integrations.logging import LoggingIntegration
from sqlalchemy.exc import OperationalError

from seamwise import report_defect
from seamwise.seams import log
from tests.sentry_events import sentry_events

PLANTED = 'FAKE-hunter2'
URL = f'postgresql://app:{PLANTED}@db.example.org/orders'


@pytest.fixture(name='sentry')
def _sentry() -> Iterator[list[Any]]:
    with sentry_events(
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[LoggingIntegration()],
        in_app_include=['tests'],
    ) as events:
        yield events


def connect(dsn: str, retries: int) -> None:
    """Fail like a driver: with a secret in the text, the parameters, the cause and a variable."""
    try:
        raise OSError(111, f'could not connect to {dsn}')
    except OSError as error:
        raise OperationalError('SELECT 1', {'password': PLANTED}, error) from error


def connection_defect() -> BaseException:
    with pytest.raises(OperationalError) as info:
        connect(URL, 3)
    info.value.add_note(f'token={PLANTED}')
    return info.value


def test_sentry_gets_the_exception_without_secrets(sentry: list[Any]) -> None:
    report = report_defect(connection_defect(), request_id='r-1')
    [event] = sentry
    assert PLANTED not in repr(event)
    cause, error = event['exception']['values']
    assert (error['module'], error['type']) == ('sqlalchemy.exc', 'OperationalError')
    assert cause['type'] == 'ConnectionRefusedError'
    assert cause['mechanism']['meta']['errno']['number'] == 111
    frame = error['stacktrace']['frames'][-1]
    assert (frame['function'], frame['module'], frame['in_app']) == ('connect', __name__, True)
    assert frame['vars']['retries'] == '3'
    assert frame['vars']['dsn'] == "'postgresql://***@db.example.org/orders'"
    assert frame['context_line'].lstrip().startswith('raise OperationalError')
    assert event['extra']['ref'] == report.ref
    assert event['extra']['context'] == {'request_id': 'r-1'}
    assert event['extra']['error_type'] == 'OperationalError'


def test_sentry_gets_two_defects_of_one_place_with_the_same_type_and_frames(
    sentry: list[Any],
) -> None:
    """Sentry groups events by these."""
    for _ in range(2):
        report_defect(connection_defect())
    places = [
        [
            (error['module'], error['type'], frame['function'], frame['lineno'])
            for error in event['exception']['values']
            for frame in error['stacktrace']['frames']
        ]
        for event in sentry
    ]
    assert places[0] == places[1]
    assert places[0]


def test_opentelemetry_gets_the_exception_without_secrets() -> None:
    exporter = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]  # the SDK has no annotation
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    with pytest.warns(DeprecationWarning, match='LoggingHandler'):
        handler = LoggingHandler(logger_provider=provider)
    logger = logging.getLogger('seamwise')
    logger.addHandler(handler)
    try:
        report_defect(connection_defect(), request_id='r-1')
    finally:
        logger.removeHandler(handler)
    [data] = exporter.get_finished_logs()
    attributes: Any = data.log_record.attributes
    assert attributes['exception.type'] == 'OperationalError'
    assert 'in connect' in attributes['exception.stacktrace']
    assert attributes['error_type'] == 'OperationalError'
    assert attributes['context']['request_id'] == 'r-1'
    assert PLANTED not in repr(data.log_record.body) + repr(attributes)


def log_text(defect: BaseException, handler: logging.Handler) -> None:
    logger = logging.getLogger('tests.handlers')
    logger.addHandler(handler)
    try:
        report_defect(defect, log=logger)
    finally:
        logger.removeHandler(handler)


def test_the_formatter_of_logging_prints_the_report_once_and_no_source_line() -> None:
    stream = io.StringIO()
    log_text(connection_defect(), logging.StreamHandler(stream))
    text = stream.getvalue()
    assert PLANTED not in text
    assert text.count(', in connect\n') == 2, 'once for the error, once for its cause'
    assert 'raise OperationalError' not in text
    assert 'note: token=***' in text


def test_the_json_formatter_prints_the_report_and_no_source_line() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(log.JsonFormatter())
    log_text(connection_defect(), handler)
    text = stream.getvalue()
    assert PLANTED not in text
    assert 'raise OperationalError' not in text
    assert '"error_type":"OperationalError"' in text
    assert 'in connect' in text


def test_a_record_can_be_put_in_a_queue() -> None:
    records: queue.Queue[Any] = queue.Queue()
    log_text(connection_defect(), logging.handlers.QueueHandler(records))
    record: logging.LogRecord = pickle.loads(pickle.dumps(records.get_nowait()))  # noqa: S301 -- own bytes
    assert 'in connect' in record.getMessage()
    assert PLANTED not in repr(vars(record))
    assert vars(record)['error_type'] == 'OperationalError'
