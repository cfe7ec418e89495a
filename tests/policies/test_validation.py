"""Validation of the arguments of guards, and its messages."""

import math
import sys
from typing import Any

import pytest

from seamwise import Result, Success
from seamwise._runtime.validation import check_choice, check_float, check_int, check_name
from seamwise.policies import (
    bulkhead,
    cache,
    chaos,
    circuit,
    deadline,
    fallback,
    hedge,
    keyed,
    rate_limit,
    retry,
)
from seamwise.policies.redis import shared_circuit, shared_rate_limit


@pytest.mark.parametrize('value', [0, 0.0, 3, 2.5, 1e300])
def test_number_is_returned_as_a_float(value: float) -> None:
    checked = check_float('base', value)
    assert (checked, type(checked)) == (value, float)


def test_minimum_and_maximum_are_inclusive_and_above_is_exclusive() -> None:
    assert [check_float('share', value, minimum=0.5, maximum=1.0) for value in (0.5, 1.0)] == [
        0.5,
        1.0,
    ]
    assert check_float('share', 1.0, above=0.5, maximum=1.0) == 1.0
    assert check_float('share', math.nextafter(0.5, 1.0), above=0.5) > 0.5


@pytest.mark.parametrize(
    ('value', 'limits', 'message'),
    [
        (-0.1, {}, '0 or more, not -0.1.'),
        (0.4, {'minimum': 0.5}, '0.5 or more, not 0.4.'),
        (0.0, {'above': 0.0}, 'more than 0, not 0.0.'),
        (-1, {'above': 0.0, 'maximum': 9}, 'more than 0, 9 at most, not -1.'),
        (1.1, {'maximum': 1.0}, '0 or more, 1 at most, not 1.1.'),
        (1.1, {'above': 0.0, 'maximum': 1.0}, 'more than 0, 1 at most, not 1.1.'),
        (math.inf, {}, '0 or more, not inf.'),
        (-math.inf, {'minimum': -math.inf}, '-inf or more, not -inf.'),
        (math.nan, {}, '0 or more, not nan.'),
    ],
)
def test_number_out_of_range_is_a_value_error_that_states_the_range(
    value: float, limits: dict[str, float], message: str
) -> None:
    with pytest.raises(ValueError, match=r'^base must be') as caught:
        check_float('base', value, **limits)
    assert str(caught.value) == f'base must be a finite number, {message}'


@pytest.mark.parametrize(
    ('value', 'text'), [(10**400, 'inf'), (-(10**5000), '-inf')], ids=['huge', 'beyond printing']
)
def test_integer_beyond_all_floats_is_out_of_range(value: int, text: str) -> None:
    for limits in ({}, {'maximum': 1e9}, {'above': 0.0}):
        with pytest.raises(ValueError, match=f'^base must be a finite number, .*, not {text}[.]$'):
            check_float('base', value, **limits)


@pytest.mark.parametrize('value', [True, False, '1', None, 1j])
def test_value_that_is_not_a_number_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match=r'^base must be a number, not '):
        check_float('base', value)


def test_integer_must_be_one_or_more_by_default() -> None:
    assert [
        check_int('attempts', 1),
        check_int('attempts', 0, minimum=0),
        check_int('attempts', 7, minimum=7),
    ] == [
        1,
        0,
        7,
    ]
    for value, minimum in ((0, 1), (-1, 0), (6, 7)):
        with pytest.raises(ValueError, match=f'^attempts must be {minimum} or more, not {value}'):
            check_int('attempts', value, minimum=minimum)
    with pytest.raises(ValueError, match=r'^attempts must be 1 or more, not 0'):
        check_int('attempts', 0)


def test_integer_above_maxsize_is_a_value_error() -> None:
    assert check_int('attempts', sys.maxsize) == sys.maxsize
    for value in (sys.maxsize + 1, 10**5000):
        with pytest.raises(ValueError, match=f'^attempts must be at most {sys.maxsize}[.]$'):
            check_int('attempts', value)


@pytest.mark.parametrize('value', [True, 1.0, '1', None])
def test_value_that_is_not_an_integer_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match=r'^attempts must be a whole number, not '):
        check_int('attempts', value)


def test_unknown_choice_is_a_value_error() -> None:
    check_choice('jitter', 'full', ('none', 'full'))
    with pytest.raises(ValueError, match=r"^jitter must be one of 'none', 'full', not 'half'"):
        check_choice('jitter', 'half', ('none', 'full'))


def test_empty_name_is_a_value_error() -> None:
    assert [check_name('bank'), check_name(' the bank ')] == ['bank', ' the bank ']
    for empty in ('', ' \n'):
        with pytest.raises(ValueError, match=r'^name must not be empty'):
            check_name(empty)
    nameless: Any = None
    with pytest.raises(TypeError, match=r'^name must be a string, not None'):
        check_name(nameless)


BARE: dict[str, Any] = {
    'retry()': retry,
    'circuit(name=…)': circuit,
    'bulkhead(10, name=…)': bulkhead,
    'rate_limit(10, name=…)': rate_limit,
    'deadline(2.0)': deadline,
    'hedge(after=0.1, name=…)': hedge,
    'cache(ttl=60.0, name=…)': cache,
    'fallback(handler)': fallback,
    'keyed(retry())': keyed,
    'chaos(seed=1)': chaos,
    'shared_circuit(redis=…, name=…)': shared_circuit,
    'shared_rate_limit(10, redis=…, name=…)': shared_rate_limit,
}


@pytest.mark.parametrize(('usage', 'factory'), BARE.items(), ids=[*BARE])
def test_decorator_without_parentheses_is_refused(usage: str, factory: Any) -> None:
    def load() -> Result[int, str]:
        return Success(1)

    name = usage.partition('(')[0]

    class Loader:
        @classmethod
        def load(cls) -> Result[int, str]:
            return load()

    cases: list[tuple[object, Any]] = [
        (load, load),
        (staticmethod(load), load),
        (vars(Loader)['load'], Loader.load),
    ]
    for function, path in cases:
        with pytest.raises(TypeError) as refused:
            factory(function)
        message = f'@{name} needs parentheses to decorate {path.__qualname__}: write `@{usage}`.'
        assert str(refused.value) == message


def test_other_arguments_without_parentheses_have_the_message_of_python() -> None:
    wrong: Any = retry
    with pytest.raises(TypeError, match=r'retry\(\) takes 0 positional arguments but 1 was given'):
        wrong(3)
