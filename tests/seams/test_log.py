"""The log seam: records, `logging`, structlog."""

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
from seamwise.codec import ReportedCause
from seamwise.defects import Link
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
from seamwise.seams.log.record import CHAIN_LIMIT
from tests.strategies import EVERY_CLASS, PLANTED, errors, members, structs, texts

NOW = datetime(2026, 2, 20, 10, 30, tzinfo=UTC)
FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'model_payloads.json').read_text(encoding='utf-8')
)
ORDER: list[str] = FACTS['our_log_order']
OTHERS = [kind for kind in EVERY_CLASS if kind not in members(ToolError, ParsingError)]
BY_NAME: dict[str, type[TaggedError]] = {kind.__name__: kind for kind in EVERY_CLASS}


class Lost(
    TaggedError, namespace='test_log', category=Category.NOT_FOUND, message='{name} is lost.'
):
    name: str
    cause: Cause | None = None


class Down(TaggedError, namespace='test_log', category=Category.UNAVAILABLE):
    path: int = 1


# Records


@given(errors(), st.dictionaries(texts(), texts(), max_size=3) | st.none(), st.none() | texts())
def test_every_error_has_a_safe_record_in_the_documented_order(
    error: TaggedError, params: dict[str, str] | None, ref: str | None
) -> None:
    made = record(error, operation='run', params=params, ref=ref, now=NOW)
    body = encode(made)
    assert PLANTED.encode() not in body
    keys = list(json.loads(body))
    assert keys == [key for key in ORDER if key in keys]
    assert {'level', 'category', 'error_type', 'message', 'fingerprint', 'timestamp'} <= set(keys)
    assert len(made.message.partition('… (')[0]) <= 1024


def test_a_whole_record() -> None:
    made = record(
        FileNotFound('read_file', 'a.txt'),
        params={'path': 'a.txt', 'token': PLANTED},
        ref='err_2f4ad7qz',
        now=NOW,
    )
    assert encode(made).decode() == (
        '{"level":"error","category":"file_operation","tool":"read_file","error_type":"FileNotFound","message":"\'a.txt\' does not exist.",'
        '"path":"a.txt","params":{"path":"a.txt","token":"***"},"fingerprint":"'
        + made.fingerprint
        + '","ref":"err_2f4ad7qz",'
        '"timestamp":"2026-02-20T10:30:00Z"}'
    )


def test_all_keys_of_a_record_are_documented() -> None:
    assert list(LogRecord.__struct_fields__) == ORDER


@pytest.mark.parametrize(
    'case',
    [case for case in FACTS['cases'] if 'log_category' in case],
    ids=lambda case: str(case['class']),
)
@settings(max_examples=10, deadline=None)
@given(st.data())
def test_level_and_category_are_the_documented_ones(
    case: dict[str, Any], data: st.DataObject
) -> None:
    made = record(data.draw(structs(BY_NAME[case['ours']])))
    assert made.category == case['log_category']
    assert made.level == {'warn': 'warning'}.get(case['log_level'], case['log_level'])


@pytest.mark.parametrize(
    'kind',
    [one for one in EVERY_CLASS if one not in members(ToolError, ParsingError)],
    ids=lambda kind: kind.__name__,
)
@settings(max_examples=5, deadline=None)
@given(st.data())
def test_beside_the_tools_the_category_is_the_error_s_own(
    kind: type[TaggedError], data: st.DataObject
) -> None:
    error = data.draw(structs(kind))
    made = record(error)
    expected = 'critical' if error.recovery is Recovery.STOP else 'error'
    assert made.category == error.category.value
    assert made.level == ('debug' if error.category is Category.CANCELLED else expected)


@pytest.mark.parametrize(
    ('error', 'level', 'category'),
    [
        (UnknownFormat('x'), 'warning', 'validation'),
        (ToolFailed('t', OSError()), 'error', 'tool_execution'),
        (ToolCancelled('t', 'ann'), 'debug', 'tool_execution'),
        (RegistrationRejected('t', 'no'), 'critical', 'tool_execution'),
        (ResourceExhausted('disk'), 'error', 'resource'),
        (Lost('a'), 'error', 'not_found'),
        (Down(), 'error', 'unavailable'),
        (ZeroDivisionError(), 'error', 'defect'),
    ],
)
def test_level_and_category_of_the_others(
    error: TaggedError | BaseException, level: str, category: str
) -> None:
    assert (record(error).level, record(error).category) == (level, category)


def test_what_an_instance_knows_better_counts() -> None:
    class Fragile(TaggedError, category=Category.EXECUTION):
        final: bool

        @property
        @override
        def recovery(self) -> Recovery:
            return Recovery.STOP if self.final else Recovery.ASK

    assert [record(Fragile(final)).level for final in [True, False]] == ['critical', 'error']


def test_a_level_counts_as_logging_counts() -> None:
    assert [
        record(one).levelno for one in [ToolCancelled('t', 'a'), TooManyMistakes(3, 3), Lost('a')]
    ] == [10, 30, 40]


def test_a_field_of_another_kind_is_no_path() -> None:
    assert record(Down()).path is None
    assert record(TooManyMistakes(3, 3)).tool is None


def test_empty_params_are_params() -> None:
    assert record(Lost('a'), params={}).params == {}
    assert record(Lost('a')).params is None


def test_the_chain_is_that_of_the_causes_nearest_first() -> None:
    inner = ValueError(f'password={PLANTED}')
    outer = RuntimeError('sync')
    outer.__cause__ = inner
    made = record(ToolFailed('t', Lost('b', ReportedCause('Odd\ud800', 'far away'))))
    assert made.chain == (Link('Lost', 'b is lost.'), Link('Odd\ufffd', 'far away'))
    assert record(Lost('a', outer)).chain == (
        Link('RuntimeError', 'sync'),
        Link('ValueError', 'password=***'),
    )


def test_a_long_chain_ends() -> None:
    error = Lost('a')
    for _ in range(1000):
        error = Lost('a', error)
    assert len(record(error).chain) == CHAIN_LIMIT


def test_a_defect_whose_text_raises_is_still_recorded() -> None:
    class Broken(Exception):
        @override
        def __str__(self) -> str:
            raise LookupError

    assert record(Broken()).message == '(its text raised LookupError)'
    assert record(Lost('a', Broken())).chain == (Link('Broken', '(its text raised LookupError)'),)


def test_the_operation_has_a_part_in_the_fingerprint_only() -> None:
    first, second = (record(Lost('a'), operation=one, now=NOW) for one in ['sync', 'save'])
    assert first.fingerprint != second.fingerprint
    assert record(Lost('b'), operation='sync').fingerprint == first.fingerprint
    assert first.extra().keys() == second.extra().keys()


# logging


@given(errors())
def test_extra_never_meets_an_attribute_of_logging(error: TaggedError) -> None:
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
    """Give a logger of its own, that no other test hears."""
    made = logging.Logger('seams')  # noqa: LOG001 -- it must not stay
    made.addHandler(Stream())
    return made


def written(log: logging.Logger) -> list[str]:
    [handler] = log.handlers
    assert isinstance(handler, Stream)
    return handler.lines


def as_json(log: logging.Logger) -> logging.Logger:
    log.handlers[0].setFormatter(JsonFormatter())
    return log


def test_a_record_as_one_line_of_json(log: logging.Logger) -> None:
    made = record(FileNotFound('read_file', 'a.txt'), params={'path': 'a.txt'}, now=NOW)
    as_json(log).log(made.levelno, made.message, extra=made.extra())
    [line] = written(log)
    assert json.loads(line) == {**json.loads(encode(made)), 'logger': 'seams'}
    assert list(json.loads(line)) == [*json.loads(encode(made)), 'logger']


def test_what_was_logged_stands_beside_the_error_s_message(log: logging.Logger) -> None:
    as_json(log).warning(
        'call %d failed',
        7,
        extra={**record(Lost('a')).extra(), 'user': {'password': PLANTED}, 'n': 1},
    )
    line = json.loads(written(log)[0])
    assert (line['level'], line['message'], line['event'], line['user'], line['n']) == (
        'warning',
        'a is lost.',
        'call 7 failed',
        {'password': '***'},
        1,
    )


def test_a_plain_line_of_json(log: logging.Logger) -> None:
    as_json(log).info('see https://ann:%s@example.org \ud800\n%s', PLANTED, 'x' * 5000)
    line = json.loads(written(log)[0])
    assert list(line) == ['level', 'message', 'timestamp', 'logger']
    assert line['message'] == 'see https://***@example.org \ufffd\n' + 'x' * 5000
    assert line['timestamp'].endswith('Z')


def test_a_traceback_in_json_is_redacted(log: logging.Logger) -> None:
    try:
        raise ValueError(f'password={PLANTED}')
    except ValueError:
        as_json(log).exception('no', stack_info=True)
    line = json.loads(written(log)[0])
    assert list(line) == [
        'level',
        'error_type',
        'message',
        'timestamp',
        'logger',
        'exception',
        'stack',
    ]
    assert line['error_type'] == 'ValueError'
    assert line['exception'].endswith('ValueError: password=***')
    assert line['stack'].startswith('Stack')


def test_the_error_s_own_type_stays_beside_a_traceback(log: logging.Logger) -> None:
    try:
        raise ValueError
    except ValueError:
        as_json(log).exception('no', extra=record(Lost('a')).extra())
    assert json.loads(written(log)[0])['error_type'] == 'Lost'


def filtered(**attributes: Any) -> logging.LogRecord:
    made = logging.makeLogRecord(attributes)
    assert RedactingFilter().filter(made) is True
    return made


@given(texts(), errors())
def test_nothing_that_a_handler_could_print_or_pickle_holds_a_secret(
    text: str, error: TaggedError
) -> None:
    made = filtered(
        msg='%s %s %s',
        args=(text, error, Secret(PLANTED)),
        error=error,
        key=Secret(PLANTED),
        password=PLANTED,
        raw=[error],
    )
    assert PLANTED not in repr(made.__dict__)
    assert PLANTED.encode() not in pickle.dumps(made.__dict__)
    made.getMessage().encode()


def test_the_filter_leaves_what_is_harmless_as_it_is() -> None:
    made = filtered(msg='%s of %s', args=(1, 'a'), n=1, tags=['a'])
    assert (made.getMessage(), made.__dict__['n'], made.__dict__['tags']) == ('1 of a', 1, ['a'])
    assert (made.exc_info, made.exc_text, made.stack_info) == (None, None, None)
    assert 'error_type' not in made.__dict__


def test_a_percent_sign_in_a_redacted_text_is_no_place_for_an_argument() -> None:
    assert filtered(msg='%d %%', args=(100,)).getMessage() == '100 %'


def test_arguments_that_do_not_fit_cost_nothing() -> None:
    assert filtered(msg='%d files', args=('a',)).getMessage() == "%d files ('a',)"


def test_of_an_exception_its_redacted_text_and_its_class_stay(log: logging.Logger) -> None:
    log.addFilter(RedactingFilter())
    try:
        raise ValueError(f'password={PLANTED}')
    except ValueError:
        log.exception('no')
        as_json(log).exception('no')
    *plain, line = written(log)
    assert plain[-1] == 'ValueError: password=***'
    assert PLANTED not in line
    assert json.loads(line)['error_type'] == 'ValueError'
    assert json.loads(line)['exception'].endswith('ValueError: password=***')


def test_no_handler_is_left_with_the_exception_itself() -> None:
    made = filtered(msg='no', exc_info=(ValueError, ValueError(PLANTED), None))
    assert made.exc_info is None
    assert made.__dict__['error_type'] == 'ValueError'


def test_no_exception_at_hand_is_none() -> None:
    assert filtered(msg='a', exc_info=(None, None, None)).exc_text is None
    assert (
        filtered(msg='a', stack_info=f'Stack password={PLANTED}').stack_info == 'Stack password=***'
    )


def test_a_traceback_that_cannot_be_had_costs_nobody_a_line() -> None:
    class Odd(Exception):
        def __getattr__(self, name: str) -> object:
            raise LookupError(name)

    assert (
        filtered(msg='no', exc_info=(Odd, Odd(), None)).exc_text
        == 'Odd: (its traceback raised LookupError)'
    )


class Wire(logging.handlers.SocketHandler):
    """A real `SocketHandler`, but for the network: it keeps the bytes that it would have sent."""

    def __init__(self) -> None:
        super().__init__('localhost', None)
        self.sent = b''

    @override
    def send(self, s: Any) -> None:
        self.sent += bytes(s)


def shouted(log: logging.Logger) -> None:
    """Log secrets in every place that a record has."""
    try:
        raise ValueError(f'password={PLANTED}') from OSError(f'https://ann:{PLANTED}@example.org')
    except ValueError:
        log.exception(
            'calling %s with %s',
            f'https://ann:{PLANTED}@example.org',
            {'token': PLANTED, 'inner': Secret(PLANTED)},
            extra={
                'headers': {'Authorization': f'Bearer {PLANTED}'},
                'given': Secret(PLANTED),
                'error': InvalidParameter('t', 'p', 'r', Secret(PLANTED)),
            },
            stack_info=True,
        )


def test_nothing_secret_is_pickled_for_a_socket(log: logging.Logger) -> None:
    handler = Wire()
    handler.addFilter(RedactingFilter())
    log.handlers = [handler]
    shouted(log)
    assert PLANTED.encode() not in handler.sent
    received = logging.makeLogRecord(pickle.loads(handler.sent[4:]))  # noqa: S301 -- our own bytes
    assert (
        received.getMessage()
        == "calling https://***@example.org with {'token': '***', 'inner': Secret(***)}"
    )
    assert received.__dict__['headers'] == {'Authorization': '***'}
    assert received.__dict__['error_type'] == 'ValueError'
    handler.close()


def test_nothing_secret_is_put_in_a_queue(log: logging.Logger) -> None:
    waiting: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    handler = logging.handlers.QueueHandler(waiting)
    handler.addFilter(RedactingFilter())
    log.handlers = [handler]
    shouted(log)
    record_ = waiting.get()
    assert PLANTED.encode() not in pickle.dumps(record_)
    assert PLANTED not in repr(record_.__dict__)
    assert 'password=***' in str(record_.exc_text) + record_.getMessage()


@pytest.mark.parametrize('value', [float('nan'), float('inf'), -float('inf')])
def test_what_json_cannot_say_is_null(log: logging.Logger, value: float) -> None:
    as_json(log).info('a', extra={'n': value, 'deep': [{'n': value}]})
    line = json.loads(written(log)[0], parse_constant=pytest.fail)
    assert (line['n'], line['deep']) == (None, [{'n': None}])


def test_ten_megabytes_of_escapes_are_one_line(log: logging.Logger) -> None:
    as_json(log).info('%s', 'x\0\x1b[2J\n\ud800' * 1_250_000)
    [line] = written(log)
    assert line.isprintable()
    assert len(json.loads(line)['message']) == 10_000_000


def test_an_error_of_ten_megabytes_has_a_small_record() -> None:
    assert len(encode(record(FileNotFound('t', '\0\x1b' * 5_000_000)))) < 16_384


# Guards


def test_a_failure_that_is_tried_again_is_no_alarm() -> None:
    levels = [
        record(one, outcome='retried').level
        for one in [
            Down(),
            TooManyMistakes(3, 3),
            RegistrationRejected('t', 'no'),
            ToolCancelled('t', 'a'),
        ]
    ]
    assert levels == ['info', 'info', 'info', 'debug']
    assert record(Down(), outcome='retried', now=NOW).category == 'unavailable'
    assert record(ZeroDivisionError(), outcome='retried').level == 'error'


def test_a_retry_is_one_line_before_each_wait(log: logging.Logger) -> None:
    tell = observer(as_json(log))
    tell(Retrying('bank', Lost('a', OSError(f'password={PLANTED}')), 1, 3, 0.5))
    [line] = map(json.loads, written(log))
    assert (line['level'], line['error_type'], line['message']) == ('info', 'Lost', 'a is lost.')
    assert line['event'] == 'bank: attempt 1 of 3 failed, the next one follows in 0.5 s: a is lost.'
    assert line['chain'] == [{'type': 'OSError', 'message': 'password=***'}]


def test_a_circuit_that_changes_is_a_line_and_an_end_is_not(log: logging.Logger) -> None:
    tell = observer(log)
    refused = RateLimited('bank', 5, 1.0, 0.5)
    for event in (
        Recovered('b', 2, 1.0),
        GaveUp('b', Down(), 3, 1.0, 'attempts'),
        Refused('b', refused),
        FellBack('b', Down()),
    ):
        tell(event)
    tell(CircuitChanged('bank', 'closed', 'open', 5))
    assert written(log) == ['bank: the circuit went from closed to open (5 failures)']


# structlog


def test_structlog_and_logging_write_alike(log: logging.Logger) -> None:
    [handler] = log.handlers
    chain: list[Any] = [
        structlog_processor,
        structlog.stdlib.ExtraAdder(),
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.JSONRenderer(),
    ]
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=chain))
    log.warning('no luck at %s', f'https://ann:{PLANTED}@example.org', extra={'token': PLANTED})
    [line] = written(log)
    assert json.loads(line) == {'event': 'no luck at https://***@example.org', 'token': '***'}


def test_the_record_under_an_event_of_structlog_is_redacted() -> None:
    made = logging.makeLogRecord({'msg': f'password={PLANTED}', 'token': PLANTED})
    told = structlog_processor(
        None, 'info', {'event': 'e', '_record': made, '_from_structlog': False}
    )
    assert told['_record'] is made
    assert PLANTED not in repr(made.__dict__)


def test_a_tagged_error_is_written_out_for_structlog() -> None:
    given_event: dict[str, object] = {
        'event': 'no luck',
        'error': InvalidParameter('t', 'p', 'it is odd', Secret(PLANTED)),
        'user': 'ann',
        'token': PLANTED,
    }
    before = copy.copy(given_event)
    made = structlog_processor(None, 'warning', given_event)
    assert given_event == before
    keys = [
        'level',
        'category',
        'tool',
        'error_type',
        'message',
        'fingerprint',
        'timestamp',
        'event',
        'user',
        'token',
    ]
    assert list(made) == keys
    assert (made['level'], made['error_type'], made['event'], made['token']) == (
        'warning',
        'InvalidParameter',
        'no luck',
        '***',
    )


def test_what_an_event_says_itself_stays() -> None:
    own = {
        'event': 'e',
        'level': 'info',
        'timestamp': 'now',
        'params': {'api_key': PLANTED},
        'ref': 'err_2f4ad7qz',
        'operation': 'sync',
    }
    made = structlog_processor(None, 'info', {**own, 'error': Lost('a')})
    assert {key: made[key] for key in own} == {**own, 'params': {'api_key': '***'}}
    assert made['fingerprint'] == record(Lost('a'), operation='sync').fingerprint
    assert list(made)[-2:] == ['event', 'operation']


@pytest.mark.parametrize(
    ('error', 'told'), [('a text', {'error': 'a text'}), (None, {'error': None})]
)
def test_what_is_no_error_is_left_as_it_is(error: object, told: dict[str, object]) -> None:
    assert structlog_processor(None, 'info', {'event': 'e', 'error': error}) == {
        'event': 'e',
        **told,
    }


def test_a_defect_is_written_out_for_structlog_and_long_texts_keep_their_length() -> None:
    made = structlog_processor(
        None,
        'error',
        {
            'event': 'x' * 5000,
            'error': KeyError(PLANTED),
            'exception': f'password={PLANTED} ' + 'y' * 5000,
        },
    )
    assert made['category'] == 'defect'
    assert len(str(made['event'])) == 5000
    assert str(made['exception']).startswith('password=*** yyy')


def test_structlog_takes_the_processor() -> None:
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
