"""Laws of the guards as they are: how they nest, that a task sees what a thread sees, that who never fires is not seen."""

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
from seamwise.policies.chaos import plan
from seamwise.policies.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.errors import Busy, Down, Slow, Wrong

Make = Callable[[FakeWorld, Observer], Guard[object]]

GUARDS: dict[str, Make] = {
    'retry': lambda world, told: retry(base=1.0, world=world, observer=told),
    'retry to the end': lambda world, told: retry(
        name='again', attempts=5, timeout=2.0, jitter='equal', world=world, observer=told
    ),
    'retry in a budget': lambda world, told: retry(
        name='frugal', budget=Budget.tokens(4, ratio=0.5), world=world, observer=told
    ),
    'circuit': lambda world, told: circuit(
        name='circuit', trip=consecutive(2), open_for=1.0, world=world, observer=told
    ),
    'circuit by ratio': lambda world, told: circuit(
        name='ratio',
        trip=ratio(0.5, minimum=2, calls=4),
        slow=0.5,
        open_for=0.1,
        world=world,
        observer=told,
    ),
    'rate_limit': lambda world, told: rate_limit(2, name='limit', world=world, observer=told),
    'rate_limit that waits': lambda world, told: rate_limit(
        1, name='slot', wait=3.0, world=world, observer=told
    ),
    'bulkhead': lambda world, told: bulkhead(1, name='room', world=world, observer=told),
    'deadline': lambda world, told: deadline(1.0, world=world, observer=told),
    'chaos': lambda world, _told: chaos(
        seed=1,
        failures=plan(None, Down('chaos'), Wrong('chaos')),
        delays=plan(0.2, None, 0.7),
        world=world,
    ),
}

ERRORS = st.sampled_from([Slow(), Down(), Wrong(), Busy(retry_after=0.5), Busy(retry_after=100.0)])
OUTCOMES = st.lists(
    st.tuples(st.floats(0.0, 2.0), st.one_of(st.none(), ERRORS)), min_size=1, max_size=12
)
NAMES = st.lists(st.sampled_from(sorted(GUARDS)), unique=True, max_size=5)


class Script:
    """An operation that takes its time and gives an outcome, as written, and succeeds when it has come to the end."""

    def __init__(self, world: FakeWorld, outcomes: list[tuple[float, TaggedError | None]]) -> None:
        self.world = world
        self.left = list(outcomes)

    def __call__(self) -> Result[int, TaggedError]:
        seconds, error = self.left.pop(0) if self.left else (0.0, None)
        self.world.advance(seconds)
        return Success(len(self.left)) if error is None else Failure(error)

    async def in_a_task(self) -> Result[int, TaggedError]:
        return self()


Story = tuple[list[Result[int, object]], list[GuardEvent], list[float], float, int]


def made(names: list[str], world: FakeWorld, told: Observer) -> Guard[object]:
    guard: Guard[object] = identity
    # The deadline innermost: only in a task it can end a wait that began inside of it.
    for name in sorted(names, key='deadline'.__eq__):
        guard = guard >> GUARDS[name](world, told)
    return guard


def in_threads(names: list[str], outcomes: list[tuple[float, TaggedError | None]]) -> Story:
    world, heard = FakeWorld(), list[GuardEvent]()
    guard, script = made(names, world, heard.append), Script(world, outcomes)
    results = [guard.run_sync(script) for _ in range(4)]
    return results, heard, world.slept, world.now, len(script.left)


def in_tasks(names: list[str], outcomes: list[tuple[float, TaggedError | None]]) -> Story:
    async def run() -> Story:
        world, heard = FakeWorld(), list[GuardEvent]()
        guard, script = made(names, world, heard.append), Script(world, outcomes)
        results = [await guard.run(script.in_a_task) for _ in range(4)]
        return results, heard, world.slept, world.now, len(script.left)

    return asyncio.run(run())


@given(NAMES, OUTCOMES)
def test_a_task_sees_what_a_thread_sees(
    names: list[str], outcomes: list[tuple[float, TaggedError | None]]
) -> None:
    assert in_tasks(names, outcomes) == in_threads(names, outcomes)


@given(NAMES, st.integers(0, 5), OUTCOMES)
def test_it_does_not_matter_how_guards_are_put_together(
    names: list[str], at: int, outcomes: list[tuple[float, TaggedError | None]]
) -> None:
    def story(
        put_together: Callable[[list[Guard[object]]], Guard[object]],
    ) -> tuple[list[object], list[GuardEvent], float]:
        world, heard = FakeWorld(), list[GuardEvent]()
        guard = put_together([GUARDS[name](world, heard.append) for name in names])
        script = Script(world, outcomes)
        return [guard.run_sync(script) for _ in range(3)], heard, world.now

    def from_left(guards: list[Guard[object]]) -> Guard[object]:
        whole: Guard[object] = identity
        for one in guards:
            whole = whole >> one
        return whole

    def from_right(guards: list[Guard[object]]) -> Guard[object]:
        whole: Guard[object] = identity
        for one in reversed(guards):
            whole = one >> whole
        return whole

    def in_two_parts(guards: list[Guard[object]]) -> Guard[object]:
        return from_left(guards[:at]) >> from_left(guards[at:])

    assert story(from_left) == story(from_right) == story(in_two_parts)


def quiet() -> list[Guard[object]]:
    """Make guards that never fire."""
    return [
        rate_limit(1000, name='limit'),
        bulkhead(1000, name='room'),
        circuit(name='circuit'),
        retry(attempts=1),
        deadline(1000.0),
        chaos(seed=1),
    ]


QUIET = [pytest.param(place, id=guard.name) for place, guard in enumerate(quiet())]


@pytest.mark.parametrize('place', QUIET)
@pytest.mark.parametrize(
    'given_', [Success([1]), Failure(['bad']), Failure(Wrong()), Failure(Down())]
)
def test_a_guard_that_never_fires_gives_the_very_result(
    place: int, given_: Result[Any, Any]
) -> None:
    guard = quiet()[place]

    async def op() -> Result[Any, Any]:
        return given_

    assert guard.run_sync(lambda: given_) is given_
    assert asyncio.run(quiet()[place].run(op)) is given_


def test_a_defect_passes_a_pipeline_with_one_frame_of_the_library() -> None:
    own = str(Path(seamwise.policies.__file__).parent)
    guard: Guard[object] = identity
    for one in quiet():
        guard = guard >> one

    def op() -> Result[int, str]:
        raise ZeroDivisionError

    async def op_async() -> Result[int, str]:
        raise ZeroDivisionError

    def frames(run: Callable[[], object]) -> Iterator[str]:
        with pytest.raises(ZeroDivisionError) as caught:
            run()
        assert caught.value.__context__ is None
        for frame in traceback.extract_tb(caught.value.__traceback__):
            if frame.filename.startswith(own):
                yield frame.name

    assert list(frames(lambda: guard.run_sync(op))) == ['run_sync']
    assert list(frames(lambda: asyncio.run(guard.run(op_async)))) == ['run']


def test_cancelled_anywhere_a_whole_pipeline_is_as_before() -> None:
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

        async def failing() -> Result[int, Down]:
            await world.sleep(0.1)
            await asyncio.sleep(0)
            return Failure(Down())

        def after() -> None:
            assert room.run_sync(lambda: Success(1)) == Success(1)
            bank.reset()

        assert await cancel_at_each_await(lambda: guard.run(failing), after) >= 5

    asyncio.run(run())
