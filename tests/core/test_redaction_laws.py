"""Property-based tests of redaction."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from seamwise import redact
from tests.core.redacted import PLANTED, Account, Change, Node, Point, texts

_HARMLESS = st.sampled_from(
    [
        '',
        'x',
        'ann',
        'Oslo',
        'commit 9f86d08',
        '2026-02-20T10:30:00Z',
        'a: b',
        'n=1',
        'https://example.org/a?b=c',
        'é',
        '\ud800',
    ]
)
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _HARMLESS
_NAMES = st.sampled_from(['a', 'user', 'max_tokens', 'monkey', 'next', 'é'])


def _deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(inner)
        | st.dictionaries(_NAMES, inner)
        | st.tuples(inner, inner)
        | st.builds(Node, inner)
    )


_VALUES = st.recursive(_SCALARS, _deeper)

_WORDS = [
    'password',
    'passwd',
    'passphrase',
    'secret',
    'token',
    'authorization',
    'cookie',
    'credential',
    'credentials',
] + [
    f'{word} key'
    for word in ('api', 'access', 'private', 'secret', 'signing', 'encryption', 'account')
]


@st.composite
def spellings(draw: st.DrawFn) -> str:
    """Return the forms of a sensitive name."""
    words = (
        draw(st.sampled_from([[], ['user'], ['my', 'db']])) + draw(st.sampled_from(_WORDS)).split()
    )
    capital = [word.title() for word in words]
    spelt = draw(
        st.sampled_from(
            [
                '_'.join(words),
                '-'.join(words),
                ' '.join(words),
                '_'.join(words).upper(),
                '-'.join(capital),
                ''.join(capital),
            ]
        )
        | st.just(words[0] + ''.join(capital[1:]))
    )
    return spelt + draw(st.sampled_from(['', '1', '27']))


@st.composite
def secrets(draw: st.DrawFn) -> str:
    return PLANTED + draw(st.text(st.sampled_from('aZ9!?\'"\\ @:/#&=;,{}[]()<>\n\té%'), max_size=6))


_SAME: Change = lambda x: x  # noqa: E731 -- next to the others
_HELD: list[Change] = [_SAME, lambda x: [x], lambda x: {'x': [1, x]}]
_INNER: list[Change] = [_SAME, lambda x: [1, x], lambda x: {'a': x, 'b': 'c'}]
_AROUND: list[Change] = [_SAME, lambda x: f'sent {x} and so on', lambda x: f'body="" {x}\n']
_OUTER: list[Change] = [
    lambda x: [x, 1],
    lambda x: (x,),
    lambda x: {'a': x},
    Node,
    lambda x: Account('', '', hidden=x),
    lambda x: Point(1, note=x),
]


@st.composite
def planted(draw: st.DrawFn) -> object:
    """Return values with a secret under a sensitive name, nested and encoded up to three times."""
    secret: object = draw(st.sampled_from(_HELD))(draw(secrets()))
    value: Any = {
        **draw(st.dictionaries(_NAMES, _HARMLESS, max_size=2)),
        draw(spellings()): secret,
        'city': 'Oslo',
    }
    for _ in range(draw(st.integers(0, 3))):
        value = draw(st.sampled_from(_INNER))(value)
        value = json.dumps(
            value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1]))
        )
        value = draw(st.sampled_from(_AROUND))(value)
    for wrap in draw(st.lists(st.sampled_from(_OUTER), max_size=8)):
        value = wrap(value)
    return value


@given(planted())
def test_a_planted_secret_is_removed_and_its_neighbor_kept(value: object) -> None:
    original_repr = repr(value)
    redacted = redact(value)
    assert PLANTED not in texts(redacted)
    assert 'Oslo' in texts(redacted)
    assert repr(value) == original_repr
    assert repr(redact(redacted)) == repr(redacted)
    assert type(redacted) is type(value)


@given(_VALUES)
def test_harmless_values_are_unchanged(value: object) -> None:
    redacted = redact(value)
    assert redacted == value
    assert repr(redacted) == repr(value)
    assert not isinstance(value, (list, dict)) or redacted is not value


def shape(value: Any) -> object:
    """Return the structure of a value without its leaves."""
    kind: object = value.__class__
    if kind is dict:
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if kind is list else None


def _deeper_json(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner) | st.dictionaries(st.text(st.characters(categories=['Nd'])), inner)


@given(st.recursive(st.text(), _deeper_json))
def test_the_structure_is_preserved(value: object) -> None:
    assert shape(redact(value)) == shape(value)
