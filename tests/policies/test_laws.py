"""Laws of all guards: associative nesting, equivalence of tasks and threads, transparency."""

import asyncio
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seamwise.policies
from seamwise import Failure, Result, Success, TaggedError
from seamwise.policies import (
    Budget,
    Guard,
    GuardEvent,
    Observer,
    bulkhead,
    chaos,
    circuit,
    consecutive,
    deadline,
    hedge,
    identity,
    rate_limit,
    ratio,
    retry,
)
from seamwise.policies.fault_injection import FaultPlan
from seamwise.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.errors import Busy, Down, Slow, Wrong

NewGuard = Callable[[FakeWorld, Observer], Guard[object]]

GUARDS: dict[str, NewGuard] = {
    'retry': lambda world, observer: retry(base=1.0, world=world, observer=observer),
    'retry with timeout': lambda world, observer: retry(
        name='again', attempts=5, timeout=2.0, jitter='equal', world=world, observer=observer
    ),
    'retry with budget': lambda world, observer: retry(
        name='frugal', budget=Budget.tokens(4, ratio=0.5), world=world, observer=observer
    ),
    'circuit': lambda world, observer: circuit(
        name='circuit', trip=consecutive(2), open_for=1.0, world=world, observer=observer
    ),
    'circuit with ratio': lambda world, observer: circuit(
        name='ratio',
        trip=ratio(0.5, minimum=2, calls=4),
        slow=0.5,
        open_for=0.1,
        world=world,
        observer=observer,
    ),
    'rate_limit': lambda world, observer: rate_limit(
        2, name='limit', world=world, observer=observer
    ),
    'rate_limit with wait': lambda world, observer: rate_limit(
        1, name='slot', wait=3.0, world=world, observer=observer
    ),
    'bulkhead': lambda world, observer: bulkhead(1, name='room', world=world, observer=observer),
    'deadline': lambda world, observer: deadline(1.0, world=world, observer=observer),
    'chaos': lambda world, _observer: chaos(
        seed=1,
        failures=FaultPlan.of(None, Down('chaos'), Wrong('chaos')),
        delays=FaultPlan.of(0.2, None, 0.7),
        world=world,
    ),
}

ERRORS = st.sampled_from([Slow(), Down(), Wrong(), Busy(retry_after=0.5), Busy(retry_after=100.0)])
OUTCOMES = st.lists(
    st.tuples(st.floats(0.0, 2.0), st.one_of(st.none(), ERRORS)), min_size=1, max_size=12
)
NAMES = st.lists(st.sampled_from(sorted(GUARDS)), unique=True, max_size=5)


class Script:
    """An operation with scripted durations and outcomes; it succeeds after the last one."""

    def __init__(self, world: FakeWorld, outcomes: list[tuple[float, TaggedError | None]]) -> None:
        self.world = world
        self.remaining = list(outcomes)

    def __call__(self) -> Result[int, TaggedError]:
        seconds, error = self.remaining.pop(0) if self.remaining else (0.0, None)
        self.world.advance(seconds)
        return Success(len(self.remaining)) if error is None else Failure(error)

    async def run_async(self) -> Result[int, TaggedError]:
        return self()


Trace = tuple[list[Result[int, object]], list[GuardEvent], list[float], float, int]


def pipeline(names: list[str], world: FakeWorld, observer: Observer) -> Guard[object]:
    guard: Guard[object] = identity
    # The deadline is innermost: it can interrupt an inner wait in a task, but not in a thread.
    for name in sorted(names, key='deadline'.__eq__):
        guard = guard >> GUARDS[name](world, observer)
    return guard


def trace_sync(names: list[str], outcomes: list[tuple[float, TaggedError | None]]) -> Trace:
    world, events = FakeWorld(), list[GuardEvent]()
    guard, script = pipeline(names, world, events.append), Script(world, outcomes)
    results = [guard.run_sync(script) for _ in range(4)]
    return results, events, world.slept, world.now, len(script.remaining)


def trace_async(names: list[str], outcomes: list[tuple[float, TaggedError | None]]) -> Trace:
    async def run() -> Trace:
        world, events = FakeWorld(), list[GuardEvent]()
        guard, script = pipeline(names, world, events.append), Script(world, outcomes)
        results = [await guard.run(script.run_async) for _ in range(4)]
        return results, events, world.slept, world.now, len(script.remaining)

    return asyncio.run(run())


@given(NAMES, OUTCOMES)
def test_run_and_run_sync_are_equivalent(
    names: list[str], outcomes: list[tuple[float, TaggedError | None]]
) -> None:
    assert trace_async(names, outcomes) == trace_sync(names, outcomes)


@given(NAMES, st.integers(0, 5), OUTCOMES)
def test_nesting_of_guards_is_associative(
    names: list[str], split: int, outcomes: list[tuple[float, TaggedError | None]]
) -> None:
    def trace(
        combine: Callable[[list[Guard[object]]], Guard[object]],
    ) -> tuple[list[object], list[GuardEvent], float]:
        world, events = FakeWorld(), list[GuardEvent]()
        guard = combine([GUARDS[name](world, events.append) for name in names])
        script = Script(world, outcomes)
        return [guard.run_sync(script) for _ in range(3)], events, world.now

    def from_left(guards: list[Guard[object]]) -> Guard[object]:
        combined: Guard[object] = identity
        for guard in guards:
            combined = combined >> guard
        return combined

    def from_right(guards: list[Guard[object]]) -> Guard[object]:
        combined: Guard[object] = identity
        for guard in reversed(guards):
            combined = guard >> combined
        return combined

    def from_two_parts(guards: list[Guard[object]]) -> Guard[object]:
        return from_left(guards[:split]) >> from_left(guards[split:])

    assert trace(from_left) == trace(from_right) == trace(from_two_parts)


def passive_guards() -> list[Guard[object]]:
    """Return guards that never interfere with a call."""
    return [
        rate_limit(1000, name='limit'),
        bulkhead(1000, name='room'),
        circuit(name='circuit'),
        retry(attempts=1),
        deadline(1000.0),
        chaos(seed=1),
    ]


PASSIVE_INDEXES = [
    pytest.param(index, id=guard.name) for index, guard in enumerate(passive_guards())
]


@pytest.mark.parametrize('index', PASSIVE_INDEXES)
@pytest.mark.parametrize(
    'expected', [Success([1]), Failure(['bad']), Failure(Wrong()), Failure(Down())]
)
def test_passive_guard_returns_the_same_result_object(
    index: int, expected: Result[Any, Any]
) -> None:
    guard = passive_guards()[index]

    async def op() -> Result[Any, Any]:
        return expected

    assert guard.run_sync(lambda: expected) is expected
    assert asyncio.run(passive_guards()[index].run(op)) is expected


def test_traceback_of_a_defect_has_one_frame_of_the_library() -> None:
    package = str(Path(seamwise.policies.__file__).parent)
    guard: Guard[object] = identity
    for passive_guard in passive_guards():
        guard = guard >> passive_guard

    def op() -> Result[int, TaggedError]:
        raise ZeroDivisionError

    async def op_async() -> Result[int, TaggedError]:
        raise ZeroDivisionError

    def frames(run: Callable[[], object]) -> Iterator[str]:
        with pytest.raises(ZeroDivisionError) as caught:
            run()
        assert caught.value.__context__ is None
        for frame in traceback.extract_tb(caught.value.__traceback__):
            if frame.filename.startswith(package):
                yield frame.name

    assert list(frames(lambda: guard.run_sync(op))) == ['run_sync']
    assert list(frames(lambda: asyncio.run(guard.run(op_async)))) == ['run']


def test_pipeline_is_unchanged_after_a_cancellation_at_any_await() -> None:
    async def run() -> None:
        world = FakeWorld()
        bank = circuit(name='circuit', trip=consecutive(3), world=world)
        room = bulkhead(1, name='room', world=world)
        guard = (
            rate_limit(1, period=0.1, name='limit', burst=1, wait=5.0, world=world)
            >> room
            >> bank
            >> retry(attempts=3, base=1.0, world=world)
            >> hedge(after=0.5, name='hedge', share=1.0, world=world)
            >> deadline(2.0, world=world)
        )

        async def fail() -> Result[int, Down]:
            await world.sleep(0.1)
            await asyncio.sleep(0)
            return Failure(Down())

        def after() -> None:
            assert room.run_sync(lambda: Success(1)) == Success(1)
            bank.reset()

        assert await cancel_at_each_await(lambda: guard.run(fail), after) >= 5

    asyncio.run(run())
