"""Session seam: tables, events with their metadata and languages, decoding and publishing."""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise import Category, Failure, Recovery, Secret, Success, TaggedError, is_failure
from seamwise.catalog.access import AccessDenied
from seamwise.catalog.agents import ContextOverflow
from seamwise.catalog.models import BatchTimedOut, ContextTooLong, OutputTruncated
from seamwise.catalog.network import CredentialsRejected, NetworkTimedOut, UpstreamRateLimited
from seamwise.catalog.parsing import SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.catalog.protocols import (
    A2aContentTypeNotSupported,
    A2aVersionNotSupported,
    McpServerFailed,
    McpTimedOut,
)
from seamwise.catalog.sessions import AckAhead, ConnectionLost, InvalidInput, RecoveryFailed
from seamwise.catalog.streaming import UserInterrupted
from seamwise.catalog.tools import (
    CommandTimedOut,
    FileNotFound,
    InvalidParameter,
    InvalidResult,
    MissingParameter,
    PathForbidden,
    ResourceExhausted,
    ToolCancelled,
    ToolTimedOut,
)
from seamwise.policies import DeadlineExceeded, RateLimited
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.session import (
    CODES,
    ErrorEvent,
    decode,
    defect,
    encode,
    event,
    on,
    publish,
    tables,
)
from seamwise.seams.session.on import SessionArm
from seamwise.seams.session.shape import STRATEGIES, ErrorName, EventName, order_metadata
from tests.strategies import EVERY_CLASS, PLANTED, UNIONS, members, structs

NOW = datetime(2026, 2, 20, 10, 30, tzinfo=UTC)
FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'session_events.json').read_text(encoding='utf-8')
)
COMMON: list[str] = FACTS['common_metadata']['ours']
ALL: Adapter[Any, ErrorEvent] = Adapter(
    {kind: arm for name in UNIONS for kind, arm in getattr(tables, name).arms.items()}
)
ARMS: dict[Any, SessionArm[Any]] = {
    kind: arm for kind, arm in ALL.arms.items() if isinstance(arm, SessionArm)
}


class Busy(
    TaggedError, namespace='test_session', category=Category.CAPACITY, message='{host} is busy.'
):
    host: str
    retry_after: float | None = None


class Rejected(
    TaggedError,
    namespace='test_session',
    category=Category.AUTHENTICATION,
    message='{service} does not take the key.',
):
    service: str


BUSY = on(Busy).publishes('error.transient', 'ERR_HOST_001', host=lambda error: error.host)
REJECTED = on(Rejected).publishes('error.recovery_failed', 'ERR_KEY_001')


class RecordingSession:
    """Session that records its events."""

    def __init__(self, locale: str = 'en', session_id: str | None = 's-1') -> None:
        self.locale = locale
        self.session_id = session_id
        self.sent: list[ErrorEvent] = []

    def send(self, event: ErrorEvent, /) -> None:
        self.sent.append(event)


def event_of(error: Any, locale: str = 'en', **details: Any) -> ErrorEvent:
    return event(error, adapter=ALL, locale=locale, now=NOW, **details)


def visible_errors() -> st.SearchStrategy[TaggedError]:
    """Return a strategy for errors of every class that is not hidden."""
    return st.one_of(*map(structs, ARMS))


# Tables

EVENT_OF: Mapping[Category, str] = {
    Category.VALIDATION: 'error.validation',
    Category.TIMEOUT: 'error.timeout',
    Category.RATE_LIMIT: 'error.rate_limited',
    Category.CONNECTION: 'error.transient',
    Category.RESOURCE: 'error.resource',
    Category.CAPACITY: 'error.transient',
    Category.CIRCUIT_OPEN: 'error.transient',
    Category.UNAVAILABLE: 'error.transient',
}
OWN_EVENTS: Mapping[type, str] = {
    CredentialsRejected: 'error.recovery_failed',
    RecoveryFailed: 'error.recovery_failed',
    ConnectionLost: 'error.connection_lost',
}
"""Classes with an event of their own: those without recovery, and the session's connection."""

HIDDEN = {'CacheMiss', 'EditorInstallFailed'}
"""Classes that no session receives: a cache miss leads to a request, and editors are installed
at a terminal."""


@pytest.mark.parametrize('name', UNIONS)
def test_table_has_an_arm_for_every_class_of_its_union(name: str) -> None:
    assert set(getattr(tables, name).kinds) == set(members(UNIONS[name]))


def test_hidden_classes_are_the_documented_ones() -> None:
    assert {kind.__name__ for kind, arm in ALL.arms.items() if isinstance(arm, Hidden)} == HIDDEN
    assert len(ARMS) + len(HIDDEN) == len(EVERY_CLASS)


@given(visible_errors())
def test_event_name_follows_from_the_category(error: TaggedError) -> None:
    default = (
        'error.transient'
        if error.category is Category.EXECUTION and error.retryable
        else 'error.permanent'
        if error.recovery is Recovery.STOP
        else 'error.correctable'
    )
    expected = OWN_EVENTS.get(type(error)) or EVENT_OF.get(error.category, default)
    assert ALL(error).event == expected


def test_event_of_a_server_fault_is_transient_if_it_is_retryable() -> None:
    assert [event_of(McpServerFailed('s', code, '')).event for code in (-32603, -32602)] == [
        'error.transient',
        'error.correctable',
    ]


def test_event_names_are_the_documented_ones() -> None:
    documented = {case['event'] for case in FACTS['cases']} | set(FACTS['our_further_events'])
    assert set(get_args(ErrorName)) == documented
    assert set(get_args(EventName)) - documented == {'agent.error', 'agent.session_end'}


EXAMPLES: Mapping[str, TaggedError] = {
    'ERR_VAL_001': InvalidInput('task_count > 0', 0),
    'ERR_TIMEOUT_001': ToolTimedOut('search', 30.0, 1),
    'ERR_RATE_001': UpstreamRateLimited('acme', 60.0, 100, 105, 1729252860.0, 60.0, OSError()),
    'ERR_AUTH_001': CredentialsRejected('acme', ('ACME_API_KEY',), PermissionError('no')),
    'ERR_CONN_001': ConnectionLost(1006, 'abnormal_closure', 42, 123.45),
}
MEASURES: Mapping[str, Any] = {
    'ERR_TIMEOUT_001': {'elapsed_seconds': 30.2},
    'ERR_RATE_001': {'backoff_multiplier': 2.0},
}
"""Metadata that an error does not have, only the guard that measures the time."""


@pytest.mark.parametrize(
    'case',
    [case for case in FACTS['cases'] if case['error_code']],
    ids=lambda case: case['error_code'],
)
def test_event_of_a_documented_code_has_the_documented_metadata(case: dict[str, Any]) -> None:
    error_event = event_of(EXAMPLES[case['error_code']], **MEASURES.get(case['error_code'], {}))
    assert error_event.event == case['event']
    assert error_event.metadata['error_code'] == case['error_code']
    assert error_event.metadata['recoverable'] is case['recoverable']
    assert error_event.metadata['recovery_strategy'] == case['strategy']
    assert {*case['own_metadata']} <= set(error_event.metadata)
    assert error_event.metadata['severity'] == case.get('severity', 'error')


def test_metadata_contain_the_documented_values() -> None:
    limited = event_of(EXAMPLES['ERR_RATE_001']).metadata
    assert [limited[key] for key in ('limit', 'rate_limit_reset', 'retry_after_ms')] == [
        100,
        '2024-10-18T12:01:00Z',
        60000,
    ]
    assert (limited['requests_made'], limited['context']) == (105, {'service': 'acme'})
    rejected = event_of(EXAMPLES['ERR_AUTH_001']).metadata
    assert (rejected['cause'], rejected['context']) == (
        'PermissionError',
        {'service': 'acme', 'required_config': ['ACME_API_KEY']},
    )
    lost = event_of(EXAMPLES['ERR_CONN_001']).metadata
    assert [
        lost[key] for key in ('close_code', 'close_reason', 'last_event_seq', 'uptime_seconds')
    ] == [
        1006,
        'abnormal_closure',
        42,
        123.45,
    ]


def test_every_class_has_its_own_code_with_an_explanation() -> None:
    codes = [arm.code for arm in ARMS.values()]
    assert len(set(codes)) == len(codes)
    assert {*codes, 'ERR_INTERNAL_001'} == set(CODES)
    assert set(FACTS['codes']) <= set(codes)


@pytest.mark.parametrize(('code', 'explanation'), CODES.items())
def test_explanation_of_a_code_is_one_line(code: str, explanation: str) -> None:
    assert explanation.endswith('.')
    assert '\n' not in explanation
    on(Busy).publishes('error.transient', code)


@pytest.mark.parametrize('code', ['VAL_001', 'ERR_VAL_1', 'ERR_val_001', 'ERR_VAL_001\n', ''])
def test_publishes_rejects_a_code_of_another_form(code: str) -> None:
    with pytest.raises(ValueError, match='is not a session code'):
        on(Busy).publishes('error.transient', code)


def test_hidden_error_is_a_defect_if_it_reaches_the_seam() -> None:
    adapter = on(Busy).hidden()
    assert isinstance(adapter.arms[Busy], Hidden)
    with pytest.raises(RuntimeError, match='the session seam'):
        adapter(Busy('a'))


@pytest.mark.parametrize('recovery', Recovery)
def test_strategy_follows_from_the_recovery(recovery: Recovery) -> None:
    assert STRATEGIES[recovery] == FACTS['strategy_of_recovery'][recovery.name]


# Events


@given(visible_errors(), st.sampled_from(['en', 'zh_CN', 'xx']), st.integers(1, 3) | st.none())
def test_event_of_every_error_is_safe_in_every_language(
    error: Any, locale: str, attempt: int | None
) -> None:
    error_event = event_of(
        error, locale, attempt=attempt, context={'password': PLANTED, 'note': f'Bearer {PLANTED}'}
    )
    body = encode(error_event)
    assert PLANTED.encode() not in body
    fields = json.loads(body)
    assert list(fields) == ['event', 'content', 'metadata', 'show_content']
    assert all(len(fields[key].partition('… (')[0]) <= 1024 for key in ['content', 'show_content'])
    keys = list(fields['metadata'])
    specific = [key for key in keys if key not in COMMON]
    assert keys == [*(key for key in COMMON[:-1] if key in keys), *specific, 'context']
    assert {*COMMON[:6]} <= set(keys)
    assert None not in fields['metadata'].values()
    assert decode(body).unwrap() == error_event


def test_event_has_the_documented_json_form() -> None:
    error_event = event(
        Busy('a', 1.5),
        adapter=BUSY,
        locale='en',
        now=NOW,
        context={'tool_name': 'search', 'token': PLANTED},
        retry_after_ms=2000,
        max_attempts=3,
        attempt=1,
        operation='call',
        task_id='t-1',
        stage='solving',
    )
    assert encode(error_event).decode() == (
        '{"event":"error.transient","content":"a is busy.",'
        '"metadata":{"error_code":"ERR_HOST_001","error_type":"Busy",'
        '"timestamp":"2026-02-20T10:30:00Z","recoverable":true,'
        '"recovery_strategy":"exponential_backoff","severity":"error",'
        '"stage":"solving","task_id":"t-1","operation":"call",'
        '"attempt":1,"max_attempts":3,"retry_after_ms":2000,"host":"a",'
        '"context":{"tool_name":"search","token":"***"}},"show_content":"a is busy."}'
    )


def test_delay_is_that_of_the_error_by_default() -> None:
    assert event(Busy('a', 0.0001), adapter=BUSY, locale='en').metadata['retry_after_ms'] == 1
    assert (
        'retry_after_ms'
        not in event(Busy('a'), adapter=BUSY, locale='en', retry_after_ms=None, context={}).metadata
    )
    assert 'context' not in event(Busy('a'), adapter=BUSY, locale='en', context={}).metadata


def test_arm_can_override_the_delay() -> None:
    arm = on(Busy).publishes('error.transient', 'ERR_HOST_001', retry_after_ms=lambda _: 5)
    assert arm(Busy('a', 1)).metadata['retry_after_ms'] == 5


def test_credential_is_masked_before_an_arm_cuts_it() -> None:
    arm = on(Busy).publishes('error.transient', 'ERR_HOST_001', start=lambda error: error.host[:18])
    assert 'FAKE' not in repr(arm(Busy(f'https://ann:{PLANTED}@example.org/')))


def test_event_rejects_unknown_details() -> None:
    with pytest.raises(TypeError, match=r'Unknown event details: colour\. Allowed: stage'):
        event_of(FileNotFound('t', 'p'), colour='red')


def test_event_has_the_current_time_by_default() -> None:
    assert str(event(Busy('a'), adapter=BUSY, locale='en').metadata['timestamp']).endswith('Z')
    assert 'timestamp' not in BUSY(Busy('a')).metadata


@pytest.mark.parametrize(
    ('error', 'own_metadata'),
    [
        (MissingParameter('t', 'path'), {'constraint': 'path is required'}),
        (InvalidParameter('t', 'path', 'it is odd'), {'constraint': 'path: it is odd'}),
        (
            InvalidParameter('t', 'path', 'it is odd', Secret(PLANTED)),
            {'constraint': 'path: it is odd', 'provided_value': '***'},
        ),
        (
            InvalidResult('t', (Problem('/a', 'is missing'), Problem('', 'is odd'))),
            {'constraint': '/a: is missing; the result: is odd'},
        ),
        (CommandTimedOut('t', 'ls', 1.5, '', 2), {'attempt': 2, 'timeout_seconds': 1.5}),
        (ToolTimedOut('t', 1.5, 3), {'attempt': 3, 'timeout_seconds': 1.5}),
        (
            UnreadableCall('json', 'odd', '{', 1),
            {'constraint': 'well-formed json', 'provided_value': '{'},
        ),
        (
            UnknownFormat(f'password={PLANTED}'),
            {'constraint': 'a known format', 'provided_value': 'password=***'},
        ),
        (
            SchemaViolations((Problem('/tool', 'is missing'), Problem('/id', 'is odd'))),
            {'constraint': '/tool: is missing; /id: is odd'},
        ),
        (FileNotFound('t', 'p'), {}),
        (
            InvalidInput('count > 0', Secret(PLANTED)),
            {'constraint': 'count > 0', 'provided_value': '***'},
        ),
        (AckAhead(9, 7), {'constraint': 'at most 7', 'provided_value': 9}),
        (ContextTooLong('acme', 9, 7), {'constraint': 'at most 7 tokens', 'provided_value': 9}),
        (ContextOverflow(9, 7), {'constraint': 'at most 7 tokens', 'provided_value': 9}),
        (OutputTruncated('acme', 7), {'constraint': 'at most 7 tokens'}),
        (ContextTooLong('acme'), {}),
        (OutputTruncated('acme'), {}),
        (
            A2aVersionNotSupported('2', ('1.0', '0.9')),
            {'constraint': 'one of 1.0 or 0.9', 'provided_value': '2'},
        ),
        (
            A2aContentTypeNotSupported('a/b'),
            {'constraint': 'a content type that the agent supports', 'provided_value': 'a/b'},
        ),
        (NetworkTimedOut('h', 'get', 2.5), {'timeout_seconds': 2.5}),
        (McpTimedOut('s', 'get', 2.5), {'timeout_seconds': 2.5}),
        (BatchTimedOut('b', 2.5), {'timeout_seconds': 2.5}),
        (DeadlineExceeded('d', 2.5, 2), {'attempt': 2, 'timeout_seconds': 2.5}),
        (
            RateLimited('r', 7, 1.0, 0.25),
            {'retry_after_ms': 250, 'limit': 7, 'period_seconds': 1.0},
        ),
        (UpstreamRateLimited('acme'), {'context': {'service': 'acme'}}),
        (
            RecoveryFailed('deploy', 3, OSError()),
            {'operation': 'deploy', 'attempt': 3, 'cause': 'OSError'},
        ),
        (
            CredentialsRejected('acme', ('KEY',), AccessDenied('read', 'a')),
            {'cause': 'AccessDenied', 'context': {'service': 'acme', 'required_config': ['KEY']}},
        ),
        (
            ConnectionLost(1006, '', 0, 0.5),
            {'close_code': 1006, 'close_reason': '', 'last_event_seq': 0, 'uptime_seconds': 0.5},
        ),
    ],
)
def test_event_has_the_metadata_of_its_class(
    error: TaggedError, own_metadata: dict[str, object]
) -> None:
    common = [
        'error_code',
        'error_type',
        'timestamp',
        'recoverable',
        'recovery_strategy',
        'severity',
    ]
    metadata = event_of(error).metadata
    assert {key: value for key, value in metadata.items() if key not in common} == own_metadata


def test_attempt_of_the_caller_overrides_that_of_the_error() -> None:
    assert event_of(ToolTimedOut('t', 1.5, 3), attempt=4).metadata['attempt'] == 4


@pytest.mark.parametrize(
    ('error_event', 'recoverable', 'severity', 'strategy'),
    [
        (event_of(FileNotFound('t', 'p')), True, 'error', 'escalate_to_user'),
        (event_of(ResourceExhausted('disk')), True, 'error', 'exponential_backoff'),
        (event_of(ToolCancelled('t', 'ann')), False, 'info', 'terminate'),
        (REJECTED(Rejected('s')), False, 'critical', 'terminate'),
        (
            on(Busy).publishes('error.recovery_failed', 'ERR_HOST_002')(Busy('a')),
            False,
            'critical',
            'terminate',
        ),
    ],
)
def test_severity_and_strategy_follow_from_the_recovery(
    error_event: ErrorEvent, recoverable: bool, severity: str, strategy: str
) -> None:
    keys = ('recoverable', 'severity', 'recovery_strategy')
    assert [error_event.metadata[key] for key in keys] == [recoverable, severity, strategy]


def test_metadata_are_ordered_without_unknown_values() -> None:
    assert list(
        order_metadata(
            {'context': {'a': 1}, 'own': 0, 'unknown': None, 'attempt': 1, 'error_code': 'E'}
        )
    ) == [
        'error_code',
        'attempt',
        'own',
        'context',
    ]


# Languages


def test_content_is_english_and_show_content_is_localized() -> None:
    error_event = event_of(FileNotFound('read_file', 'a.txt'), 'zh_CN')
    assert (error_event.content, error_event.show_content) == (
        "'a.txt' does not exist.",
        "'a.txt' 不存在。",
    )


def test_closed_words_in_a_message_are_localized() -> None:
    forbidden = event_of(PathForbidden('read_file', 'a.txt', 'ignored'), 'zh_CN')
    assert forbidden.show_content == "不允许 read_file 访问 'a.txt'（已被忽略规则排除）。"
    assert forbidden.content == "read_file may not touch 'a.txt' (ignored)."
    assert event_of(ResourceExhausted('disk'), 'zh_CN').show_content == '系统资源已耗尽：磁盘空间。'


def test_unknown_locale_shows_english_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, 'seamwise'):
        texts = {event_of(FileNotFound('t', 'a.txt'), 'tlh_QX').show_content for _ in range(3)}
    assert texts == {"'a.txt' does not exist."}
    assert len(caplog.records) == 1


# Decoding


@pytest.mark.parametrize(
    ('body', 'problem'),
    [
        (b'', 'truncated'),
        (b'{"event":"error.time', 'truncated'),
        (b'\xff', ''),
        (b'[]', 'Expected `object`'),
        (b'{"success":false,"error":{}}', 'missing required field'),
        (
            b'{"event":"error.nothing","content":"","metadata":{},"show_content":""}',
            'Invalid enum value',
        ),
        (b'{"event":"error.timeout","content":"","metadata":[],"show_content":""}', '$.metadata'),
        ('{"event":"error.timeout","content":"","metadata":' + '{"a":' * 100_000, ''),
    ],
)
def test_decode_fails_for_a_foreign_or_truncated_body(body: bytes | str, problem: str) -> None:
    result = decode(body)
    assert is_failure(result)
    assert problem in result.failure().problem


def test_decode_ignores_keys_of_a_newer_server() -> None:
    body = b'{"event":"agent.error","novel":1,"content":"a","metadata":{"x":1},"show_content":"b"}'
    assert decode(body).unwrap() == ErrorEvent(
        event='agent.error', content='a', metadata={'x': 1}, show_content='b'
    )


# Bad input

HOSTILE_TEXTS = [
    '\u202e\u0623\u0647\u0644\u0627.txt',
    'a\0b\x1b[2J\r\n',
    '\udce9\ud800',
    '文件',
    '{path}{0}%s',
    '\U0001d4b3\u200d',
]
"""Right-to-left text, control characters, lone surrogates, other scripts, placeholders, and
characters beyond 16 bits."""


@pytest.mark.parametrize('locale', ['en', 'zh_CN'])
@pytest.mark.parametrize('text', HOSTILE_TEXTS)
def test_event_is_valid_for_any_text(text: str, locale: str) -> None:
    error_event = event_of(
        UserInterrupted(text),
        locale,
        stage=text,
        task_id=text,
        operation=text,
        context={text: [text]},
    )
    rejected = event_of(CredentialsRejected(text, (text,)), locale)
    assert decode(encode(error_event)).unwrap() == error_event
    assert decode(encode(rejected)).unwrap() == rejected
    repaired = (
        text.encode('utf-8', 'surrogatepass').decode('utf-8', 'replace')
        if '\udce9' in text
        else text
    )
    assert len(str(error_event.metadata['stage'])) == len(text)
    if repaired == text:
        assert error_event.metadata['context'] == {text: [text]}
        assert text in rejected.content


@pytest.mark.nightly
def test_event_cuts_a_text_of_ten_megabytes() -> None:
    huge = 'x' * 10_000_000
    error_event = event_of(UnknownFormat(huge), operation=huge)
    assert str(error_event.metadata['provided_value']).endswith('x… (9998976 more)')
    assert len(encode(error_event)) < 3000
    assert len(event_of(FileNotFound('t', huge), 'zh_CN').show_content) < 300


@pytest.mark.parametrize('delay', [-1, 10**13, float('nan'), float('inf')])
def test_event_rejects_an_invalid_delay(delay: Any) -> None:
    with pytest.raises(ValueError, match='retry_after_ms must be 0 to 1000000000000 milliseconds'):
        event_of(FileNotFound('t', 'a'), retry_after_ms=delay)


@pytest.mark.parametrize('reset', [float('nan'), float('inf'), 1e300, -1e300, 1e12])
def test_event_omits_a_reset_time_that_is_out_of_range(reset: float) -> None:
    assert 'rate_limit_reset' not in event_of(UpstreamRateLimited('acme', reset=reset)).metadata


def test_context_of_the_error_and_of_the_caller_are_merged() -> None:
    context = {'endpoint': '/chat', 'service': 'acme-eu'}
    error_event = event_of(CredentialsRejected('acme', ('KEY',)), context=context)
    assert error_event.metadata['context'] == {
        'service': 'acme-eu',
        'required_config': ['KEY'],
        'endpoint': '/chat',
    }
    assert list(error_event.metadata)[-1] == 'context'


# Publishing


def test_publish_sends_nothing_for_a_success() -> None:
    session = RecordingSession()
    assert publish(Success(1), session, adapter=ALL) == session.sent == []


def test_publish_sends_a_failure_with_the_id_and_language_of_the_session() -> None:
    session = RecordingSession('zh_CN')
    sent = publish(
        Failure(FileNotFound('t', 'a.txt')),
        session,
        adapter=ALL,
        now=NOW,
        operation='read',
        context={'a': 1},
    )
    assert sent == session.sent
    assert [event.show_content for event in sent] == ["'a.txt' 不存在。"]
    body = json.loads(encode(sent[0]))
    assert list(body) == ['event', 'session_id', 'content', 'metadata', 'show_content']
    assert (body['session_id'], body['metadata']['operation'], body['metadata']['context']) == (
        's-1',
        'read',
        {'a': 1},
    )


@pytest.mark.parametrize('name', ['locale', 'session_id'])
def test_a_session_whose_attribute_raises_gets_the_event(name: str) -> None:
    class DetachedSession(RecordingSession):
        @override
        def __getattribute__(self, attribute: str, /) -> object:
            if attribute == name:
                raise LookupError('the user has gone')
            return super().__getattribute__(attribute)

    session = DetachedSession()
    [sent] = publish(Failure(FileNotFound('t', 'a.txt')), session, adapter=ALL)
    assert session.sent == [sent]


def test_event_has_no_id_and_number_outside_a_session() -> None:
    [sent] = publish(
        Failure(FileNotFound('t', 'a.txt')), RecordingSession(session_id=None), adapter=ALL
    )
    assert not {'seq', 'session_id'} & set(json.loads(encode(sent)))


def test_encode_writes_the_keys_in_their_documented_order() -> None:
    error_event = ErrorEvent(
        event='error.timeout', seq=43, session_id='s', content='a', metadata={}, show_content='b'
    )
    assert encode(error_event) == (
        b'{"event":"error.timeout","seq":43,"session_id":"s",'
        b'"content":"a","metadata":{},"show_content":"b"}'
    )
    assert list(json.loads(encode(error_event))) == FACTS['envelope_keys']['ours']


def test_publish_alerts_for_unrecoverable_events() -> None:
    alerts: list[ErrorEvent] = []
    publish(Failure(Busy('a')), RecordingSession(), adapter=BUSY, alert=alerts.append)
    assert alerts == []
    assert (
        publish(Failure(Rejected('s')), RecordingSession(), adapter=REJECTED, alert=alerts.append)
        == alerts
    )
    assert len(publish(Failure(Rejected('s')), RecordingSession(), adapter=REJECTED)) == 1


class FailingSession(RecordingSession):
    """Session whose transport fails."""

    @override
    def send(self, event: ErrorEvent, /) -> None:
        raise ConnectionResetError('the socket is closed')


def references(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [str(vars(record)['ref']) for record in caplog.records if hasattr(record, 'ref')]


def test_exception_of_a_session_is_reported_once_and_does_not_propagate(
    caplog: pytest.LogCaptureFixture,
) -> None:
    alerts: list[ErrorEvent] = []
    sent = publish(Failure(Rejected('s')), FailingSession(), adapter=REJECTED, alert=alerts.append)
    assert [event.event for event in sent] == ['error.recovery_failed']
    assert alerts == sent
    assert len(references(caplog)) == 1
    assert 'ConnectionResetError: the socket is closed' in caplog.text


def test_exception_of_an_alert_is_reported_after_the_event_is_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def alert(_: ErrorEvent) -> None:
        raise KeyError('pager')

    session = RecordingSession()
    publish(Failure(Rejected('s')), session, adapter=REJECTED, alert=alert)
    assert [event.event for event in session.sent] == ['error.recovery_failed']
    assert len(references(caplog)) == 1


def test_exception_of_an_adapter_is_sent_as_the_reference_of_a_defect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken_adapter(_: Busy) -> ErrorEvent:
        raise ZeroDivisionError(PLANTED)

    session, alerts = RecordingSession('zh_CN'), list[ErrorEvent]()
    publish(Failure(Busy('a')), session, adapter=broken_adapter, alert=alerts.append)
    [sent] = session.sent
    assert (sent.event, sent.show_content, sent.session_id) == (
        'error.permanent',
        '服务器遇到了意外情况。',
        's-1',
    )
    assert [sent.metadata['ref']] == references(caplog)
    assert PLANTED not in repr(sent)
    assert alerts == [sent]


def test_publish_does_not_catch_cancellations() -> None:
    class InterruptedSession(RecordingSession):
        @override
        def send(self, event: ErrorEvent, /) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish(Failure(Busy('a')), InterruptedSession(), adapter=BUSY)


def test_event_of_a_defect_contains_only_its_reference() -> None:
    assert encode(defect('err_2f4ad7qz', locale='en', now=NOW)).decode() == (
        '{"event":"error.permanent","content":"The server met an unexpected condition.",'
        '"metadata":{"error_code":"ERR_INTERNAL_001","error_type":"UnknownError",'
        '"timestamp":"2026-02-20T10:30:00Z","recoverable":false,'
        '"recovery_strategy":"terminate","severity":"critical","ref":"err_2f4ad7qz"},'
        '"show_content":"The server met an unexpected condition."}'
    )
    assert defect('err_2f4ad7qz', locale='zh_CN').show_content == '服务器遇到了意外情况。'
