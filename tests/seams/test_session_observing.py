"""What a session hears of an operation behind guards."""

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
from seamwise.seams.session import ErrorEvent, decode, encode, observe
from seamwise.seams.session.tables import GUARDS, MODELS, NETWORK, TOOLS
from tests.seams.test_session import Broken, Room

VECTORS = Path(__file__).parent.parent / 'vectors'
FLOWS: dict[str, list[str]] = {
    one['name']: one['events']
    for one in json.loads((VECTORS / 'session_events.json').read_text(encoding='utf-8'))['flows']
}
[THREE_TIMEOUTS] = [
    one
    for one in json.loads((VECTORS / 'retry_timelines.json').read_text(encoding='utf-8'))['cases']
    if one['kind'] == 'events'
]
LATE = ToolTimedOut('search', 30.0, 1)
ALL = TOOLS | NETWORK | MODELS | GUARDS


def hears(*happened: GuardEvent, locale: str = 'en', **surroundings: Any) -> list[ErrorEvent]:
    room = Room(locale)
    tell = observe(room, adapter=ALL, **surroundings)
    for one in happened:
        tell(one)
    return room.sent


def names(sent: list[ErrorEvent]) -> list[str]:
    return [one.event for one in sent]


def test_a_session_hears_of_three_timeouts_what_is_documented() -> None:
    sent = hears(
        Retrying('search', LATE, 1, 3, 1.0),
        Retrying('search', LATE, 2, 3, 2.0),
        GaveUp('search', LATE, 3, 93.0, 'attempts'),
    )
    expected = THREE_TIMEOUTS['expected_events']
    assert names(sent) == [event for event, _ in expected]
    for made, (_, metadata) in zip(sent, expected, strict=True):
        assert metadata.items() <= made.metadata.items()


@pytest.mark.parametrize(
    ('flow', 'happened'),
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
def test_the_documented_flows(flow: str, happened: GuardEvent) -> None:
    assert names(hears(happened)) == [
        event
        for event in FLOWS[flow]
        if event.startswith(('error.', 'agent.error', 'agent.session_end'))
    ]


def test_a_wait_is_announced_with_the_delay_that_will_be_slept() -> None:
    late, again = hears(
        Retrying('search', LATE, 1, 3, 0.1500001),
        stage='solving',
        task_id='t-1',
        context={'query': 'a'},
    )
    for one in (late, again):
        assert [one.metadata[key] for key in ('attempt', 'max_attempts', 'retry_after_ms')] == [
            1,
            3,
            151,
        ]
        assert [one.metadata[key] for key in ('stage', 'task_id', 'operation')] == [
            'solving',
            't-1',
            'search',
        ]
        assert one.metadata['context'] == {'query': 'a'}
        assert one.metadata['error_code'] == 'ERR_TIMEOUT_001'
        assert one.session_id == 's-1'
    assert late.metadata['timeout_seconds'] == 30.0
    assert 'timeout_seconds' not in again.metadata
    assert list(again.metadata)[-1] == 'context'


@pytest.mark.parametrize(
    ('delay', 'english', 'chinese'),
    [
        (0.0, 'in 1 second.', '将在 1 秒后重试。'),
        (0.2, 'in 1 second.', '将在 1 秒后重试。'),
        (1.0, 'in 1 second.', '将在 1 秒后重试。'),
        (1.2, 'in 2 seconds.', '将在 2 秒后重试。'),
        (1e9, 'in 1000000000 seconds.', '将在 1000000000 秒后重试。'),
    ],
)
def test_a_wait_is_told_in_whole_seconds_and_in_the_right_number(
    delay: float, english: str, chinese: str
) -> None:
    _, again = hears(Retrying('search', LATE, 2, 3, delay), locale='zh_CN')
    assert again.content == f'Attempt 2 of 3 failed; the next one begins {english}'
    assert again.show_content == f'第 2 次尝试失败（共 3 次），{chinese}'
    assert hears(Retrying('search', LATE, 2, 3, delay))[1].show_content == again.content


def test_the_end_tells_what_failed_how_often_and_how_long_it_took() -> None:
    failed, error, end = hears(GaveUp('search', LATE, 3, 93.25, 'attempts'), locale='zh_CN')
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
        'search 未能在 30.0 秒内完成。',
    )
    assert (end.content, end.show_content) == (
        'The session has ended because of an error.',
        '会话因错误而结束。',
    )
    assert list(end.metadata) == ['timestamp', 'status', 'reason']


@pytest.mark.parametrize('why', ['time', 'budget', 'retry_after'])
def test_where_the_attempts_did_not_run_out_their_maximum_is_unknown(why: Any) -> None:
    sent = hears(GaveUp('search', LATE, 2, 45.0, why))
    assert names(sent) == ['error.recovery_failed', 'agent.error', 'agent.session_end']
    assert sent[0].metadata['attempt'] == 2
    assert 'max_attempts' not in sent[0].metadata


def test_an_error_without_a_way_out_ends_the_session_at_once() -> None:
    sent = hears(GaveUp('ask', CredentialsRejected('acme', 'KEY'), 1, 0.0, 'not_retryable'))
    assert names(sent) == ['error.recovery_failed', 'agent.error', 'agent.session_end']
    assert [one.metadata.get('error_code') for one in sent] == [
        'ERR_AUTH_001',
        'ERR_AUTH_001',
        None,
    ]
    sent = hears(GaveUp('ask', ProviderNotReady('acme'), 1, 0.0, 'not_retryable'))
    assert [one.metadata.get('error_code') for one in sent] == [
        'ERR_RECOVERY_001',
        'ERR_MODEL_002',
        None,
    ]


def test_a_call_that_a_person_stopped_ends_no_session() -> None:
    assert names(
        hears(GaveUp('search', ToolCancelled('search', 'ann'), 1, 0.0, 'not_retryable'))
    ) == ['error.permanent']


def test_a_refusal_is_one_event() -> None:
    [sent] = hears(Refused('bank', CircuitOpen('bank', 5, 12.5, 'open')), operation='pay')
    assert (sent.event, sent.metadata['operation'], sent.metadata['retry_after_ms']) == (
        'error.transient',
        'pay',
        12500,
    )


@pytest.mark.parametrize(
    'happened',
    [Recovered('a', 2, 1.0), CircuitChanged('a', 'closed', 'open', 5), FellBack('a', LATE)],
)
def test_what_ends_well_says_nothing(happened: GuardEvent) -> None:
    assert hears(happened) == []


def test_one_alert_is_raised_for_one_end() -> None:
    alerts: list[ErrorEvent] = []
    tell = observe(Room(), adapter=ALL, alert=alerts.append)
    tell(Retrying('ask', LATE, 1, 3, 1.0))
    tell(GaveUp('ask', CredentialsRejected('acme', 'KEY'), 1, 0.0, 'not_retryable'))
    assert names(alerts) == ['error.recovery_failed']


def test_every_event_of_a_flow_is_read_back_as_it_was() -> None:
    sent = hears(Retrying('search', LATE, 1, 3, 1.0), GaveUp('search', LATE, 3, 93.0, 'attempts'))
    assert [decode(encode(one)).unwrap() for one in sent] == sent


def test_a_session_that_cannot_send_does_not_stop_the_guard(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR, 'seamwise'):
        observe(Broken(), adapter=ALL)(Retrying('search', LATE, 1, 3, 1.0))
    assert len(caplog.records) == 2, 'each event that could not be sent'


@pytest.mark.parametrize(
    'happened',
    [
        Refused('bank', CircuitOpen('bank', 5, 12.5, 'open')),
        Retrying('a', LATE, 1, 3, float('inf')),
    ],
)
def test_what_an_adapter_does_not_cover_is_a_defect_and_told_as_one(
    happened: GuardEvent, caplog: pytest.LogCaptureFixture
) -> None:
    room, adapter = Room(), _only_tools()
    observe(room, adapter=adapter)(happened)
    [sent] = room.sent
    assert sent.metadata['error_code'] == 'ERR_INTERNAL_001'
    assert [str(vars(one)['ref']) for one in caplog.records] == [sent.metadata['ref']]


def _only_tools() -> Adapter[ToolError, ErrorEvent]:
    return TOOLS


def test_events_of_guards_are_values() -> None:
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
