"""Observer that reports guarded operations to a session."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from seamwise import TaggedError
from seamwise.catalog.models import ProviderNotReady
from seamwise.catalog.network import CredentialsRejected, UpstreamRateLimited
from seamwise.catalog.tools import MissingParameter, ToolCancelled, ToolError, ToolTimedOut
from seamwise.policies import CircuitOpen
from seamwise.policies.events import (
    CircuitChanged,
    FellBack,
    GaveUp,
    GuardEvent,
    Recovered,
    Refused,
    Retrying,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.session import ErrorEvent, decode, encode
from seamwise.seams.session import observer as session_observer
from seamwise.seams.session.tables import GUARDS, MODELS, NETWORK, TOOLS
from tests.seams.test_session import FailingSession, RecordingSession

VECTORS = Path(__file__).parent.parent / 'vectors'
FLOWS: dict[str, list[str]] = {
    flow['name']: flow['events']
    for flow in json.loads((VECTORS / 'session_events.json').read_text(encoding='utf-8'))['flows']
}
[THREE_TIMEOUTS] = [
    case
    for case in json.loads((VECTORS / 'retry_timelines.json').read_text(encoding='utf-8'))['cases']
    if case['kind'] == 'events'
]
LATE = ToolTimedOut('search', 30.0, 1)
ALL = TOOLS | NETWORK | MODELS | GUARDS


def sent_events(*guard_events: GuardEvent, locale: str = 'en', **details: Any) -> list[ErrorEvent]:
    session = RecordingSession(locale)
    observer = session_observer(session, adapter=ALL, **details)
    for guard_event in guard_events:
        observer(guard_event)
    return session.sent


def names(events: list[ErrorEvent]) -> list[str]:
    return [event.event for event in events]


def test_observer_sends_the_documented_events_for_three_timeouts() -> None:
    sent = sent_events(
        Retrying('search', LATE, 1, 3, 1.0),
        Retrying('search', LATE, 2, 3, 2.0),
        GaveUp('search', LATE, 3, 93.0, 'attempts'),
    )
    expected = THREE_TIMEOUTS['expected_events']
    assert names(sent) == [event for event, _ in expected]
    for event, (_, metadata) in zip(sent, expected, strict=True):
        assert metadata.items() <= event.metadata.items()


@pytest.mark.parametrize(
    ('flow', 'guard_event'),
    [
        (
            'timeout with retry (ours: the notice stands before the wait)',
            Retrying('search', LATE, 1, 3, 2.0),
        ),
        ('rate limit', Retrying('ask', UpstreamRateLimited('acme', 60.0), 1, 3, 60.0)),
        ('last failure', GaveUp('search', LATE, 3, 93.0, 'attempts')),
        (
            'validation',
            GaveUp('search', MissingParameter('search', 'query'), 1, 0.0, 'not_retryable'),
        ),
    ],
)
def test_observer_follows_the_documented_flows(flow: str, guard_event: GuardEvent) -> None:
    assert names(sent_events(guard_event)) == [
        event
        for event in FLOWS[flow]
        if event.startswith(('error.', 'agent.error', 'agent.session_end'))
    ]


def test_wait_is_announced_with_its_actual_delay() -> None:
    late, again = sent_events(
        Retrying('search', LATE, 1, 3, 0.1500001),
        stage='solving',
        task_id='t-1',
        context={'query': 'a'},
    )
    for event in (late, again):
        assert [event.metadata[key] for key in ('attempt', 'max_attempts', 'retry_after_ms')] == [
            1,
            3,
            151,
        ]
        assert [event.metadata[key] for key in ('stage', 'task_id', 'operation')] == [
            'solving',
            't-1',
            'search',
        ]
        assert event.metadata['context'] == {'query': 'a'}
        assert event.metadata['error_code'] == 'ERR_TIMEOUT_001'
        assert event.session_id == 's-1'
    assert late.metadata['timeout_seconds'] == 30.0
    assert 'timeout_seconds' not in again.metadata
    assert list(again.metadata)[-1] == 'context'


@pytest.mark.parametrize(
    ('delay', 'english', 'chinese'),
    [
        (0.0, 'in 1 s.', '将在 1 秒后重试。'),
        (0.2, 'in 1 s.', '将在 1 秒后重试。'),
        (1.0, 'in 1 s.', '将在 1 秒后重试。'),
        (1.2, 'in 2 s.', '将在 2 秒后重试。'),
        (1e9, 'in 1000000000 s.', '将在 1000000000 秒后重试。'),
    ],
)
def test_wait_message_has_whole_seconds(delay: float, english: str, chinese: str) -> None:
    _, again = sent_events(Retrying('search', LATE, 2, 3, delay), locale='zh_CN')
    assert again.content == f'Attempt 2 of 3 failed; the next one begins {english}'
    assert again.show_content == f'第 2 次尝试失败（共 3 次），{chinese}'
    assert sent_events(Retrying('search', LATE, 2, 3, delay))[1].show_content == again.content


def test_final_events_contain_the_error_the_attempts_and_the_duration() -> None:
    failed, error, end = sent_events(GaveUp('search', LATE, 3, 93.25, 'attempts'), locale='zh_CN')
    assert failed.content == 'search failed and will not be retried (attempts: 3).'
    assert failed.show_content == 'search 已失败 3 次，不再重试。'
    assert [failed.metadata[key] for key in ('recoverable', 'severity', 'recovery_strategy')] == [
        False,
        'critical',
        'terminate',
    ]
    assert [failed.metadata[key] for key in ('cause', 'operation', 'elapsed_seconds')] == [
        'ToolTimedOut',
        'search',
        93.25,
    ]
    assert (error.metadata['error_type'], error.show_content) == (
        'ToolTimedOut',
        'search 未能在 30 秒内完成。',
    )
    assert (end.content, end.show_content) == (
        'The session has ended because of an error.',
        '会话因错误而结束。',
    )
    assert list(end.metadata) == ['timestamp', 'status', 'reason']


@pytest.mark.parametrize('why', ['time', 'budget', 'retry_after'])
def test_maximum_is_absent_if_attempts_were_left(why: Any) -> None:
    sent = sent_events(GaveUp('search', LATE, 2, 45.0, why))
    assert names(sent) == ['error.recovery_failed', 'agent.error', 'agent.session_end']
    assert sent[0].metadata['attempt'] == 2
    assert 'max_attempts' not in sent[0].metadata


def test_final_error_ends_the_session_without_a_retry() -> None:
    sent = sent_events(
        GaveUp('ask', CredentialsRejected('acme', ('KEY',)), 1, 0.0, 'not_retryable')
    )
    assert names(sent) == ['error.recovery_failed', 'agent.error', 'agent.session_end']
    assert [event.metadata.get('error_code') for event in sent] == [
        'ERR_AUTH_001',
        'ERR_AUTH_001',
        None,
    ]
    sent = sent_events(GaveUp('ask', ProviderNotReady('acme'), 1, 0.0, 'not_retryable'))
    assert [event.metadata.get('error_code') for event in sent] == [
        'ERR_RECOVERY_001',
        'ERR_MODEL_002',
        None,
    ]


def test_cancelled_call_does_not_end_the_session() -> None:
    assert names(
        sent_events(GaveUp('search', ToolCancelled('search', 'ann'), 1, 0.0, 'not_retryable'))
    ) == ['error.permanent']


def test_refusal_is_sent_as_one_event() -> None:
    [sent] = sent_events(Refused('bank', CircuitOpen('bank', 5, 12.5, 'open')), operation='pay')
    assert (sent.event, sent.metadata['operation'], sent.metadata['retry_after_ms']) == (
        'error.transient',
        'pay',
        12500,
    )


@pytest.mark.parametrize(
    'guard_event',
    [Recovered('a', 2, 1.0), CircuitChanged('a', 'closed', 'open', 5), FellBack('a', LATE)],
)
def test_observer_sends_nothing_for_events_without_a_failure(guard_event: GuardEvent) -> None:
    assert sent_events(guard_event) == []


def test_final_failure_causes_one_alert() -> None:
    alerts: list[ErrorEvent] = []
    observer = session_observer(RecordingSession(), adapter=ALL, alert=alerts.append)
    observer(Retrying('ask', LATE, 1, 3, 1.0))
    observer(GaveUp('ask', CredentialsRejected('acme', ('KEY',)), 1, 0.0, 'not_retryable'))
    assert names(alerts) == ['error.recovery_failed']


def test_every_event_of_a_flow_round_trips() -> None:
    sent = sent_events(
        Retrying('search', LATE, 1, 3, 1.0), GaveUp('search', LATE, 3, 93.0, 'attempts')
    )
    assert [decode(encode(event)).unwrap() for event in sent] == sent


def test_exception_of_a_session_does_not_reach_the_guard(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR, 'seamwise'):
        session_observer(FailingSession(), adapter=ALL)(Retrying('search', LATE, 1, 3, 1.0))
    assert len(caplog.records) == 2, 'one record for each event that could not be sent'


@pytest.mark.parametrize(
    'guard_event',
    [
        Refused('bank', CircuitOpen('bank', 5, 12.5, 'open')),
        Retrying('a', LATE, 1, 3, float('inf')),
    ],
)
def test_error_that_the_adapter_does_not_cover_is_sent_as_a_defect(
    guard_event: GuardEvent, caplog: pytest.LogCaptureFixture
) -> None:
    session, adapter = RecordingSession(), _tools_adapter()
    session_observer(session, adapter=adapter)(guard_event)
    [sent] = session.sent
    assert sent.metadata['error_code'] == 'ERR_INTERNAL_001'
    assert [str(vars(record)['ref']) for record in caplog.records] == [sent.metadata['ref']]


def _tools_adapter() -> Adapter[ToolError, ErrorEvent]:
    return TOOLS


def test_guard_events_are_equal_and_hashable_by_value() -> None:
    error: TaggedError = LATE
    assert Retrying('a', error, 1, 3, 1.0) == Retrying('a', error, 1, 3, 1.0)
    assert (
        len(
            {
                Retrying('a', error, 1, 3, 1.0),
                Retrying('a', error, 1, 3, 1.0),
                GaveUp('a', error, 3, 1.0, 'time'),
            }
        )
        == 2
    )
