"""Fault injection: plans, rates, seeds and validation."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import repeat
from random import Random
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise import Failure, Result, Success
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.fault_injection import NEVER, FaultPlan, chaos
from seamwise.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.errors import Down, Slow

DONE = Success('done')


def done() -> Result[str, Slow]:
    return DONE


async def done_async() -> Result[str, Slow]:
    return DONE


def run_calls(guard: Guard[object], calls: int = 40) -> list[str]:
    outcomes: list[str] = []
    for _ in range(calls):
        try:
            outcomes.append(repr(guard.run_sync(done)))
        except ZeroDivisionError as defect:
            outcomes.append(repr(defect))
    return outcomes


def test_chaos_without_plans_injects_nothing() -> None:
    guard = chaos(seed=1)
    assert guard.run_sync(done) is DONE
    assert asyncio.run(guard.run(done_async)) is DONE


def test_planned_faults_are_injected_in_order_and_then_none() -> None:
    world = FakeWorld()
    defect = ZeroDivisionError('planned')
    guard = chaos(
        seed=1,
        failures=FaultPlan.of(Down('a'), None, Down('c')),
        defects=FaultPlan.of(None, defect),
        delays=FaultPlan.of(1.0, None, 3.0, 0.0),
        world=world,
    )
    assert guard.run_sync(done) == Failure(Down('a'))
    with pytest.raises(ZeroDivisionError) as caught:
        guard.run_sync(done)
    assert caught.value is defect
    assert asyncio.run(guard.run(done_async)) == Failure(Down('c'))
    assert [guard.run_sync(done) for _ in range(3)] == [DONE] * 3
    assert world.slept == [1.0, 3.0, 0.0]


def test_delay_precedes_the_defect_and_the_defect_precedes_the_failure() -> None:
    world = FakeWorld()
    called: list[str] = []

    def op() -> Result[str, Slow]:
        called.append('op')
        return DONE

    guard = chaos(
        seed=1,
        failures=FaultPlan.of(Down()),
        defects=FaultPlan.of(ZeroDivisionError('no')),
        delays=FaultPlan.of(1.0),
        world=world,
    )
    with pytest.raises(ZeroDivisionError):
        guard.run_sync(op)
    assert (world.slept, called) == ([1.0], [])


def test_operation_is_not_called_if_a_fault_is_injected() -> None:
    called: list[str] = []

    def op() -> Result[str, Slow]:
        called.append('op')
        return DONE

    guard = chaos(seed=1, failures=FaultPlan.of(Down()))
    assert guard.run_sync(op) == Failure(Down())
    assert called == []
    assert guard.run_sync(op) is DONE
    assert called == ['op']


@given(seed=st.integers(), share=st.floats(0, 1))
def test_same_seed_injects_the_same_faults(seed: int, share: float) -> None:
    def build_chaos(seed: int) -> Guard[Down]:
        return chaos(
            seed=seed,
            failures=FaultPlan.rate(share, Down),
            defects=FaultPlan.rate(share / 2, ZeroDivisionError),
        )

    assert run_calls(build_chaos(seed)) == run_calls(build_chaos(seed))


def test_plan_can_be_shared_by_guards() -> None:
    shared = FaultPlan.rate(0.5, Down)
    first, second = (chaos(seed=3, failures=shared) for _ in range(2))
    assert run_calls(first) == run_calls(second)
    listed = FaultPlan.of(Down('a'))
    for guard in (chaos(seed=3, failures=listed), chaos(seed=3, failures=listed)):
        assert guard.run_sync(done) == Failure(Down('a'))


def test_different_seeds_inject_different_faults() -> None:
    assert (
        len(
            {
                tuple(run_calls(chaos(seed=seed, failures=FaultPlan.rate(0.5, Down))))
                for seed in range(20)
            }
        )
        == 20
    )


def test_faults_of_a_seed_are_stable_across_versions() -> None:
    has_failed = [
        fate.startswith('F')
        for fate in run_calls(chaos(seed=7, failures=FaultPlan.rate(0.5, Down)), 10)
    ]
    assert has_failed == [False, True, True, False, False, False, True, True, True, True]
    has_raised = [
        fate.startswith('Z')
        for fate in run_calls(chaos(seed=7, defects=FaultPlan.rate(0.5, ZeroDivisionError)), 10)
    ]
    assert has_raised == [False, False, False, False, True, True, True, True, True, True]
    world = FakeWorld()
    slept = list[int]()
    guard = chaos(seed=7, delays=FaultPlan.rate(0.5, lambda: 1.0), world=world)
    for _ in range(10):
        guard.run_sync(done)
        slept.append(len(world.slept))
    assert slept == [0, 1, 2, 3, 3, 3, 4, 5, 5, 6]


def test_adding_a_plan_does_not_change_the_other_faults() -> None:
    world = FakeWorld()
    separate = run_calls(chaos(seed=3, failures=FaultPlan.rate(0.5, Down)))
    combined = run_calls(
        chaos(
            seed=3,
            failures=FaultPlan.rate(0.5, Down),
            delays=FaultPlan.rate(0.5, lambda: 1.0),
            world=world,
        )
    )
    assert separate == combined
    # The streams are separate: different calls fail and wait.
    assert 0 < len(world.slept) < 40
    waits: list[bool] = []
    guard = chaos(seed=3, delays=FaultPlan.rate(0.5, lambda: 1.0), world=world)
    for _ in range(40):
        sleeps = len(world.slept)
        guard.run_sync(done)
        waits.append(len(world.slept) > sleeps)
    assert waits != [fate.startswith('F') for fate in separate]


def test_defects_and_failures_have_separate_random_streams() -> None:
    failing = [
        fate.startswith('F')
        for fate in run_calls(chaos(seed=3, failures=FaultPlan.rate(0.5, Down)))
    ]
    raising = [
        fate.startswith('Z')
        for fate in run_calls(chaos(seed=3, defects=FaultPlan.rate(0.5, ZeroDivisionError)))
    ]
    assert failing != raising


@pytest.mark.parametrize(
    ('share', 'minimum', 'maximum'),
    [(0.0, 0, 0), (0.2, 330, 470), (0.7, 1300, 1500), (1.0, 2000, 2000)],
)
def test_share_of_faults_is_close_to_the_rate(share: float, minimum: int, maximum: int) -> None:
    failed = sum(
        fate.startswith('F')
        for fate in run_calls(chaos(seed=5, failures=FaultPlan.rate(share, Down)), 2000)
    )
    assert minimum <= failed <= maximum


def test_random_number_equal_to_the_share_injects_nothing() -> None:
    class Same(Random):
        @override
        def random(self) -> float:
            return 0.25

    assert [next(FaultPlan.rate(share, Down).draws(Same()))() for share in (0.25, 0.26)] == [
        None,
        Down(),
    ]


def test_each_fault_is_a_new_object() -> None:
    guard = chaos(seed=1, failures=FaultPlan.rate(1.0, Down))
    first, second = guard.run_sync(done), guard.run_sync(done)
    assert first == second
    assert first.failure() is not second.failure()


def test_threads_share_one_sequence_of_faults() -> None:
    guard = chaos(seed=5, failures=FaultPlan.rate(0.3, Down))
    outcomes: list[str] = []

    def calls() -> None:
        outcomes.extend(run_calls(guard, 250))

    threads = [Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == sorted(
        run_calls(chaos(seed=5, failures=FaultPlan.rate(0.3, Down)), 1000)
    )


def test_delay_can_be_cancelled_at_any_await() -> None:
    async def call() -> object:
        return await chaos(seed=1, delays=FaultPlan.of(0.001), failures=FaultPlan.of(Down())).run(
            done_async
        )

    assert asyncio.run(cancel_at_each_await(call, lambda: None)) == 1


def plan_once(create_error: Callable[[], Down]) -> FaultPlan[Down]:
    """Return a plan whose first call alone fails, with the result of `create_error`."""

    def draws(_random: Random) -> Iterator[Callable[[], Down | None]]:
        yield create_error
        yield from repeat(lambda: None)

    return FaultPlan(draws, 'once')


def test_fault_function_can_call_the_guard() -> None:
    """The lock is not held while the function runs."""
    guards: list[Guard[Down]] = []

    def create_error() -> Down:
        results.append(guards[0].run_sync(done))
        return Down('injected')

    results: list[Result[str, Slow | Down]] = []
    guards.append(chaos(seed=1, failures=plan_once(create_error)))
    assert guards[0].run_sync(done) == Failure(Down('injected'))
    assert results == [DONE]


@pytest.mark.parametrize('seconds', [-1.0, float('nan'), float('inf')])
def test_invalid_delay_is_a_defect(seconds: float) -> None:
    with pytest.raises(ValueError, match=r'^delay must be a finite number, 0 or more'):
        chaos(seed=1, delays=FaultPlan.of(seconds)).run_sync(done)


@pytest.mark.parametrize('share', [-0.1, 1.1, float('nan')])
def test_share_outside_zero_to_one_is_a_value_error(share: float) -> None:
    with pytest.raises(ValueError, match=r'^share must be a finite number, 0 or more, 1 at most'):
        FaultPlan.rate(share, Down)


def test_invalid_arguments_raise_when_the_guard_is_built() -> None:
    rate_of_anything: Any = FaultPlan.rate
    chaos_of_anything: Any = chaos
    with pytest.raises(TypeError, match='make must be a function'):
        rate_of_anything(0.5, Down())
    for seed in (True, '7', 1.0, None):
        with pytest.raises(TypeError, match=r'^seed must be a whole number'):
            chaos_of_anything(seed=seed)
    for argument in ('failures', 'defects', 'delays'):
        with pytest.raises(TypeError, match=rf'^{argument} must be a plan'):
            chaos_of_anything(seed=1, **{argument: 0.5})


def test_description_states_the_plans() -> None:
    assert chaos(seed=7).describe() == 'chaos: seed 7'
    shaky: FaultPlan[float] = FaultPlan.rate(0.25, lambda: 1.0)
    guard = chaos(
        seed=7, failures=FaultPlan.of(Down(), None), defects=NEVER, delays=shaky, name='bank'
    )
    assert (
        guard.describe()
        == "chaos 'bank': seed 7, failures planned for 2 calls, delays 0.25 of the calls"
    )
