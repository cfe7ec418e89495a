"""The session seam: events, their metadata and languages, stored messages."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from string import Formatter
from typing import Any, get_args

import pytest
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Category, Failure, Recovery, Secret, Success, TaggedError
from seamwise.catalog.parsing import ParsingError, SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.catalog.tools import (
    CommandTimedOut,
    FileNotFound,
    InvalidParameter,
    InvalidResult,
    MissingParameter,
    ResourceExhausted,
    ToolCancelled,
    ToolError,
    ToolTimedOut,
)
from seamwise.seams._common import DEFECT_MESSAGE
from seamwise.seams.adapter import Hidden
from seamwise.seams.session import CODES, ErrorEvent, EventName, defect, encode, event, message, on, publish
from seamwise.seams.session.on import Publishes
from seamwise.seams.session.shape import STRATEGIES, ordered
from seamwise.seams.session.tables import PARSING, TOOLS
from seamwise.texts import LOCALES
from tests.strategies import EVERY_CLASS, PLANTED, errors, members

NOW = datetime(2026, 2, 20, 10, 30, tzinfo=UTC)
FACTS: dict[str, Any] = json.loads((Path(__file__).parent.parent / 'vectors' / 'session_events.json').read_text(encoding='utf-8'))
COMMON: list[str] = FACTS['common_metadata']['ours']
ALL = TOOLS | PARSING
ARMS: dict[Any, Publishes[Any]] = {kind: arm for kind, arm in ALL.arms.items() if isinstance(arm, Publishes)}


class Busy(TaggedError, namespace='test_session', category=Category.CAPACITY, message='{host} is busy.'):
    host: str
    retry_after: float | None = None


class Rejected(TaggedError, namespace='test_session', category=Category.AUTHENTICATION, message='{service} does not take the key.'):
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


def test_the_tables_decide_every_class_of_their_unions() -> None:
    assert set(TOOLS.kinds) == set(members(ToolError))
    assert set(PARSING.kinds) == set(members(ParsingError))


@pytest.mark.parametrize('kind', EVERY_CLASS)
def test_the_event_follows_from_the_category(kind: type[TaggedError]) -> None:
    assert ARMS[kind].event == EVENT_OF.get(kind.__traits__.category, 'error.permanent')


def test_every_event_is_one_of_the_documented_ones() -> None:
    documented = {case['event'] for case in FACTS['cases']} | set(FACTS['our_further_events'])
    assert set(get_args(EventName)) == documented


def test_every_class_has_a_code_of_its_own_and_every_code_an_explanation() -> None:
    codes = [arm.code for arm in ARMS.values()]
    assert len(set(codes)) == len(codes)
    assert {*codes, 'ERR_INTERNAL_001'} == set(CODES)
    assert ARMS[ToolTimedOut].code == 'ERR_TIMEOUT_001'
    assert not {*codes} & ({*FACTS['codes']} - {'ERR_TIMEOUT_001'}), 'kept for the classes that they belong to'


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


@given(errors(), st.sampled_from(['en', 'zh_CN', 'xx']), st.integers(1, 3) | st.none())
def test_every_error_becomes_a_safe_event_in_every_language(error: Any, locale: str, attempt: int | None) -> None:
    made = told(error, locale, attempt=attempt, context={'password': PLANTED, 'note': f'Bearer {PLANTED}'})
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
    assert 'retry_after_ms' not in event(Busy('a'), adapter=BUSY, locale='en', retry_after_ms=None, context={}).metadata
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
        (InvalidParameter('t', 'path', 'it is odd', Secret(PLANTED)), {'constraint': 'path: it is odd', 'provided_value': '***'}),
        (InvalidResult('t', ('a', 'b')), {'constraint': 'a; b'}),
        (CommandTimedOut('t', 'ls', 1.5, '', 2), {'attempt': 2, 'timeout_seconds': 1.5}),
        (ToolTimedOut('t', 1.5, 3), {'attempt': 3, 'timeout_seconds': 1.5}),
        (UnreadableCall('json', 'odd', '{', 1), {'constraint': 'well-formed json', 'provided_value': '{'}),
        (UnknownFormat(f'password={PLANTED}'), {'constraint': 'a known format', 'provided_value': 'password=***'}),
        (SchemaViolations((Problem('/tool', 'is missing'), Problem('/id', 'is odd'))), {'constraint': '/tool: is missing; /id: is odd'}),
        (FileNotFound('t', 'p'), {}),
    ],
)
def test_what_an_event_says_beside_the_common_metadata(error: TaggedError, own: dict[str, object]) -> None:
    always = ['error_code', 'error_type', 'timestamp', 'recoverable', 'recovery_strategy', 'severity']
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
        (on(Busy).publishes('error.recovery_failed', 'ERR_HOST_002')(Busy('a')), False, 'critical', 'exponential_backoff'),
    ],
)
def test_what_can_be_recovered_from(made: ErrorEvent, recoverable: bool, severity: str, strategy: str) -> None:
    assert [made.metadata[key] for key in ['recoverable', 'severity', 'recovery_strategy']] == [recoverable, severity, strategy]


def test_metadata_are_ordered_and_what_is_unknown_left_out() -> None:
    assert list(ordered({'context': {'a': 1}, 'own': 0, 'gone': None, 'attempt': 1, 'error_code': 'E'})) == [
        'error_code',
        'attempt',
        'own',
        'context',
    ]


# Languages


def test_content_is_english_and_what_is_shown_in_the_reader_s_language() -> None:
    made = told(FileNotFound('read_file', 'a.txt'), 'zh_CN')
    assert (made.content, made.show_content) == ("'a.txt' does not exist.", "'a.txt' 不存在。")


PO = Path(LOCALES) / 'zh_CN' / 'LC_MESSAGES' / 'seamwise.po'


def chinese() -> dict[str, str]:
    with PO.open('rb') as file:
        return {str(one.id): str(one.string) for one in read_po(file) if one.id}


def placeholders(template: str) -> list[tuple[str | None, str | None, str | None]]:
    return sorted((name, conversion, spec) for _, name, spec, conversion in Formatter().parse(template) if name is not None)


def test_the_chinese_catalogue_has_every_text_and_no_other() -> None:
    assert set(chinese()) == {kind.__traits__.template for kind in EVERY_CLASS} | {DEFECT_MESSAGE}


@pytest.mark.parametrize(('english', 'translated'), chinese().items())
def test_a_translation_is_chinese_and_has_the_same_placeholders(english: str, translated: str) -> None:
    assert placeholders(translated) == placeholders(english)
    assert any('一' <= character <= '鿿' for character in translated)
    assert english.endswith('.') is translated.endswith('。')


def test_the_compiled_catalogue_is_that_of_its_source() -> None:
    with PO.with_suffix('.mo').open('rb') as file:
        assert {str(one.id): str(one.string) for one in read_mo(file) if one.id} == chinese()


# Publishing


def test_a_success_publishes_nothing() -> None:
    room = Room()
    assert publish(Success(1), room, adapter=ALL) == room.sent == []


def test_a_failure_is_sent_once_with_the_session_s_id_in_its_language() -> None:
    room = Room('zh_CN')
    sent = publish(Failure(FileNotFound('t', 'a.txt')), room, adapter=ALL, now=NOW, operation='read', context={'a': 1})
    assert sent == room.sent
    assert [one.show_content for one in sent] == ["'a.txt' 不存在。"]
    body = json.loads(encode(sent[0]))
    assert list(body) == ['event', 'session_id', 'content', 'metadata', 'show_content']
    assert (body['session_id'], body['metadata']['operation'], body['metadata']['context']) == ('s-1', 'read', {'a': 1})


def test_outside_a_session_there_is_no_id_and_no_number() -> None:
    [sent] = publish(Failure(FileNotFound('t', 'a.txt')), Room(session_id=None), adapter=ALL)
    assert not {'seq', 'session_id'} & set(json.loads(encode(sent)))


def test_an_event_with_its_number() -> None:
    made = ErrorEvent(event='error.timeout', seq=43, session_id='s', content='a', metadata={}, show_content='b')
    assert encode(made) == b'{"event":"error.timeout","seq":43,"session_id":"s","content":"a","metadata":{},"show_content":"b"}'
    assert list(json.loads(encode(made))) == FACTS['envelope_keys']['ours']


def test_what_cannot_be_recovered_from_raises_an_alert() -> None:
    alerts: list[ErrorEvent] = []
    publish(Failure(Busy('a')), Room(), adapter=BUSY, alert=alerts.append)
    assert alerts == []
    assert publish(Failure(Rejected('s')), Room(), adapter=REJECTED, alert=alerts.append) == alerts
    assert len(publish(Failure(Rejected('s')), Room(), adapter=REJECTED)) == 1


def test_a_defect_tells_its_reference_and_nothing_else() -> None:
    assert encode(defect('err_2f4ad7qz', locale='en', now=NOW)).decode() == (
        '{"event":"error.permanent","content":"The server met an unexpected condition.","metadata":{"error_code":"ERR_INTERNAL_001",'
        '"error_type":"UnknownError","timestamp":"2026-02-20T10:30:00Z","recoverable":false,"recovery_strategy":"terminate",'
        '"severity":"critical","ref":"err_2f4ad7qz"},"show_content":"The server met an unexpected condition."}'
    )
    assert defect('err_2f4ad7qz', locale='zh_CN').show_content == '服务器遇到了意外情况。'


# Stored messages


@given(errors())
def test_every_error_has_a_safe_stored_message(error: TaggedError) -> None:
    stored = message(error)
    assert stored.name == error.tag
    assert next(iter(stored.data)) == 'message'
    assert PLANTED not in json.dumps(stored.data)


def test_a_stored_message_keeps_the_fields() -> None:
    assert message(FileNotFound('t', 'a.txt')).data == {
        'message': "'a.txt' does not exist.",
        'tool': 't',
        'path': 'a.txt',
        'suggestions': [],
    }
