"""The session seam: tables, events, their metadata and languages, and what a client reads back."""

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
    EventName,
    decode,
    defect,
    encode,
    event,
    on,
    publish,
    tables,
)
from seamwise.seams.session.on import SessionArm
from seamwise.seams.session.shape import STRATEGIES, ErrorName, ordered
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


class Room:
    """A session that keeps what it is sent."""

    def __init__(self, locale: str = 'en', session_id: str | None = 's-1') -> None:
        self.locale = locale
        self.session_id = session_id
        self.sent: list[ErrorEvent] = []

    def send(self, event: ErrorEvent, /) -> None:
        self.sent.append(event)


def told(error: Any, locale: str = 'en', **circumstances: Any) -> ErrorEvent:
    return event(error, adapter=ALL, locale=locale, now=NOW, **circumstances)


def published() -> st.SearchStrategy[TaggedError]:
    """Give errors of every class that a session is ever sent."""
    return st.one_of(*map(structs, ARMS))


# Tables

EVENT_OF: Mapping[Category, str] = {
    Category.VALIDATION: 'error.validation',
    Category.TIMEOUT: 'error.timeout',
    Category.RATE_LIMIT: 'error.rate_limited',
    Category.CONNECTION: 'error.connection_lost',
    Category.RESOURCE: 'error.resource',
    Category.CAPACITY: 'error.transient',
    Category.CIRCUIT_OPEN: 'error.transient',
    Category.UNAVAILABLE: 'error.transient',
}
FOR_GOOD = {CredentialsRejected, RecoveryFailed}
"""Nothing recovers from these: the wire has an event of its own for them."""

NEVER_SENT = {'CacheMiss', 'EditorInstallFailed'}
"""What no session hears of: who misses a cache asks the model, and an editor is set up at a terminal."""


@pytest.mark.parametrize('name', UNIONS)
def test_a_table_decides_every_class_of_its_union_and_no_other(name: str) -> None:
    assert set(getattr(tables, name).kinds) == set(members(UNIONS[name]))


def test_what_a_session_never_hears_of_is_hidden_by_name() -> None:
    assert {
        kind.__name__ for kind, arm in ALL.arms.items() if isinstance(arm, Hidden)
    } == NEVER_SENT
    assert len(ARMS) + len(NEVER_SENT) == len(EVERY_CLASS)


@given(published())
def test_the_event_follows_from_the_category(error: TaggedError) -> None:
    usual = (
        'error.transient'
        if error.category is Category.EXECUTION and error.retryable
        else 'error.permanent'
    )
    expected = (
        'error.recovery_failed' if type(error) in FOR_GOOD else EVENT_OF.get(error.category, usual)
    )
    assert ALL(error).event == expected


def test_a_server_that_says_the_fault_is_its_own_is_worth_another_try() -> None:
    assert [told(McpServerFailed('s', code, '')).event for code in (-32603, -32602)] == [
        'error.transient',
        'error.permanent',
    ]


def test_every_event_is_one_of_the_documented_ones() -> None:
    documented = {case['event'] for case in FACTS['cases']} | set(FACTS['our_further_events'])
    assert set(get_args(ErrorName)) == documented
    assert set(get_args(EventName)) - documented == {'agent.error', 'agent.session_end'}


GIVEN: Mapping[str, TaggedError] = {
    'ERR_VAL_001': InvalidInput('task_count > 0', Secret(0)),
    'ERR_TIMEOUT_001': ToolTimedOut('search', 30.0, 1),
    'ERR_RATE_001': UpstreamRateLimited('acme', 60.0, 100, 105, 1729252860.0, OSError()),
    'ERR_AUTH_001': CredentialsRejected('acme', 'ACME_API_KEY', PermissionError('no')),
    'ERR_CONN_001': ConnectionLost(1006, 'abnormal_closure', 42, 123.45),
}
UNKNOWN_TO_AN_ERROR = {'elapsed_seconds', 'backoff_multiplier'}
"""What only the guard knows that keeps the time."""


@pytest.mark.parametrize(
    'case', [one for one in FACTS['cases'] if one['error_code']], ids=lambda one: one['error_code']
)
def test_the_documented_codes_say_what_is_documented(case: dict[str, Any]) -> None:
    made = told(GIVEN[case['error_code']])
    assert made.event == case['event']
    assert made.metadata['error_code'] == case['error_code']
    assert made.metadata['recoverable'] is case['recoverable']
    assert made.metadata['recovery_strategy'] == case['strategy']
    assert {*case['own_metadata']} - UNKNOWN_TO_AN_ERROR <= set(made.metadata)
    assert made.metadata['severity'] == case.get('severity', 'error')


def test_the_documented_values_arrive() -> None:
    limited = told(GIVEN['ERR_RATE_001']).metadata
    assert [limited[key] for key in ('limit', 'rate_limit_reset', 'retry_after_ms')] == [
        100,
        '2024-10-18T12:01:00Z',
        60000,
    ]
    assert limited['context'] == {'service': 'acme', 'requests_made': 105}
    rejected = told(GIVEN['ERR_AUTH_001']).metadata
    assert (rejected['cause'], rejected['context']) == (
        'PermissionError',
        {'service': 'acme', 'required_config': 'ACME_API_KEY'},
    )
    lost = told(GIVEN['ERR_CONN_001']).metadata
    assert [
        lost[key] for key in ('close_code', 'close_reason', 'last_event_seq', 'uptime_seconds')
    ] == [
        1006,
        'abnormal_closure',
        42,
        123.45,
    ]


def test_every_class_has_a_code_of_its_own_and_every_code_an_explanation() -> None:
    codes = [arm.code for arm in ARMS.values()]
    assert len(set(codes)) == len(codes)
    assert {*codes, 'ERR_INTERNAL_001'} == set(CODES)
    assert set(FACTS['codes']) <= set(codes)


@pytest.mark.parametrize(('code', 'explanation'), CODES.items())
def test_an_explanation_is_one_sentence(code: str, explanation: str) -> None:
    assert explanation.endswith('.')
    assert '\n' not in explanation
    on(Busy).publishes('error.transient', code)


@pytest.mark.parametrize('code', ['VAL_001', 'ERR_VAL_1', 'ERR_val_001', 'ERR_VAL_001\n', ''])
def test_a_code_of_another_form_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match='is no code of a session'):
        on(Busy).publishes('error.transient', code)


def test_a_hidden_kind_that_shows_up_is_a_defect() -> None:
    adapter = on(Busy).hidden()
    assert isinstance(adapter.arms[Busy], Hidden)
    with pytest.raises(RuntimeError, match='the session seam'):
        adapter(Busy('a'))


@pytest.mark.parametrize('recovery', Recovery)
def test_the_strategy_follows_from_the_recovery(recovery: Recovery) -> None:
    assert STRATEGIES[recovery] == FACTS['strategy_of_recovery'][recovery.name]


# Events


@given(published(), st.sampled_from(['en', 'zh_CN', 'xx']), st.integers(1, 3) | st.none())
def test_every_error_becomes_a_safe_event_in_every_language(
    error: Any, locale: str, attempt: int | None
) -> None:
    made = told(
        error, locale, attempt=attempt, context={'password': PLANTED, 'note': f'Bearer {PLANTED}'}
    )
    body = encode(made)
    assert PLANTED.encode() not in body
    read = json.loads(body)
    assert list(read) == ['event', 'content', 'metadata', 'show_content']
    assert all(len(read[key].partition('… (')[0]) <= 1024 for key in ['content', 'show_content'])
    keys = list(read['metadata'])
    own = [key for key in keys if key not in COMMON]
    assert keys == [*(key for key in COMMON[:-1] if key in keys), *own, 'context']
    assert {*COMMON[:6]} <= set(keys)
    assert None not in read['metadata'].values()
    assert decode(body).unwrap() == made


def test_a_whole_event() -> None:
    made = event(
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
    assert encode(made).decode() == (
        '{"event":"error.transient","content":"a is busy.","metadata":{"error_code":"ERR_HOST_001","error_type":"Busy",'
        '"timestamp":"2026-02-20T10:30:00Z","recoverable":true,"recovery_strategy":"exponential_backoff","severity":"error",'
        '"stage":"solving","task_id":"t-1","operation":"call","attempt":1,"max_attempts":3,"retry_after_ms":2000,"host":"a",'
        '"context":{"tool_name":"search","token":"***"}},"show_content":"a is busy."}'
    )


def test_a_delay_that_nobody_names_is_the_error_s_own() -> None:
    assert event(Busy('a', 0.0001), adapter=BUSY, locale='en').metadata['retry_after_ms'] == 1
    assert (
        'retry_after_ms'
        not in event(Busy('a'), adapter=BUSY, locale='en', retry_after_ms=None, context={}).metadata
    )
    assert 'context' not in event(Busy('a'), adapter=BUSY, locale='en', context={}).metadata


def test_an_arm_may_know_the_delay_better() -> None:
    arm = on(Busy).publishes('error.transient', 'ERR_HOST_001', retry_after_ms=lambda _: 5)
    assert arm(Busy('a', 1)).metadata['retry_after_ms'] == 5


def test_a_credential_is_masked_before_an_arm_can_cut_it() -> None:
    arm = on(Busy).publishes('error.transient', 'ERR_HOST_001', start=lambda error: error.host[:18])
    assert 'FAKE' not in repr(arm(Busy(f'https://ann:{PLANTED}@example.org/')))


def test_an_unknown_circumstance_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match='An event takes no colour; it takes stage'):
        told(FileNotFound('t', 'p'), colour='red')


def test_the_time_defaults_to_the_present() -> None:
    assert str(event(Busy('a'), adapter=BUSY, locale='en').metadata['timestamp']).endswith('Z')
    assert 'timestamp' not in BUSY(Busy('a')).metadata


@pytest.mark.parametrize(
    ('error', 'own'),
    [
        (MissingParameter('t', 'path'), {'constraint': 'path is required'}),
        (InvalidParameter('t', 'path', 'it is odd'), {'constraint': 'path: it is odd'}),
        (
            InvalidParameter('t', 'path', 'it is odd', Secret(PLANTED)),
            {'constraint': 'path: it is odd', 'provided_value': '***'},
        ),
        (InvalidResult('t', ('a', 'b')), {'constraint': 'a; b'}),
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
        (
            A2aVersionNotSupported('2', ('1.0', '0.9')),
            {'constraint': 'one of 1.0 or 0.9', 'provided_value': '2'},
        ),
        (
            A2aContentTypeNotSupported('a/b'),
            {'constraint': 'a content type that the agent takes', 'provided_value': 'a/b'},
        ),
        (NetworkTimedOut('h', 'get', 2.5), {'timeout_seconds': 2.5}),
        (McpTimedOut('s', 'get', 2.5), {'timeout_seconds': 2.5}),
        (BatchTimedOut('b', 2.5), {'timeout_seconds': 2.5}),
        (DeadlineExceeded('d', 2.5, 2), {'attempt': 2, 'timeout_seconds': 2.5}),
        (RateLimited('r', 7, 1.0, 0.25), {'retry_after_ms': 250, 'limit': 7}),
        (UpstreamRateLimited('acme'), {'context': {'service': 'acme'}}),
        (
            RecoveryFailed('deploy', 3, OSError()),
            {'operation': 'deploy', 'attempt': 3, 'cause': 'OSError'},
        ),
        (
            CredentialsRejected('acme', 'KEY', AccessDenied('read', 'a')),
            {'cause': 'AccessDenied', 'context': {'service': 'acme', 'required_config': 'KEY'}},
        ),
        (
            ConnectionLost(1006, '', 0, 0.5),
            {'close_code': 1006, 'close_reason': '', 'last_event_seq': 0, 'uptime_seconds': 0.5},
        ),
    ],
)
def test_what_an_event_says_beside_the_common_metadata(
    error: TaggedError, own: dict[str, object]
) -> None:
    always = [
        'error_code',
        'error_type',
        'timestamp',
        'recoverable',
        'recovery_strategy',
        'severity',
    ]
    assert {key: value for key, value in told(error).metadata.items() if key not in always} == own


def test_an_attempt_that_the_caller_names_wins() -> None:
    assert told(ToolTimedOut('t', 1.5, 3), attempt=4).metadata['attempt'] == 4


@pytest.mark.parametrize(
    ('made', 'recoverable', 'severity', 'strategy'),
    [
        (told(FileNotFound('t', 'p')), True, 'error', 'escalate_to_user'),
        (told(ResourceExhausted('disk')), True, 'error', 'exponential_backoff'),
        (told(ToolCancelled('t', 'ann')), False, 'critical', 'terminate'),
        (REJECTED(Rejected('s')), False, 'critical', 'terminate'),
        (
            on(Busy).publishes('error.recovery_failed', 'ERR_HOST_002')(Busy('a')),
            False,
            'critical',
            'exponential_backoff',
        ),
    ],
)
def test_what_can_be_recovered_from(
    made: ErrorEvent, recoverable: bool, severity: str, strategy: str
) -> None:
    assert [made.metadata[key] for key in ['recoverable', 'severity', 'recovery_strategy']] == [
        recoverable,
        severity,
        strategy,
    ]


def test_metadata_are_ordered_and_what_is_unknown_left_out() -> None:
    assert list(
        ordered({'context': {'a': 1}, 'own': 0, 'gone': None, 'attempt': 1, 'error_code': 'E'})
    ) == [
        'error_code',
        'attempt',
        'own',
        'context',
    ]


# Languages


def test_content_is_english_and_what_is_shown_in_the_reader_s_language() -> None:
    made = told(FileNotFound('read_file', 'a.txt'), 'zh_CN')
    assert (made.content, made.show_content) == ("'a.txt' does not exist.", "'a.txt' 不存在。")


def test_closed_words_inside_of_a_message_are_in_the_reader_s_language_too() -> None:
    forbidden = told(PathForbidden('read_file', 'a.txt', 'ignored'), 'zh_CN')
    assert forbidden.show_content == "不允许 read_file 访问 'a.txt'（已被忽略规则排除）。"
    assert forbidden.content == "read_file may not touch 'a.txt' (ignored)."
    assert told(ResourceExhausted('disk'), 'zh_CN').show_content == '系统资源已耗尽：磁盘空间。'


def test_a_locale_that_nobody_has_shows_english_and_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, 'seamwise'):
        shown = {told(FileNotFound('t', 'a.txt'), 'tlh_QX').show_content for _ in range(3)}
    assert shown == {"'a.txt' does not exist."}
    assert len(caplog.records) == 1


# What a client reads back


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
def test_a_foreign_or_truncated_body_is_no_event(body: bytes | str, problem: str) -> None:
    read = decode(body)
    assert is_failure(read)
    assert problem in read.failure().problem


def test_keys_of_a_newer_server_are_left_aside() -> None:
    body = b'{"event":"agent.error","novel":1,"content":"a","metadata":{"x":1},"show_content":"b"}'
    assert decode(body).unwrap() == ErrorEvent(
        event='agent.error', content='a', metadata={'x': 1}, show_content='b'
    )


# Bad input

NASTY = [
    '\u202e\u0623\u0647\u0644\u0627.txt',
    'a\0b\x1b[2J\r\n',
    '\udce9\ud800',
    '文件',
    '{path}{0}%s',
    '\U0001d4b3\u200d',
]
"""Right to left, control characters, lone surrogates, other scripts, what formats a text, beyond 16 bits."""


@pytest.mark.parametrize('locale', ['en', 'zh_CN'])
@pytest.mark.parametrize('nasty', NASTY)
def test_any_text_arrives_whole_or_mended_but_never_breaks_an_event(
    nasty: str, locale: str
) -> None:
    made = told(
        UserInterrupted(nasty),
        locale,
        stage=nasty,
        task_id=nasty,
        operation=nasty,
        context={nasty: [nasty]},
    )
    said = told(CredentialsRejected(nasty, nasty), locale)
    assert decode(encode(made)).unwrap() == made
    assert decode(encode(said)).unwrap() == said
    mended = (
        nasty.encode('utf-8', 'surrogatepass').decode('utf-8', 'replace')
        if '\udce9' in nasty
        else nasty
    )
    assert len(str(made.metadata['stage'])) == len(nasty)
    if mended == nasty:
        assert made.metadata['context'] == {nasty: [nasty]}
        assert nasty in said.content


def test_a_text_of_ten_megabytes_is_cut() -> None:
    huge = 'x' * 10_000_000
    made = told(UnknownFormat(huge), operation=huge)
    assert str(made.metadata['provided_value']).endswith('x… (9998976 more)')
    assert len(encode(made)) < 3000
    assert len(told(FileNotFound('t', huge), 'zh_CN').show_content) < 300


@pytest.mark.parametrize('delay', [-1, 10**13, float('nan'), float('inf')])
def test_a_delay_that_is_none_is_refused(delay: Any) -> None:
    with pytest.raises(ValueError, match='retry_after_ms must be 0 to 1000000000000 milliseconds'):
        told(FileNotFound('t', 'a'), retry_after_ms=delay)


@pytest.mark.parametrize('reset', [float('nan'), float('inf'), 1e300, -1e300, 1e12])
def test_a_reset_that_is_no_time_is_left_out(reset: float) -> None:
    assert 'rate_limit_reset' not in told(UpstreamRateLimited('acme', reset=reset)).metadata


def test_the_context_of_an_error_and_of_its_caller_are_one() -> None:
    given = {'endpoint': '/chat', 'service': 'acme-eu'}
    made = told(UpstreamRateLimited('acme', requests_made=5), context=given)
    assert made.metadata['context'] == {
        'service': 'acme-eu',
        'requests_made': 5,
        'endpoint': '/chat',
    }
    assert list(made.metadata)[-1] == 'context'


# Publishing


def test_a_success_publishes_nothing() -> None:
    room = Room()
    assert publish(Success(1), room, adapter=ALL) == room.sent == []


def test_a_failure_is_sent_once_with_the_session_s_id_in_its_language() -> None:
    room = Room('zh_CN')
    sent = publish(
        Failure(FileNotFound('t', 'a.txt')),
        room,
        adapter=ALL,
        now=NOW,
        operation='read',
        context={'a': 1},
    )
    assert sent == room.sent
    assert [one.show_content for one in sent] == ["'a.txt' 不存在。"]
    body = json.loads(encode(sent[0]))
    assert list(body) == ['event', 'session_id', 'content', 'metadata', 'show_content']
    assert (body['session_id'], body['metadata']['operation'], body['metadata']['context']) == (
        's-1',
        'read',
        {'a': 1},
    )


def test_outside_a_session_there_is_no_id_and_no_number() -> None:
    [sent] = publish(Failure(FileNotFound('t', 'a.txt')), Room(session_id=None), adapter=ALL)
    assert not {'seq', 'session_id'} & set(json.loads(encode(sent)))


def test_an_event_with_its_number() -> None:
    made = ErrorEvent(
        event='error.timeout', seq=43, session_id='s', content='a', metadata={}, show_content='b'
    )
    assert (
        encode(made)
        == b'{"event":"error.timeout","seq":43,"session_id":"s","content":"a","metadata":{},"show_content":"b"}'
    )
    assert list(json.loads(encode(made))) == FACTS['envelope_keys']['ours']


def test_what_cannot_be_recovered_from_raises_an_alert() -> None:
    alerts: list[ErrorEvent] = []
    publish(Failure(Busy('a')), Room(), adapter=BUSY, alert=alerts.append)
    assert alerts == []
    assert publish(Failure(Rejected('s')), Room(), adapter=REJECTED, alert=alerts.append) == alerts
    assert len(publish(Failure(Rejected('s')), Room(), adapter=REJECTED)) == 1


class Broken(Room):
    """A session whose transport fails."""

    @override
    def send(self, event: ErrorEvent, /) -> None:
        raise ConnectionResetError('the socket is gone')


def references(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [str(vars(record)['ref']) for record in caplog.records]


def test_a_session_that_cannot_send_changes_no_outcome_and_is_reported_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    alerts: list[ErrorEvent] = []
    sent = publish(Failure(Rejected('s')), Broken(), adapter=REJECTED, alert=alerts.append)
    assert [one.event for one in sent] == ['error.recovery_failed']
    assert alerts == sent
    assert len(references(caplog)) == 1
    assert 'ConnectionResetError: the socket is gone' in caplog.text


def test_an_alert_that_raises_is_reported_and_the_session_still_hears(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def alert(_: ErrorEvent) -> None:
        raise KeyError('pager')

    room = Room()
    publish(Failure(Rejected('s')), room, adapter=REJECTED, alert=alert)
    assert [one.event for one in room.sent] == ['error.recovery_failed']
    assert len(references(caplog)) == 1


def test_an_adapter_that_raises_is_a_defect_and_the_session_is_told_its_reference_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_: Busy) -> ErrorEvent:
        raise ZeroDivisionError(PLANTED)

    room, alerts = Room('zh_CN'), list[ErrorEvent]()
    publish(Failure(Busy('a')), room, adapter=broken, alert=alerts.append)
    [sent] = room.sent
    assert (sent.event, sent.show_content, sent.session_id) == (
        'error.permanent',
        '服务器遇到了意外情况。',
        's-1',
    )
    assert [sent.metadata['ref']] == references(caplog)
    assert PLANTED not in repr(sent)
    assert alerts == [sent]


def test_a_cancellation_passes_through() -> None:
    class Stopped(Room):
        @override
        def send(self, event: ErrorEvent, /) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish(Failure(Busy('a')), Stopped(), adapter=BUSY)


def test_a_defect_tells_its_reference_and_nothing_else() -> None:
    assert encode(defect('err_2f4ad7qz', locale='en', now=NOW)).decode() == (
        '{"event":"error.permanent","content":"The server met an unexpected condition.","metadata":{"error_code":"ERR_INTERNAL_001",'
        '"error_type":"UnknownError","timestamp":"2026-02-20T10:30:00Z","recoverable":false,"recovery_strategy":"terminate",'
        '"severity":"critical","ref":"err_2f4ad7qz"},"show_content":"The server met an unexpected condition."}'
    )
    assert defect('err_2f4ad7qz', locale='zh_CN').show_content == '服务器遇到了意外情况。'
