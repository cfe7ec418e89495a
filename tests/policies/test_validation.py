"""What guards are made with is checked where they are made, and the message says what would do."""

import math
import sys
from typing import Any

import pytest

from seamwise.policies._engine.validation import check_choice, check_float, check_int, check_name


@pytest.mark.parametrize('value', [0, 0.0, 3, 2.5, 1e300])
def test_a_number_comes_back_as_a_float(value: float) -> None:
    checked = check_float('base', value)
    assert (checked, type(checked)) == (value, float)


def test_both_ends_of_a_range_are_in_it_and_an_end_that_must_be_passed_is_not() -> None:
    assert [check_float('share', value, minimum=0.5, maximum=1.0) for value in (0.5, 1.0)] == [
        0.5,
        1.0,
    ]
    assert check_float('share', 1.0, above=0.5, maximum=1.0) == 1.0
    assert check_float('share', math.nextafter(0.5, 1.0), above=0.5) > 0.5


@pytest.mark.parametrize(
    ('value', 'limits', 'said'),
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
def test_a_number_out_of_range_is_a_value_error_that_says_the_range(
    value: float, limits: dict[str, float], said: str
) -> None:
    with pytest.raises(ValueError, match=r'^base must be') as caught:
        check_float('base', value, **limits)
    assert str(caught.value) == f'base must be a finite number, {said}'


@pytest.mark.parametrize(
    ('value', 'shown'), [(10**400, 'inf'), (-(10**5000), '-inf')], ids=['huge', 'beyond printing']
)
def test_a_whole_number_beyond_all_floats_is_out_of_range_too(value: int, shown: str) -> None:
    for limits in ({}, {'maximum': 1e9}, {'above': 0.0}):
        with pytest.raises(ValueError, match=f'^base must be a finite number, .*, not {shown}[.]$'):
            check_float('base', value, **limits)


@pytest.mark.parametrize('value', [True, False, '1', None, 1j])
def test_what_is_no_number_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match=r'^base must be a number, not '):
        check_float('base', value)


def test_a_count_is_a_whole_number_of_one_or_more_unless_said_otherwise() -> None:
    assert [
        check_int('attempts', 1),
        check_int('attempts', 0, minimum=0),
        check_int('attempts', 7, minimum=7),
    ] == [
        1,
        0,
        7,
    ]
    for value, least in ((0, 1), (-1, 0), (6, 7)):
        with pytest.raises(ValueError, match=f'^attempts must be {least} or more, not {value}'):
            check_int('attempts', value, minimum=least)
    with pytest.raises(ValueError, match=r'^attempts must be 1 or more, not 0'):
        check_int('attempts', 0)


def test_a_count_that_no_machine_counts_to_is_a_value_error() -> None:
    assert check_int('attempts', sys.maxsize) == sys.maxsize
    for value in (sys.maxsize + 1, 10**5000):
        with pytest.raises(ValueError, match=f'^attempts must be {sys.maxsize} at most[.]$'):
            check_int('attempts', value)


@pytest.mark.parametrize('value', [True, 1.0, '1', None])
def test_what_is_no_whole_number_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match=r'^attempts must be a whole number, not '):
        check_int('attempts', value)


def test_a_choice_is_one_of_those_that_are_known() -> None:
    check_choice('jitter', 'full', ('none', 'full'))
    with pytest.raises(ValueError, match=r"^jitter must be one of 'none', 'full', not 'half'"):
        check_choice('jitter', 'half', ('none', 'full'))


def test_a_name_says_something() -> None:
    assert [check_name('bank'), check_name(' the bank ')] == ['bank', ' the bank ']
    for empty in ('', ' \n'):
        with pytest.raises(ValueError, match=r'^name must not be empty'):
            check_name(empty)
    nameless: Any = None
    with pytest.raises(TypeError, match=r'^name must be a string, not None'):
        check_name(nameless)
