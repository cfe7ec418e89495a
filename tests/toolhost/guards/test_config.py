"""A guards file is read strictly, and says what stands around which tool."""

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
    ToolTimedOut,
)
from seamwise.catalog.workspace import ConfigInvalid, ConfigUnreadable
from seamwise.policies import BulkheadFull, CircuitOpen, DeadlineExceeded, RateLimited
from seamwise.policies._parts.budget import Budget
from seamwise.policies._parts.trip_conditions import Trip, consecutive, ratio
from seamwise.policies.bulkhead import bulkhead
from seamwise.policies.circuit import circuit
from seamwise.policies.deadline import deadline
from seamwise.policies.rate_limit import rate_limit
from seamwise.policies.retry import retry
from seamwise.policies.testing import FakeWorld
from seamwise.toolhost.guards import settings as guard_settings
from seamwise.toolhost.guards.config import MAX_CONFIG_SIZE, parse_guards
from seamwise.toolhost.guards.guarded_call import CallStats, GuardedRunner
from seamwise.toolhost.registry import Registry, registry, tool
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, value_of

LATE = ToolTimedOut('look', 1.0, 1)
FULL = ResourceExhausted('memory')


class Nothing(Struct, frozen=True):
    pass


def _nothing(_workspace: Workspace, _args: Nothing) -> Result[Nothing, ToolError]:
    return Success(Nothing())


TWO: Registry = registry(
    [tool('look', Nothing, _nothing, is_repeatable=True), tool('change', Nothing, _nothing)]
).unwrap()


def guarding(text: str, world: FakeWorld | None = None) -> GuardedRunner:
    made = world or FakeWorld()
    return GuardedRunner(
        value_of(parse_guards(text.encode(), 'g.toml', registry=TWO, world=made)), clock=made.clock
    )


def described(text: str, name: str = 'look') -> list[str]:
    return (
        value_of(parse_guards(text.encode(), 'g.toml', registry=TWO))[name].describe().splitlines()
    )


def problems(text: str | bytes) -> dict[str, str]:
    data = text.encode() if isinstance(text, str) else text
    error = error_of(parse_guards(data, 'g.toml', registry=TWO), ConfigInvalid)
    assert error.path == 'g.toml'
    return {one.pointer: one.message for one in error.problems}


def attempts(made: GuardedRunner, name: str, error: ToolError) -> int:
    stats = CallStats()
    error_of(made.run(name, lambda: Failure(error), stats=stats), type(error))
    return stats.attempts


ALONE = {'observer', 'world', 'when', 'counts', 'key', 'keys', 'at'}
"""What a guard takes that no file can say."""


@pytest.mark.parametrize(
    ('kind', 'maker'),
    [
        (guard_settings.RateLimitConfig, rate_limit),
        (guard_settings.BulkheadConfig, bulkhead),
        (guard_settings.CircuitConfig, circuit),
        (guard_settings.RetryConfig, retry),
        (guard_settings.DeadlineConfig, deadline),
    ],
)
def test_the_keys_of_a_table_are_the_arguments_of_its_guard(
    kind: type[Struct], maker: Callable[..., object]
) -> None:
    known = inspect.signature(maker).parameters
    assert set(kind.__struct_fields__) == known.keys() - ALONE
    needed = {name for name, one in known.items() if one.default is inspect.Parameter.empty}
    assert {one.name for one in msgspec.structs.fields(kind) if one.required} == needed - {'name'}


@pytest.mark.parametrize(
    ('kind', 'maker'),
    [
        (guard_settings.ConsecutiveConfig, consecutive),
        (guard_settings.RatioConfig, ratio),
        (guard_settings.ShareConfig, Budget.share),
        (guard_settings.QuotaConfig, Budget.quota),
        (guard_settings.TokensConfig, Budget.tokens),
    ],
)
def test_a_table_in_a_table_is_the_call_of_a_function(
    kind: type[guard_settings.NestedConfig], maker: Callable[..., object]
) -> None:
    first, *others = inspect.signature(maker).parameters
    assert first in kind.first_argument
    assert list(kind.__struct_fields__) == [
        maker.__name__,
        *(one for one in others if one != 'world'),
    ]


def test_an_empty_file_guards_nothing() -> None:
    for text in ('', '[default]', '[tools.look]', '# only words'):
        assert attempts(guarding(text), 'look', LATE) == 1


@pytest.mark.parametrize(
    'guard',
    [
        'rate_limit = { limit = 1',
        'bulkhead = { limit = 1',
        'circuit = { probes = 1',
        'deadline = { seconds = 1',
    ],
)
def test_a_guard_may_be_called_anything(guard: str) -> None:
    assert described(f'[default]\n{guard}, name = "unlimited" }}')[0].startswith('unlimited: ')


def test_a_mark_at_the_beginning_is_passed_over() -> None:
    made = value_of(
        parse_guards(
            b'\xef\xbb\xbf[default.retry]\r\nattempts = 2\r\n',
            'g.toml',
            registry=TWO,
            world=FakeWorld(),
        )
    )
    assert attempts(GuardedRunner(made), 'look', LATE) == 2


EVERYTHING = """
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


def test_everything_that_can_be_said_reaches_the_guards() -> None:
    own = (
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
    assert described(EVERYTHING) == own.describe().splitlines()


def test_what_a_file_leaves_out_is_as_the_guard_has_it() -> None:
    own = circuit(name='look') >> retry(name='look')
    assert described('[default]\nretry = {}\ncircuit = {}\n') == own.describe().splitlines()


def test_the_order_is_fixed_whatever_the_file_says_first() -> None:
    text = '[default]\ndeadline.seconds = 1\nretry = {}\ncircuit = {}\nbulkhead.limit = 1\nrate_limit.limit = 1\n'
    own = (
        rate_limit(1, name='look')
        >> bulkhead(1, name='look')
        >> circuit(name='look')
        >> retry(name='look')
        >> deadline(1, name='look')
    )
    assert described(text) == own.describe().splitlines()


@pytest.mark.parametrize(
    ('said', 'own'),
    [
        ('{ share = 0.25 }', Budget.share(0.25)),
        ('{ quota = 50, cost = 2, timeout_cost = 3 }', Budget.quota(50, cost=2, timeout_cost=3)),
        ('{ tokens = 4, ratio = 0.8 }', Budget.tokens(4, ratio=0.8)),
    ],
)
def test_each_budget_can_be_said(said: str, own: Budget) -> None:
    assert (
        described(f'[default.retry]\nbudget = {said}')
        == retry(name='look', budget=own).describe().splitlines()
    )


@pytest.mark.parametrize(
    ('said', 'own'),
    [
        ('{ consecutive = 3 }', consecutive(3)),
        ('{ ratio = 0.25, minimum = 4, calls = 40 }', ratio(0.25, minimum=4, calls=40)),
        ('{ ratio = 0.25, minimum = 4, window = 3 }', ratio(0.25, minimum=4, window=3)),
    ],
)
def test_each_trip_can_be_said(said: str, own: Trip) -> None:
    assert (
        described(f'[default.circuit]\ntrip = {said}')
        == circuit(name='look', trip=own).describe().splitlines()
    )


class TestATool:
    def test_has_its_own_guard_in_place_of_the_default(self) -> None:
        text = '[default.retry]\nattempts = 2\ncap = 7\n[tools.look.retry]\nattempts = 4\n'
        assert described(text) == retry(name='look', attempts=4).describe().splitlines()
        assert (
            described(text, 'change')
            == retry(name='change', attempts=2, cap=7).describe().splitlines()
        )

    def test_has_the_default_beside_its_own(self) -> None:
        text = '[default]\nretry.attempts = 2\n[tools.look]\ndeadline.seconds = 4\n'
        assert (len(described(text)), len(described(text, 'change'))) == (2, 1)

    def test_may_do_without_a_guard(self) -> None:
        made = guarding('[default]\nretry.attempts = 2\n[tools.look]\nretry = false\n')
        assert (attempts(made, 'look', FULL), attempts(made, 'change', FULL)) == (1, 2)

    def test_that_is_broken_does_not_stop_the_others(self) -> None:
        made = guarding('[default.circuit]\ntrip = { consecutive = 1 }')
        attempts(made, 'look', LATE)
        error_of(made.run('look', lambda: Success(1), stats=CallStats()), CircuitOpen)
        value_of(made.run('change', lambda: Success(1), stats=CallStats()))

    def test_gives_its_guards_its_name(self) -> None:
        made = guarding(
            '[default]\nrate_limit.limit = 1\n[tools.change.rate_limit]\nlimit = 1\nname = "the disk"'
        )
        for name, shown in (('look', 'look'), ('change', 'the disk')):
            value_of(made.run(name, lambda: Success(1), stats=CallStats()))
            assert (
                error_of(made.run(name, lambda: Success(1), stats=CallStats()), RateLimited).name
                == shown
            )


class TestAToolThatChangesSomething:
    def test_is_not_tried_again_where_it_may_have_been_done(self) -> None:
        made = guarding('[default.retry]\nattempts = 3\n')
        assert (attempts(made, 'look', LATE), attempts(made, 'change', LATE)) == (3, 1)

    def test_is_tried_again_where_nothing_was_done(self) -> None:
        made = guarding('[default.retry]\nattempts = 3\n')
        assert (attempts(made, 'look', FULL), attempts(made, 'change', FULL)) == (3, 3)

    def test_is_not_tried_again_where_it_ended_after_its_deadline(self) -> None:
        world = FakeWorld()
        made = guarding('[default]\nretry.attempts = 3\ndeadline.seconds = 1', world)

        def slow() -> Result[int, ToolError]:
            world.advance(2)
            return Success(1)

        stats = {name: CallStats() for name in ('look', 'change')}
        errors = {
            name: error_of(made.run(name, slow, stats=one), DeadlineExceeded)
            for name, one in stats.items()
        }
        assert {name: one.attempts for name, one in stats.items()} == {'look': 3, 'change': 1}
        assert {name: one.attempts for name, one in errors.items()} == {'look': 3, 'change': 1}

    def test_is_tried_again_where_the_file_says_that_it_may_be(self) -> None:
        made = guarding(
            '[default.retry]\nattempts = 3\n[tools.change]\nrepeatable = true\n[tools.look]\nrepeatable = false'
        )
        assert (attempts(made, 'look', LATE), attempts(made, 'change', LATE)) == (1, 3)


def test_an_error_that_no_second_try_helps_is_tried_once() -> None:
    made = guarding('[default.retry]\nattempts = 3\n')
    for error in (FileNotFound('look', 'x'), CommandFailed('look', 'x', 1, '')):
        assert (attempts(made, 'look', error), attempts(made, 'change', error)) == (1, 1)


@pytest.mark.parametrize(
    ('text', 'found'),
    [
        ('defualt = 1', {'/defualt': "is not a known key (did you mean 'default'?)"}),
        ('[default.rety]', {'/default/rety': "is not a known key (did you mean 'retry'?)"}),
        (
            '[default]\nrepeatable = true',
            {
                '/default/repeatable': "is not a known key; the keys are 'rate_limit', 'bulkhead', 'circuit', 'retry' and 'deadline'"
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
                '/default/retry/jitter': "must be 'full', 'equal', 'tenth', 'decorrelated' or 'none', not a string (did you mean 'full'?)"
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
def test_what_is_wrong_points_to_its_key(text: str, found: Mapping[str, str]) -> None:
    assert problems(text) == found


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
def test_what_a_guard_cannot_take_points_to_its_key_and_says_so_by_that_name(
    text: str, pointer: str
) -> None:
    [(found, message)] = problems(text).items()
    key = pointer.rpartition('/')[2]
    assert found == pointer
    assert message.startswith((f'{key} must ', f'{key} needs '))
    assert not message.endswith('.')


def test_all_that_is_wrong_is_found_at_once_and_a_default_once() -> None:
    assert problems(
        '[default]\nretry.attempts = 0\ndeadline.seconds = 0\n[tools.look.deadline]\nseconds = -1'
    ).keys() == {
        '/default/retry/attempts',
        '/default/deadline/seconds',
        '/tools/look/deadline/seconds',
    }
    assert problems('x = 1\n[default.retry]\nx = 0\n[tools]\nx = 1\n').keys() == {
        '/x',
        '/default/retry/x',
        '/tools/x',
    }


def test_a_default_that_no_tool_uses_is_checked_too() -> None:
    assert problems(
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
def test_what_is_no_toml_says_where(data: bytes, line: int, column: int, problem: str) -> None:
    error = error_of(parse_guards(data, 'g.toml'), ConfigUnreadable)
    assert (error.path, error.line, error.column, error.problem) == (
        'g.toml',
        line,
        column,
        problem,
    )


def test_what_has_no_place_is_about_the_file() -> None:
    assert problems('a = ' + '9' * 5000) == {'': 'contains a number with too many digits'}
    assert problems('a = ' + '[' * 100_000) == {'': 'is nested too deeply'}
    assert problems(b' ' * (MAX_CONFIG_SIZE + 1)) == {'': 'has more than 262,144 bytes'}
    value_of(parse_guards(b' ' * MAX_CONFIG_SIZE, 'g.toml'))


def test_a_bulkhead_refuses_whom_it_has_no_room_for() -> None:
    made = guarding('[default.bulkhead]\nlimit = 1\n')

    def inner() -> Result[Any, ToolError]:
        error_of(made.run('look', lambda: Success(1), stats=CallStats()), BulkheadFull)
        return Success(made.run('change', lambda: Success(2), stats=CallStats()))

    assert value_of(value_of(made.run('look', inner, stats=CallStats()))) == 2
