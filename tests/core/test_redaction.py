"""Tests of redaction: the vectors, sensitive names and every type of container."""

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
from seamwise._text.secrets import MASK
from seamwise.redaction import redact_part
from seamwise.redaction.containers import CYCLE
from tests.core.redacted import PLANTED, Account, Change, Node, Point, parts, redacted_any, texts

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'redaction.json').read_text(encoding='utf-8')
)


def decoded(value: Any) -> Any:
    """Decode the value of a vector."""
    kind: object = value.__class__
    if kind is list:
        return [decoded(item) for item in value]
    if kind is not dict:
        return value
    for mark, create_mark in MARKS.items():
        if mark in value:
            return create_mark(value[mark])
    return {key: decoded(item) for key, item in value.items()}


def _cycle(parts: Any) -> Any:
    result: dict[str, Any] = decoded(parts)
    result['self'] = result
    return result


MARKS: Mapping[str, Change] = {
    '$tuple': lambda parts: tuple(map(decoded, parts)),
    '$set': lambda parts: set(map(decoded, parts)),
    '$bytes': lambda text: text.encode(),
    '$cycle': _cycle,
    '$repeat': lambda parts: [decoded(parts[0]) for _ in range(parts[1])],
}


def _case(case: dict[str, Any]) -> Any:
    marks = [pytest.mark.nightly] if 'million' in case['name'] else []
    return pytest.param(case, id=case['name'], marks=marks)


@pytest.mark.parametrize('case', [*map(_case, FACTS['cases'])])
def test_every_vector_is_redacted_as_expected(case: dict[str, Any]) -> None:
    value: Any = decoded(case['value'])
    redacted = redacted_any(value)
    if case.get('same'):
        assert redacted == value
    if case.get('still_json'):
        assert isinstance(json.loads(redacted), dict)
    everything = (
        texts(redacted) if len(value) < 1000 else f'{texts(redacted[0])}{texts(redacted[-1])}'
    )
    assert [gone for gone in case.get('gone', ()) if gone in everything] == []
    assert [text for text in case.get('kept', ()) if text not in everything] == [] or case.get(
        'must_return'
    )
    assert type(redacted) is type(value)
    assert isinstance(value, str) or len(redacted) == len(value)


@pytest.mark.nightly
def test_every_item_of_a_million_is_redacted() -> None:
    redacted = redacted_any([{'n': 1, 'password': PLANTED} for _ in range(1_000_000)])
    assert len(redacted) == 1_000_000
    assert all(item == {'n': 1, 'password': MASK} for item in redacted)


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
    'container',
    [
        1,
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
def test_a_container_under_a_sensitive_name_is_masked_as_a_whole(container: object) -> None:
    assert redact({'secret': container, 'n': 1}) == {'secret': MASK, 'n': 1}


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


def test_a_pair_is_masked_as_a_key_of_a_mapping() -> None:
    assert redact({('password', 'hunter2Qx9zPw'): 1}) == {('password', '***'): 1}
    assert redact({('token', 'count'): 1, (1, 2): 3}) == {('token', 'count'): 1, (1, 2): 3}


def test_keys_that_become_equal_are_numbered() -> None:
    redacted = redact(
        {'Bearer FAKE01': 1, 'Bearer FAKE02': 2, 'Bearer *** (2)': 3, 'Bearer FAKE04': 4}
    )
    assert redacted == {
        'Bearer ***': 1,
        'Bearer *** (2)': 2,
        'Bearer *** (2) (3)': 3,
        'Bearer *** (4)': 4,
    }
    assert redact(redacted) == redacted


# Types of values


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
    """Dataclass with a built-in base, which has its own constructor."""


class Attrs:
    """Class with the attributes of a class from attrs."""

    __attrs_attrs__ = ()

    def __init__(self, name: str, api_key: str) -> None:
        self.name, self.api_key = name, api_key


class Opaque:
    def __init__(self, text: str) -> None:
        self.text = text

    @override
    def __repr__(self) -> str:
        return self.text


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
    redacted = redact(value)
    assert redacted == value
    assert type(redacted) is type(value)


REDACTED_FORMS: list[tuple[object, object]] = [
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


@pytest.mark.parametrize(('value', 'redacted'), REDACTED_FORMS)
def test_each_type_has_its_redacted_form(value: object, redacted: object) -> None:
    assert redact(value) == redacted
    assert redact(redacted) == redacted
    assert type(redact(value)) is type(redacted)


def test_a_named_tuple_keeps_its_class() -> None:
    redacted = redacted_any([Point(1, PLANTED, [Secret(PLANTED)]), Point(2, '', Secret(PLANTED))])
    assert redacted == [Point(1, MASK, [MASK]), Point(2, '', MASK)]
    assert [type(item) for item in redacted] == [Point, Point]


def test_a_struct_keeps_its_class_even_if_its_post_init_would_fail() -> None:
    original = Sent(
        'ann', PLANTED, Secret(PLANTED), ({'token': PLANTED}, 'https://ann:FAKE@example.org')
    )
    redacted = redact(original)
    assert (redacted.to, redacted.password, redacted.proof) == ('ann', MASK, Secret(MASK))
    assert redacted.parts == ({'token': MASK}, 'https://***@example.org')
    assert original.password == PLANTED
    assert redact(redacted) == redacted


def test_a_struct_with_a_cached_hash_gets_a_new_hash() -> None:
    original = Sent('ann', PLANTED)
    original_hash = hash(original)
    assert hash(redact(original)) == hash(redact(Sent('ann', 'another'))) != original_hash


def test_a_sensitive_name_on_the_wire_masks_the_field() -> None:
    assert redact(Renamed(PLANTED, 'x')) == Renamed(MASK, 'x')
    assert redact(Renamed('', msgspec.UNSET)) == Renamed('')


def test_the_attributes_of_a_struct_other_than_fields_are_redacted() -> None:
    original: Any = Loose(1)
    original.token, original.note = PLANTED, 'ok'
    redacted = redacted_any(original)
    assert (redacted.x, redacted.token, redacted.note, original.token) == (1, MASK, 'ok', PLANTED)


def test_an_error_keeps_its_class_and_its_cause_becomes_text() -> None:
    error = Denied(
        'ann', 'password=FAKE-planted', Secret(PLANTED), ValueError('token=FAKE-planted')
    )
    redacted = redacted_any(error)
    assert (type(redacted), str(redacted)) == (Denied, 'ann was denied: password=***')
    assert redacted.proof.reveal() == MASK
    assert redacted.cause == 'ValueError: token=***'
    assert error.proof.reveal() == PLANTED


def test_a_dataclass_keeps_its_class() -> None:
    original = Account('ann', PLANTED, Secret(PLANTED), ['token=FAKE'], hidden={'token': PLANTED})
    redacted = redact(original)
    assert redacted == Account('ann', MASK, Secret(MASK), ['token=***'], hidden={'token': MASK})
    assert (original.password, original.tags) == (PLANTED, ['token=FAKE'])
    assert redact([Slotted('ann', PLANTED)]) == [redact(Slotted('ann', 'another'))]
    assert repr(redact(Slotted('ann', PLANTED))) == "Slotted(name='ann', token='***')"


def test_a_dataclass_with_a_built_in_base_becomes_text_or_is_kept() -> None:
    stamp = Stamp(2026, 2, 20)
    assert redact([stamp]) == [stamp]


def test_an_attrs_class_is_kept() -> None:
    redacted = redacted_any(Attrs('ann', PLANTED))
    assert (type(redacted), redacted.name, redacted.api_key) == (Attrs, 'ann', MASK)


def test_no_encoder_discloses_a_secret_in_the_result() -> None:
    value = {
        'a': Secret(PLANTED),
        'b': [b'FAKE-planted'],
        'c': Account('ann', PLANTED),
        'd': Sent('ann', PLANTED),
        'e': Colour.LEAK,
    }
    assert PLANTED.encode() not in msgspec.json.encode(redact(value))
    with pytest.raises(TypeError) as info:
        msgspec.json.encode(redact(Sent('ann', proof=Secret(PLANTED))))
    assert PLANTED not in str(info.value)


@pytest.mark.parametrize(
    ('arguments', 'redacted'),
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
def test_the_argument_after_a_flag_for_a_secret_is_masked(
    arguments: object, redacted: object
) -> None:
    assert redact(arguments) == redacted
    assert json.loads(redact(json.dumps(arguments))) == json.loads(json.dumps(redacted))


# Cycles, depth, sharing


def test_a_container_inside_itself_is_replaced() -> None:
    inner: list[object] = ['token=FAKE']
    inner.append((inner, {'again': inner}))
    redacted = redact({'a': inner, 'b': inner})
    assert redacted == {
        'a': ['token=***', (CYCLE, {'again': CYCLE})],
        'b': ['token=***', (CYCLE, {'again': CYCLE})],
    }
    assert redact(redacted) == redacted


def test_a_cycle_through_objects_is_replaced() -> None:
    account = Account('ann', PLANTED)
    account.hidden = [account]
    assert redacted_any(account).hidden == [CYCLE]
    struct = Renamed('x')
    struct.other = {'back': struct}
    assert redacted_any(struct).other == {'back': CYCLE}


def test_a_shared_part_is_redacted_once() -> None:
    value: object = {'token': PLANTED}
    for _ in range(200):
        value = [value, value]
    redacted = redacted_any(value)
    assert redacted[0] is redacted[1]


class Lazy(Mapping[str, object]):
    """Mapping that creates its parts for each access, so that an id can be reused."""

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
    redacted = redacted_any(Lazy(2))
    assert [redacted[str(index)] for index in range(9)] == [[2, index] for index in range(9)]
    assert redacted['9']['9']['1'] == [0, 1]


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
    for _ in range(20_000):
        value = wrap(value)
    redacted = redacted_any(value)
    flat = [part for part in parts(redacted) if isinstance(part, str)]
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
        'seamwise.redaction.containers',
        'seamwise.redaction.engine',
        'seamwise.redaction.provider_formats',
        'seamwise.redaction.rules',
        'seamwise.redaction.sensitive_names',
    ]
    code = (
        f'import sys, seamwise.redaction; print([name for name in {heavy} if name in sys.modules])'
    )
    process = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True
    )
    assert process.stdout == '[]\n'


class LostMapping(Mapping[str, str]):
    @override
    def __getitem__(self, key: str, /) -> str:
        raise RuntimeError('the database has gone')

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(['a'])

    @override
    def __len__(self) -> int:
        return 1


class UnboundProxy:
    @property  # type: ignore[misc]  # as in Werkzeug
    @override
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise RuntimeError('working outside of request context')


@pytest.mark.parametrize('class_', [LostMapping, UnboundProxy])
def test_a_value_whose_code_raises_is_shown_by_its_type(class_: type) -> None:
    value, name = class_(), class_.__name__
    assert redact({'a': value, 'b': 'hunter2', 'password': value}) == {
        'a': f'<{name}>',
        'b': 'hunter2',
        'password': '***',
    }
    assert redact(value) == f'<{name}>'


@pytest.mark.parametrize(
    ('value', 'redacted'),
    [
        ((('X-Api-Key', PLANTED),), (('X-Api-Key', MASK),)),
        (frozenset({('X-Api-Key', PLANTED)}), frozenset({('X-Api-Key', MASK)})),
        (('password', PLANTED), ('password', MASK)),
        ({'fields': ['password', 'email']}, {'fields': ['password', 'email']}),
        ({'tokens': ['FAKE-1234']}, {'tokens': MASK}),
        ({'tokens': ['the', 'cat', 7]}, {'tokens': ['the', 'cat', 7]}),
        ({'loc': ('password',), 'input': 'x'}, {'loc': ('password',), 'input': MASK}),
        ({'loc': ('size',), 'input': 'x'}, {'loc': ('size',), 'input': 'x'}),
        ({'loc': 'body.token.0', 'input': 'x'}, {'loc': 'body.token.0', 'input': MASK}),
        ({'path': '/body/token', 'input': 'x'}, {'path': '/body/token', 'input': MASK}),
        ({'path': '/oauth/token', 'value': 'x'}, {'path': '/oauth/token', 'value': 'x'}),
        (
            {'op': 'add', 'path': '/password', 'value': 'x'},
            {'op': 'add', 'path': '/password', 'value': MASK},
        ),
        ({'op': 'add', 'path': '/n', 'value': 'x'}, {'op': 'add', 'path': '/n', 'value': 'x'}),
        ({'loc': 'body.size', 'input': 'x'}, {'loc': 'body.size', 'input': 'x'}),
        (['mysql', '-pFAKE', 'shop'], ['mysql', '-p***', 'shop']),
        (['mkdir', '-pv', 'shop'], ['mkdir', '-pv', 'shop']),
    ],
)
def test_a_name_marks_a_value_beside_it(value: object, redacted: object) -> None:
    assert redact(value) == redacted


def test_a_part_is_redacted_as_a_part_of_its_text() -> None:
    text = f'x DB_PASSWORD={PLANTED} https://ann:{PLANTED}@h/ {{"pin": "{PLANTED}"}}'
    for start in range(len(text)):
        part = redact_part(text, start, len(text))
        assert PLANTED[-5:] not in part
    assert redact_part('one two', 4, 7) == 'two'
