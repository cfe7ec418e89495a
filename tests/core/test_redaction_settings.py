"""Names and patterns of an application: in one call, and for the whole program."""

import re
import threading
from collections.abc import Iterator
from copy import copy
from typing import Self

import pytest
from msgspec import Struct

from seamwise import redact
from seamwise.redaction import configure, redact_and_count
from seamwise.redaction.settings import current

_CARD = re.compile(r'\b4\d{15}\b')


@pytest.fixture(autouse=True)
def _defaults() -> Iterator[None]:
    yield
    configure()


@pytest.mark.parametrize('name', ['iban', 'IBAN', 'customerIban', 'iban2', 'my-iban', 'x.iban'])
def test_the_value_of_an_added_name_is_masked(name: str) -> None:
    assert redact({name: 'DE02', 'n': 1}, also={'iban'}) == {name: '***', 'n': 1}
    assert redact(f'{name}=DE02', also={'iban'}) == f'{name}=***'
    assert redact(f'{{"{name}": "DE02"}}', also=['iban']) == f'{{"{name}": "***"}}'
    assert redact({name: 'DE02'}) == {name: 'DE02'}


@pytest.mark.parametrize('name', ['credit_card', 'creditCard', 'Credit-Card', 'my credit card 2'])
def test_an_added_name_of_several_words_matches_in_any_notation(name: str) -> None:
    assert redact({name: 'x'}, also={'credit card'}) == {name: '***'}
    assert redact({'credit': 'x', 'card': 'y', 'credit_cards': 'z'}, also={'creditCard'}) == {
        'credit': 'x',
        'card': 'y',
        'credit_cards': 'z',
    }


def test_a_spared_name_is_kept_and_longer_names_are_not() -> None:
    value = {'csrfToken': 'a', 'csrf_token': 'b', 'token': 'c', 'my_csrf_token': 'd'}
    assert redact(value, never={'csrf_token'}) == {**value, 'token': '***', 'my_csrf_token': '***'}
    assert redact('csrf_token=a&token=b', never=('csrfToken',)) == 'csrf_token=a&token=***'


def test_an_added_pattern_is_masked_in_every_text() -> None:
    value = ['card 4000000000000002', {'note': '{"card": "4000000000000002"}'}, 'none']
    assert redact(value, also=[_CARD]) == ['card ***', {'note': '{"card": "***"}'}, 'none']
    assert redact(value) == value


def test_the_group_secret_of_an_added_pattern_is_masked() -> None:
    pattern = re.compile(r'ticket (?P<secret>\d*)')
    assert redact('ticket 17 for ann', also=[pattern]) == 'ticket *** for ann'
    assert redact('ticket  for ann', also=[pattern]) == 'ticket  for ann'


def test_a_value_that_matches_a_spared_pattern_is_kept() -> None:
    spared = re.compile('test-.*')
    assert redact({'token': 'test-1', 'a': 'token=test-2 b'}, never=[spared]) == {
        'token': 'test-1',
        'a': 'token=test-2 b',
    }
    assert redact('{"token": "test-1", "password": "x"}', never=[spared]) == (
        '{"token": "test-1", "password": "***"}'
    )
    assert redact({'token': 'x-test-1'}, never=[spared]) == {'token': '***'}


def test_the_settings_of_the_program_apply_to_every_call_and_thread() -> None:
    configure(also={'iban', _CARD}, never={'csrftoken', re.compile('none')})
    results: list[object] = []
    value = {'iban': 'x', 'csrfToken': 'y', 'a': '4000000000000002', 'token': 'none'}
    thread = threading.Thread(target=lambda: results.append(redact(value)))
    thread.start()
    thread.join()
    assert results == [{'iban': '***', 'csrfToken': 'y', 'a': '***', 'token': 'none'}]
    configure()
    assert redact({'iban': 'x', 'csrfToken': 'y'}) == {'iban': 'x', 'csrfToken': '***'}


def test_a_call_adds_to_the_settings_of_the_program_and_has_the_last_word() -> None:
    configure(also={'iban'}, never={'csrf_token'})
    value = {'iban': 'x', 'bic': 'y', 'csrf_token': 'z', 'token': 't'}
    assert redact(value, also={'bic'}) == {**value, 'iban': '***', 'bic': '***', 'token': '***'}
    assert redact(value, also={'csrf_token'}, never={'iban', 'token'}) == {
        **value,
        'csrf_token': '***',
    }
    assert redact(value) == {**value, 'iban': '***', 'token': '***'}


@pytest.mark.parametrize(
    ('entries', 'problem'),
    [
        ('iban', r"also='iban' is no collection. .* such as \{'iban'\}"),
        (b'iban', 'is no collection'),
        (None, 'also=None is no collection'),
        (3, 'also=3 is no collection'),
        (_CARD, 'is no collection'),
        ([''], "also contains ''"),
        (['_'], "also contains '_'"),
        ([3], 'also contains 3'),
        ([re.compile(b'x')], 'also contains re.compile'),
        (iter(['a']), 'is no collection'),
    ],
)
def test_a_wrong_argument_is_refused(entries: object, problem: str) -> None:
    also: set[str] = entries  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType] -- it is wrong on purpose
    before = current()
    with pytest.raises(TypeError, match=problem):
        configure(also=also)
    with pytest.raises(TypeError, match=problem):
        redact('x', also=also)
    with pytest.raises(TypeError, match=problem.replace('also', 'never')):
        redact('x', never=also)
    assert current() is before


@pytest.mark.parametrize(
    ('value', 'count'),
    [
        ('a', 0),
        ('token=a b password=c', 2),
        ('Bearer token=hunter2XYZ', 1),
        ('{"token": "a", "n": ["Bearer FAKE1"], "password": {"x": 1}}', 3),
        ('{"a": "{\\"token\\": \\"x\\"}"}', 1),
        ('"password=x"', 1),
        ({'token': 'x', 'password': None, 'token=a': 1, 'n': ('a', {'pin': 1})}, 4),
        (['--password', 'x', '-u', 'ann:x'], 2),
        ([('X-Api-Key', 'x'), ('Accept', 'y')], 1),
        ('["--password", "x"]', 1),
        ('[["X-Api-Key", "x"], {"name": "DB_PASSWORD", "value": "y"}]', 2),
        ('{"not json: "token=x', 1),
    ],
)
def test_masked_places_are_counted(value: object, count: int) -> None:
    redacted, masked = redact_and_count(value)
    assert masked == count
    assert redact_and_count(redacted) == (redacted, 0)


class Copied(Struct):
    token: str
    note: str = ''

    def __copy__(self) -> Self:
        return self


def test_a_struct_whose_copy_is_itself_is_not_changed() -> None:
    original = Copied('hunter2', 'token=FAKE')
    assert copy(original) is original
    redacted = redact(original)
    assert (original.token, original.note) == ('hunter2', 'token=FAKE')
    assert (redacted.token, redacted.note) == ('***', 'token=***')


@pytest.mark.parametrize(
    ('value', 'redacted'),
    [
        ({'password': 1234, 'pin': 1, 'otp': 2, 'secret': 3.5}, None),
        ({'token_count': 5, 'password_min_length': 8, 'expires_in': 3600, 'pass': 7}, 'same'),
        ({'has_password': True, 'password': False, 'token': None}, 'same'),
        ({'password': {'min_length': 8, 'required': True, 'errors': ['is too short']}}, 'same'),
        ({'password': {'min_length': 8, 'x': 8}}, {'password': '***'}),
        ({'password': {'min_length': 8, 'x': object}}, {'password': '***'}),
        ([('password', ['is too short']), ('token', None)], 'same'),
        ([['X-Api-Key', 'x'], ['a', 'b']], [['X-Api-Key', '***'], ['a', 'b']]),
        ([('a', 'x', 'y'), ('token', 'x', 'y')], 'same'),
        ({'name': 'DB_PASSWORD', 'value': 'x'}, {'name': 'DB_PASSWORD', 'value': '***'}),
        ({'name': 'ann', 'value': 'x'}, 'same'),
        ({'name': 3, 'value': 'x'}, 'same'),
    ],
)
def test_numbers_messages_and_pairs(value: object, redacted: object) -> None:
    if redacted is None:
        assert redact(value) == dict.fromkeys(('password', 'pin', 'otp', 'secret'), '***')
    else:
        assert redact(value) == (value if redacted == 'same' else redacted)


def test_a_shared_harmless_container_is_kept() -> None:
    messages = ['is too short']
    value = {'password': [messages, messages], 'token': {'secret': messages}}
    assert redact(value) == value
