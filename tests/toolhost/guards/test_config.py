"""Parsing of a guards file: the guards of each tool, or all problems."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from seamwise import Failure, Result, Success
from seamwise.catalog.tools import (
    CommandFailed,
    FileNotFound,
    ResourceExhausted,
    ToolError,
    ToolFailed,
    ToolTimedOut,
)
from seamwise.catalog.workspace import ConfigInvalid, ConfigUnreadable
from seamwise.policies import BulkheadFull, CircuitOpen, DeadlineExceeded, RateLimited, adaptive
from seamwise.policies._parts.budget import Budget
from seamwise.policies._parts.trip_conditions import Trip, consecutive, ratio
from seamwise.policies.bulkhead import bulkhead
from seamwise.policies.circuit import circuit
from seamwise.policies.config import settings as guard_settings
from seamwise.policies.config.toml_document import MAX_CONFIG_SIZE
from seamwise.policies.deadline import deadline
from seamwise.policies.rate_limit import rate_limit
from seamwise.policies.retry import retry
from seamwise.testing import FakeWorld
from seamwise.toolhost import Tools, tool
from seamwise.toolhost.guards.config import parse_guards
from seamwise.toolhost.guards.guarded_call import CallStats, GuardedRunner
from tests.toolhost.helpers import error_of, value_of

TIMEOUT_ERROR = ToolTimedOut('look', 1.0, 1)
MEMORY_ERROR = ResourceExhausted('memory')


@tool(is_repeatable=True)
def look() -> None: ...


@tool
def change() -> None: ...


TOOLS: Tools[ToolError] = look | change


def build_runner(text: str, world: FakeWorld | None = None) -> GuardedRunner:
    the_world = world or FakeWorld()
    return GuardedRunner(
        value_of(parse_guards(text.encode(), 'g.toml', tools=TOOLS, world=the_world)),
        clock=the_world.clock,
    )


def describe(text: str, name: str = 'look') -> list[str]:
    return (
        value_of(parse_guards(text.encode(), 'g.toml', tools=TOOLS))[name].describe().splitlines()
    )


def problems_in(text: str | bytes) -> dict[str, str]:
    data = text.encode() if isinstance(text, str) else text
    error = error_of(parse_guards(data, 'g.toml', tools=TOOLS), ConfigInvalid)
    assert error.path == 'g.toml'
    return {problem.pointer: problem.message for problem in error.problems}


def count_attempts(runner: GuardedRunner, name: str, error: ToolError) -> int:
    stats = CallStats()
    error_of(runner.run(name, lambda: Failure(error), stats=stats), type(error))
    return stats.attempts


NOT_IN_FILES = {'observer', 'world', 'when', 'counts', 'key', 'keys', 'at'}
"""Arguments of guards that a file cannot contain."""


@pytest.mark.parametrize(
    ('struct', 'factory'),
    [
        (guard_settings.RateLimitConfig, rate_limit),
        (guard_settings.BulkheadConfig, bulkhead),
        (guard_settings.CircuitConfig, circuit),
        (guard_settings.RetryConfig, retry),
        (guard_settings.DeadlineConfig, deadline),
    ],
)
def test_a_guard_table_has_the_arguments_of_its_guard_as_keys(
    struct: type[Struct], factory: Callable[..., object]
) -> None:
    parameters = inspect.signature(factory).parameters
    assert set(struct.__struct_fields__) == parameters.keys() - NOT_IN_FILES
    required = {
        name
        for name, parameter in parameters.items()
        if parameter.default is inspect.Parameter.empty
    }
    assert {
        field.name for field in msgspec.structs.fields(struct) if field.required
    } == required - {'name'}


@pytest.mark.parametrize(
    ('struct', 'factory'),
    [
        (guard_settings.ConsecutiveConfig, consecutive),
        (guard_settings.RatioConfig, ratio),
        (guard_settings.ShareConfig, Budget.share),
        (guard_settings.QuotaConfig, Budget.quota),
        (guard_settings.TokensConfig, Budget.tokens),
    ],
)
def test_a_nested_table_has_the_arguments_of_its_function_as_keys(
    struct: type[guard_settings.NestedConfig], factory: Callable[..., object]
) -> None:
    first, *others = inspect.signature(factory).parameters
    assert first in struct.first_argument
    assert list(struct.__struct_fields__) == [
        factory.__name__,
        *(name for name in others if name != 'world'),
    ]


def test_an_empty_file_configures_no_guards() -> None:
    for text in ('', '[default]', '[tools.look]', '# a comment'):
        assert count_attempts(build_runner(text), 'look', TIMEOUT_ERROR) == 1


@pytest.mark.parametrize(
    'guard',
    [
        'rate_limit = { limit = 1',
        'bulkhead = { limit = 1',
        'circuit = { probes = 1',
        'deadline = { seconds = 1',
    ],
)
def test_a_guard_can_have_the_name_unlimited(guard: str) -> None:
    description = describe(f'[default]\n{guard}, name = "unlimited" }}')[0]
    assert description.partition(': ')[0].endswith("'unlimited'")


def test_a_byte_order_mark_is_skipped() -> None:
    guards = value_of(
        parse_guards(
            b'\xef\xbb\xbf[default.retry]\r\nattempts = 2\r\n',
            'g.toml',
            tools=TOOLS,
            world=FakeWorld(),
        )
    )
    assert count_attempts(GuardedRunner(guards), 'look', TIMEOUT_ERROR) == 2


ALL_KEYS = """
[default.rate_limit]
limit = 5
period = 2
burst = 3
cost = 1.5
wait = 0.5
name = "all"

[default.bulkhead]
limit = 2
scope = "namespace"
queue = "unlimited"
wait = "unlimited"

[default.circuit]
trip = { ratio = 0.5, minimum = 2, window = 30 }
open_for = 10
probes = 2
successes = 2
probe_timeout = 5
slow = 1

[default.retry]
attempts = 4
timeout = "unlimited"
base = 0.5
factor = 3
cap = 6
jitter = "none"
retry_after_cap = 10
budget = { share = 0.5, minimum_per_second = 1 }

[default.deadline]
seconds = 9
"""


def test_every_key_reaches_its_guard() -> None:
    expected = (
        rate_limit(5, period=2, burst=3, cost=1.5, wait=0.5, name='all')
        >> bulkhead(2, name='look', scope='namespace', queue=None, wait=None)
        >> circuit(
            name='look',
            trip=ratio(0.5, minimum=2, window=30),
            open_for=10,
            probes=2,
            successes=2,
            probe_timeout=5,
            slow=1,
        )
        >> retry(
            name='look',
            attempts=4,
            timeout=None,
            base=0.5,
            factor=3,
            cap=6,
            jitter='none',
            budget=Budget.share(0.5),
            retry_after_cap=10,
        )
        >> deadline(9, name='look')
    )
    assert describe(ALL_KEYS) == expected.describe().splitlines()


def test_keys_that_are_left_out_have_the_defaults_of_the_guard() -> None:
    expected = circuit(name='look') >> retry(name='look')
    assert describe('[default]\nretry = {}\ncircuit = {}\n') == expected.describe().splitlines()


def test_the_order_of_guards_does_not_depend_on_the_file() -> None:
    text = (
        '[default]\ndeadline.seconds = 1\nretry = {}\ncircuit = {}\n'
        'bulkhead.limit = 1\nrate_limit.limit = 1\n'
    )
    expected = (
        rate_limit(1, name='look')
        >> bulkhead(1, name='look')
        >> circuit(name='look')
        >> retry(name='look')
        >> deadline(1, name='look')
    )
    assert describe(text) == expected.describe().splitlines()


@pytest.mark.parametrize(
    ('source', 'expected'),
    [
        ('{ share = 0.25 }', Budget.share(0.25)),
        ('{ quota = 50, cost = 2, timeout_cost = 3 }', Budget.quota(50, cost=2, timeout_cost=3)),
        ('{ tokens = 4, ratio = 0.8 }', Budget.tokens(4, ratio=0.8)),
    ],
)
def test_each_budget_can_be_configured(source: str, expected: Budget) -> None:
    assert (
        describe(f'[default.retry]\nbudget = {source}')
        == retry(name='look', budget=expected).describe().splitlines()
    )


@pytest.mark.parametrize(
    ('source', 'expected'),
    [
        ('{ consecutive = 3 }', consecutive(3)),
        ('{ ratio = 0.25, minimum = 4, calls = 40 }', ratio(0.25, minimum=4, calls=40)),
        ('{ ratio = 0.25, minimum = 4, window = 3 }', ratio(0.25, minimum=4, window=3)),
    ],
)
def test_each_trip_condition_can_be_configured(source: str, expected: Trip) -> None:
    assert (
        describe(f'[default.circuit]\ntrip = {source}')
        == circuit(name='look', trip=expected).describe().splitlines()
    )


class TestToolTables:
    def test_a_guard_of_a_tool_replaces_the_default(self) -> None:
        text = '[default.retry]\nattempts = 2\ncap = 7\n[tools.look.retry]\nattempts = 4\n'
        assert describe(text) == retry(name='look', attempts=4).describe().splitlines()
        assert (
            describe(text, 'change')
            == retry(name='change', attempts=2, cap=7).describe().splitlines()
        )

    def test_a_tool_keeps_defaults_it_does_not_override(self) -> None:
        text = '[default]\nretry.attempts = 2\n[tools.look]\ndeadline.seconds = 4\n'
        assert (len(describe(text)), len(describe(text, 'change'))) == (2, 1)

    def test_false_disables_a_default_guard_for_a_tool(self) -> None:
        runner = build_runner('[default]\nretry.attempts = 2\n[tools.look]\nretry = false\n')
        assert (
            count_attempts(runner, 'look', MEMORY_ERROR),
            count_attempts(runner, 'change', MEMORY_ERROR),
        ) == (1, 2)

    def test_tools_do_not_share_a_circuit(self) -> None:
        runner = build_runner('[default.circuit]\ntrip = { consecutive = 1 }')
        count_attempts(runner, 'look', TIMEOUT_ERROR)
        error_of(runner.run('look', lambda: Success(1), stats=CallStats()), CircuitOpen)
        value_of(runner.run('change', lambda: Success(1), stats=CallStats()))

    def test_a_guard_has_the_name_of_its_tool_by_default(self) -> None:
        runner = build_runner(
            '[default]\nrate_limit.limit = 1\n'
            '[tools.change.rate_limit]\nlimit = 1\nname = "the disk"'
        )
        for tool_name, guard_name in (('look', 'look'), ('change', 'the disk')):
            value_of(runner.run(tool_name, lambda: Success(1), stats=CallStats()))
            assert (
                error_of(
                    runner.run(tool_name, lambda: Success(1), stats=CallStats()), RateLimited
                ).name
                == guard_name
            )


class TestRepeatableTools:
    def test_a_tool_that_is_not_repeatable_is_not_retried_after_a_timeout(self) -> None:
        runner = build_runner('[default.retry]\nattempts = 3\n')
        assert (
            count_attempts(runner, 'look', TIMEOUT_ERROR),
            count_attempts(runner, 'change', TIMEOUT_ERROR),
        ) == (3, 1)

    def test_a_tool_that_is_not_repeatable_is_retried_after_a_failure_to_start(self) -> None:
        runner = build_runner('[default.retry]\nattempts = 3\n')
        assert (
            count_attempts(runner, 'look', MEMORY_ERROR),
            count_attempts(runner, 'change', MEMORY_ERROR),
        ) == (3, 3)

    def test_a_tool_that_is_not_repeatable_is_not_retried_after_a_failure_on_its_way(self) -> None:
        runner = build_runner('[default.retry]\nattempts = 3\n')
        error = ToolFailed('change', ConnectionResetError())
        assert (
            count_attempts(runner, 'look', error),
            count_attempts(runner, 'change', error),
        ) == (3, 1)

    def test_a_tool_that_is_not_repeatable_is_not_retried_after_a_deadline(self) -> None:
        world = FakeWorld()
        runner = build_runner('[default]\nretry.attempts = 3\ndeadline.seconds = 1', world)

        def slow() -> Result[int, ToolError]:
            world.advance(2)
            return Success(1)

        all_stats = {name: CallStats() for name in ('look', 'change')}
        errors = {
            name: error_of(runner.run(name, slow, stats=stats), DeadlineExceeded)
            for name, stats in all_stats.items()
        }
        assert {name: stats.attempts for name, stats in all_stats.items()} == {
            'look': 3,
            'change': 1,
        }
        assert {name: error.attempts for name, error in errors.items()} == {'look': 3, 'change': 1}

    def test_the_file_overrides_whether_a_tool_is_repeatable(self) -> None:
        runner = build_runner(
            '[default.retry]\nattempts = 3\n'
            '[tools.change]\nrepeatable = true\n[tools.look]\nrepeatable = false'
        )
        assert (
            count_attempts(runner, 'look', TIMEOUT_ERROR),
            count_attempts(runner, 'change', TIMEOUT_ERROR),
        ) == (1, 3)


def test_an_error_that_is_not_retryable_is_not_retried() -> None:
    runner = build_runner('[default.retry]\nattempts = 3\n')
    for error in (FileNotFound('look', 'x'), CommandFailed('look', 'x', 1, '')):
        assert (count_attempts(runner, 'look', error), count_attempts(runner, 'change', error)) == (
            1,
            1,
        )


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('defualt = 1', {'/defualt': "is not a known key (did you mean 'default'?)"}),
        ('[default.rety]', {'/default/rety': "is not a known key (did you mean 'retry'?)"}),
        (
            '[default]\nrepeatable = true',
            {
                '/default/repeatable': (
                    "is not a known key; the keys are 'rate_limit', 'bulkhead', 'circuit', "
                    "'retry' and 'deadline'"
                )
            },
        ),
        (
            '[default.retry]\natempts = 3',
            {'/default/retry/atempts': "is not a known key (did you mean 'attempts'?)"},
        ),
        (
            '[default.retry]\nattempts = "3"',
            {'/default/retry/attempts': 'must be an integer, not a string'},
        ),
        (
            '[default.retry]\njitter = "ful"',
            {
                '/default/retry/jitter': (
                    "must be 'full', 'equal', 'tenth', 'decorrelated' or 'none', not a string "
                    "(did you mean 'full'?)"
                )
            },
        ),
        ('[default.rate_limit]', {'/default/rate_limit': "needs the key 'limit'"}),
        ('[default]\nretry = true', {'/default/retry': 'must be a table or false, not true'}),
        ('[tools.lok]', {'/tools/lok': "is not a known tool (did you mean 'look'?)"}),
        (
            '[tools."a/b"]',
            {'/tools/a~1b': "is not a known tool; the tools are 'change' and 'look'"},
        ),
    ],
)
def test_a_problem_points_to_its_key(text: str, expected: Mapping[str, str]) -> None:
    assert problems_in(text) == expected


@pytest.mark.parametrize(
    ('text', 'pointer'),
    [
        ('[default.retry]\nattempts = 0', '/default/retry/attempts'),
        ('[default.retry]\nbase = -1', '/default/retry/base'),
        ('[default.retry]\ntimeout = nan', '/default/retry/timeout'),
        ('[default.retry]\nbase = 9', '/default/retry/cap'),
        ('[default.retry]\nname = " "', '/default/retry/name'),
        ('[default.circuit]\ntrip.consecutive = 0', '/default/circuit/trip/consecutive'),
        (
            '[default.circuit]\ntrip = { ratio = 2, minimum = 1, window = 1 }',
            '/default/circuit/trip/ratio',
        ),
        (
            '[default.circuit]\ntrip = { ratio = 1, minimum = 0, window = 1 }',
            '/default/circuit/trip/minimum',
        ),
        ('[default.circuit]\ntrip = { ratio = 1, minimum = 1 }', '/default/circuit/trip/ratio'),
        ('[default.retry]\nbudget.share = 2', '/default/retry/budget/share'),
        ('[default.retry]\nbudget.quota = 0', '/default/retry/budget/quota'),
        ('[default.retry]\nbudget = { tokens = 0, ratio = 1 }', '/default/retry/budget/tokens'),
        ('[default.retry]\nbudget = { tokens = 1, ratio = 0 }', '/default/retry/budget/ratio'),
        ('[default.deadline]\nseconds = 0', '/default/deadline/seconds'),
        ('[tools.look.deadline]\nseconds = inf', '/tools/look/deadline/seconds'),
        ('[default.rate_limit]\nlimit = 0', '/default/rate_limit/limit'),
        ('[default.bulkhead]\nlimit = 0', '/default/bulkhead/limit'),
    ],
)
def test_a_value_that_a_guard_rejects_is_reported_under_its_key(text: str, pointer: str) -> None:
    [(actual_pointer, message)] = problems_in(text).items()
    key = pointer.rpartition('/')[2]
    assert actual_pointer == pointer
    assert message.startswith((f'{key} must ', f'{key} needs '))
    assert not message.endswith('.')


def test_all_problems_are_reported_at_once_and_each_default_once() -> None:
    assert problems_in(
        '[default]\nretry.attempts = 0\ndeadline.seconds = 0\n[tools.look.deadline]\nseconds = -1'
    ).keys() == {
        '/default/retry/attempts',
        '/default/deadline/seconds',
        '/tools/look/deadline/seconds',
    }
    assert problems_in('x = 1\n[default.retry]\nx = 0\n[tools]\nx = 1\n').keys() == {
        '/x',
        '/default/retry/x',
        '/tools/x',
    }


def test_wrong_types_and_wrong_numbers_are_reported_together() -> None:
    assert problems_in(
        '[default]\nretry = { attempts = 0, cap = "x" }\nbulkhead.limit = { minimum = 0 }\n'
        '[tools.look.circuit]\nslow_trip.consecutive = 2\nprobes = 0\ntrip = {}\n'
        '[tools.lok]\nretry.x = 1'
    ).keys() == {
        '/default/retry/attempts',
        '/default/retry/cap',
        '/default/bulkhead/limit',
        '/tools/look/circuit/probes',
        '/tools/look/circuit/slow_trip',
        '/tools/look/circuit/trip',
        '/tools/lok',
        '/tools/lok/retry/x',
    }


def test_a_bulkhead_can_be_adaptive() -> None:
    text = '[default.bulkhead]\nlimit = { minimum = 2, maximum = 9 }'
    assert describe(text) == [bulkhead(adaptive(2, 9), name='look').describe()]


def test_a_default_that_no_tool_uses_is_checked() -> None:
    assert problems_in(
        '[default]\nretry.attempts = 0\n[tools]\nlook.retry = false\nchange.retry = false'
    ).keys() == {'/default/retry/attempts'}


@pytest.mark.parametrize(
    ('data', 'line', 'column', 'problem'),
    [
        (b'a = \n', 1, 5, 'invalid value'),
        (b'[default]\n[default]', 2, 9, "cannot declare 'default' twice"),
        (b'[tools.look]\n[tools.look]', 2, 12, "cannot declare 'tools.look' twice"),
        (b'# 1\na = "\xc3\xa9\xff"', 2, 7, 'this is not UTF-8'),
        (b'\xff', 1, 1, 'this is not UTF-8'),
        (b'a = "\n', 1, 6, "illegal character '\\n'"),
        (b'a = 1\nb = "', 2, 6, 'unterminated string'),
        (b'a = 1 2', 1, 7, 'expected newline or end of document after a statement'),
    ],
)
def test_invalid_toml_is_reported_with_its_position(
    data: bytes, line: int, column: int, problem: str
) -> None:
    error = error_of(parse_guards(data, 'g.toml', tools=TOOLS), ConfigUnreadable)
    assert (error.path, error.line, error.column, error.problem) == (
        'g.toml',
        line,
        column,
        problem,
    )


def test_a_problem_without_position_is_about_the_whole_file() -> None:
    assert problems_in('a = ' + '9' * 5000) == {'': 'contains a number with too many digits'}
    assert problems_in('a = ' + '[' * 100_000) == {'': 'is nested too deeply'}
    assert problems_in(b' ' * (MAX_CONFIG_SIZE + 1)) == {'': 'has more than 262,144 bytes'}
    value_of(parse_guards(b' ' * MAX_CONFIG_SIZE, 'g.toml', tools=TOOLS))


def test_a_bulkhead_refuses_calls_over_its_limit() -> None:
    runner = build_runner('[default.bulkhead]\nlimit = 1\n')

    def inner() -> Result[Any, ToolError]:
        error_of(runner.run('look', lambda: Success(1), stats=CallStats()), BulkheadFull)
        return Success(runner.run('change', lambda: Success(2), stats=CallStats()))

    assert value_of(value_of(runner.run('look', inner, stats=CallStats()))) == 2
