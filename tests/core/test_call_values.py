"""Tests of the masking of sensitive values of a call in everything that the call prints."""

import asyncio
import base64
import html
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from enum import Enum
from threading import Thread
from typing import NamedTuple
from urllib.parse import quote, quote_plus
from uuid import UUID

import msgspec
import pytest

from seamwise import Secret, redact
from seamwise.redaction import configure
from seamwise.redaction.call_values import MAX_LENGTH, CallValues, masked_call, sensitive_texts
from seamwise.redaction.settings import CALL_VALUES, Settings, current

VALUE = 'Zëbra "quagga"/7\'\\41 <&>'


def mask(value: str, text: str) -> str:
    return CallValues([value], Settings()).mask(text)


def lower_percent(value: str) -> str:
    return re.sub('%..', lambda match: match[0].lower(), quote(value, safe=''))


FORMS: dict[str, Callable[[str], str]] = {
    'text': str,
    'repr': lambda value: repr(value)[1:-1],
    'repr of a repr': lambda value: repr(repr(value)[1:-1])[1:-1],
    'repr of bytes': lambda value: repr(value.encode())[2:-1],
    'JSON': lambda value: json.dumps(value)[1:-1],
    'JSON with letters': lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
    'JSON in JSON': lambda value: json.dumps(json.dumps(value)[1:-1])[1:-1],
    'path': quote,
    'component': lambda value: quote(value, safe=''),
    'query': quote_plus,
    'component in lower case': lower_percent,
    'whole URL': lambda value: quote(value, safe="/:=&?+,;@!$'()*~"),
    'HTML': html.escape,
    'HTML of a text': lambda value: html.escape(value, quote=False),
    'HTML of Django': lambda value: html.escape(value).replace('&#x27;', '&#39;'),
    'base64': lambda value: base64.b64encode(value.encode()).decode(),
    'base64 for URLs': lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
}


@pytest.mark.parametrize('value', [VALUE, 'hunter2xyz', 'käse~käse', '??>>??>>', 'ends with \\'])
@pytest.mark.parametrize('form', FORMS)
def test_a_value_is_masked_in_each_form(form: str, value: str) -> None:
    text = FORMS[form](value)
    assert mask(value, f'login {text} refused') == 'login *** refused'


@pytest.mark.parametrize('before', ['', 'a:', 'an:', 'ann:'])
def test_a_value_is_masked_in_base64_behind_other_bytes(before: str) -> None:
    encoded = base64.b64encode(f'{before}{VALUE}:after'.encode()).decode()
    masked = mask(VALUE, f'Digest {encoded}')
    assert '***' in masked
    rest = masked.removeprefix('Digest ').partition('***')
    assert len(rest[0]) <= 4
    for offset in range(4):
        padded = 'A' * offset + rest[0] + 'A' * (-(offset + len(rest[0])) % 4)
        assert VALUE[:3].encode() not in base64.b64decode(padded)


@pytest.mark.parametrize(
    'text',
    [
        'nothing of it',
        'hunter2xy',
        'HUNTER2XYZ',
        'hunter2 xyz',
        base64.b64encode(b'hunter3xyz').decode(),
    ],
)
def test_another_text_stays(text: str) -> None:
    assert mask('hunter2xyz', text) == text


def test_the_longest_of_the_values_at_a_place_is_masked() -> None:
    values = CallValues(['hunter', 'hunter2xyz'], Settings())
    assert values.mask('hunter2xyz, hunter2') == '***, ***2'


def test_a_value_is_a_text_and_no_pattern() -> None:
    assert mask('a.c*e(f', 'a.c*e(f abcce(f') == '*** abcce(f'


def test_bytes_that_are_no_text_are_masked() -> None:
    data = b'\xff\xfehunter2'
    [value] = sensitive_texts({'token': data})
    for text in (
        repr(data),
        repr(bytearray(data)),
        data.decode('utf-8', 'replace'),
        base64.b64encode(data).decode(),
        quote(data),
    ):
        masked = mask(value, text)
        assert '***' in masked
        assert 'hunter2' not in masked
        assert base64.b64encode(b'hunter2').decode()[:8] not in masked
    assert [*sensitive_texts({'token': bytearray(data)})] == [value]


def test_a_lone_surrogate_is_masked() -> None:
    assert mask('hunter\ud800', json.dumps('hunter\ud800')) == '"***"'
    assert mask('hunter\ud800', repr('hunter\ud800')) == "'***'"


class Login(msgspec.Struct):
    api_key: str
    user: str


@dataclass
class Account:
    password: str
    name: str
    late: str = field(init=False)


class Pair(NamedTuple):
    key: str
    value: object


class Level(str, Enum):  # noqa: UP042 -- its `str` differs from its value
    HIGH = 'high-security'


IDENTITY = UUID('12345678123456781234567812345678')


ARGUMENTS: list[tuple[dict[str, object], set[str]]] = [
    ({'password': 'hunter2xyz', 'user': 'ann-user'}, {'hunter2xyz'}),
    ({'apiKey': 'hunter2xyz'}, {'hunter2xyz'}),
    ({'query': Secret('hunter2xyz')}, {'hunter2xyz'}),
    ({'query': Secret(['hunter2xyz', {'a': 'hunter3xyz'}])}, {'hunter2xyz', 'hunter3xyz'}),
    ({'login': Login('key-of-ann', 'ann-user')}, {'key-of-ann'}),
    ({'account': Account('hunter2xyz', 'ann-user')}, {'hunter2xyz'}),
    ({'rows': [({'token': b'bytes-of-token'},)]}, {'bytes-of-token'}),
    ({'passwords': {'hunter2xyz', 'hunter3xyz'}}, {'hunter2xyz', 'hunter3xyz'}),
    ({'password': {'old': 'hunter2xyz', 'new': ('hunter3xyz',)}}, {'hunter2xyz', 'hunter3xyz'}),
    ({'secret': Pair('name-of-it', frozenset({'hunter2xyz'}))}, {'name-of-it', 'hunter2xyz'}),
    ({'pin': 48151623}, {'48151623'}),
    ({'token': IDENTITY}, {str(IDENTITY)}),
    ({'secret': Level.HIGH}, {'high-security'}),
    # Not sensitive, or nothing to search for.
    ({'count': 48151623, 'user': 'ann-user', 'level': Level.HIGH}, set()),
    ({'password': None, 'secret': True, 'token': 2.5, 'pin': 1234}, set()),
    ({'password': ''}, set()),
    ({'passwords': {7: 'hunter2xyz'}, 'ids': {7: 'not-a-secret'}}, {'hunter2xyz'}),
    ({}, set()),
]


@pytest.mark.parametrize(('arguments', 'texts'), ARGUMENTS)
def test_texts_are_sensitive_by_name_and_by_type_at_any_depth(
    arguments: dict[str, object], texts: set[str]
) -> None:
    assert {*sensitive_texts(arguments)} == texts


def test_short_values_and_documents_are_not_searched_for() -> None:
    arguments = {
        'password': ['short', 'longer', 'x' * MAX_LENGTH, 'x' * (MAX_LENGTH + 1)],
        'note': 'other',
    }
    assert {*sensitive_texts(arguments)} == {'longer', 'x' * MAX_LENGTH}


def test_a_container_inside_itself_is_read_once() -> None:
    arguments: dict[str, object] = {'password': 'hunter2xyz'}
    arguments['self'] = [arguments]
    assert [*sensitive_texts(arguments)] == ['hunter2xyz']


def test_names_of_the_settings_are_sensitive() -> None:
    configure(also={'iban'}, never={'token'})
    try:
        arguments = {'iban': 'DE00123456', 'token': 'token-of-csrf'}
        assert [*sensitive_texts(arguments)] == ['DE00123456']
    finally:
        configure()


@pytest.fixture
def context() -> Iterator[Context]:
    """Return a context in which the values of a call are masked."""
    result = copy_context()
    values = result.run(masked_call, {'password': 'hunter2xyz'})
    assert values is not None
    assert values.mask('no hunter2xyz') == 'no ***'
    yield result
    # The context of the test has no values.
    assert CALL_VALUES.get() is None
    assert redact('no hunter2xyz') == 'no hunter2xyz'


def test_the_values_of_a_call_are_masked_in_its_context(context: Context) -> None:
    assert context.run(redact, 'no hunter2xyz') == 'no ***'
    value = {'error': ['no hunter2xyz', '{"a": "hunter2xyz"}'], 'n': 1}
    assert context.run(redact, value) == {'error': ['no ***', '{"a": "***"}'], 'n': 1}
    assert context.run(redact, 'ann-user') == 'ann-user'


def test_the_tasks_of_a_call_mask_its_values(context: Context) -> None:
    async def call() -> tuple[str, str]:
        task = asyncio.create_task(asyncio.to_thread(redact, 'no hunter2xyz'))
        return redact('hunter2xyz'), await task

    assert context.run(asyncio.run, call()) == ('***', 'no ***')


def test_a_thread_with_the_context_of_a_call_masks_its_values(context: Context) -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(context.run, redact, 'hunter2xyz').result() == '***'
        assert pool.submit(redact, 'hunter2xyz').result() == 'hunter2xyz'
    texts: list[str] = []
    thread = Thread(target=context.run, args=(lambda: texts.append(redact('hunter2xyz')),))
    thread.start()
    thread.join()
    assert texts == ['***']


def test_calls_at_the_same_time_mask_their_own_values() -> None:
    async def call(password: str, started: asyncio.Barrier) -> str:
        masked_call({'password': password})
        await started.wait()
        return redact('hunter2xyz hunter3xyz')

    async def run() -> tuple[str, str]:
        started = asyncio.Barrier(2)
        first, second = await asyncio.gather(
            call('hunter2xyz', started), call('hunter3xyz', started)
        )
        return first, second

    assert asyncio.run(run()) == ('*** hunter3xyz', 'hunter2xyz ***')


def test_a_call_without_sensitive_values_changes_no_settings(context: Context) -> None:
    assert copy_context().run(masked_call, {'user': 'ann-user', 'password': 'short'}) is None

    def inner() -> tuple[bool, str]:
        before = current()
        masked_call({'user': 'ann-user'})
        return current() is before, redact('no hunter2xyz')

    assert context.run(inner) == (True, 'no ***')


def test_an_inner_call_masks_the_values_of_the_outer_call_too(context: Context) -> None:
    def inner() -> str:
        masked_call({'token': 'inner-token'})
        return redact('hunter2xyz and inner-token')

    assert context.run(copy_context().run, inner) == 'hunter2xyz and ***'
    assert context.run(inner) == '*** and ***'


def test_the_settings_of_the_program_apply_within_a_call() -> None:
    values = CallValues(['hunter2xyz'], Settings(also={'iban'}, never={'csrf_token'}))
    assert values.get_settings() is values.settings
    assert values.settings.is_sensitive('iban')
    assert not values.settings.is_sensitive('csrf_token')
