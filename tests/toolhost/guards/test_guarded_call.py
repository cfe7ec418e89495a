"""Every call runs inside the guards of its tool, and tells how often it was tried and how long it waited."""

import time
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from msgspec import Struct

from seamwise import Failure, Result, Success
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.tools import (
    CommandFailed,
    CommandTimedOut,
    FileNotFound,
    InvalidParameter,
    ResourceExhausted,
    ToolError,
    ToolRepeated,
    ToolTimedOut,
    TooManyMistakes,
    UnknownTool,
)
from seamwise.policies import CircuitOpen, DeadlineExceeded, GuardError, RateLimited
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.circuit import circuit
from seamwise.policies.deadline import deadline
from seamwise.policies.events import GaveUp, Recovered, Refused, Retrying
from seamwise.policies.rate_limit import rate_limit
from seamwise.policies.retry import retry
from seamwise.policies.testing import FakeWorld
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.guards.guarded_call import (
    MIN_TIMEOUT,
    CallStats,
    GuardedRunner,
    record_event,
    time_left,
)
from seamwise.toolhost.host import Host
from seamwise.toolhost.reader import read_calls
from seamwise.toolhost.registry import STANDARD, Registry, registry, tool
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, value_of

LATE = ToolTimedOut('play', 1.0, 1)
FULL = ResourceExhausted('memory')


def trying(world: FakeWorld, attempts: int = 3) -> Guard[GuardError]:
    return retry(
        attempts=attempts,
        base=1.0,
        cap=4.0,
        jitter='none',
        name='play',
        observer=record_event,
        world=world,
    )


def runner(guard: Guard[GuardError], world: FakeWorld) -> GuardedRunner:
    return GuardedRunner({'play': guard}, clock=world.clock)


def giving(
    *outcomes: Result[int, ToolError], takes: Callable[[], None] = lambda: None
) -> Callable[[], Result[int, ToolError]]:
    """Make an operation that gives one outcome a call."""
    left: Iterator[Result[int, ToolError]] = iter(outcomes)

    def operation() -> Result[int, ToolError]:
        takes()
        return next(left)

    return operation


class TestTries:
    def test_count_the_attempts_and_the_waits_between_them(self) -> None:
        world, stats = FakeWorld(), CallStats()
        operation = giving(
            Failure(FULL), Failure(LATE), Success(7), takes=lambda: world.advance(10)
        )
        assert value_of(runner(trying(world), world).run('play', operation, stats=stats)) == 7
        assert (stats.attempts, stats.waited, stats.waited_ms) == (3, 3.0, 3000)

    def test_count_one_attempt_and_no_wait_where_there_is_no_guard(self) -> None:
        world, stats = FakeWorld(), CallStats()
        operation = giving(Success(7), takes=lambda: world.advance(10))
        assert value_of(runner(trying(world), world).run('other', operation, stats=stats)) == 7
        assert (stats.attempts, stats.waited_ms, stats.events) == (1, 0, [])

    def test_count_no_attempt_where_a_guard_refuses(self) -> None:
        world = FakeWorld()
        made = runner(rate_limit(1, name='play', observer=record_event, world=world), world)
        first, second = CallStats(), CallStats()
        value_of(made.run('play', giving(Success(1)), stats=first))
        refused = error_of(made.run('play', giving(), stats=second), RateLimited)
        assert (first.attempts, second.attempts) == (1, 0)
        assert [one.event for one in second.events] == [Refused('play', refused)]

    def test_count_the_wait_for_a_turn(self) -> None:
        world = FakeWorld()
        made = runner(rate_limit(1, period=2, wait=5, name='play', world=world), world)
        first, second = CallStats(), CallStats()
        for stats in (first, second):
            value_of(made.run('play', giving(Success(1)), stats=stats))
        assert (first.waited_ms, second.waited_ms) == (0, 2000)

    def test_are_right_where_the_tool_raises(self) -> None:
        world, stats = FakeWorld(), CallStats()

        def broken() -> None:
            world.advance(10)
            if stats.attempts == 2:
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            runner(trying(world), world).run(
                'play', giving(Failure(LATE), takes=broken), stats=stats
            )
        assert (stats.attempts, stats.waited_ms) == (2, 1000)

    def test_are_right_where_the_clock_goes_back(self) -> None:
        times = iter([5.0, 5.0, 4.0, 3.0])
        stats = CallStats()
        value_of(
            GuardedRunner(clock=lambda: next(times)).run('play', giving(Success(1)), stats=stats)
        )
        assert stats.waited == 0.0

    def test_hold_what_the_guards_told_in_its_order(self) -> None:
        world, stats = FakeWorld(), CallStats()
        value_of(
            runner(trying(world), world).run('play', giving(Failure(FULL), Success(1)), stats=stats)
        )
        assert [one.event for one in stats.events] == [
            Retrying('play', FULL, 1, 3, 1.0),
            Recovered('play', 2, 1.0),
        ]
        assert stats.events[0].at <= stats.events[1].at
        assert stats.events[0].at.tzinfo is not None

    def test_are_each_call_s_own_also_where_one_runs_inside_another(self) -> None:
        world, outer, inner = FakeWorld(), CallStats(), CallStats()
        made = GuardedRunner({'play': trying(world), 'inner': trying(world, 2)}, clock=world.clock)

        def operation() -> Result[int, ToolError]:
            if outer.attempts == 2:
                return Success(1)
            error_of(
                made.run('inner', giving(Failure(FULL), Failure(FULL)), stats=inner),
                ResourceExhausted,
            )
            return Failure(LATE)

        value_of(made.run('play', operation, stats=outer))
        assert (outer.attempts, outer.waited_ms) == (2, 1000)
        assert [type(one.event) for one in outer.events] == [Retrying, Recovered]
        assert (inner.attempts, inner.waited_ms) == (2, 1000)
        assert [type(one.event) for one in inner.events] == [Retrying, GaveUp]

    def test_say_whole_milliseconds(self) -> None:
        assert [
            CallStats(waited=seconds).waited_ms for seconds in (0.0, 0.0004, 0.0006, 1.2345)
        ] == [
            0,
            0,
            1,
            1234,
        ]


class TestAnError:
    def test_that_tells_of_attempts_tells_of_all(self) -> None:
        world = FakeWorld()
        late = CommandTimedOut('play', 'x', 1.0, '')
        assert (
            error_of(
                runner(trying(world), world).run('play', lambda: Failure(LATE), stats=CallStats()),
                ToolTimedOut,
            ).attempts
            == 3
        )
        assert (
            error_of(
                runner(trying(world), world).run('play', lambda: Failure(late), stats=CallStats()),
                CommandTimedOut,
            ).attempts
            == 3
        )

    def test_of_a_deadline_tells_of_all(self) -> None:
        world = FakeWorld()
        made = runner(trying(world, 2) >> deadline(1, name='play', world=world), world)
        operation = giving(Success(1), Success(1), takes=lambda: world.advance(2))
        assert error_of(
            made.run('play', operation, stats=CallStats()), DeadlineExceeded
        ) == DeadlineExceeded('play', 1.0, attempts=2)

    def test_of_one_attempt_is_the_tools_own(self) -> None:
        world = FakeWorld()
        own = ToolTimedOut('play', 1.0, attempts=9)
        assert (
            error_of(
                runner(trying(world, 1), world).run(
                    'play', lambda: Failure(own), stats=CallStats()
                ),
                ToolTimedOut,
            )
            is own
        )

    def test_without_attempts_is_the_tools_own(self) -> None:
        world = FakeWorld()
        assert (
            error_of(
                runner(trying(world), world).run('play', lambda: Failure(FULL), stats=CallStats()),
                ResourceExhausted,
            )
            is FULL
        )


def test_what_is_told_outside_of_a_call_is_kept_by_nobody() -> None:
    record_event(Recovered('play', 2, 1.0))


class TestTimeLeft:
    def test_is_the_tools_own_where_there_is_no_deadline(self) -> None:
        assert time_left(10.0) == 10.0

    def test_is_what_the_nearer_end_leaves(self) -> None:
        world = FakeWorld()
        found: list[float] = []

        def operation() -> Result[int, ToolError]:
            world.advance(1.5)
            found.extend([time_left(10.0), time_left(0.25)])
            return Success(1)

        value_of(deadline(2, world=world).run_sync(operation))
        assert found == [0.5, 0.25]

    def test_is_never_nothing(self) -> None:
        world = FakeWorld()
        found: list[float] = []

        def operation() -> Result[int, ToolError]:
            world.advance(3)
            found.append(time_left(10.0))
            return Success(1)

        error_of(deadline(2, world=world).run_sync(operation), DeadlineExceeded)
        assert found == [MIN_TIMEOUT]


class Play(Struct, frozen=True, kw_only=True):
    what: str = 'fine'
    turn: int = 0


class Played(Struct, frozen=True):
    turn: int


OUTCOMES: dict[str, ToolError] = {
    'mistake': FileNotFound('play', 'x'),
    'other': CommandFailed('play', 'x', 1, ''),
    'late': LATE,
}


def play(_workspace: Workspace, args: Play) -> Result[Played, ToolError]:
    return Failure(OUTCOMES[args.what]) if args.what in OUTCOMES else Success(Played(args.turn))


PLAY: Registry = registry([tool('play', Play, play)]).unwrap()


class TestTheHost:
    def calls(self, host: Host, *arguments: str) -> list[tuple[Result[object, object], CallStats]]:
        found: list[tuple[Result[object, object], CallStats]] = []
        for line in read_calls(BytesIO('\n'.join(arguments).encode())):
            stats = CallStats()
            found.append((host.run(line, stats=stats), stats))
        return found

    def test_guards_the_work_of_a_tool_and_no_mistake_of_its_caller(
        self, workspace: Workspace
    ) -> None:
        world = FakeWorld()
        tight = rate_limit(1, period=1000, name='play', observer=record_event, world=world)
        host = Host(workspace, registry=PLAY, runner=runner(tight, world), repeat_limit=2)
        found = self.calls(
            host,
            '{',
            '{"tool": "plya"}',
            '{"tool": "play", "arguments": {"trun": 1}}',
            '{"tool": "play"}',
            '{"tool": "play"}',
            '{"tool": "play"}',
            '{"tool": "play", "arguments": {"trun": 1}}',
        )
        kinds = [
            UnreadableCall,
            UnknownTool,
            InvalidParameter,
            Played,
            RateLimited,
            ToolRepeated,
            InvalidParameter,
        ]
        assert [
            type(one.unwrap() if type(one) is Success else one.failure()) for one, _ in found
        ] == kinds
        assert [stats.attempts for _, stats in found] == [0, 0, 0, 1, 0, 0, 0]

    def test_counts_a_mistake_once_however_often_it_was_tried(self, workspace: Workspace) -> None:
        world = FakeWorld()
        often = retry(attempts=5, when=lambda _: True, name='play', world=world)
        host = Host(workspace, registry=PLAY, runner=runner(often, world), mistake_limit=2)
        mistake = '{"tool": "play", "arguments": {"what": "mistake", "turn": %d}}'
        found = self.calls(host, mistake % 1, mistake % 2, mistake % 3)
        assert [stats.attempts for _, stats in found] == [5, 5, 0]
        assert isinstance(found[-1][0].failure(), TooManyMistakes)

    def test_counts_no_refusal_of_a_guard_as_a_mistake(self, workspace: Workspace) -> None:
        world = FakeWorld()
        shut = circuit(name='play', trip=consecutive(1), world=world)
        host = Host(workspace, registry=PLAY, runner=runner(shut, world), mistake_limit=1)
        late = '{"tool": "play", "arguments": {"what": "late", "turn": %d}}'
        found = self.calls(host, *(late % turn for turn in range(4)))
        assert [type(one.failure()) for one, _ in found] == [
            ToolTimedOut,
            CircuitOpen,
            CircuitOpen,
            CircuitOpen,
        ]

    def test_opens_no_circuit_for_a_mistake_of_the_caller(self, workspace: Workspace) -> None:
        world = FakeWorld()
        shut = circuit(name='play', trip=consecutive(1), world=world)
        host = Host(workspace, registry=PLAY, runner=runner(shut, world))
        found = self.calls(
            host, '{"tool": "play", "arguments": {"what": "mistake"}}', '{"tool": "play"}'
        )
        assert [type(one) for one, _ in found] == [Failure, Success]

    def test_needs_nobody_who_asks_how_it_went(self, workspace: Workspace) -> None:
        host = Host(workspace, registry=PLAY)
        for line in read_calls(BytesIO(b'{"tool": "play"}')):
            value_of(host.run(line))


SOON = 0.2
"""In seconds: a deadline; without it the tools below would take 60 times as long."""


@pytest.mark.parametrize(
    ('name', 'arguments'),
    [
        ('execute_command', {'command': 'echo early; sleep 12; echo late > late.txt'}),
        ('search_files', {'pattern': '(a+)+$', 'timeout': 12.0}),
    ],
)
def test_a_deadline_really_ends_what_takes_long(
    folder: Path, workspace: Workspace, name: str, arguments: dict[str, object]
) -> None:
    (folder / 'a.txt').write_text('a' * 40 + 'b')
    stats = CallStats()
    guards = GuardedRunner({name: deadline(SOON, name=name)})
    begun = time.monotonic()
    error = error_of(
        STANDARD.run(workspace, ToolCall('c', name, arguments, 1), runner=guards, stats=stats),
        DeadlineExceeded,
    )
    assert time.monotonic() - begun < 10 * SOON
    assert error == DeadlineExceeded(name, SOON)
    assert stats.attempts == 1


@pytest.mark.parametrize(
    ('name', 'error'), [('execute_command', CommandTimedOut), ('search_files', ToolTimedOut)]
)
def test_a_timeout_of_its_own_that_is_nearer_is_the_tools_error(
    folder: Path, workspace: Workspace, name: str, error: type[CommandTimedOut | ToolTimedOut]
) -> None:
    (folder / 'a.txt').write_text('a' * 40 + 'b')
    own = {'execute_command': {'command': 'sleep 12'}, 'search_files': {'pattern': '(a+)+$'}}[name]
    call = ToolCall('c', name, {**own, 'timeout': 0.1}, 1)
    assert (
        error_of(
            STANDARD.run(workspace, call, runner=GuardedRunner({name: deadline(60, name=name)})),
            error,
        ).timeout
        == 0.1
    )


def test_a_deadline_leaves_what_is_quick_alone(folder: Path, workspace: Workspace) -> None:
    (folder / 'a.txt').write_text('a\n')
    for name, parameter, value in (
        ('execute_command', 'command', 'true'),
        ('search_files', 'pattern', 'a'),
    ):
        call = ToolCall('c', name, {parameter: value}, 1)
        value_of(
            STANDARD.run(workspace, call, runner=GuardedRunner({name: deadline(60, name=name)}))
        )


def test_only_tools_that_change_nothing_are_repeatable() -> None:
    assert [name for name in STANDARD.names if STANDARD.is_repeatable(name)] == [
        'list_files',
        'read_file',
        'search_files',
    ]
