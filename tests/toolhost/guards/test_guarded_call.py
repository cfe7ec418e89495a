"""Execution of tools inside their guards, and the statistics of attempts and waiting time."""

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
from seamwise.testing import FakeWorld
from seamwise.toolhost import Tools, tool
from seamwise.toolhost.builtin import workspace_tools
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.guards.guarded_call import (
    MIN_TIMEOUT,
    CallStats,
    GuardedRunner,
    record_event,
    time_left,
)
from seamwise.toolhost.host import Host
from seamwise.toolhost.reader import read_calls
from tests.toolhost.helpers import error_of, run_tool, value_of

TIMEOUT_ERROR = ToolTimedOut('play', 1.0, 1)
MEMORY_ERROR = ResourceExhausted('memory')


def build_retry(world: FakeWorld, attempts: int = 3) -> Guard[GuardError]:
    return retry(
        attempts=attempts,
        base=1.0,
        cap=4.0,
        jitter='none',
        name='play',
        observer=record_event,
        world=world,
    )


def build_runner(guard: Guard[GuardError], world: FakeWorld) -> GuardedRunner:
    return GuardedRunner({'play': guard}, clock=world.clock)


def operation_with(
    *outcomes: Result[int, ToolError], before_each: Callable[[], None] = lambda: None
) -> Callable[[], Result[int, ToolError]]:
    """Build an operation that returns one of the outcomes per call."""
    remaining: Iterator[Result[int, ToolError]] = iter(outcomes)

    def operation() -> Result[int, ToolError]:
        before_each()
        return next(remaining)

    return operation


class TestCallStats:
    def test_stats_count_attempts_and_waits_between_them(self) -> None:
        world, stats = FakeWorld(), CallStats()
        operation = operation_with(
            Failure(MEMORY_ERROR),
            Failure(TIMEOUT_ERROR),
            Success(7),
            before_each=lambda: world.advance(10),
        )
        assert (
            value_of(build_runner(build_retry(world), world).run('play', operation, stats=stats))
            == 7
        )
        assert (stats.attempts, stats.waited, stats.waited_ms) == (3, 3.0, 3000)

    def test_a_tool_without_guards_has_one_attempt_and_no_wait(self) -> None:
        world, stats = FakeWorld(), CallStats()
        operation = operation_with(Success(7), before_each=lambda: world.advance(10))
        assert (
            value_of(build_runner(build_retry(world), world).run('other', operation, stats=stats))
            == 7
        )
        assert (stats.attempts, stats.waited_ms, stats.events) == (1, 0, [])

    def test_a_call_refused_by_a_guard_has_no_attempt(self) -> None:
        world = FakeWorld()
        runner = build_runner(rate_limit(1, name='play', observer=record_event, world=world), world)
        first, second = CallStats(), CallStats()
        value_of(runner.run('play', operation_with(Success(1)), stats=first))
        refused = error_of(runner.run('play', operation_with(), stats=second), RateLimited)
        assert (first.attempts, second.attempts) == (1, 0)
        assert [timed_event.event for timed_event in second.events] == [Refused('play', refused)]

    def test_stats_include_the_wait_for_a_rate_limit(self) -> None:
        world = FakeWorld()
        runner = build_runner(rate_limit(1, period=2, wait=5, name='play', world=world), world)
        first, second = CallStats(), CallStats()
        for stats in (first, second):
            value_of(runner.run('play', operation_with(Success(1)), stats=stats))
        assert (first.waited_ms, second.waited_ms) == (0, 2000)

    def test_stats_are_complete_after_an_exception(self) -> None:
        world, stats = FakeWorld(), CallStats()

        def broken() -> None:
            world.advance(10)
            if stats.attempts == 2:
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            build_runner(build_retry(world), world).run(
                'play', operation_with(Failure(TIMEOUT_ERROR), before_each=broken), stats=stats
            )
        assert (stats.attempts, stats.waited_ms) == (2, 1000)

    def test_the_wait_is_never_negative(self) -> None:
        times = iter([5.0, 5.0, 4.0, 3.0])
        stats = CallStats()
        value_of(
            GuardedRunner(clock=lambda: next(times)).run(
                'play', operation_with(Success(1)), stats=stats
            )
        )
        assert stats.waited == 0.0

    def test_events_are_recorded_in_order(self) -> None:
        world, stats = FakeWorld(), CallStats()
        value_of(
            build_runner(build_retry(world), world).run(
                'play', operation_with(Failure(MEMORY_ERROR), Success(1)), stats=stats
            )
        )
        assert [timed_event.event for timed_event in stats.events] == [
            Retrying('play', MEMORY_ERROR, 1, 3, 1.0, duration=0.0, factor=2.0),
            Recovered('play', 2, 1.0),
        ]
        assert stats.events[0].at <= stats.events[1].at
        assert stats.events[0].at.tzinfo is not None

    def test_nested_calls_have_separate_stats(self) -> None:
        world, outer, inner = FakeWorld(), CallStats(), CallStats()
        runner = GuardedRunner(
            {'play': build_retry(world), 'inner': build_retry(world, 2)}, clock=world.clock
        )

        def operation() -> Result[int, ToolError]:
            if outer.attempts == 2:
                return Success(1)
            error_of(
                runner.run(
                    'inner',
                    operation_with(Failure(MEMORY_ERROR), Failure(MEMORY_ERROR)),
                    stats=inner,
                ),
                ResourceExhausted,
            )
            return Failure(TIMEOUT_ERROR)

        value_of(runner.run('play', operation, stats=outer))
        assert (outer.attempts, outer.waited_ms) == (2, 1000)
        assert [type(timed_event.event) for timed_event in outer.events] == [Retrying, Recovered]
        assert (inner.attempts, inner.waited_ms) == (2, 1000)
        assert [type(timed_event.event) for timed_event in inner.events] == [Retrying, GaveUp]

    def test_waited_ms_is_rounded_to_milliseconds(self) -> None:
        assert [
            CallStats(waited=seconds).waited_ms for seconds in (0.0, 0.0004, 0.0006, 1.2345)
        ] == [
            0,
            0,
            1,
            1234,
        ]


class TestErrors:
    def test_an_error_with_attempts_contains_the_total(self) -> None:
        world = FakeWorld()
        late = CommandTimedOut('play', 'x', 1.0, '')
        assert (
            error_of(
                build_runner(build_retry(world), world).run(
                    'play', lambda: Failure(TIMEOUT_ERROR), stats=CallStats()
                ),
                ToolTimedOut,
            ).attempts
            == 3
        )
        assert (
            error_of(
                build_runner(build_retry(world), world).run(
                    'play', lambda: Failure(late), stats=CallStats()
                ),
                CommandTimedOut,
            ).attempts
            == 3
        )

    def test_an_error_of_a_deadline_contains_the_total_of_attempts(self) -> None:
        world = FakeWorld()
        runner = build_runner(build_retry(world, 2) >> deadline(1, name='play', world=world), world)
        operation = operation_with(Success(1), Success(1), before_each=lambda: world.advance(2))
        assert error_of(
            runner.run('play', operation, stats=CallStats()), DeadlineExceeded
        ) == DeadlineExceeded('play', 1.0, attempts=2)

    def test_an_error_after_one_attempt_is_unchanged(self) -> None:
        world = FakeWorld()
        error = ToolTimedOut('play', 1.0, attempts=9)
        assert (
            error_of(
                build_runner(build_retry(world, 1), world).run(
                    'play', lambda: Failure(error), stats=CallStats()
                ),
                ToolTimedOut,
            )
            is error
        )

    def test_an_error_without_attempts_is_unchanged(self) -> None:
        world = FakeWorld()
        assert (
            error_of(
                build_runner(build_retry(world), world).run(
                    'play', lambda: Failure(MEMORY_ERROR), stats=CallStats()
                ),
                ResourceExhausted,
            )
            is MEMORY_ERROR
        )


def test_an_event_outside_of_a_call_is_discarded() -> None:
    event = Recovered('play', 2, 1.0)
    record_event(event)
    stats = CallStats()
    assert GuardedRunner().run('play', lambda: Success(1), stats=stats) == Success(1)
    record_event(event)
    assert stats.events == []
    assert CallStats().events == []


def test_an_event_inside_of_a_call_is_recorded() -> None:
    def operation() -> Result[int, ToolError]:
        record_event(event)
        return Success(1)

    event = Recovered('play', 2, 1.0)
    stats = CallStats()
    GuardedRunner().run('play', operation, stats=stats)
    assert [timed_event.event for timed_event in stats.events] == [event]


class TestTimeLeft:
    def test_the_timeout_applies_without_a_deadline(self) -> None:
        assert time_left(10.0) == 10.0

    def test_the_nearer_of_timeout_and_deadline_applies(self) -> None:
        world = FakeWorld()
        values: list[float] = []

        def operation() -> Result[int, ToolError]:
            world.advance(1.5)
            values.extend([time_left(10.0), time_left(0.25)])
            return Success(1)

        value_of(deadline(2, world=world).run_sync(operation))
        assert values == [0.5, 0.25]

    def test_the_time_left_is_never_zero(self) -> None:
        world = FakeWorld()
        values: list[float] = []

        def operation() -> Result[int, ToolError]:
            world.advance(3)
            values.append(time_left(10.0))
            return Success(1)

        error_of(deadline(2, world=world).run_sync(operation), DeadlineExceeded)
        assert values == [MIN_TIMEOUT]


class Played(Struct, frozen=True):
    turn: int


ERRORS: dict[str, ToolError] = {
    'mistake': FileNotFound('play', 'x'),
    'other': CommandFailed('play', 'x', 1, ''),
    'late': TIMEOUT_ERROR,
}


@tool
def play(outcome: str = 'fine', turn: int = 0) -> Result[Played, ToolError]:
    return Failure(ERRORS[outcome]) if outcome in ERRORS else Success(Played(turn))


TOOLS: Tools[ToolError] = Tools([play])


class TestHostWithGuards:
    def run_calls(
        self, host: Host, *arguments: str
    ) -> list[tuple[Result[object, object], CallStats]]:
        results: list[tuple[Result[object, object], CallStats]] = []
        for line in read_calls(BytesIO('\n'.join(arguments).encode())):
            stats = CallStats()
            results.append((host.run(line, stats=stats), stats))
        return results

    def test_invalid_calls_do_not_reach_the_guards(self, workspace: Workspace) -> None:
        world = FakeWorld()
        guard = rate_limit(1, period=1000, name='play', observer=record_event, world=world)
        host = Host(TOOLS, runner=build_runner(guard, world), repeat_limit=2)
        results = self.run_calls(
            host,
            '{',
            '{"tool": "plya"}',
            '{"tool": "play", "arguments": {"trun": 1}}',
            '{"tool": "play"}',
            '{"tool": "play"}',
            '{"tool": "play"}',
            '{"tool": "play", "arguments": {"trun": 1}}',
        )
        types = [
            UnreadableCall,
            UnknownTool,
            InvalidParameter,
            Played,
            RateLimited,
            ToolRepeated,
            InvalidParameter,
        ]
        assert [
            type(result.unwrap() if type(result) is Success else result.failure())
            for result, _ in results
        ] == types
        assert [stats.attempts for _, stats in results] == [0, 0, 0, 1, 0, 0, 0]

    def test_a_retried_mistake_counts_once(self, workspace: Workspace) -> None:
        world = FakeWorld()
        guard = retry(attempts=5, when=lambda _: True, name='play', world=world)
        host = Host(TOOLS, runner=build_runner(guard, world), mistake_limit=2)
        mistake = '{"tool": "play", "arguments": {"outcome": "mistake", "turn": %d}}'
        results = self.run_calls(host, mistake % 1, mistake % 2, mistake % 3)
        assert [stats.attempts for _, stats in results] == [5, 5, 0]
        error_of(results[-1][0], TooManyMistakes)

    def test_a_refusal_by_a_guard_is_not_a_mistake(self, workspace: Workspace) -> None:
        world = FakeWorld()
        guard = circuit(name='play', trip=consecutive(1), world=world)
        host = Host(TOOLS, runner=build_runner(guard, world), mistake_limit=1)
        late = '{"tool": "play", "arguments": {"outcome": "late", "turn": %d}}'
        results = self.run_calls(host, *(late % turn for turn in range(4)))
        assert [type(result.failure()) for result, _ in results] == [
            ToolTimedOut,
            CircuitOpen,
            CircuitOpen,
            CircuitOpen,
        ]

    def test_a_mistake_of_the_caller_does_not_open_a_circuit(self, workspace: Workspace) -> None:
        world = FakeWorld()
        guard = circuit(name='play', trip=consecutive(1), world=world)
        host = Host(TOOLS, runner=build_runner(guard, world))
        results = self.run_calls(
            host, '{"tool": "play", "arguments": {"outcome": "mistake"}}', '{"tool": "play"}'
        )
        assert [type(result) for result, _ in results] == [Failure, Success]

    def test_the_stats_of_a_run_are_optional(self, workspace: Workspace) -> None:
        host = Host(TOOLS)
        for line in read_calls(BytesIO(b'{"tool": "play"}')):
            value_of(host.run(line))


SHORT_DEADLINE = 0.2
"""In seconds; without the deadline the tools below would take 60 times as long."""


def test_a_deadline_ends_a_slow_search(folder: Path, workspace: Workspace) -> None:
    (folder / 'a.txt').write_text('a' * 40 + 'b')
    stats = CallStats()
    runner = GuardedRunner({'search_files': deadline(SHORT_DEADLINE, name='search_files')})
    arguments = {'pattern': '(a+)+$', 'timeout': 12.0}
    started_at = time.monotonic()
    error = error_of(
        run_tool(workspace_tools(workspace), 'search_files', arguments, runner=runner, stats=stats),
        DeadlineExceeded,
    )
    assert time.monotonic() - started_at < 30 * SHORT_DEADLINE
    assert (error.name, error.timeout, error.attempts) == ('search_files', SHORT_DEADLINE, 1)
    assert isinstance(error.cause, ToolTimedOut)
    assert stats.attempts == 1


def test_a_command_that_a_deadline_kills_keeps_its_output(workspace: Workspace) -> None:
    stats = CallStats()
    runner = GuardedRunner({'execute_command': deadline(SHORT_DEADLINE, name='execute_command')})
    command = 'echo early; sleep 12; echo late > late.txt'
    error = error_of(
        run_tool(
            workspace_tools(workspace),
            'execute_command',
            {'command': command},
            runner=runner,
            stats=stats,
        ),
        CommandTimedOut,
    )
    assert error == CommandTimedOut('execute_command', command, SHORT_DEADLINE, 'early\n')
    assert stats.attempts == 1


@pytest.mark.parametrize(
    ('name', 'error_type'), [('execute_command', CommandTimedOut), ('search_files', ToolTimedOut)]
)
def test_a_timeout_before_the_deadline_is_an_error_of_the_tool(
    folder: Path, workspace: Workspace, name: str, error_type: type[CommandTimedOut | ToolTimedOut]
) -> None:
    (folder / 'a.txt').write_text('a' * 40 + 'b')
    arguments = {'execute_command': {'command': 'sleep 12'}, 'search_files': {'pattern': '(a+)+$'}}[
        name
    ]
    runner = GuardedRunner({name: deadline(60, name=name)})
    result = run_tool(
        workspace_tools(workspace), name, {**arguments, 'timeout': 0.1}, runner=runner
    )
    assert error_of(result, error_type).timeout == 0.1


def test_a_deadline_does_not_affect_a_quick_tool(folder: Path, workspace: Workspace) -> None:
    (folder / 'a.txt').write_text('a\n')
    for name, parameter, value in (
        ('execute_command', 'command', 'true'),
        ('search_files', 'pattern', 'a'),
    ):
        runner = GuardedRunner({name: deadline(60, name=name)})
        value_of(run_tool(workspace_tools(workspace), name, {parameter: value}, runner=runner))
