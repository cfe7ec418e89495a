"""Strict conversion of arguments, with all findings at once."""

from typing import Annotated, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from seamwise import Success
from seamwise.catalog.tools import Finding, InvalidParameter, MissingParameter
from seamwise.errors import TaggedError
from seamwise.toolhost.arguments import (
    ExampleValue,
    NotBelow,
    convert_arguments,
    describe_type,
)
from tests.toolhost.helpers import error_of, value_of


class Parameters(Struct, frozen=True, kw_only=True):
    path: Annotated[str, ExampleValue('src/app.py')]
    text: Annotated[str, Meta(min_length=1)]
    first: Annotated[int, Meta(ge=1)] = 1
    last: Annotated[Annotated[int, Meta(ge=1)] | None, NotBelow('first')] = None
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 200
    timeout: Annotated[float, Meta(ge=0.1, le=60)] = 10.0
    flag: bool = False
    mode: Literal['a', 'b'] = 'a'
    glob: str | None = None


REQUIRED: dict[str, object] = {'path': 'a', 'text': 'x'}


def reason(**arguments: object) -> str:
    error = error_of(convert_arguments('tool', Parameters, REQUIRED | arguments), InvalidParameter)
    assert error.parameter in arguments
    assert error.also == ()
    return error.reason


def test_valid_arguments_become_the_struct_with_defaults() -> None:
    assert value_of(convert_arguments('tool', Parameters, REQUIRED)) == Parameters(
        path='a', text='x'
    )
    all_arguments: dict[str, object] = {
        'first': 2,
        'last': 2,
        'limit': 10_000,
        'timeout': 0.1,
        'flag': True,
        'mode': 'b',
        'glob': '*',
    }
    assert (
        msgspec.structs.asdict(
            value_of(convert_arguments('tool', Parameters, REQUIRED | all_arguments))
        )
        == REQUIRED | all_arguments
    )
    assert value_of(
        convert_arguments('tool', Parameters, REQUIRED | {'last': None, 'glob': None})
    ) == Parameters(path='a', text='x')


def test_an_integer_is_accepted_as_a_number() -> None:
    timeout = value_of(convert_arguments('tool', Parameters, REQUIRED | {'timeout': 5})).timeout
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
        ('first', 1.0, 'must be an integer of 1 or more, not 1.0'),
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
        ('mode', 'c', "Invalid enum value 'c'"),
    ],
)
def test_a_value_of_the_wrong_type_is_rejected_without_coercion(
    parameter: str, value: object, expected: str
) -> None:
    assert reason(**{parameter: value}) == expected


def test_the_error_contains_the_value_but_never_prints_it() -> None:
    error = error_of(
        convert_arguments('tool', Parameters, REQUIRED | {'flag': 'hunter2'}), InvalidParameter
    )
    assert error.value is not None
    assert error.value.reveal() == 'hunter2'
    assert 'hunter2' not in f'{error} {error!r}'
    unhashable: dict[str, object] = {'flag': {}}
    assert hash(
        error_of(convert_arguments('tool', Parameters, REQUIRED | unhashable), InvalidParameter)
    )


class TestMinimumFromAnotherParameter:
    def test_a_value_below_the_other_parameter_is_rejected(self) -> None:
        assert reason(last=1, first=2) == 'must be first (2) or more, not 1'

    def test_the_default_of_the_other_parameter_is_the_minimum(self) -> None:
        assert reason(last=0) == 'must be an integer of 1 or more or null, not 0'
        value_of(convert_arguments('tool', Parameters, REQUIRED | {'last': 1}))

    def test_the_minimum_is_not_checked_against_an_invalid_value(self) -> None:
        error = error_of(
            convert_arguments('tool', Parameters, REQUIRED | {'first': 'x', 'last': 1}),
            InvalidParameter,
        )
        assert (error.parameter, error.also) == ('first', ())


class TestOrderOfFindings:
    def test_findings_are_sorted_by_missing_unknown_wrong(self) -> None:
        error = error_of(
            convert_arguments('tool', Parameters, {'zeta': 1, 'glob': 7, 'alpha': 2, 'first': 0}),
            MissingParameter,
        )
        parameters = 'path, text, first, last, limit, timeout, flag, mode, glob'
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
            convert_arguments('tool', Parameters, REQUIRED | {'b': 1, 'a': 2, 'glob': 7}),
            InvalidParameter,
        )
        assert error.parameter == 'a'
        assert error.reason.startswith('is not a parameter of tool; its parameters are path, ')
        assert [finding.parameter for finding in error.also] == ['b', 'glob']

    def test_wrong_values_are_sorted_as_declared(self) -> None:
        error = error_of(
            convert_arguments('tool', Parameters, {'glob': 7, 'timeout': 0, 'text': '', 'path': 1}),
            InvalidParameter,
        )
        assert [error.parameter, *(finding.parameter for finding in error.also)] == [
            'path',
            'text',
            'timeout',
            'glob',
        ]

    def test_a_missing_parameter_without_an_example_reports_none(self) -> None:
        error = error_of(convert_arguments('tool', Parameters, {'path': 'a'}), MissingParameter)
        assert (error.parameter, error.example, error.also) == ('text', None, ())

    def test_arguments_are_valid_after_all_findings_are_fixed(self) -> None:
        arguments: dict[str, object] = {'limit': 0, 'x': 1, 'flag': 'no', 'last': 0}
        error = error_of(convert_arguments('tool', Parameters, arguments), MissingParameter)
        for name in [error.parameter, *(finding.parameter for finding in error.also)]:
            arguments.pop(name, None)
            if name in REQUIRED:
                arguments[name] = REQUIRED[name]
        value_of(convert_arguments('tool', Parameters, arguments))


def test_a_long_parameter_name_is_shortened() -> None:
    error = error_of(
        convert_arguments('tool', Parameters, REQUIRED | {'x' * 5_000: 1}), InvalidParameter
    )
    assert len(error.parameter) < 1_100


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.lists(st.integers(), max_size=2)
)


@given(st.dictionaries(st.sampled_from([*Parameters.__struct_fields__, 'other']), VALUES))
def test_any_arguments_are_converted_or_rejected(arguments: dict[str, object]) -> None:
    result = convert_arguments('tool', Parameters, arguments)
    if type(result) is Success:
        values = msgspec.structs.asdict(result.unwrap())
        assert {name: values[name] for name in arguments} == arguments
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
    }
    for type_, expected in words.items():
        info = msgspec.inspect.type_info(type_)
        assert (
            describe_type(info.type if isinstance(info, msgspec.inspect.Metadata) else info)
            == expected
        )
