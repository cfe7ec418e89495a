"""Environment variables that override options: equal to the same TOML, with names in problems."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Result, Success
from seamwise.catalog.workspace import ConfigError, ConfigInvalid
from seamwise.policies import Guard, GuardError
from seamwise.policies.config import (
    guards_from_mapping,
    guards_from_toml,
    overrides_from_environment,
)
from seamwise.policies.config.environment import Overrides
from seamwise.policies.config.schema import is_table
from seamwise.testing import assert_failure, assert_success
from tests.policies.config.examples import (
    MISTAKES,
    OPTIONS,
    VALID,
    Value,
    toml_document,
    toml_value,
)


def guards_with(
    text: str, variables: Mapping[str, str], *names: str, prefix: str = 'GUARDS_'
) -> Result[Mapping[str, Guard[GuardError]], ConfigError]:
    overrides = overrides_from_environment(prefix, variables)
    return guards_from_toml(text, names=names or None, overrides=overrides)


def describe(text: str, variables: Mapping[str, str], name: str = 'payment') -> str:
    return assert_success(guards_with(text, variables))[name].describe()


def problems_with(text: str, variables: Mapping[str, str], *names: str) -> dict[str, str]:
    problems = assert_failure(guards_with(text, variables, *names), ConfigInvalid).problems
    return {problem.pointer: problem.message for problem in problems}


def outcome(guards: Result[Mapping[str, Guard[GuardError]], ConfigError]) -> object:
    """Return the descriptions of guards, or the problems without the names of variables."""
    match guards:
        case Success(by_name):
            return {name: guard.describe() for name, guard in by_name.items()}
        case Failure(error):
            assert isinstance(error, ConfigInvalid)
            return sorted(
                (problem.pointer, re.sub(r' \(variables? .*', '', problem.message))
                for problem in error.problems
            )


def variables_of(path: tuple[str, ...], value: Value) -> Iterator[tuple[str, str]]:
    """Yield the variables that set a value, one for each option in nested tables."""
    if is_table(value) and value:
        for key, item in value.items():
            yield from variables_of((*path, key), item)
        return
    text = value if isinstance(value, str) else 'off' if value is False else toml_value(value)
    yield f'GUARDS_{"__".join(path)}'.upper(), text


OPTION_VALUES = [
    (kind, option, value)
    for kind, options in OPTIONS.items()
    for option, values in options.items()
    for value, _argument in values
]


@given(
    tables=st.fixed_dictionaries(
        {},
        optional={
            kind: st.just(False)
            | st.fixed_dictionaries(
                {},
                optional={
                    option: st.sampled_from([value for value, _argument in values])
                    for option, values in options.items()
                },
            )
            for kind, options in OPTIONS.items()
        },
    ),
    mistakes=st.lists(st.sampled_from(MISTAKES), max_size=2),
    is_default=st.booleans(),
)
def test_variables_equal_the_same_table(
    tables: dict[str, Any], mistakes: list[tuple[tuple[str, ...], Value]], is_default: bool
) -> None:
    for (kind, *path), value in mistakes:
        table = tables.get(kind)
        if isinstance(table, dict) and len(path) == 1:
            table[path[0]] = value
    document = {'default': tables} if is_default else {'guards': {'a': tables}}
    variables = dict(variables_of(('default' if is_default else 'a',), tables))
    overrides = overrides_from_environment(environ=variables)
    expected = guards_from_mapping(document, names=['a'])
    assert outcome(guards_from_mapping({}, names=['a'], overrides=overrides)) == outcome(expected)
    # The same values again change nothing.
    assert outcome(guards_from_mapping(document, names=['a'], overrides=overrides)) == outcome(
        expected
    )


@pytest.mark.parametrize(('kind', 'option', 'value'), OPTION_VALUES)
def test_a_variable_overrides_each_option_of_a_file(kind: str, option: str, value: Value) -> None:
    text = f'[guards.a.{kind}]\n{toml_document(VALID[kind])}'
    variable = f'GUARDS_A__{kind.upper()}__{option.upper()}'
    overrides = Overrides(
        'GUARDS_', {variable: value if isinstance(value, str) else toml_value(value)}
    )
    document = {'guards': {'a': {kind: {**VALID[kind], option: value}}}}
    assert outcome(guards_from_toml(text, overrides=overrides)) == outcome(
        guards_from_mapping(document)
    )


@pytest.mark.parametrize('off', ['off', 'OFF', 'false', ' False '])
def test_off_switches_a_guard_off(off: str) -> None:
    text = '[default]\ncircuit = {}\n[guards.payment]\nretry.attempts = 2'
    assert describe(text, {'GUARDS_PAYMENT__CIRCUIT': off}).startswith("retry 'payment'")
    assert describe(text, {'GUARDS_DEFAULT__CIRCUIT': off}).startswith("retry 'payment'")
    assert 'nothing' in describe(
        text,
        {
            'GUARDS_PAYMENT__CIRCUIT': off,
            'GUARDS_PAYMENT__RETRY': off,
            'GUARDS_PAYMENT__RETRY__ATTEMPTS': '3',
        },
    )


def test_an_option_switches_a_guard_on() -> None:
    text = '[guards.payment]\nretry = false'
    assert '4 attempts' in describe(text, {'GUARDS_PAYMENT__RETRY__ATTEMPTS': '4'})


def test_a_table_of_the_file_precedes_a_variable_of_the_default() -> None:
    text = '[guards.payment]\nretry.attempts = 2\n[guards.search]'
    variables = {'GUARDS_DEFAULT__RETRY__ATTEMPTS': '5', 'GUARDS_DEFAULT__RETRY__CAP': '7'}
    assert '2 attempts in 45 s, waits 0.1 s to 7 s' in describe(text, variables)
    assert '5 attempts' in describe(text, variables, 'search')


def test_a_variable_can_contain_a_table() -> None:
    text = '[guards.payment]\nretry = { attempts = 2, cap = 7 }'
    assert '3 attempts in 45 s, waits 0.1 s to 5 s' in describe(
        text, {'GUARDS_PAYMENT__RETRY': '{ attempts = 3 }'}
    )
    assert '3 attempts in 9 s' in describe(
        text,
        {'GUARDS_PAYMENT__RETRY': '{ attempts = 3 }', 'GUARDS_PAYMENT__RETRY__TIMEOUT': '9'},
    )
    rates = '[{ limit = 10 }, { limit = 100, period = 60 }]'
    assert '10 calls in 1 s, burst of 10 and 100 calls in 60 s' in describe(
        text, {'GUARDS_PAYMENT__RATE_LIMIT__RATES': rates}
    )


def test_a_key_of_another_form_replaces_the_table() -> None:
    text = (
        '[guards.payment]\nrate_limit = { limit = 5, period = 2 }\n'
        'circuit.trip = { ratio = 0.5, minimum = 4, window = 9 }'
    )
    assert 'after 3 failures in a row' in describe(
        text, {'GUARDS_PAYMENT__CIRCUIT__TRIP__CONSECUTIVE': '3'}
    )
    assert 'with at least 6 calls' in describe(
        text, {'GUARDS_PAYMENT__CIRCUIT__TRIP__MINIMUM': '6'}
    )
    assert "rate limit 'payment': 8 calls in any 1 s" in describe(
        text,
        {
            'GUARDS_PAYMENT__RATE_LIMIT__RATES': '[{ limit = 8 }]',
            'GUARDS_PAYMENT__RATE_LIMIT__KIND': 'window',
        },
    )


def test_a_variable_of_an_option_precedes_one_of_its_table() -> None:
    variables = {
        'GUARDS_PAYMENT__CIRCUIT__TRIP': '{ ratio = 0.5, minimum = 4, calls = 9 }',
        'GUARDS_PAYMENT__CIRCUIT__TRIP__RATIO': '0.25',
    }
    assert '25 % failures in the last 9 calls' in describe('[guards.payment]', variables)


def test_a_name_is_written_with_underscores() -> None:
    text = '[guards]\n"search-index/1" = {}\na = {}\na__b = {}'
    description = describe(text, {'GUARDS_SEARCH_INDEX_1__RETRY__ATTEMPTS': '4'}, 'search-index/1')
    assert '4 attempts' in description
    # The longest name is meant.
    assert '4 attempts' in describe(text, {'GUARDS_A__B__RETRY__ATTEMPTS': '4'}, 'a__b')


def test_upper_and_lower_case_are_equal() -> None:
    assert '4 attempts' in describe(
        '[guards.Payment]', {'guards_payment__Retry__ATTEMPTS': '4'}, 'Payment'
    )


def test_a_name_of_a_guard_is_not_converted() -> None:
    assert "retry '5'" in describe('[guards.payment]', {'GUARDS_PAYMENT__RETRY__NAME': '5'})


@pytest.mark.parametrize(
    ('variable', 'value', 'pointer', 'message'),
    [
        (
            'GUARDS_PAYMENT__RETRY__ATTEMPTS',
            'hunter2',
            '/guards/payment/retry/attempts',
            'must be an integer, not a string',
        ),
        (
            'GUARDS_PAYMENT__RETRY__ATTEMPTS',
            '',
            '/guards/payment/retry/attempts',
            'must be an integer, not an empty string',
        ),
        (
            'GUARDS_PAYMENT__RETRY__ATTEMPTS',
            '0',
            '/guards/payment/retry/attempts',
            'attempts must be 1 or more, not 0',
        ),
        (
            'GUARDS_PAYMENT__RETRY__ATEMPTS',
            '3',
            '/guards/payment/retry/atempts',
            "is not a known key (did you mean 'attempts'?)",
        ),
        (
            'GUARDS_PAYMENT__RETRY__JITTER',
            'ful',
            '/guards/payment/retry/jitter',
            (
                "must be 'full', 'equal', 'tenth', 'decorrelated' or 'none', not a string "
                "(did you mean 'full'?)"
            ),
        ),
        (
            'GUARDS_PAYMENT__CIRCUT',
            'off',
            '/guards/payment/circut',
            "is not a known key (did you mean 'circuit'?)",
        ),
        (
            'GUARDS_PAYMENT__CIRCUIT',
            'on',
            '/guards/payment/circuit',
            'must be a table or false, not a string',
        ),
        (
            'GUARDS_PAYMNT__RETRY',
            'off',
            '/guards/paymnt',
            "is not a known guard (did you mean 'payment'?)",
        ),
        (
            'GUARDS_FILE',
            '/etc/hunter2',
            '/guards/file',
            "is not a known guard; the guards are 'default' and 'payment'",
        ),
        ('GUARDS_PAYMENT', '3', '/guards/payment', 'must be a table, not 3'),
        ('GUARDS_DEFAULT__RETRY', '5', '/default/retry', 'must be a table or false, not 5'),
        (
            'GUARDS_PAYMENT__RATE_LIMIT__WAIT',
            '5',
            '/guards/payment/rate_limit',
            "needs one of the keys 'limit' or 'rates'",
        ),
        (
            'GUARDS_PAYMENT__RETRY__BUDGET__SHARE__X',
            '5',
            '/guards/payment/retry/budget/share',
            'must be a number, not a table',
        ),
    ],
)
def test_a_problem_names_the_variable(
    variable: str, value: str, pointer: str, message: str
) -> None:
    problems = problems_with('', {variable: value}, 'payment')
    problems.pop('/guards', None)  # the program's guard has no table
    assert problems == {pointer: f'{message} (variable {variable})'}


def test_a_contradiction_names_the_variables() -> None:
    text = '[guards.payment]\nretry.timeout = 30\ndeadline.seconds = 5'
    [(pointer, message)] = problems_with(text, {'GUARDS_PAYMENT__DEADLINE__SECONDS': '20'}).items()
    assert pointer == '/guards/payment'
    assert message.endswith(
        'the last one never starts (variable GUARDS_PAYMENT__DEADLINE__SECONDS)'
    )


def test_a_problem_with_the_file_names_no_variable() -> None:
    text = '[guards.payment]\nretry = { attempts = 0, cap = 7 }'
    assert problems_with(text, {'GUARDS_PAYMENT__RETRY__CAP': '9'}) == {
        '/guards/payment/retry/attempts': 'attempts must be 1 or more, not 0'
    }


def test_two_variables_for_one_option_are_a_problem() -> None:
    assert problems_with(
        '[guards.payment]',
        {'GUARDS_PAYMENT__RETRY__CAP': '9', 'guards_payment__retry__cap': '8'},
    ) == {
        '/guards/payment/retry/cap': (
            'is set by guards_payment__retry__cap too (variable GUARDS_PAYMENT__RETRY__CAP)'
        )
    }


def test_a_variable_for_two_guards_is_a_problem() -> None:
    assert problems_with('[guards]\n"a-b" = {}\na_b = {}', {'GUARDS_A_B__RETRY': 'off'}) == {
        '/guards/a-b': (
            "has the same variables as another one: 'a-b' and 'a_b' (variable GUARDS_A_B__RETRY)"
        )
    }


def test_each_unknown_variable_is_a_problem() -> None:
    variables = {'GUARDS_FILE__A': '', 'GUARDS_FILE__B': '', 'GUARDS_A_B__RETRY': 'off'}
    text = '[guards]\n"a-b" = { x = 1 }\na_b = {}'
    error = assert_failure(guards_with(text, variables), ConfigInvalid)
    assert [
        re.sub(r'; the (guards|keys) are .*?(?= \(|$)', '', f'{problem.pointer} {problem.message}')
        for problem in error.problems
    ] == [
        (
            "/guards/a-b has the same variables as another one: 'a-b' and 'a_b' "
            '(variable GUARDS_A_B__RETRY)'
        ),
        '/guards/file is not a known guard (variable GUARDS_FILE__A)',
        '/guards/file is not a known guard (variable GUARDS_FILE__B)',
        '/guards/a-b/x is not a known key',
    ]


def test_only_variables_with_the_prefix_count() -> None:
    environ = {'SHOP_A__RETRY__CAP': '9', 'GUARDS_A__RETRY__CAP': '8', 'SHO': 'x'}
    assert overrides_from_environment('SHOP_', environ) == Overrides(
        'SHOP_', {'SHOP_A__RETRY__CAP': '9'}
    )
    with pytest.raises(ValueError, match='prefix must not be empty'):
        overrides_from_environment('')


def test_the_environment_of_the_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('SEAMWISE_TEST_A__RETRY', 'off')
    assert overrides_from_environment('SEAMWISE_TEST_').variables == {
        'SEAMWISE_TEST_A__RETRY': 'off'
    }


def test_a_document_stays_as_it_is() -> None:
    document: dict[str, Any] = {'guards': {'a': {'retry': {'cap': 7}}}}
    overrides = overrides_from_environment(environ={'GUARDS_A__RETRY__CAP': '9'})
    guards = assert_success(guards_from_mapping(document, overrides=overrides))
    assert 'to 9 s' in guards['a'].describe()
    assert document == {'guards': {'a': {'retry': {'cap': 7}}}}


@given(
    variables=st.dictionaries(
        st.lists(
            st.sampled_from(['A', 'DEFAULT', 'RETRY', 'CAP', 'CIRCUIT', 'TRIP', 'RATES', '', 'É'])
            | st.text(max_size=3),
            max_size=5,
        ).map(lambda parts: f'GUARDS_{"__".join(parts)}'),
        st.text() | st.sampled_from(['off', '5', '{}', '[1]', '[{ limit = 0 }]', '5\nx = 1']),
    )
)
def test_no_variable_raises(variables: dict[str, str]) -> None:
    assert type(guards_with('[guards.a.retry]', variables)) in {Success, Failure}


def test_a_value_is_one_value_of_toml() -> None:
    variables = {'GUARDS_PAYMENT__RETRY__ATTEMPTS': '5\nother = 1'}
    assert problems_with('[guards.payment]', variables).keys() == {'/guards/payment/retry/attempts'}
