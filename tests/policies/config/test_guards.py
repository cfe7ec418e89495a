"""Guards from a TOML file or a parsed document: every option, inheritance, all problems."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import fields, is_dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, TypeAlias, assert_type, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from seamwise import Failure, Result, Success
from seamwise._text.json_pointer import pointer_keys
from seamwise.catalog.workspace import ConfigError, ConfigInvalid, ConfigUnreadable
from seamwise.messages import public_message
from seamwise.policies import (
    CircuitOpen,
    DeadlineExceeded,
    Guard,
    GuardError,
    GuardEvent,
    circuit,
    rate_limit,
    registered,
    retry,
)
from seamwise.policies.config import guards_from_mapping, guards_from_toml
from seamwise.policies.config.schema import (
    child_pointer,
    field_types,
    is_table,
    struct_types,
)
from seamwise.policies.config.settings import PLACEHOLDERS, PipelineConfig
from seamwise.testing import FakeWorld, assert_failure, assert_success
from tests.policies.config.examples import (
    FACTORIES,
    MISTAKES,
    OPTIONS,
    RATES,
    REQUIRED,
    VALID,
    WORLD,
    Value,
    toml_document,
    toml_value,
)
from tests.policies.errors import Down

PAGES = Path(__file__).parents[3] / 'docs' / 'guards'

NOT_IN_FILES = {'observer', 'world', 'when', 'counts', 'key', 'keys', 'at'}
"""Options that are functions or objects, and the number of the keys that a function returns."""


def guard_of(table: Mapping[str, Value], name: str = 'payment') -> Guard[GuardError]:
    document = {'guards': {name: table}}
    text = toml_document(document)
    assert tomllib.loads(text) == document
    return assert_success(guards_from_toml(text, world=WORLD))[name]


def problems_in(document: Mapping[str, Value] | str, **options: Any) -> dict[str, str]:
    """Return the messages of the problems by their pointers, each of which occurs once."""
    if isinstance(document, str):
        document = tomllib.loads(document)
    problems = assert_failure(guards_from_mapping(document, **options), ConfigInvalid).problems
    result = {problem.pointer: problem.message for problem in problems}
    assert len(result) == len(problems)
    return result


def snapshot(value: object, depth: int = 8) -> object:
    """Return all settings that an object of a guard contains."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [snapshot(item, depth - 1) for item in cast('list[object]', value)]
    if not depth or not type(value).__module__.startswith('seamwise.') or value is WORLD:
        return type(value).__qualname__
    if isinstance(value, Struct):
        names = list(value.__struct_fields__)
    elif is_dataclass(value):
        names = [field.name for field in fields(value)]
    else:
        slots = [name for kind in type(value).__mro__ for name in getattr(kind, '__slots__', ())]
        names = sorted({*getattr(value, '__dict__', {}), *slots} - {'__weakref__'})
    return type(value).__qualname__, {
        name: snapshot(getattr(value, name), depth - 1) for name in names if hasattr(value, name)
    }


# Every option


def documented_options() -> Iterator[tuple[str, str]]:
    """Yield the guards and options of the tables in the documentation."""
    for page in PAGES.glob('*.md'):
        guard = None
        for line in page.read_text(encoding='utf-8').splitlines():
            if match := re.match(r'\| Option(?: of `(\w+)`)? \|', line):
                guard = match[1] or page.stem
            elif not line.startswith('| '):
                guard = None
            elif guard and (row := re.match(r'\| ((?:`\w+`(?:, )?)+) \|', line)):
                yield from ((guard, option) for option in re.findall(r'`(\w+)`', row[1]))


def test_every_documented_option_has_an_example_here() -> None:
    documented = {
        (guard, option)
        for guard, option in documented_options()
        if guard in OPTIONS and option not in NOT_IN_FILES
    }
    assert documented == {(guard, option) for guard in OPTIONS for option in OPTIONS[guard]}


@pytest.mark.parametrize(
    ('kind', 'option', 'value', 'argument'),
    [
        (kind, option, value, argument)
        for kind, options in OPTIONS.items()
        for option, values in options.items()
        for value, argument in values
    ],
)
def test_every_option_reaches_its_guard(
    kind: str, option: str, value: Value, argument: object
) -> None:
    others: dict[str, Value] = {'slow': 0.25} if option == 'slow_trip' else {}
    options = {**REQUIRED[kind], **others, option: value}
    arguments = {'name': 'payment', **REQUIRED[kind], **others, option: argument, 'world': WORLD}
    guard = guard_of({kind: options})
    expected = FACTORIES[kind](**arguments)
    assert guard.describe() == expected.describe()
    assert snapshot(guard) == snapshot(expected)
    if option != 'name' and argument not in {'bucket', 'full', 'tool'}:
        assert snapshot(guard) != snapshot(guard_of({kind: {**REQUIRED[kind], **others}}))


def test_several_rates_are_one_rate_limit() -> None:
    expected = rate_limit.all(
        (10, 1.0), (100, 60.0), name='payment', kind='window', cost=2, wait=1.5, world=WORLD
    )
    guard = guard_of({'rate_limit': RATES})
    assert guard.describe() == expected.describe()
    assert snapshot(guard) == snapshot(expected)


def test_options_that_are_left_out_have_the_defaults_of_the_guard() -> None:
    guard = guard_of({'circuit': {}, 'retry': {}})
    expected = circuit(name='payment', world=WORLD) >> retry(name='payment', world=WORLD)
    assert guard.describe() == expected.describe()


def test_every_required_key_has_a_placeholder() -> None:
    def tables_in(struct: type[Struct]) -> Iterator[type[Struct]]:
        yield struct
        for name in struct.__struct_fields__:
            for table in struct_types(field_types([struct], name)):
                yield from tables_in(table)

    required = {
        field.name
        for struct in tables_in(PipelineConfig)
        for field in msgspec.structs.fields(struct)
        if field.required
    }
    assert required <= PLACEHOLDERS.keys()


# The order


def titles(guard: Guard[GuardError]) -> list[str]:
    return [line.partition(" '")[0] for line in guard.describe().splitlines()]


def test_the_order_does_not_depend_on_the_file() -> None:
    kinds = ['deadline', 'retry', 'circuit', 'bulkhead', 'rate_limit']
    guard = guard_of({kind: REQUIRED[kind] for kind in kinds})
    assert titles(guard) == ['rate limit', 'bulkhead', 'circuit', 'retry', 'deadline']


@pytest.mark.parametrize(
    ('others', 'expected'),
    [
        (['circuit', 'retry', 'deadline'], ['circuit', 'retry', 'hedge', 'deadline']),
        (['deadline'], ['hedge', 'deadline']),
        (['rate_limit', 'circuit'], ['hedge', 'rate limit', 'circuit']),
        (['bulkhead', 'deadline'], ['hedge', 'bulkhead', 'deadline']),
    ],
)
def test_a_hedge_is_in_a_place_without_warnings(others: list[str], expected: list[str]) -> None:
    guard = guard_of({kind: REQUIRED[kind] for kind in ('hedge', *others)})
    assert titles(guard) == expected


@pytest.mark.parametrize(
    'kinds',
    [kinds for count in range(7) for kinds in combinations(OPTIONS, count)],
)
def test_a_pipeline_has_no_warnings_or_is_a_problem(kinds: tuple[str, ...]) -> None:
    tables = {kind: REQUIRED[kind] for kind in kinds}
    guards = guards_from_mapping({'guards': {'a': tables}})
    # Both orders of a hedge, a retry and a limit are contradictory.
    is_contradictory = {'hedge', 'retry'} <= {*kinds} and {'rate_limit', 'bulkhead'} & {*kinds}
    if is_contradictory:
        [problem] = assert_failure(guards, ConfigInvalid).problems
        assert problem.pointer == '/guards/a'
        assert problem.message.startswith("both calls of hedge 'a' are retried")
    else:
        assert 'warning' not in assert_success(guards)['a'].describe()


# Names and inheritance


def test_a_guard_inherits_each_option_that_it_does_not_set() -> None:
    text = (
        '[default]\nretry = { attempts = 4, cap = 7, jitter = "none" }\ndeadline.seconds = 2\n'
        '[guards.payment]\nretry = { attempts = 2, base = 0.5 }\n'
    )
    guards = assert_success(guards_from_toml(text))
    expected = retry(attempts=2, base=0.5, cap=7, jitter='none', name='payment')
    assert guards['payment'].describe().splitlines() == [
        expected.describe(),
        "deadline 'payment': 2 s",
    ]


def test_a_table_in_a_guard_replaces_that_of_the_default() -> None:
    text = (
        '[default]\ncircuit.trip = { ratio = 0.5, minimum = 4, window = 9 }\n'
        'rate_limit = { limit = 5, wait = 2 }\n'
        '[guards.payment]\ncircuit.trip.consecutive = 3\nrate_limit.rates = [{ limit = 3 }]\n'
    )
    description = assert_success(guards_from_toml(text))['payment'].describe()
    assert 'after 3 failures in a row' in description
    assert "rate limit 'payment': 3 calls in 1 s" in description
    assert 'waits' not in description


@given(data=st.data())
def test_inheritance_equals_the_merged_table(data: st.DataObject) -> None:
    default, own = data.draw(pipelines()), data.draw(pipelines())
    merged: dict[str, Any] = deepcopy(default)
    for kind, options in own.items():
        base = merged.get(kind)
        merged[kind] = {**base, **options} if is_table(base) and is_table(options) else options
    inherited = guards_from_mapping({'default': default, 'guards': {'a': own}})
    expected = guards_from_mapping({'guards': {'a': merged}})
    assert describe(inherited) == describe(expected)


def describe(guards: Result[Mapping[str, Guard[GuardError]], ConfigError]) -> object:
    """Return the descriptions of guards, or the messages of the problems."""
    match guards:
        case Success(by_name):
            return {name: guard.describe() for name, guard in by_name.items()}
        case Failure(error):
            assert isinstance(error, ConfigInvalid)
            return sorted(problem.message for problem in error.problems)


def pipelines() -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for tables with valid guards, which can contradict each other."""

    def options_of(kind: str) -> st.SearchStrategy[Value]:
        optional = {
            option: st.sampled_from([value for value, _argument in values])
            for option, values in OPTIONS[kind].items()
            if option not in REQUIRED[kind] and option not in {'slow_trip', 'kind'}
        }
        required = {
            option: st.sampled_from([value for value, _argument in OPTIONS[kind][option]])
            for option in REQUIRED[kind]
        }
        return st.just(False) | st.fixed_dictionaries(required, optional=optional)

    return st.fixed_dictionaries({}, optional={kind: options_of(kind) for kind in OPTIONS})


def test_false_switches_off_a_guard_of_the_default() -> None:
    text = '[default]\nretry.attempts = 2\n[guards]\na = {}\nb = { retry = false }'
    guards = assert_success(guards_from_toml(text))
    assert titles(guards['a']) == ['retry']
    assert guards['b'].describe() == 'nothing: the operation runs as it is'


def test_every_name_has_its_own_guard() -> None:
    text = '[default]\ncircuit.trip.consecutive = 1\n[guards.payment]\ndeadline.seconds = 1'
    guards = assert_success(guards_from_toml(text, names=('payment', 'search'), world=WORLD))
    assert list(guards) == ['payment', 'search']
    guards['payment'].run_sync(lambda: Failure(Down()))
    error = assert_failure(guards['payment'].run_sync(lambda: Success(1)), CircuitOpen)
    assert error.name == 'payment'
    assert guards['search'].run_sync(lambda: Success(1)) == Success(1)


def test_without_names_the_tables_have_guards() -> None:
    guards = assert_success(guards_from_toml('[default.retry]\n[guards]\na = {}\n"b/c" = {}'))
    assert list(guards) == ['a', 'b/c']
    assert assert_success(guards_from_toml('')) == {}


def test_an_unknown_name_is_a_key_error_with_a_suggestion() -> None:
    names: list[str] = ['payment']
    guards = assert_success(guards_from_toml('[default.retry]', names=names))
    with pytest.raises(KeyError, match=r"'paymnt' is not a known guard \(did you mean 'payment'"):
        guards['paymnt']
    assert guards.get('paymnt') is None


def test_a_table_without_a_name_of_the_program_is_a_problem() -> None:
    assert problems_in(
        '[default.retry]\n[guards.paymnt]\nretry.attempts = 0', names=('payment',)
    ) == {
        '/guards/paymnt': "is not a known guard (did you mean 'payment'?)",
        '/guards/paymnt/retry/attempts': 'attempts must be 1 or more, not 0',
    }
    assert problems_in('[guards.a]', names=()) == {
        '/guards/a': 'is not a known guard; there is none'
    }


def test_a_name_without_any_guards_is_a_problem() -> None:
    expected = {'/guards': "needs the table 'payment', or else guards in 'default'"}
    assert problems_in('', names=('payment',)) == expected
    assert problems_in('[default]\nretry = false', names=('payment',)) == expected
    # An empty table says that there are none.
    assert_success(guards_from_toml('[guards.payment]', names=('payment',)))


Name: TypeAlias = Literal['payment', 'search']
NAMES: tuple[Name, ...] = ('payment', 'search')


def test_names_can_be_literals() -> None:
    guards = guards_from_toml('[default.retry]', names=NAMES)
    assert_type(guards, Result[Mapping[Name, Guard[GuardError]], ConfigError])
    tables = guards_from_mapping({})
    assert_type(tables, Result[Mapping[str, Guard[GuardError]], ConfigInvalid])


@pytest.mark.parametrize('names', ['payment', ['']])
def test_names_must_be_several_strings(names: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        guards_from_toml('[default.retry]', names=names)


def test_the_world_and_the_observer_are_those_of_all_guards() -> None:
    world, events = FakeWorld(), list[GuardEvent]()
    text = '[guards.payment]\nretry = { jitter = "none" }\ndeadline.seconds = 1'
    guards = assert_success(guards_from_toml(text, world=world, observer=events.append))

    def slow() -> Result[int, Down]:
        world.advance(2)
        return Success(1)

    error = assert_failure(guards['payment'].run_sync(slow), DeadlineExceeded)
    assert error.name == 'payment'
    assert world.slept == [0.1, 0.2]
    assert {(type(event).__name__, event.name) for event in events} == {
        ('Refused', 'payment'),
        ('Retrying', 'payment'),
        ('GaveUp', 'payment'),
    }


def test_only_the_guards_of_the_result_are_registered() -> None:
    guards = assert_success(guards_from_toml('[default.circuit]', names=('only here',)))
    assert registered()['only here'] == (guards['only here'],)
    assert 'default' not in registered()


# Problems


def document_with(mistakes: list[tuple[tuple[str, ...], Value]]) -> dict[str, Value]:
    tables: dict[str, Any] = deepcopy(VALID)
    for (*path, key), value in mistakes:
        table = tables
        for name in path:
            table = table[name]
        table[key] = value
    return tables


def test_the_tables_without_mistakes_are_valid() -> None:
    for kind, table in document_with([]).items():
        guard_of({kind: table})


@pytest.mark.parametrize('section', [['default'], ['guards', 'a']])
@pytest.mark.parametrize(('path', 'value'), MISTAKES)
def test_a_problem_points_to_its_key(
    path: tuple[str, ...], value: Value, section: list[str]
) -> None:
    tables: dict[str, Value] = {path[0]: document_with([(path, value)])[path[0]]}
    for name in reversed(section):
        tables = {name: tables}
    [pointer] = problems_in(tables)
    assert pointer_keys(pointer) == (*section, *path)


@given(mistakes=st.lists(st.sampled_from(MISTAKES), unique_by=lambda mistake: mistake[0]))
def test_all_problems_are_reported_at_once(mistakes: list[tuple[tuple[str, ...], Value]]) -> None:
    tables = document_with(mistakes)
    guards = guards_from_mapping({'default': {}, 'guards': {'a': tables}})
    if not mistakes:
        return
    problems = assert_failure(guards, ConfigInvalid).problems
    # Guards without mistakes can contradict each other.
    pointers = [problem.pointer for problem in problems if problem.pointer != '/guards/a']
    assert sorted(pointers) == sorted(pointer_of('guards', 'a', *path) for path, _ in mistakes)


def pointer_of(*path: str) -> str:
    pointer = ''
    for name in path:
        pointer = child_pointer(pointer, name)
    return pointer


def test_a_problem_with_a_default_is_reported_once() -> None:
    text = '[default]\nretry = { attempts = 0, x = 1 }\ndeadline = {}\ny = 1\n'
    assert problems_in(text, names=('a', 'b')).keys() == {
        '/default/retry/attempts',
        '/default/retry/x',
        '/default/deadline',
        '/default/y',
    }
    assert problems_in(f'{text}[guards.a]\nretry.base = 1', names=('a', 'b')).keys() == {
        '/default/retry/attempts',
        '/default/retry/x',
        '/default/deadline',
        '/default/y',
    }


def test_a_default_that_does_not_fit_is_reported_where_it_is_inherited() -> None:
    text = '[default.retry]\ncap = 3\n[guards.a]\nretry.base = 4'
    assert problems_in(text) == {
        '/guards/a/retry': "cap must be base (4 s) or more, not 3.0 (from 'default')"
    }


@pytest.mark.parametrize(
    ('table', 'message'),
    [
        (
            'deadline.seconds = 60\nretry.timeout = 90',
            "3 attempts of 60 s each (deadline 'a') do not fit into the 90 s of retry 'a'",
        ),
        ('circuit.slow = 3\ndeadline.seconds = 2', 'no success is slower than the 3 s'),
        ('circuit = {}\ndeadline.seconds = 40', "circuit 'a' abandons a probe after 30 s"),
        ('bulkhead.limit = 1\ncircuit.probes = 2', "circuit 'a' never runs its 2 probes"),
        ('hedge.after = 3\ndeadline.seconds = 2', "hedge 'a' never hedges after its 3 s"),
    ],
)
def test_guards_that_contradict_each_other_are_a_problem(table: str, message: str) -> None:
    [(pointer, actual)] = problems_in(f'[guards.a]\n{table}').items()
    assert pointer == '/guards/a'
    assert actual.startswith(message)
    assert not actual.endswith('.')
    [(pointer, actual)] = problems_in(f'[default]\n{table}', names=('b', 'c')).items()
    assert pointer == '/default'


def test_a_guard_with_a_problem_contradicts_no_other() -> None:
    text = '[guards.a]\nretry = { attempts = "x", timeout = 30 }\ndeadline.seconds = 20'
    assert problems_in(text).keys() == {'/guards/a/retry/attempts'}
    assert problems_in(text.replace('"x"', '0')).keys() == {'/guards/a/retry/attempts'}
    text = '[guards.a]\nhedge.after.percentile = 2\ndeadline.seconds = 0.5'
    assert problems_in(text).keys() == {'/guards/a/hedge/after/percentile'}


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('guard = 1', {'/guard': "is not a known key (did you mean 'guards'?)"}),
        ('default = 1', {'/default': 'must be a table, not 1'}),
        ('guards = []', {'/guards': 'must be a table, not a list'}),
        ('guards.a = "x"', {'/guards/a': 'must be a table, not a string'}),
        (
            'guards."" = { retry = {} }',
            {'/guards/': 'needs a name: it identifies the guard in errors and events'},
        ),
        (
            'default.rate_limit = {}',
            {'/default/rate_limit': "needs one of the keys 'limit' or 'rates'"},
        ),
        (
            'default.rate_limit.rates = []',
            {'/default/rate_limit/rates': 'rates needs at least one table with a limit'},
        ),
        (
            'default.rate_limit.rates = [{ limit = 1 }, { limit = 0, perod = 1 }, 3]',
            {
                '/default/rate_limit/rates/1/limit': 'limit must be 1 or more, not 0',
                '/default/rate_limit/rates/1/perod': (
                    "is not a known key (did you mean 'period'?)"
                ),
                '/default/rate_limit/rates/2': 'must be a table, not 3',
            },
        ),
        (
            'default.circuit.slow_trip.consecutive = 2',
            {
                '/default/circuit/slow_trip': (
                    "slow_trip needs the key 'slow', the seconds after which a call is slow"
                )
            },
        ),
        (
            'default.bulkhead.limit = { minimum = 9, maximum = 2, start = 5 }',
            {'/default/bulkhead/limit/maximum': 'maximum must be 9 or more, not 2'},
        ),
    ],
)
def test_a_problem_says_what_is_wrong(text: str, expected: dict[str, str]) -> None:
    assert {
        pointer: message for pointer, message in problems_in(text).items() if pointer in expected
    } == expected
    assert len(problems_in(text)) - len(expected) in {0, 1}


def test_the_pointers_begin_with_that_of_the_document() -> None:
    document = {'default': {'retry': {'attempts': 0}}, 'x': 1}
    assert problems_in(document, pointer='/tool/my~1shop').keys() == {
        '/tool/my~1shop/default/retry/attempts',
        '/tool/my~1shop/x',
    }


def test_a_document_from_yaml_can_have_any_keys_and_values() -> None:
    document: Any = {
        1: 2,
        'default': {None: 1},
        'guards': {
            True: {},
            'a': {2.5: 1, 'retry': {None: 4, 'attempts': None, 'cap': -1}},
            'b': None,
        },
    }
    assert problems_in(document) == {
        '': 'has a key that is not a string: 1',
        '/default': 'has a key that is not a string: null',
        '/guards': 'has a key that is not a string: true',
        '/guards/a': 'has a key that is not a string: 2.5',
        '/guards/a/retry': 'has a key that is not a string: null',
        '/guards/a/retry/attempts': 'must be an integer, not null',
        '/guards/a/retry/cap': ('cap must be a finite number, 0 or more, 1e+09 at most, not -1.0'),
        '/guards/b': 'must be a table, not null',
    }
    nothing: Any = None
    assert problems_in(nothing, pointer='/x') == {'/x': 'must be a table, not null'}


def test_a_document_that_contains_itself_is_no_endless_loop() -> None:
    document: dict[str, Any] = {'retry': {}}
    document['retry']['budget'] = document
    document['guards'] = document
    problems_in({'default': document, 'guards': document})


KEYS = st.sampled_from(
    [
        *('default', 'guards', 'a', *OPTIONS),
        *(key for kind in OPTIONS for key in OPTIONS[kind]),
        *('consecutive', 'ratio', 'share', 'quota', 'tokens', 'minimum', 'maximum', 'rates'),
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(['unlimited', 'window', ''])
    | st.just(10**400)
    | st.binary()
)


def documents(depth: int) -> st.SearchStrategy[Value]:
    if not depth:
        return LEAVES
    inner = documents(depth - 1)
    keys: st.SearchStrategy[object] = KEYS | LEAVES.filter(lambda key: key == key)  # noqa: PLR0124
    return st.dictionaries(keys, inner, max_size=4) | st.lists(inner, max_size=2) | LEAVES


@given(
    default=st.dictionaries(st.sampled_from([*OPTIONS]), documents(3)),
    own=st.dictionaries(st.sampled_from([*OPTIONS]), documents(3)),
)
def test_no_document_raises(default: dict[str, Value], own: dict[str, Value]) -> None:
    for names in (None, ('a', 'b')):
        guards = guards_from_mapping(
            {'default': default, 'guards': {'a': own, 'b': {}}}, names=names
        )
        assert type(guards) in {Success, Failure}


@given(documents(5))
def test_no_value_of_another_type_raises(document: Any) -> None:
    assert type(guards_from_mapping(document)) in {Success, Failure}


# TOML


@pytest.mark.parametrize('content', ['[default]\nretry = x', b'[default]\nretry = x'])
def test_invalid_toml_has_a_position(content: str | bytes) -> None:
    error = assert_failure(guards_from_toml(content, path='a.toml'), ConfigUnreadable)
    assert (error.path, error.line, error.column) == ('a.toml', 2, 9)


@given(st.text() | st.binary())
def test_no_content_raises(content: str | bytes) -> None:
    assert type(guards_from_toml(content)) in {Success, Failure}


@pytest.mark.parametrize('content', ['\ud800', b'\xff', '\ufeff[default.retry]\r\n', b'\0'])
def test_no_encoding_raises(content: str | bytes) -> None:
    assert type(guards_from_toml(content)) in {Success, Failure}


def test_a_file_equals_its_parsed_document() -> None:
    text = ''.join(f'[guards.a.{kind}]\n{toml_document(table)}' for kind, table in VALID.items())
    document = tomllib.loads(text)
    assert describe(guards_from_toml(text)) == describe(guards_from_mapping(document))
    assert toml_value(True) == 'true'


def test_guards_without_files_do_not_import_the_configuration() -> None:
    code = (
        'import seamwise.policies, sys; '
        "sys.exit('seamwise.policies.config' in sys.modules or 'tomllib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, '-I', '-c', code], check=False).returncode == 0


def test_path_instead_of_the_content_is_refused_with_an_advice() -> None:
    untyped_guards_from_toml: Any = guards_from_toml
    with pytest.raises(TypeError, match=r'as str or bytes, not .*Path: pass Path\(…\)\.read_bytes'):
        untyped_guards_from_toml(Path('guards.toml'))


def test_other_overrides_are_refused_with_an_advice() -> None:
    untyped_guards_from_toml: Any = guards_from_toml
    with pytest.raises(TypeError, match=r'result of overrides_from_environment\(…\), not dict'):
        untyped_guards_from_toml('', overrides={'GUARDS_MAIL__RETRY': 'off'})


def test_text_of_the_error_lists_the_problems() -> None:
    error = assert_failure(
        guards_from_toml('[default]\nretry = { atempts = 2, base = -1 }', path='x.toml'),
        ConfigInvalid,
    )
    assert len(error.problems) > 1
    for problem in error.problems:
        assert f'{problem.pointer}: {problem.message}' in str(error)
    assert public_message(error) == "The configuration in 'x.toml' is not valid."
