"""No secret survives redaction in any form, and what is no secret stays: the vectors, every kind of container."""

import json
import subprocess
import sys
from collections import OrderedDict, UserDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any
from uuid import UUID

import msgspec
import pytest
from typing_extensions import override

from seamwise import Category, Cause, Secret, TaggedError, redact
from seamwise.redaction.containers import CYCLE
from seamwise.secrets import MASK
from tests.core.redacted import PLANTED, Account, Change, Node, Point, changed, parts, texts

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'redaction.json').read_text(encoding='utf-8')
)


def decoded(value: Any) -> Any:
    """Make the value that a vector describes."""
    kind: object = value.__class__
    if kind is list:
        return [decoded(one) for one in value]
    if kind is not dict:
        return value
    for mark, make in MARKS.items():
        if mark in value:
            return make(value[mark])
    return {key: decoded(one) for key, one in value.items()}


def _cycle(parts: Any) -> Any:
    made: dict[str, Any] = decoded(parts)
    made['self'] = made
    return made


MARKS: Mapping[str, Change] = {
    '$tuple': lambda parts: tuple(map(decoded, parts)),
    '$set': lambda parts: set(map(decoded, parts)),
    '$bytes': lambda text: text.encode(),
    '$cycle': _cycle,
    '$repeat': lambda parts: [decoded(parts[0]) for _ in range(parts[1])],
}


@pytest.mark.parametrize('case', FACTS['cases'], ids=[case['name'] for case in FACTS['cases']])
def test_every_vector_is_redacted_as_expected(case: dict[str, Any]) -> None:
    value: Any = decoded(case['value'])
    shown = changed(value)
    if case.get('same'):
        assert shown == value
    if case.get('still_json'):
        assert isinstance(json.loads(shown), dict)
    everything = texts(shown) if len(value) < 1000 else f'{texts(shown[0])}{texts(shown[-1])}'
    assert [gone for gone in case.get('gone', ()) if gone in everything] == []
    assert [kept for kept in case.get('kept', ()) if kept not in everything] == [] or case.get(
        'must_return'
    )
    assert type(shown) is type(value)
    assert isinstance(value, str) or len(shown) == len(value)


def test_every_item_of_a_million_is_redacted() -> None:
    shown = changed([{'n': 1, 'password': PLANTED} for _ in range(1_000_000)])
    assert len(shown) == 1_000_000
    assert all(one == {'n': 1, 'password': MASK} for one in shown)


# Names


@pytest.mark.parametrize(
    'name',
    [
        *(
            'password',
            'PASSWORD',
            'userPassword',
            'db-password',
            'password2',
            'Password_2',
            'passwd',
            'passphrase',
            'PGPASSWORD',
        ),
        *(
            'secret',
            'client_secret',
            'secrets',
            'token',
            'Token1',
            'X-Auth-Token',
            'authToken',
            'accesstoken',
            'idToken',
            'CSRFToken',
        ),
        *(
            'authorization',
            'Proxy-Authorization',
            'cookie',
            'Set-Cookie',
            'cookies',
            'credential',
            'awsCredentials',
        ),
        *(
            'api_key',
            'apikey',
            'APIKEY',
            'APIKey',
            'X-Api-Key',
            'api keys',
            'AccountKey',
            'private-key',
            'signing.key',
            'access_key_id',
        ),
        *(
            'encryptionKey7',
            'secret_key',
            'spring.datasource.password',
            'credentials.user',
            'user[password]',
            '/run/secrets/db_password',
        ),
    ],
)
def test_the_value_of_a_sensitive_name_is_masked(name: str) -> None:
    assert redact({name: PLANTED}) == {name: MASK}
    assert redact({name.encode(): PLANTED}) == {name.encode(): MASK}
    assert redact(json.dumps({name: PLANTED})) == json.dumps({name: MASK})


@pytest.mark.parametrize(
    'name',
    [
        *(
            'monkey',
            'keyboard',
            'author',
            'authority',
            'max_tokens',
            'maxTokens',
            'tokenizer',
            'secretary',
            'compass',
            'tokens',
        ),
        *(
            'key',
            'primaryKey',
            'public_key',
            'session_id',
            'keys',
            'apiMonkey',
            'key_api',
            'api',
            'passwordless',
            'contentType',
            '',
            '1',
        ),
        *('src/auth/token_store.py', 'the/password/policy', '/etc/ssh/'),
    ],
)
def test_the_value_of_another_name_is_kept(name: str) -> None:
    assert redact({name: 'x-1'}) == {name: 'x-1'}


@pytest.mark.parametrize('empty', [None, '', msgspec.UNSET])
def test_an_empty_value_of_a_sensitive_name_is_kept(empty: object) -> None:
    assert redact({'password': empty}) == {'password': empty}


@pytest.mark.parametrize(
    'held',
    [
        1,
        True,
        1.5,
        b'',
        b'x',
        [],
        {},
        (1,),
        {PLANTED},
        Secret(PLANTED),
        datetime(2026, 2, 20, tzinfo=UTC),
    ],
)
def test_a_container_under_a_sensitive_name_is_masked_as_a_whole(held: object) -> None:
    assert redact({'token': held, 'n': 1}) == {'token': MASK, 'n': 1}


def test_keys_are_kept_unless_they_contain_a_secret() -> None:
    assert redact(
        {
            'Bearer FAKEFAKE1': 1,
            2: 'b',
            None: 'c',
            ('x', 'token=FAKE'): 'd',
            b'ab': 'e',
            b'Bearer FAKE1': 'f',
        }
    ) == {
        'Bearer ***': 1,
        2: 'b',
        None: 'c',
        ('x', 'token=***'): 'd',
        b'ab': 'e',
        '<12 bytes>': 'f',
    }


def test_keys_that_become_equal_are_numbered() -> None:
    shown = redact(
        {'Bearer FAKE01': 1, 'Bearer FAKE02': 2, 'Bearer *** (2)': 3, 'Bearer FAKE04': 4}
    )
    assert shown == {
        'Bearer ***': 1,
        'Bearer *** (2)': 2,
        'Bearer *** (2) (3)': 3,
        'Bearer *** (4)': 4,
    }
    assert redact(shown) == shown


# Kinds of values


class Colour(StrEnum):
    RED = 'red'
    LEAK = 'token=FAKE-planted'


class Number(IntEnum):
    ONE = 1


class Plain(Enum):
    ONE = 'one'
    LEAK = 'token=FAKE-planted'


class Named(str):
    __slots__ = ()


class Sent(msgspec.Struct, frozen=True, cache_hash=True):
    to: str
    password: str | None = None
    proof: Secret[str] | None = None
    parts: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        assert self.password != MASK, 'a copy is not checked'


class Renamed(msgspec.Struct, rename={'held': 'apiKey'}):
    held: str
    other: object = msgspec.UNSET


class Loose(msgspec.Struct, dict=True):
    x: int


class Denied(TaggedError, category=Category.PERMISSION, message='{who} was denied: {why}'):
    who: str
    why: str
    proof: Secret[str]
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Slotted:
    name: str
    token: str

    def __post_init__(self) -> None:
        assert self.token != MASK, 'a copy is not checked'


@dataclass(init=False, repr=False, eq=False)
class Stamp(datetime):
    """A dataclass of a built-in type, which only that type can make."""


class Attrs:
    """What attrs makes looks like this."""

    __attrs_attrs__ = ()

    def __init__(self, name: str, api_key: str) -> None:
        self.name, self.api_key = name, api_key


class Opaque:
    def __init__(self, shown: str) -> None:
        self.shown = shown

    @override
    def __repr__(self) -> str:
        return self.shown


class Broken:
    @override
    def __repr__(self) -> str:
        raise RuntimeError(PLANTED)


class BrokenError(Exception):
    @override
    def __str__(self) -> str:
        raise RuntimeError(PLANTED)


class HashableList(list[object]):
    @override
    def __hash__(self) -> int:  # type: ignore[override]  # a list that can be in a set
        return 1


@pytest.mark.parametrize(
    'value',
    [
        *(
            None,
            True,
            0,
            -1.5,
            float('inf'),
            2 + 1j,
            Decimal('1.50'),
            UUID(int=7),
            datetime(2026, 2, 20, tzinfo=UTC),
            Path('/etc/token'),
        ),
        *(
            Colour.RED,
            Number.ONE,
            Plain.ONE,
            Named('x'),
            int,
            Account,
            len,
            object(),
            range(3),
            msgspec.UNSET,
            ...,
            10**4000,
            Opaque('ok'),
        ),
        *(
            '',
            'é',
            '\x00',
            '\ud800',
            'a\udcffb',
            (),
            frozenset[int](),
            Point(1),
            Slotted('ann', ''),
        ),
    ],
)
def test_a_value_without_a_secret_is_kept(value: object) -> None:
    shown = redact(value)
    assert shown == value
    assert type(shown) is type(value)


SHOWN: list[tuple[object, object]] = [
    (Secret(PLANTED), MASK),
    ([Secret(PLANTED)], [MASK]),
    (b'abc', '<3 bytes>'),
    (bytearray(b'ab'), '<2 bytes>'),
    (memoryview(b'abcd').cast('H'), '<4 bytes>'),
    (msgspec.Raw(b'{"a": 1}'), '<8 bytes>'),
    (Named('token=FAKE'), 'token=***'),
    (Colour.LEAK, 'token=***'),
    (Plain.LEAK, "<Plain.LEAK: 'token=***'>"),
    (Opaque('Opaque(token=FAKE)'), 'Opaque(token=***)'),
    (SimpleNamespace(password=PLANTED), "namespace(password='***')"),
    (Broken(), '<Broken>'),
    (ValueError('token=FAKE'), 'ValueError: token=***'),
    (KeyError({'password': PLANTED}), "KeyError: {'password': '***'}"),
    (TimeoutError(), 'TimeoutError'),
    (BrokenError(), '<BrokenError>'),
    (ExceptionGroup('two', [OSError(), OSError()]), 'ExceptionGroup: two (2 sub-exceptions)'),
    ({'cause': ValueError('x')}, {'cause': 'ValueError: x'}),
    (OrderedDict(token=PLANTED, n=1), {'token': MASK, 'n': 1}),
    (MappingProxyType({'a': {'token': PLANTED}}), {'a': {'token': MASK}}),
    (UserDict({'token': PLANTED}), {'token': MASK}),
    ((1, ['token=FAKE']), (1, ['token=***'])),
    (frozenset({('token=FAKE', 1)}), frozenset({('token=***', 1)})),
    ({HashableList(['token=FAKE'])}, {"['token=***']"}),
]


@pytest.mark.parametrize(('value', 'shown'), SHOWN)
def test_each_type_has_its_redacted_form(value: object, shown: object) -> None:
    assert redact(value) == shown
    assert redact(shown) == shown
    assert type(redact(value)) is type(shown)


def test_a_named_tuple_keeps_its_class() -> None:
    shown = changed([Point(1, PLANTED, [Secret(PLANTED)]), Point(2, '', Secret(PLANTED))])
    assert shown == [Point(1, MASK, [MASK]), Point(2, '', MASK)]
    assert [type(one) for one in shown] == [Point, Point]


def test_a_struct_keeps_its_class_even_if_its_post_init_would_fail() -> None:
    given_ = Sent(
        'ann', PLANTED, Secret(PLANTED), ({'token': PLANTED}, 'https://ann:FAKE@example.org')
    )
    shown = redact(given_)
    assert (shown.to, shown.password, shown.proof) == ('ann', MASK, Secret(MASK))
    assert shown.parts == ({'token': MASK}, 'https://***@example.org')
    assert given_.password == PLANTED
    assert redact(shown) == shown


def test_a_struct_with_a_cached_hash_gets_a_new_hash() -> None:
    given_ = Sent('ann', PLANTED)
    before = hash(given_)
    assert hash(redact(given_)) == hash(redact(Sent('ann', 'another'))) != before


def test_a_sensitive_name_on_the_wire_masks_the_field() -> None:
    assert redact(Renamed(PLANTED, 'x')) == Renamed(MASK, 'x')
    assert redact(Renamed('', msgspec.UNSET)) == Renamed('')


def test_the_attributes_of_a_struct_other_than_fields_are_redacted() -> None:
    given_: Any = Loose(1)
    given_.token, given_.note = PLANTED, 'ok'
    shown = changed(given_)
    assert (shown.x, shown.token, shown.note, given_.token) == (1, MASK, 'ok', PLANTED)


def test_an_error_keeps_its_class_and_its_cause_becomes_text() -> None:
    error = Denied(
        'ann', 'password=FAKE-planted', Secret(PLANTED), ValueError('token=FAKE-planted')
    )
    shown = changed(error)
    assert (type(shown), str(shown)) == (Denied, 'ann was denied: password=***')
    assert shown.proof.reveal() == MASK
    assert shown.cause == 'ValueError: token=***'
    assert error.proof.reveal() == PLANTED


def test_a_dataclass_keeps_its_class() -> None:
    given_ = Account('ann', PLANTED, Secret(PLANTED), ['token=FAKE'], hidden={'token': PLANTED})
    shown = redact(given_)
    assert shown == Account('ann', MASK, Secret(MASK), ['token=***'], hidden={'token': MASK})
    assert (given_.password, given_.tags) == (PLANTED, ['token=FAKE'])
    assert redact([Slotted('ann', PLANTED)]) == [redact(Slotted('ann', 'another'))]
    assert repr(redact(Slotted('ann', PLANTED))) == "Slotted(name='ann', token='***')"


def test_a_dataclass_with_a_built_in_base_becomes_text_or_is_kept() -> None:
    stamp = Stamp(2026, 2, 20)
    assert redact([stamp]) == [stamp]


def test_an_attrs_class_is_kept() -> None:
    shown = changed(Attrs('ann', PLANTED))
    assert (type(shown), shown.name, shown.api_key) == (Attrs, 'ann', MASK)


def test_no_encoder_discloses_a_secret_in_the_result() -> None:
    value = {
        'a': Secret(PLANTED),
        'b': [b'FAKE-planted'],
        'c': Account('ann', PLANTED),
        'd': Sent('ann', PLANTED),
        'e': Colour.LEAK,
    }
    assert PLANTED.encode() not in msgspec.json.encode(redact(value))
    with pytest.raises(TypeError) as refused:
        msgspec.json.encode(redact(Sent('ann', proof=Secret(PLANTED))))
    assert PLANTED not in str(refused.value)


@pytest.mark.parametrize(
    ('arguments', 'shown'),
    [
        (
            ['mysql', '--password', 'FAKE', '--user', 'ann'],
            ['mysql', '--password', MASK, '--user', 'ann'],
        ),
        (('curl', '-u', 'ann:FAKE', 'x'), ('curl', '-u', 'ann:***', 'x')),
        (['--token', '-v', 'x'], ['--token', '-v', 'x']),
        (['--token-file', '/run/t'], ['--token-file', '/run/t']),
        (['--token', 7, 'x'], ['--token', 7, 'x']),
        (
            ['-u', 'root', '-', 'x', '- forgot the password', 'x'],
            ['-u', 'root', '-', 'x', '- forgot the password', 'x'],
        ),
    ],
)
def test_the_argument_after_a_flag_for_a_secret_is_masked(arguments: object, shown: object) -> None:
    assert redact(arguments) == shown
    assert json.loads(redact(json.dumps(arguments))) == json.loads(json.dumps(shown))


# Cycles, depth, sharing


def test_a_container_inside_itself_is_replaced() -> None:
    inner: list[object] = ['token=FAKE']
    inner.append((inner, {'again': inner}))
    shown = redact({'a': inner, 'b': inner})
    assert shown == {
        'a': ['token=***', (CYCLE, {'again': CYCLE})],
        'b': ['token=***', (CYCLE, {'again': CYCLE})],
    }
    assert redact(shown) == shown


def test_a_cycle_through_objects_is_replaced() -> None:
    account = Account('ann', PLANTED)
    account.hidden = [account]
    assert changed(account).hidden == [CYCLE]
    struct = Renamed('x')
    struct.other = {'back': struct}
    assert changed(struct).other == {'back': CYCLE}


def test_a_shared_part_is_redacted_once() -> None:
    value: object = {'token': PLANTED}
    for _ in range(200):
        value = [value, value]
    shown = changed(value)
    assert shown[0] is shown[1]


class Lazy(Mapping[str, object]):
    """Makes its parts anew whenever it is asked, so that an address may be used again."""

    def __init__(self, depth: int) -> None:
        self.depth = depth

    @override
    def __getitem__(self, key: str) -> object:
        return (
            [self.depth, int(key)] if key != '9' else Lazy(self.depth - 1) if self.depth else None
        )

    @override
    def __iter__(self) -> Iterator[str]:
        return iter('0123456789')

    @override
    def __len__(self) -> int:
        return 10


def test_temporary_parts_with_the_same_id_are_not_confused() -> None:
    shown = changed(Lazy(2))
    assert [shown[str(place)] for place in range(9)] == [[2, place] for place in range(9)]
    assert shown['9']['9']['1'] == [0, 1]


DEEPER: list[Change] = [
    lambda x: [x],
    lambda x: (x,),
    lambda x: {'a': x},
    lambda x: Account('ann', 'p', hidden=x),
    Node,
]


@pytest.mark.parametrize('wrap', DEEPER)
def test_deep_nesting_is_redacted_without_recursion(wrap: Change) -> None:
    value: Any = {'password': PLANTED, 'city': 'Oslo'}
    for _ in range(100_000):
        value = wrap(value)
    shown = changed(value)
    flat = [one for one in parts(shown) if isinstance(one, str)]
    assert PLANTED not in flat
    assert 'Oslo' in flat


def test_importing_redaction_loads_no_pattern_modules() -> None:
    heavy = [
        'json',
        'logging',
        'asyncio',
        'traceback',
        'secrets',
        'hashlib',
        'base64',
        'dataclasses',
    ]
    code = (
        f'import sys, seamwise.redaction; print([name for name in {heavy} if name in sys.modules])'
    )
    ended = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert ended.stdout == '[]\n'
