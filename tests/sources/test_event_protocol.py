"""Tests of the events of chat sessions against the examples of the document on error events."""

import io
import json
import logging
from collections.abc import Iterator
from inspect import isfunction, signature
from pathlib import Path
from typing import Any

import msgspec
import pytest

from seamwise import Failure, Result, Secret, Success, TaggedError, message_of, policies
from seamwise.catalog.network import CredentialsRejected, HostUnreachable, UpstreamRateLimited
from seamwise.catalog.protocols import McpConnectionFailed, McpTransportFailed
from seamwise.catalog.sessions import ConnectionLost, InvalidInput, RecoveryFailed
from seamwise.catalog.streaming import StreamAborted, UserInterrupted
from seamwise.catalog.tools import ToolCancelled, ToolTimedOut
from seamwise.policies import CircuitOpen, retry
from seamwise.policies.events import GaveUp, Refused, Retrying
from seamwise.seams import log, session
from seamwise.seams.session import ErrorEvent, publish
from seamwise.seams.session import observer as session_observer
from seamwise.seams.session.observer import DEFAULT_NAMES
from seamwise.seams.session.tables import GUARDS, MCP, NETWORK, SESSIONS, STREAMING, TOOLS
from seamwise.testing import FakeWorld
from tests.seams.test_failure_log import Records

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / 'vectors' / 'event_protocol.json').read_text(encoding='utf-8')
)
ALL = TOOLS | NETWORK | MCP | SESSIONS | STREAMING


class Chat:
    """Session that records its events, in the language of the document."""

    locale = 'zh_CN'
    session_id = 's-1'

    def __init__(self) -> None:
        self.sent: list[ErrorEvent] = []

    def send(self, event: ErrorEvent, /) -> None:
        self.sent.append(event)


def published(error: Any, **details: Any) -> ErrorEvent:
    [event] = publish(Failure(error), Chat(), adapter=ALL, **details)
    return event


def example(name: str) -> dict[str, Any]:
    """Return the metadata of an example, with our type of the error and the period in seconds."""
    metadata = dict(FACTS['examples'][name]['metadata'])
    metadata['error_type'] = FACTS['our_error_types'][metadata['error_type']]
    if 'limit_per_minute' in metadata:
        metadata |= {'limit': metadata['limit_per_minute'], 'period_seconds': 60.0}
    return metadata


def assert_metadata(event: ErrorEvent, expected: dict[str, Any], *further: str) -> None:
    """Compare field by field; the time and the severity are in every event."""
    assert {
        name: value
        for name, value in event.metadata.items()
        if name not in {'timestamp', *({'severity'} - expected.keys()), *further}
    } == expected


# Example 1 and flow 1: input of the user


@pytest.mark.requirement('002-15')
def test_a_validation_event_has_the_fields_of_the_example() -> None:
    event = published(InvalidInput('task_count > 0', 0))
    assert event.event == 'error.validation'
    assert_metadata(event, example('error.validation'))


@pytest.mark.parametrize(
    ('provided', 'shown'),
    [
        ('', ''),
        (['a', 1.5, None], ['a', 1.5, None]),
        ({'name': 'ann', 'password': 'hunter2'}, {'name': 'ann', 'password': '***'}),
        ('see https://ann:hunter2@example.org', 'see https://***@example.org'),
        (Secret('hunter2'), '***'),
    ],
)
def test_the_provided_value_is_redacted(provided: object, shown: object) -> None:
    error = InvalidInput('a rule', provided)
    assert published(error).metadata['provided_value'] == shown
    assert hash(error) == hash(InvalidInput('a rule', provided))


# Example 5 and flow 5: the connection of the session


@pytest.mark.requirement('002-30')
def test_a_lost_connection_has_the_fields_of_the_example() -> None:
    expected = example('error.connection_lost')
    event = published(
        ConnectionLost(1006, 'abnormal_closure', last_event_seq=42, uptime=123.45),
        context=expected['context'],
    )
    assert event.event == 'error.connection_lost'
    assert_metadata(event, expected)


@pytest.mark.parametrize(
    'error',
    [
        HostUnreachable('api.example.org', 'connection refused'),
        McpConnectionFailed('github'),
        McpTransportFailed('github', 'the pipe is closed'),
    ],
)
def test_an_unreachable_upstream_does_not_close_the_connection_of_the_session(
    error: TaggedError,
) -> None:
    event = published(error)
    assert event.event == 'error.transient'
    assert event.metadata['recovery_strategy'] == 'retry'
    assert event.metadata['recoverable'] is True


def test_only_the_loss_of_the_connection_of_the_session_asks_the_client_to_reconnect() -> None:
    events = {kind: arm for kind, arm in ALL.arms.items() if 'connection_lost' in repr(arm)}
    assert list(events) == [ConnectionLost]


# Example 2 and flow 2: a timeout that is retried


def test_a_published_timeout_has_the_fields_of_the_example() -> None:
    expected = example('error.timeout')
    known = {'error_code', 'error_type', 'recoverable', 'recovery_strategy', 'timeout_seconds'}
    event = published(
        ToolTimedOut('web_search', 30.0, 1),
        **{name: value for name, value in expected.items() if name not in known},
    )
    assert event.event == 'error.timeout'
    assert_metadata(event, expected)


def retried(error: TaggedError, *, seconds: float, **settings: Any) -> list[ErrorEvent]:
    """Return the events of two failures and a success, each after some seconds."""
    world, chat = FakeWorld(random=lambda: 0.0), Chat()
    details: Any = settings.pop('details')
    observer = session_observer(chat, adapter=ALL, **details)
    outcomes: list[Result[str, TaggedError]] = [Success('done'), Failure(error), Failure(error)]

    def operation() -> Result[str, TaggedError]:
        world.advance(seconds)
        return outcomes.pop()

    guard = retry(timeout=None, world=world, observer=observer, **settings)
    assert guard.run_sync(operation) == Success('done')
    return chat.sent


@pytest.mark.requirement('002-17')
def test_a_retried_timeout_has_the_fields_of_the_example() -> None:
    expected = example('error.timeout')
    details = {name: expected[name] for name in ('stage', 'task_id', 'operation', 'context')}
    late, notice, later, _ = retried(
        ToolTimedOut('web_search', 30.0, 1),
        seconds=30.2,
        details=details,
        base=2.0,
        jitter='none',
    )
    expected['elapsed_seconds'] = pytest.approx(30.2)
    assert_metadata(late, expected)
    assert later.metadata['attempt'] == 2
    assert later.metadata['elapsed_seconds'] == pytest.approx(30.2), 'of one attempt'
    assert notice.event == 'error.retry_attempt'
    assert {*FACTS['retry_notice']} <= notice.metadata.keys()
    assert notice.metadata['error_message'] == late.content
    assert notice.metadata['retry_after_ms'] == expected['retry_after_ms']
    assert f'{FACTS["examples"]["error.timeout"]["delay_seconds"]} 秒' in notice.show_content


def test_the_message_in_a_retry_notice_has_no_secrets() -> None:
    _, notice, *_ = retried(
        ToolTimedOut('https://ann:hunter2@example.org', 30.0, 1), seconds=0.0, details={}
    )
    assert notice.metadata['error_message'] == 'https://***@example.org did not finish within 30 s.'


# Example 3 and flow 3: the rate limit of a service

LIMITED = UpstreamRateLimited(
    'openai_api', retry_after=60.0, limit=100, requests_made=105, reset=1729252860.0, period=60.0
)


@pytest.mark.requirement('002-22')
def test_a_published_rate_limit_has_the_fields_of_the_example() -> None:
    expected = example('error.rate_limited')
    event = published(
        LIMITED,
        attempt=1,
        max_attempts=3,
        backoff_multiplier=2.0,
        context={'endpoint': '/chat/completions'},
    )
    assert event.event == 'error.rate_limited'
    assert_metadata(event, expected)


@pytest.mark.requirement('002-21')
def test_a_retried_rate_limit_has_the_fields_of_the_example() -> None:
    first, second = retried(
        LIMITED, seconds=0.1, details={'context': {'endpoint': '/chat/completions'}}, name='ask'
    )
    assert_metadata(first, example('error.rate_limited') | {'operation': 'ask'})
    assert second.metadata['attempt'] == 2


@pytest.mark.parametrize(
    ('locale', 'sentence'),
    [('en', ' The next attempt can begin in {} s.'), ('zh_CN', '可在 {} 秒后重试。')],
)
@pytest.mark.requirement('002-23')
def test_the_text_of_a_rate_limit_says_the_delay(locale: str, sentence: str) -> None:
    seconds = FACTS['examples']['error.rate_limited']['delay_seconds']
    event = session.event(LIMITED, adapter=ALL, locale=locale)
    assert event.show_content == message_of(LIMITED, locale) + sentence.format(seconds)
    assert event.content == message_of(LIMITED)
    other = session.event(LIMITED, adapter=ALL, locale=locale, retry_after_ms=120_001)
    assert other.show_content.endswith(sentence.format(121)), 'the delay of the guard'
    unknown = session.event(UpstreamRateLimited('openai_api'), adapter=ALL, locale=locale)
    assert unknown.show_content == message_of(LIMITED, locale)


# Example 4 and flow 4: credentials that a service rejects

REJECTED = CredentialsRejected('openai', ('OPENAI_API_KEY',))


@pytest.mark.requirement('002-25')
def test_rejected_credentials_have_the_fields_of_the_example() -> None:
    event = published(REJECTED, stage='planning')
    assert event.event == 'error.recovery_failed'
    assert_metadata(event, example('error.recovery_failed'))


@pytest.mark.requirement('002-26')
def test_a_cause_is_named_by_its_type_and_else_by_a_word() -> None:
    refused = msgspec.structs.replace(REJECTED, cause=PermissionError('401'))
    assert published(refused).metadata['cause'] == 'PermissionError'
    assert published(RecoveryFailed('deploy', 3)).metadata['cause'] == 'unknown'


def final_events(error: TaggedError, why: Any, **settings: Any) -> list[ErrorEvent]:
    chat = Chat()
    session_observer(chat, adapter=ALL, **settings)(GaveUp('retry', error, 3, 93.0, why))
    return chat.sent


def test_the_end_of_a_session_has_the_events_and_fields_of_the_example() -> None:
    failed, closing, end = final_events(REJECTED, 'not_retryable', stage='planning')
    measures = {'elapsed_seconds', 'attempt'}
    assert_metadata(failed, example('error.recovery_failed'), *measures)
    assert_metadata(closing, example('error.recovery_failed'), *measures)
    assert [event.event for event in (failed, closing, end)] == [
        'error.recovery_failed',
        'agent.error',
        'agent.session_end',
    ]


@pytest.mark.parametrize('error', [LIMITED, ToolTimedOut('search', 30.0, 3)])
def test_the_closing_error_asks_for_nothing(error: TaggedError) -> None:
    failed, closing, _ = final_events(error, 'attempts')
    for event in (failed, closing):
        metadata = event.metadata
        assert (metadata['recoverable'], metadata['recovery_strategy']) == (False, 'terminate')
        assert metadata['severity'] == 'critical'
        assert 'retry_after_ms' not in metadata
    assert closing.show_content == message_of(error, 'zh_CN'), 'without a delay'


# Operations


def test_the_default_names_of_guards_name_no_operation() -> None:
    functions = [value for value in vars(policies).values() if isfunction(value)]
    names = [signature(function).parameters.get('name') for function in functions]
    assert {name.default for name in names if name and isinstance(name.default, str)} == {
        *DEFAULT_NAMES
    }


def test_an_operation_without_a_name_has_none() -> None:
    events = final_events(LIMITED, 'attempts')
    assert not any('operation' in event.metadata for event in events)
    assert events[0].content == 'The operation failed after 3 attempts and will not be retried.'
    assert events[0].show_content == '操作已失败 3 次，不再重试。'
    assert events[0].metadata['error_type'] == 'RecoveryFailed'
    assert events[0].metadata['cause'] == 'UpstreamRateLimited'
    assert final_events(LIMITED, 'attempts', operation='ask')[0].metadata['operation'] == 'ask'


# Alerts


@pytest.mark.parametrize(
    'error',
    [ToolCancelled('search', 'ann'), StreamAborted('the window was closed'), UserInterrupted()],
)
@pytest.mark.requirement('002-27')
def test_a_stop_by_a_person_alerts_nobody(error: TaggedError) -> None:
    alerts: list[ErrorEvent] = []
    event = published(error, alert=alerts.append)
    assert event.metadata['severity'] == 'info'
    assert alerts == []


def test_an_unrecoverable_error_alerts() -> None:
    alerts: list[ErrorEvent] = []
    assert published(REJECTED, alert=alerts.append) == alerts[0]


# The log line of each event


@pytest.fixture
def records() -> Iterator[list[Any]]:
    """Yield the records that the library logs during the test."""
    logger, handler = logging.getLogger('seamwise'), Records()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler.records
    logger.setLevel(level)
    logger.removeHandler(handler)


@pytest.mark.requirement('002-47')
def test_the_record_of_an_event_has_the_fields_of_the_document() -> None:
    event = published(
        ToolTimedOut('web_search', 30.0, 1), stage='solving', operation='tool_call', attempt=2
    )
    record = log.event_record(event)
    assert record.extra() == {
        'event_type': 'error.timeout',
        'error_code': 'ERR_TIMEOUT_001',
        'recoverable': True,
        'attempt': 2,
        'stage': 'solving',
        'operation': 'tool_call',
    }
    assert {*record.__struct_fields__} == {*FACTS['log_line'], 'error_code'}
    assert json.loads(log.encode(record)) == record.extra()


def assert_logged(event: ErrorEvent, record: logging.LogRecord) -> None:
    attributes: dict[str, object] = vars(record)
    assert log.event_record(event).extra().items() <= attributes.items()


def test_publish_logs_its_event_once(records: list[Any]) -> None:
    event = published(REJECTED, stage='planning', operation='ask')
    [record] = records
    assert_logged(event, record)
    assert record.tag == 'CredentialsRejected'


@pytest.mark.requirement('002-48')
def test_observe_logs_each_event_once(records: list[Any]) -> None:
    chat, late = Chat(), ToolTimedOut('search', 30.0, 1)
    observer = session_observer(chat, adapter=ALL, stage='solving')
    observer(Retrying('search', late, 1, 3, 2.0))
    observer(GaveUp('search', late, 3, 93.0, 'attempts'))
    assert [record.event_type for record in records] == [event.event for event in chat.sent]
    for event, record in zip(chat.sent, records, strict=True):
        assert_logged(event, record)
    assert [record.levelname for record in records] == [
        'INFO',
        'INFO',
        'CRITICAL',
        'CRITICAL',
        'INFO',
    ]
    assert records[2].tag == 'ToolTimedOut'


def test_a_refusal_is_logged_with_its_event(records: list[Any]) -> None:
    session_observer(Chat(), adapter=GUARDS)(Refused('bank', CircuitOpen('bank', 5, 12.5, 'open')))
    [record] = records
    assert (record.levelname, record.event_type, record.operation, record.tag) == (
        'WARNING',
        'error.transient',
        'bank',
        'CircuitOpen',
    )


def test_an_observer_takes_a_log_of_its_own(records: list[Any]) -> None:
    own = logging.Logger('own')  # noqa: LOG001 -- only for this test
    stream = io.StringIO()
    own.addHandler(logging.StreamHandler(stream))
    late = ToolTimedOut('https://ann:hunter2@example.org', 30.0, 1)
    session_observer(Chat(), adapter=ALL, log=own)(Retrying('search', late, 1, 3, 2.0))
    assert stream.getvalue().splitlines() == [
        'error.timeout: https://***@example.org did not finish within 30 s.',
        'error.retry_attempt: Attempt 1 of 3 failed; the next one begins in 2 s.',
    ]
    assert not records
