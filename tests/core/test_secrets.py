"""Tests of `Secret`: no output discloses its value."""

import copy
import json
import pickle

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Secret

PLAIN = 'hunter2-FAKE'
token = Secret(PLAIN)


@pytest.mark.parametrize(
    'output',
    [
        repr(token),
        str(token),
        f'{token}',
        f'{token!r:>30}',
        f'{token:.2f}',
        '%s %r' % (token, token),  # noqa: UP031 -- the old formatting too
        ascii(token),
        repr([token, {'a': token}]),
    ],
)
def test_no_text_form_discloses_the_value(output: str) -> None:
    assert PLAIN not in output


@pytest.mark.parametrize(
    'encode', [json.dumps, msgspec.json.encode, msgspec.msgpack.encode, msgspec.to_builtins]
)
def test_no_encoder_accepts_a_secret(encode: object) -> None:
    with pytest.raises(TypeError) as info:
        encode(token)  # type: ignore[operator]  # several encoders, one call
    assert PLAIN not in str(info.value)


def test_reveal_returns_the_value() -> None:
    assert token.reveal() == PLAIN


def test_pickle_and_copy_preserve_the_value() -> None:
    assert pickle.loads(pickle.dumps(token)) == copy.copy(token) == copy.deepcopy(token) == token  # noqa: S301 -- our own bytes
    assert copy.deepcopy(Secret(['a'])).reveal() == ['a']


@given(
    st.one_of(st.text(), st.binary(), st.integers(), st.none()),
    st.one_of(st.text(), st.binary(), st.integers(), st.none()),
)
def test_secrets_are_equal_if_their_values_are_equal(value: object, other_value: object) -> None:
    assert (Secret(value) == Secret(other_value)) is (value == other_value)
    assert Secret(value) != value
    if value == other_value:
        assert hash(Secret(value)) == hash(Secret(other_value))


def test_the_hash_of_a_secret_differs_from_that_of_its_value() -> None:
    assert hash(Secret(7)) != hash(7)
    assert hash(token) != hash(PLAIN)


def test_a_secret_with_an_unhashable_value_has_a_hash() -> None:
    assert hash(Secret(['a'])) == hash(Secret(['b']))
    assert Secret(['a']) != Secret(['b'])


def test_secrets_with_lone_surrogates_can_be_compared() -> None:
    assert Secret('\ud800') == Secret('\ud800')
    assert Secret('\ud800') != Secret('\ud801')
