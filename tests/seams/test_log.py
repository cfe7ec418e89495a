"""Log seam: records, `logging` and structlog."""

import copy
import io
import json
import logging
import logging.handlers
import pickle
import queue
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from seamwise import Category, Cause, Recovery, Secret, TaggedError
from seamwise._defects.entries import Link
from seamwise._errors.reported import ReportedCause
from seamwise.catalog.parsing import ParsingError, UnknownFormat
from seamwise.catalog.tools import (
    FileNotFound,
    InvalidParameter,
    RegistrationRejected,
    ResourceExhausted,
    ToolCancelled,
    ToolError,
    ToolFailed,
    TooManyMistakes,
)
from seamwise.policies import RateLimited
from seamwise.policies.events import CircuitChanged, FellBack, GaveUp, Recovered, Refused, Retrying
from seamwise.seams.log import (
    JsonFormatter,
    LogRecord,
    RedactingFilter,
    encode,
    observer,
    record,
    structlog_processor,
)
from seamwise.seams.log.console import ConsoleFormatter
from seamwise.seams.log.record import CHAIN_LIMIT
from seamwise.seams.reporting.levels import LEVELS
from tests.strategies import EVERY_CLASS, PLANTED, errors, members, structs, texts

NOW = datetime(2026, 2, 20, 10, 30, tzinfo=UTC)
FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'model_payloads.json').read_text(encoding='utf-8')
)
ORDER: list[str] = [*FACTS['our_log_order'], 'masked', 'attempts', 'duration_ms']
OTHER_CLASSES = [kind for kind in EVERY_CLASS if kind not in members(ToolError, ParsingError)]
CLASS_OF_NAME: dict[str, type[TaggedError]] = {kind.__name__: kind for kind in EVERY_CLASS}


class Lost(
    TaggedError, namespace='test_log', category=Category.NOT_FOUND, message='{name} is lost.'
):
    name: str
    cause: Cause | None = None


class Down(TaggedError, namespace='test_log', category=Category.UNAVAILABLE):
    path: int = 1


# Records


@given(errors(), st.dictionaries(texts(), texts(), max_size=3) | st.none(), st.none() | texts())
def test_record_of_every_error_is_safe_and_ordered(
    error: TaggedError, params: dict[str, str] | None, ref: str | None
) -> None:
    log_record = record(error, operation='run', params=params, ref=ref, now=NOW)
    body = encode(log_record)
    assert PLANTED.encode() not in body
    keys = list(json.loads(body))
    assert keys == [key for key in ORDER if key in keys]
    assert {'level', 'category', 'error_type', 'message', 'fingerprint', 'timestamp'} <= set(keys)
    assert len(log_record.message.partition('… (')[0]) <= 1024


def test_record_has_the_documented_json_form() -> None:
    log_record = record(
        FileNotFound('read_file', 'a.txt'),
        params={'path': 'a.txt', 'token': PLANTED},
        ref='err_2f4ad7qz',
        now=NOW,
    )
    assert encode(log_record).decode() == (
        '{"level":"error","category":"file_operation","tool":"read_file",'
        '"error_type":"FileNotFound","message":"\'a.txt\' does not exist.",'
        '"path":"a.txt","params":{"path":"a.txt","token":"***"},'
        f'"fingerprint":"{log_record.fingerprint}","ref":"err_2f4ad7qz",'
        '"timestamp":"2026-02-20T10:30:00Z","masked":1}'
    )


def test_a_record_counts_its_masked_places() -> None:
    cause = Lost('https://ann:FAKE@example.org', ValueError('password=FAKE'))
    error = Lost('token=FAKE', cause)
    assert record(error, params={'pin': 1, 'n': 2}, ref='token=FAKE').masked == 5
    assert record(Lost('a'), params={'n': 2}).masked == 0
    reported = ReportedCause('password=FAKE', 'token=FAKE')
    assert record(Lost('a', reported)).masked == 2


def test_a_formatted_line_counts_the_masked_places_once(log: logging.Logger) -> None:
    extra = record(Lost('token=FAKE')).extra()
    log_record = logging.makeLogRecord({'msg': 'password=FAKE', **extra, 'secret': 'FAKE'})
    RedactingFilter().filter(log_record)
    assert json.loads(JsonFormatter().format(log_record))['masked'] == 3


def test_a_record_of_logging_without_secrets_has_no_count() -> None:
    log_record = logging.makeLogRecord({'msg': 'a', 'user': 'ann'})
    RedactingFilter().filter(log_record)
    assert 'masked' not in json.loads(JsonFormatter().format(log_record))


def test_keys_of_a_record_are_the_documented_ones() -> None:
    assert list(LogRecord.__struct_fields__) == ORDER


@pytest.mark.parametrize(
    'case',
    [case for case in FACTS['cases'] if 'log_category' in case],
    ids=lambda case: str(case['class']),
)
@settings(max_examples=10, deadline=None)
@given(st.data())
def test_level_and_category_of_tool_errors_are_the_documented_ones(
    case: dict[str, Any], data: st.DataObject
) -> None:
    log_record = record(data.draw(structs(CLASS_OF_NAME[case['ours']])))
    assert log_record.category == case['log_category']
    assert log_record.level == {'warn': 'warning'}.get(case['log_level'], case['log_level'])


@pytest.mark.parametrize(
    'kind',
    OTHER_CLASSES,
    ids=lambda kind: kind.__name__,
)
@settings(max_examples=5, deadline=None)
@given(st.data())
def test_category_of_other_errors_is_their_own(
    kind: type[TaggedError], data: st.DataObject
) -> None:
    error = data.draw(structs(kind))
    log_record = record(error)
    is_final = error.recovery is Recovery.STOP and error.category is not Category.CANCELLED
    assert log_record.category == error.category.value
    assert log_record.levelno == (logging.CRITICAL if is_final else LEVELS[error.category])


@pytest.mark.parametrize(
    ('error', 'level', 'category'),
    [
        (UnknownFormat('x'), 'warning', 'validation'),
        (ToolFailed('t', OSError()), 'error', 'tool_execution'),
        (ToolCancelled('t', 'ann'), 'info', 'tool_execution'),
        (RegistrationRejected('t', 'no'), 'critical', 'tool_execution'),
        (ResourceExhausted('disk'), 'error', 'resource'),
        (Lost('a'), 'info', 'not_found'),
        (Down(), 'error', 'unavailable'),
        (ZeroDivisionError(), 'error', 'defect'),
    ],
)
def test_level_and_category_follow_from_the_error(
    error: TaggedError | BaseException, level: str, category: str
) -> None:
    assert (record(error).level, record(error).category) == (level, category)


def test_level_follows_from_the_recovery_of_the_instance() -> None:
    class Fragile(TaggedError, category=Category.EXECUTION):
        final: bool

        @property
        @override
        def recovery(self) -> Recovery:
            return Recovery.STOP if self.final else Recovery.ASK

    assert [record(Fragile(final)).level for final in [True, False]] == ['critical', 'error']


def test_levelno_is_the_level_of_logging() -> None:
    test_errors = [ToolCancelled('t', 'a'), TooManyMistakes(3, 3), Lost('a')]
    assert [record(error).levelno for error in test_errors] == [20, 30, 20]


def test_path_and_tool_are_absent_if_they_are_no_texts() -> None:
    assert record(Down()).path is None
    assert record(TooManyMistakes(3, 3)).tool is None


def test_empty_params_are_kept() -> None:
    assert record(Lost('a'), params={}).params == {}
    assert record(Lost('a')).params is None


def test_chain_contains_the_causes_nearest_first() -> None:
    exception = RuntimeError('sync')
    exception.__cause__ = ValueError(f'password={PLANTED}')
    log_record = record(ToolFailed('t', Lost('b', ReportedCause('Odd\ud800', 'far away'))))
    assert log_record.chain == (Link('Lost', 'b is lost.'), Link('Odd\ufffd', 'far away'))
    assert record(Lost('a', exception)).chain == (
        Link('RuntimeError', 'sync'),
        Link('ValueError', 'password=***'),
    )


@pytest.mark.slow
def test_chain_has_a_maximum_length() -> None:
    error = Lost('a')
    for _ in range(1000):
        error = Lost('a', error)
    assert len(record(error).chain) == CHAIN_LIMIT


def test_defect_is_recorded_even_if_its_text_raises() -> None:
    class Broken(Exception):
        @override
        def __str__(self) -> str:
            raise LookupError

    assert record(Broken()).message == '(its text raised LookupError)'
    assert record(Lost('a', Broken())).chain == (Link('Broken', '(its text raised LookupError)'),)


def test_operation_changes_only_the_fingerprint() -> None:
    first, second = (
        record(Lost('a'), operation=operation, now=NOW) for operation in ('sync', 'save')
    )
    assert first.fingerprint != second.fingerprint
    assert record(Lost('b'), operation='sync').fingerprint == first.fingerprint
    assert first.extra().keys() == second.extra().keys()


# logging


@given(errors())
def test_extra_has_no_reserved_attribute_of_logging(error: TaggedError) -> None:
    extra = record(error, params={}, ref='err_2f4ad7qz').extra()
    assert not extra.keys() & {
        *logging.makeLogRecord({}).__dict__,
        'message',
        'asctime',
        'taskName',
    }
    logging.getLogger('test').makeRecord('test', 40, 'f', 1, 'm', (), None, extra=extra)
    assert json.dumps(extra)


class Stream(logging.StreamHandler[io.StringIO]):
    def __init__(self) -> None:
        super().__init__(io.StringIO())

    @property
    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()


@pytest.fixture
def log() -> logging.Logger:
    """Return a logger that is not registered, so that other tests are not affected."""
    logger = logging.Logger('seams')  # noqa: LOG001 -- a registered one would remain
    logger.addHandler(Stream())
    return logger


def output_lines(log: logging.Logger) -> list[str]:
    [handler] = log.handlers
    assert isinstance(handler, Stream)
    return handler.lines


def with_json(log: logging.Logger) -> logging.Logger:
    log.handlers[0].setFormatter(JsonFormatter())
    return log


def test_formatter_writes_a_record_as_one_line_of_json(log: logging.Logger) -> None:
    log_record = record(FileNotFound('read_file', 'a.txt'), params={'path': 'a.txt'}, now=NOW)
    with_json(log).log(log_record.levelno, log_record.message, extra=log_record.extra())
    [line] = output_lines(log)
    assert json.loads(line) == {**json.loads(encode(log_record)), 'logger': 'seams'}
    assert list(json.loads(line)) == [*json.loads(encode(log_record)), 'logger']


def test_formatter_writes_the_logged_text_as_event(log: logging.Logger) -> None:
    with_json(log).warning(
        'call %d failed',
        7,
        extra={**record(Lost('a')).extra(), 'user': {'password': PLANTED}, 'n': 1},
    )
    line = json.loads(output_lines(log)[0])
    assert (line['level'], line['message'], line['event'], line['user'], line['n']) == (
        'warning',
        'a is lost.',
        'call 7 failed',
        {'password': '***'},
        1,
    )


def test_formatter_writes_a_plain_text_as_json(log: logging.Logger) -> None:
    with_json(log).info('see https://ann:%s@example.org \ud800\n%s', PLANTED, 'x' * 5000)
    line = json.loads(output_lines(log)[0])
    assert list(line) == ['level', 'message', 'timestamp', 'masked', 'logger']
    assert line['message'] == 'see https://***@example.org \ufffd\n' + 'x' * 5000
    assert line['timestamp'].endswith('Z')


def test_formatter_redacts_tracebacks(log: logging.Logger) -> None:
    try:
        raise ValueError(f'password={PLANTED}')
    except ValueError:
        with_json(log).exception('no', stack_info=True)
    line = json.loads(output_lines(log)[0])
    assert list(line) == [
        'level',
        'error_type',
        'message',
        'timestamp',
        'masked',
        'logger',
        'exception',
        'stack',
    ]
    assert line['error_type'] == 'ValueError'
    assert line['exception'].endswith('ValueError: password=***')
    assert line['stack'].startswith('Stack')


def test_formatter_keeps_the_error_type_of_the_record(log: logging.Logger) -> None:
    try:
        raise ValueError
    except ValueError:
        with_json(log).exception('no', extra=record(Lost('a')).extra())
    assert json.loads(output_lines(log)[0])['error_type'] == 'Lost'


def filter_record(**attributes: Any) -> logging.LogRecord:
    log_record = logging.makeLogRecord(attributes)
    assert RedactingFilter().filter(log_record) is True
    return log_record


@given(texts(), errors())
def test_filtered_record_contains_no_secret_in_print_or_pickle(
    text: str, error: TaggedError
) -> None:
    log_record = filter_record(
        msg='%s %s %s',
        args=(text, error, Secret(PLANTED)),
        error=error,
        key=Secret(PLANTED),
        password=PLANTED,
        raw=[error],
    )
    assert PLANTED not in repr(log_record.__dict__)
    assert PLANTED.encode() not in pickle.dumps(log_record.__dict__)
    log_record.getMessage().encode()


def test_filter_keeps_values_without_secrets() -> None:
    log_record = filter_record(msg='%s of %s', args=(1, 'a'), n=1, tags=['a'])
    assert (log_record.getMessage(), log_record.__dict__['n'], log_record.__dict__['tags']) == (
        '1 of a',
        1,
        ['a'],
    )
    assert (log_record.exc_info, log_record.exc_text, log_record.stack_info) == (None, None, None)
    assert 'error_type' not in log_record.__dict__


def test_filter_keeps_percent_signs_in_formatted_text() -> None:
    assert filter_record(msg='%d %%', args=(100,)).getMessage() == '100 %'


def test_filter_appends_arguments_that_do_not_match_the_format() -> None:
    assert filter_record(msg='%d files', args=('a',)).getMessage() == "%d files ('a',)"


def test_filter_keeps_the_redacted_text_and_class_of_an_exception(log: logging.Logger) -> None:
    log.addFilter(RedactingFilter())
    try:
        raise ValueError(f'password={PLANTED}')
    except ValueError:
        log.exception('no')
        with_json(log).exception('no')
    *plain_lines, line = output_lines(log)
    assert plain_lines[-1] == 'ValueError: password=***'
    assert PLANTED not in line
    assert json.loads(line)['error_type'] == 'ValueError'
    assert json.loads(line)['exception'].endswith('ValueError: password=***')


def test_filter_removes_the_exception_object() -> None:
    log_record = filter_record(msg='no', exc_info=(ValueError, ValueError(PLANTED), None))
    assert log_record.exc_info is None
    assert log_record.__dict__['error_type'] == 'ValueError'


def test_filter_accepts_a_record_without_an_exception() -> None:
    assert filter_record(msg='a', exc_info=(None, None, None)).exc_text is None
    assert (
        filter_record(msg='a', stack_info=f'Stack password={PLANTED}').stack_info
        == 'Stack password=***'
    )


def test_filter_describes_a_traceback_that_raises() -> None:
    class BrokenTraceback(Exception):
        def __getattr__(self, name: str) -> object:
            raise LookupError(name)

    assert (
        filter_record(msg='no', exc_info=(BrokenTraceback, BrokenTraceback(), None)).exc_text
        == 'BrokenTraceback: (its traceback raised LookupError)'
    )


class RecordingSocketHandler(logging.handlers.SocketHandler):
    """`SocketHandler` that records its bytes instead of sending them."""

    def __init__(self) -> None:
        super().__init__('localhost', None)
        self.sent = b''

    @override
    def send(self, s: Any) -> None:
        self.sent += bytes(s)


def log_secrets(log: logging.Logger) -> None:
    """Log secrets in all parts of a record."""
    try:
        raise ValueError(f'password={PLANTED}') from OSError(f'https://ann:{PLANTED}@example.org')
    except ValueError:
        log.exception(
            'calling %s with %s',
            f'https://ann:{PLANTED}@example.org',
            {'token': PLANTED, 'nested': Secret(PLANTED)},
            extra={
                'headers': {'Authorization': f'Bearer {PLANTED}'},
                'value': Secret(PLANTED),
                'error': InvalidParameter('t', 'p', 'r', Secret(PLANTED)),
            },
            stack_info=True,
        )


def test_filter_removes_secrets_before_a_socket_handler_pickles(log: logging.Logger) -> None:
    handler = RecordingSocketHandler()
    handler.addFilter(RedactingFilter())
    log.handlers = [handler]
    log_secrets(log)
    assert PLANTED.encode() not in handler.sent
    received = logging.makeLogRecord(pickle.loads(handler.sent[4:]))  # noqa: S301 -- our own bytes
    assert (
        received.getMessage()
        == "calling https://***@example.org with {'token': '***', 'nested': Secret(***)}"
    )
    assert received.__dict__['headers'] == {'Authorization': '***'}
    assert received.__dict__['error_type'] == 'ValueError'
    handler.close()


def test_filter_removes_secrets_before_a_queue_handler(log: logging.Logger) -> None:
    records: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    handler = logging.handlers.QueueHandler(records)
    handler.addFilter(RedactingFilter())
    log.handlers = [handler]
    log_secrets(log)
    queued_record = records.get()
    assert PLANTED.encode() not in pickle.dumps(queued_record)
    assert PLANTED not in repr(queued_record.__dict__)
    assert 'password=***' in str(queued_record.exc_text) + queued_record.getMessage()


@pytest.mark.parametrize('value', [float('nan'), float('inf'), -float('inf')])
def test_formatter_writes_non_finite_numbers_as_null(log: logging.Logger, value: float) -> None:
    with_json(log).info('a', extra={'n': value, 'deep': [{'n': value}]})
    line = json.loads(output_lines(log)[0], parse_constant=pytest.fail)
    assert (line['n'], line['deep']) == (None, [{'n': None}])


def test_formatter_writes_ten_megabytes_of_escapes_as_one_line(log: logging.Logger) -> None:
    with_json(log).info('%s', 'x\0\x1b[2J\n\ud800' * 1_250_000)
    [line] = output_lines(log)
    assert line.isprintable()
    assert len(json.loads(line)['message']) == 10_000_000


def test_record_of_an_error_of_ten_megabytes_is_small() -> None:
    assert len(encode(record(FileNotFound('t', '\0\x1b' * 5_000_000)))) < 16_384


# Events of guards


def test_retried_failure_has_level_info() -> None:
    levels = [
        record(error, outcome='retried').level
        for error in [
            Down(),
            TooManyMistakes(3, 3),
            RegistrationRejected('t', 'no'),
            ToolCancelled('t', 'a'),
        ]
    ]
    assert levels == ['info'] * 4
    assert record(Down(), outcome='retried', now=NOW).category == 'unavailable'
    assert record(ZeroDivisionError(), outcome='retried').level == 'error'


def test_observer_logs_one_line_per_retry(log: logging.Logger) -> None:
    observe = observer(with_json(log))
    observe(Retrying('bank', Lost('a', OSError(f'password={PLANTED}')), 1, 3, 0.5))
    [line] = map(json.loads, output_lines(log))
    assert (line['level'], line['error_type'], line['message']) == ('info', 'Lost', 'a is lost.')
    assert line['event'] == 'bank: attempt 1 of 3 failed, retrying in 0.5 s: a is lost.'
    assert line['chain'] == [{'type': 'OSError', 'message': 'password=***'}]


def test_observer_logs_circuit_changes_but_no_final_results(log: logging.Logger) -> None:
    observe = observer(log)
    refused = RateLimited('bank', 5, 1.0, 0.5)
    for event in (
        Recovered('b', 2, 1.0),
        GaveUp('b', Down(), 3, 1.0, 'attempts'),
        Refused('b', refused),
        FellBack('b', Down()),
    ):
        observe(event)
    observe(CircuitChanged('bank', 'closed', 'open', 5))
    assert output_lines(log) == ['bank: the circuit changed from closed to open (5 failures)']


# structlog


def test_structlog_formats_records_of_logging(log: logging.Logger) -> None:
    [handler] = log.handlers
    chain: list[Any] = [
        structlog_processor,
        structlog.stdlib.ExtraAdder(),
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.JSONRenderer(),
    ]
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=chain))
    log.warning('no luck at %s', f'https://ann:{PLANTED}@example.org', extra={'token': PLANTED})
    [line] = output_lines(log)
    assert json.loads(line) == {
        'event': 'no luck at https://***@example.org',
        'token': '***',
        'masked': 2,
    }


def test_processor_redacts_the_log_record_of_an_event() -> None:
    log_record = logging.makeLogRecord({'msg': f'password={PLANTED}', 'token': PLANTED})
    processed = structlog_processor(
        None, 'info', {'event': 'e', '_record': log_record, '_from_structlog': False}
    )
    assert processed['_record'] is log_record
    assert PLANTED not in repr(log_record.__dict__)


def test_processor_replaces_a_tagged_error_by_its_fields() -> None:
    event: dict[str, object] = {
        'event': 'no luck',
        'error': InvalidParameter('t', 'p', 'it is odd', Secret(PLANTED)),
        'user': 'ann',
        'token': PLANTED,
    }
    original = copy.copy(event)
    processed = structlog_processor(None, 'warning', event)
    assert event == original
    keys = [
        'level',
        'category',
        'tool',
        'error_type',
        'message',
        'fingerprint',
        'timestamp',
        'masked',
        'event',
        'user',
        'token',
    ]
    assert list(processed) == keys
    assert (
        processed['level'],
        processed['error_type'],
        processed['event'],
        processed['token'],
    ) == (
        'warning',
        'InvalidParameter',
        'no luck',
        '***',
    )


def test_processor_keeps_values_of_the_event() -> None:
    own_values = {
        'event': 'e',
        'level': 'info',
        'timestamp': 'now',
        'params': {'api_key': PLANTED},
        'ref': 'err_2f4ad7qz',
        'operation': 'sync',
    }
    processed = structlog_processor(None, 'info', {**own_values, 'error': Lost('a')})
    assert {key: processed[key] for key in own_values} == {
        **own_values,
        'params': {'api_key': '***'},
    }
    assert processed['fingerprint'] == record(Lost('a'), operation='sync').fingerprint
    assert list(processed)[-2:] == ['event', 'operation']


@pytest.mark.parametrize(
    ('error', 'fields'), [('a text', {'error': 'a text'}), (None, {'error': None})]
)
def test_processor_keeps_an_error_that_is_not_an_exception(
    error: object, fields: dict[str, object]
) -> None:
    assert structlog_processor(None, 'info', {'event': 'e', 'error': error}) == {
        'event': 'e',
        **fields,
    }


def test_processor_replaces_a_defect_and_keeps_long_texts() -> None:
    processed = structlog_processor(
        None,
        'error',
        {
            'event': 'x' * 5000,
            'error': KeyError(PLANTED),
            'exception': f'password={PLANTED} ' + 'y' * 5000,
        },
    )
    assert processed['category'] == 'defect'
    assert len(str(processed['event'])) == 5000
    assert str(processed['exception']).startswith('password=*** yyy')


def test_processor_works_in_a_structlog_chain() -> None:
    stream = io.StringIO()
    chain: list[Callable[..., Any]] = [
        structlog.stdlib.add_log_level,
        structlog_processor,
        structlog.processors.JSONRenderer(),
    ]
    log = structlog.wrap_logger(structlog.PrintLogger(stream), processors=chain)
    log.warning('no luck', error=Lost('a', OSError(f'password={PLANTED}')))
    line = json.loads(stream.getvalue())
    assert line['chain'] == [{'type': 'OSError', 'message': 'password=***'}]
    assert line['level'] == 'warning'


CONTROLS = 'a\x1b[2J\0\b\x9b31m\u202eb\u2028c\rd'
RAW = '\x1b\0\b\x9b\u202e\u2028\r'


@pytest.mark.parametrize('formatter', [JsonFormatter(), ConsoleFormatter()])
def test_no_control_character_of_a_record_is_written(formatter: logging.Formatter) -> None:
    try:
        raise ValueError(CONTROLS)
    except ValueError as error:
        log_record = logging.LogRecord(
            CONTROLS, 40, CONTROLS, 1, 'lost %s', (CONTROLS,), (ValueError, error, None)
        )
    log_record.levelname = CONTROLS
    log_record.__dict__.update({'error_message': CONTROLS, CONTROLS: CONTROLS})
    line = formatter.format(log_record)
    assert [char for char in RAW if char in line] == []
    assert isinstance(formatter, ConsoleFormatter) or len(line.splitlines()) == 1


@pytest.mark.parametrize(
    ('text', 'arguments', 'expected'),
    [
        ('%(user)s has %(password)s', {'user': 'ann', 'password': 'x-1'}, 'ann has ***'),
        ('50% done, token=%s', ('FAKE-1x',), '50% done, token=***'),
        ('50% of %d, token is', ('FAKE-1x',), "50% of %d, token is ('***',)"),
        ('50% of %d', ('files',), "50% of %d ('files',)"),
    ],
)
def test_arguments_of_a_record_are_redacted_by_name(
    text: str, arguments: Any, expected: str
) -> None:
    log_record = logging.makeLogRecord({'msg': text, 'args': arguments})
    RedactingFilter().filter(log_record)
    assert log_record.getMessage() == expected


def test_parameters_of_a_statement_in_the_record_before_are_redacted() -> None:
    lines: list[str] = []
    for text, arguments in [
        ('INSERT INTO users (name, password)\nVALUES (?, ?)', ()),
        ('[%s] %r', ('generated in 0.1s', ('ann', 'FAKE-1x'))),
        ('INSERT INTO cities (name) VALUES (?)', ()),
        ('[%s] %r', ('generated in 0.1s', ('Oslo',))),
    ]:
        values = {'name': 'sqlalchemy.engine.Engine', 'msg': text, 'args': arguments}
        log_record = logging.makeLogRecord(values)
        RedactingFilter().filter(log_record)
        lines.append(log_record.getMessage())
    assert lines[1] == "[generated in 0.1s] ('ann', '***')"
    assert lines[3] == "[generated in 0.1s] ('Oslo',)"


def test_an_error_of_an_application_has_its_category_and_its_tool() -> None:
    class ShelfFull(TaggedError, category=Category.RESOURCE, message='{shelf} is full.'):
        tool: str
        shelf: str

    own = record(ShelfFull('put_back', 'B'))
    assert (own.category, own.tool) == ('resource', 'put_back')
