"""Strict conversion of arguments, with all findings at once."""

import time
from datetime import date, timedelta
from enum import Enum
from typing import Annotated, Any, Literal, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from seamwise import Failure, Success
from seamwise._errors.errors import TaggedError
from seamwise.catalog.tools import Finding, InvalidParameter, MissingParameter
from seamwise.toolhost.schema.arguments import (
    MAX_FINDINGS,
    Example,
    NotBelow,
    convert_arguments,
    describe_type,
    read_parameter,
)
from tests.toolhost.helpers import error_of, value_of


class Unit(Enum):
    CELSIUS = 'C'
    FAHRENHEIT = 'F'


Number: Any = cast('Any', Literal)[tuple(range(10, 110))]

PARAMETERS = {
    'path': read_parameter(Annotated[str, Example('src/app.py')], None, is_required=True),
    'text': read_parameter(Annotated[str, Meta(min_length=1)], None, is_required=True),
    'first': read_parameter(Annotated[int, Meta(ge=1)], 1, is_required=False),
    'last': read_parameter(
        Annotated[Annotated[int, Meta(ge=1)] | None, NotBelow('first')], None, is_required=False
    ),
    'limit': read_parameter(Annotated[int, Meta(ge=1, le=10_000)], 200, is_required=False),
    'timeout': read_parameter(Annotated[float, Meta(ge=0.1, le=60)], 10.0, is_required=False),
    'flag': read_parameter(bool, False, is_required=False),
    'mode': read_parameter(Literal['a', 'b'], 'a', is_required=False),
    'glob': read_parameter(str | None, None, is_required=False),
    'unit': read_parameter(Unit | None, None, is_required=False),
    'number': read_parameter(Number, 10, is_required=False),
    'modes': read_parameter(set[Literal['a', 'b']], set[str](), is_required=False),
    'day': read_parameter(date, date(2026, 1, 2), is_required=False),
}


REQUIRED: dict[str, object] = {'path': 'a', 'text': 'x'}


def reason(**arguments: object) -> str:
    error = error_of(convert_arguments('tool', PARAMETERS, REQUIRED | arguments), InvalidParameter)
    assert error.parameter in arguments
    assert error.also == ()
    return error.reason


def test_valid_arguments_are_converted_without_the_defaults() -> None:
    assert value_of(convert_arguments('tool', PARAMETERS, REQUIRED)) == REQUIRED
    arguments: dict[str, object] = {
        **REQUIRED,
        'first': 2,
        'last': 2,
        'limit': 10_000,
        'timeout': 0.1,
        'flag': True,
        'mode': 'b',
        'glob': '*',
    }
    assert value_of(convert_arguments('tool', PARAMETERS, arguments)) == arguments
    arguments |= {'last': None, 'glob': None}
    assert value_of(convert_arguments('tool', PARAMETERS, arguments)) == arguments


def test_an_integer_is_accepted_as_a_number() -> None:
    timeout = value_of(convert_arguments('tool', PARAMETERS, REQUIRED | {'timeout': 5}))['timeout']
    assert (timeout, type(timeout)) == (5.0, float)


@pytest.mark.parametrize(
    ('parameter', 'value', 'expected'),
    [
        ('path', 7, 'must be a string, not 7'),
        ('path', None, 'must be a string, not null'),
        ('path', ['a'], 'must be a string, not a list'),
        ('path', {'a': 1}, 'must be a string, not an object'),
        ('path', True, 'must be a string, not true'),
        ('path', 'a\ud800', "must not contain a lone surrogate ('\\ud800' at position 1)"),
        ('text', '', 'must be a string that is not empty, not an empty string'),
        ('first', 0, 'must be an integer of 1 or more, not 0'),
        ('first', -(10**30), 'must be an integer of 1 or more, not an integer of 100 bits'),
        ('first', 1.5, 'must be an integer of 1 or more, not 1.5'),
        ('first', True, 'must be an integer of 1 or more, not true'),
        ('first', '1', 'must be an integer of 1 or more, not a string'),
        ('first', None, 'must be an integer of 1 or more, not null'),
        ('last', 0, 'must be an integer of 1 or more or null, not 0'),
        ('last', '2', 'must be an integer of 1 or more or null, not a string'),
        ('limit', 10_001, 'must be an integer from 1 to 10,000, not 10001'),
        ('limit', 10**30, 'must be an integer from 1 to 10,000, not an integer of 100 bits'),
        ('timeout', 0.09, 'must be a number from 0.1 to 60, not 0.09'),
        ('timeout', 0, 'must be a number from 0.1 to 60, not 0'),
        ('timeout', 61, 'must be a number from 0.1 to 60, not 61'),
        ('timeout', 10**400, 'must be a number from 0.1 to 60, not an integer of 1329 bits'),
        ('timeout', float('nan'), 'must be a number from 0.1 to 60, not nan'),
        ('timeout', float('inf'), 'must be a number from 0.1 to 60, not inf'),
        ('timeout', False, 'must be a number from 0.1 to 60, not false'),
        ('timeout', '5', 'must be a number from 0.1 to 60, not a string'),
        ('flag', 1, 'must be true or false, not 1'),
        ('flag', 'true', 'must be true or false, not a string'),
        ('flag', None, 'must be true or false, not null'),
        ('glob', 7, 'must be a string or null, not 7'),
        ('mode', 'hunter2', 'must be "a" or "b", not another string'),
        ('mode', 1, 'must be "a" or "b", not 1'),
        ('unit', 'c', 'must be "C" or "F" or null, not another string'),
        ('number', 8, f'must be {" or ".join(map(str, range(10, 30)))} or 80 more, not 8'),
        ('day', 'today', 'Invalid RFC3339 encoded date'),
        ('modes', ['a', 'hunter2'], 'must be one of the values in the schema (at /1)'),
    ],
)
def test_a_value_of_the_wrong_type_is_rejected_without_coercion(
    parameter: str, value: object, expected: str
) -> None:
    assert reason(**{parameter: value}) == expected


@pytest.mark.requirement('000-36')
def test_the_error_contains_the_value_but_never_prints_it() -> None:
    error = error_of(
        convert_arguments('tool', PARAMETERS, REQUIRED | {'flag': 'hunter2'}), InvalidParameter
    )
    assert error.value is not None
    assert error.value.reveal() == 'hunter2'
    assert 'hunter2' not in f'{error} {error!r}'
    unhashable: dict[str, object] = {'flag': {}}
    assert hash(
        error_of(convert_arguments('tool', PARAMETERS, REQUIRED | unhashable), InvalidParameter)
    )


class TestMinimumFromAnotherParameter:
    def test_a_value_below_the_other_parameter_is_rejected(self) -> None:
        assert reason(last=1, first=2) == 'must be first (2) or more, not 1'

    def test_the_default_of_the_other_parameter_is_the_minimum(self) -> None:
        assert reason(last=0) == 'must be an integer of 1 or more or null, not 0'
        value_of(convert_arguments('tool', PARAMETERS, REQUIRED | {'last': 1}))

    def test_the_minimum_is_not_checked_against_an_invalid_value(self) -> None:
        error = error_of(
            convert_arguments('tool', PARAMETERS, REQUIRED | {'first': 'x', 'last': 1}),
            InvalidParameter,
        )
        assert (error.parameter, error.also) == ('first', ())


class TestOrderOfFindings:
    def test_findings_are_sorted_by_missing_unknown_wrong(self) -> None:
        error = error_of(
            convert_arguments('tool', PARAMETERS, {'zeta': 1, 'glob': 7, 'alpha': 2, 'first': 0}),
            MissingParameter,
        )
        parameters = (
            'path, text, first, last, limit, timeout, flag, mode, glob, unit, number, modes, day'
        )
        assert (error.tool, error.parameter, error.example) == ('tool', 'path', 'src/app.py')
        assert error.also == (
            Finding('text', 'is missing'),
            Finding('alpha', f'is not a parameter of tool; its parameters are {parameters}'),
            Finding('zeta', f'is not a parameter of tool; its parameters are {parameters}'),
            Finding('first', 'must be an integer of 1 or more, not 0'),
            Finding('glob', 'must be a string or null, not 7'),
        )

    def test_unknown_parameters_are_sorted_by_name(self) -> None:
        error = error_of(
            convert_arguments('tool', PARAMETERS, REQUIRED | {'b': 1, 'a': 2, 'glob': 7}),
            InvalidParameter,
        )
        assert error.parameter == 'a'
        assert error.reason.startswith('is not a parameter of tool; its parameters are path, ')
        assert [finding.parameter for finding in error.also] == ['b', 'glob']

    def test_wrong_values_are_sorted_as_declared(self) -> None:
        error = error_of(
            convert_arguments('tool', PARAMETERS, {'glob': 7, 'timeout': 0, 'text': '', 'path': 1}),
            InvalidParameter,
        )
        assert [error.parameter, *(finding.parameter for finding in error.also)] == [
            'path',
            'text',
            'timeout',
            'glob',
        ]

    def test_a_missing_parameter_without_an_example_reports_none(self) -> None:
        error = error_of(convert_arguments('tool', PARAMETERS, {'path': 'a'}), MissingParameter)
        assert (error.parameter, error.example, error.also) == ('text', None, ())

    def test_arguments_are_valid_after_all_findings_are_fixed(self) -> None:
        arguments: dict[str, object] = {'limit': 0, 'x': 1, 'flag': 'no', 'last': 0}
        error = error_of(convert_arguments('tool', PARAMETERS, arguments), MissingParameter)
        for name in [error.parameter, *(finding.parameter for finding in error.also)]:
            arguments.pop(name, None)
            if name in REQUIRED:
                arguments[name] = REQUIRED[name]
        value_of(convert_arguments('tool', PARAMETERS, arguments))


def test_a_long_parameter_name_is_shortened() -> None:
    error = error_of(
        convert_arguments('tool', PARAMETERS, REQUIRED | {'x' * 5_000: 1}), InvalidParameter
    )
    assert len(error.parameter) < 1_100


def test_a_lone_surrogate_is_rejected_at_any_depth() -> None:
    parameters = {'at': read_parameter(dict[str, list[object]], None, is_required=True)}
    error = error_of(
        convert_arguments('tool', parameters, {'at': {'a': [{'b\udc00': 1}]}}), InvalidParameter
    )
    assert error.reason == "must not contain a lone surrogate ('\\udc00')"
    valid: dict[str, object] = {'at': {'a': ['b', 10**400]}}
    assert value_of(convert_arguments('tool', parameters, valid)) == valid


class Node(Struct):
    children: 'list[Node]'


def test_an_argument_that_is_nested_too_deeply_is_rejected() -> None:
    value: object = {'children': []}
    for _ in range(100_000):
        value = {'children': [value]}
    parameters = {'at': read_parameter(Node, None, is_required=True)}
    error = error_of(convert_arguments('tool', parameters, {'at': value}), InvalidParameter)
    assert error.reason == 'is nested too deeply'


class TestManyFindings:
    def test_the_first_findings_are_listed_and_the_others_counted(self) -> None:
        unknown: dict[str, object] = {f'x{number:03}': 1 for number in reversed(range(100))}
        error = error_of(
            convert_arguments('tool', PARAMETERS, REQUIRED | unknown | {'flag': 1}),
            InvalidParameter,
        )
        names = [error.parameter, *(finding.parameter for finding in error.also)]
        assert names == [f'x{number:03}' for number in range(MAX_FINDINGS + 1)]
        assert error.more == 100 + 1 - len(names)

    def test_missing_parameters_come_first(self) -> None:
        unknown: dict[str, object] = {f'x{number:03}': 1 for number in range(19)}
        error = error_of(
            convert_arguments('tool', PARAMETERS, {**unknown, 'flag': 1}), MissingParameter
        )
        assert [finding.parameter for finding in error.also] == ['text', *unknown]
        assert error.more == 1

    def test_exactly_as_many_findings_as_fit_have_no_rest(self) -> None:
        unknown: dict[str, object] = {f'x{number:03}': 1 for number in range(MAX_FINDINGS + 1)}
        error = error_of(
            convert_arguments('tool', PARAMETERS, REQUIRED | unknown), InvalidParameter
        )
        assert (len(error.also), error.more) == (MAX_FINDINGS, None)

    def test_a_million_unknown_parameters_are_no_effort(self) -> None:
        unknown: dict[str, object] = dict.fromkeys(map(str, range(1_000_000)), 1)
        started_at = time.process_time()
        error = error_of(convert_arguments('tool', PARAMETERS, unknown), MissingParameter)
        # Generous: it takes half a second.
        assert time.process_time() - started_at < 20
        assert error.more == 1_000_000 + 2 - 1 - MAX_FINDINGS


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.lists(st.integers(), max_size=2)
)


@given(st.dictionaries(st.sampled_from([*PARAMETERS, 'other']), VALUES))
def test_any_arguments_are_converted_or_rejected(arguments: dict[str, object]) -> None:
    result = convert_arguments('tool', PARAMETERS, arguments)
    if type(result) is Success:
        assert result.unwrap() == arguments
    else:
        error_of(result, TaggedError)


def test_types_are_described_in_words() -> None:
    words = {
        str: 'a string',
        bool: 'true or false',
        int: 'an integer',
        float: 'a number',
        Annotated[int, Meta(le=5)]: 'an integer of 5 or less',
        int | str | None: 'an integer or a string or null',
        list[int]: None,
        list[int] | None: None,
        Annotated[int, Meta(gt=0)]: None,
        Annotated[str, Meta(min_length=2)]: None,
        Annotated[str, Meta(pattern='^a')]: None,
    }
    for type_, expected in words.items():
        info = msgspec.inspect.type_info(type_)
        assert (
            describe_type(info.type if isinstance(info, msgspec.inspect.Metadata) else info)
            == expected
        )


def test_annotations_are_read_in_a_union_and_around_it() -> None:
    city: Any = Annotated[str, Example('Oslo')]
    last: Any = Annotated[int, NotBelow('first')]
    assert read_parameter(city | None, None, is_required=False).example == 'Oslo'
    parameter = read_parameter(Annotated[last | None, Meta(title='x')], None, is_required=False)
    assert parameter.not_below == 'first'
    outer = Annotated[Annotated[str, Example('inner')], Example('outer')]
    assert read_parameter(outer, None, is_required=True).example == 'outer'


@pytest.mark.parametrize(
    ('type_', 'argument', 'reason'),
    [
        (timedelta | None, 3, 'must be a duration in ISO 8601 or null, not an integer'),
        (list[int], [1, 'x'], 'must be an integer, not a string (at /1)'),
        (dict[str, list[bool]], {'a': [1]}, 'must be true or false, not an integer (at /…/0)'),
        (Annotated[list[int], msgspec.Meta(max_length=1)], [1, 2], 'must be a list of length <= 1'),
    ],
)
def test_a_reason_has_the_words_of_json(type_: object, argument: object, reason: str) -> None:
    parameters = {'value': read_parameter(type_, None, is_required=True)}
    error = convert_arguments('echo', parameters, {'value': argument}).failure()
    assert isinstance(error, InvalidParameter)
    assert error.reason == reason


def test_a_default_below_a_minimum_of_the_call_is_refused() -> None:
    parameters = {
        'first': read_parameter(int, None, is_required=True),
        'last': read_parameter(Annotated[int, NotBelow('first')], 9, is_required=False),
    }
    assert convert_arguments('cut', parameters, {'first': 9}) == Success({'first': 9})
    error = convert_arguments('cut', parameters, {'first': 20}).failure()
    assert isinstance(error, InvalidParameter)
    assert (error.parameter, error.reason) == (
        'last',
        'must be first (20) or more, not 9 (its default)',
    )


@pytest.mark.parametrize(
    ('type_', 'argument', 'value'),
    [
        (int, 3.0, 3),
        (int | None, -0.0, 0),
        (list[int], [1, 2.0], [1, 2]),
        (dict[str, int], {'a': 1.0}, {'a': 1}),
        (float, 3.0, 3.0),
        (int | float, 3.0, 3.0),
    ],
)
def test_a_number_without_a_fraction_is_an_integer(
    type_: object, argument: object, value: object
) -> None:
    parameters = {'a': read_parameter(type_, None, is_required=True)}
    converted = convert_arguments('tool', parameters, {'a': argument}).unwrap()
    assert converted == {'a': value}
    assert type(converted['a']) is type(value)


@pytest.mark.parametrize('argument', [3.5, 1e300, 2.0**60])
def test_another_number_is_no_integer(argument: float) -> None:
    parameters = {'a': read_parameter(int, None, is_required=True)}
    assert type(convert_arguments('tool', parameters, {'a': argument})) is Failure
