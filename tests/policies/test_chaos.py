"""Chaos does what was planned, and by chance the same from the same seed."""

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
from seamwise.policies.chaos import NEVER, Plan, chaos, plan, rate
from seamwise.policies.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.errors import Down, Slow

DONE = Success('done')


def done() -> Result[str, Slow]:
    return DONE


async def done_later() -> Result[str, Slow]:
    return DONE


def fates(guard: Guard[object], calls: int = 40) -> list[str]:
    found: list[str] = []
    for _ in range(calls):
        try:
            found.append(repr(guard.run_sync(done)))
        except ZeroDivisionError as defect:
            found.append(repr(defect))
    return found


def test_without_a_plan_nothing_happens() -> None:
    guard = chaos(seed=1)
    assert guard.run_sync(done) is DONE
    assert asyncio.run(guard.run(done_later)) is DONE


def test_what_is_planned_happens_to_each_call_in_turn_and_then_no_more() -> None:
    world = FakeWorld()
    defect = ZeroDivisionError('planned')
    guard = chaos(
        seed=1,
        failures=plan(Down('a'), None, Down('c')),
        defects=plan(None, defect),
        delays=plan(1.0, None, 3.0, 0.0),
        world=world,
    )
    assert guard.run_sync(done) == Failure(Down('a'))
    with pytest.raises(ZeroDivisionError) as caught:
        guard.run_sync(done)
    assert caught.value is defect
    assert asyncio.run(guard.run(done_later)) == Failure(Down('c'))
    assert [guard.run_sync(done) for _ in range(3)] == [DONE] * 3
    assert world.slept == [1.0, 3.0, 0.0]


def test_a_call_waits_first_and_a_defect_comes_before_a_failure() -> None:
    world = FakeWorld()
    called: list[str] = []

    def op() -> Result[str, Slow]:
        called.append('op')
        return DONE

    guard = chaos(
        seed=1,
        failures=plan(Down()),
        defects=plan(ZeroDivisionError('no')),
        delays=plan(1.0),
        world=world,
    )
    with pytest.raises(ZeroDivisionError):
        guard.run_sync(op)
    assert (world.slept, called) == ([1.0], [])


def test_a_call_that_fails_is_not_made() -> None:
    called: list[str] = []

    def op() -> Result[str, Slow]:
        called.append('op')
        return DONE

    guard = chaos(seed=1, failures=plan(Down()))
    assert guard.run_sync(op) == Failure(Down())
    assert called == []
    assert guard.run_sync(op) is DONE
    assert called == ['op']


@given(seed=st.integers(), share=st.floats(0, 1))
def test_the_same_seed_gives_the_same_fates(seed: int, share: float) -> None:
    def made(seed: int) -> Guard[Down]:
        return chaos(
            seed=seed, failures=rate(share, Down), defects=rate(share / 2, ZeroDivisionError)
        )

    assert fates(made(seed)) == fates(made(seed))


def test_one_plan_serves_many_guards() -> None:
    shared = rate(0.5, Down)
    first, second = (chaos(seed=3, failures=shared) for _ in range(2))
    assert fates(first) == fates(second)
    listed = plan(Down('a'))
    for guard in (chaos(seed=3, failures=listed), chaos(seed=3, failures=listed)):
        assert guard.run_sync(done) == Failure(Down('a'))


def test_another_seed_gives_other_fates() -> None:
    assert (
        len({tuple(fates(chaos(seed=seed, failures=rate(0.5, Down)))) for seed in range(20)}) == 20
    )


def test_a_seed_means_the_same_in_every_version() -> None:
    drawn = [fate.startswith('<F') for fate in fates(chaos(seed=7, failures=rate(0.5, Down)), 10)]
    assert drawn == [False, True, True, False, False, False, True, True, True, True]
    raised = [
        fate.startswith('Z')
        for fate in fates(chaos(seed=7, defects=rate(0.5, ZeroDivisionError)), 10)
    ]
    assert raised == [False, False, False, False, True, True, True, True, True, True]
    world = FakeWorld()
    slept = list[int]()
    guard = chaos(seed=7, delays=rate(0.5, lambda: 1.0), world=world)
    for _ in range(10):
        guard.run_sync(done)
        slept.append(len(world.slept))
    assert slept == [0, 1, 2, 3, 3, 3, 4, 5, 5, 6]


def test_what_is_added_for_one_stream_changes_nothing_of_another() -> None:
    world = FakeWorld()
    alone = fates(chaos(seed=3, failures=rate(0.5, Down)))
    beside = fates(
        chaos(seed=3, failures=rate(0.5, Down), delays=rate(0.5, lambda: 1.0), world=world)
    )
    assert alone == beside
    # Each stream is its own: what fails is not what waits.
    assert 0 < len(world.slept) < 40
    waits: list[bool] = []
    guard = chaos(seed=3, delays=rate(0.5, lambda: 1.0), world=world)
    for _ in range(40):
        before = len(world.slept)
        guard.run_sync(done)
        waits.append(len(world.slept) > before)
    assert waits != [fate.startswith('<F') for fate in alone]


def test_defects_and_failures_are_drawn_apart() -> None:
    failing = [fate.startswith('<F') for fate in fates(chaos(seed=3, failures=rate(0.5, Down)))]
    raising = [
        fate.startswith('Z') for fate in fates(chaos(seed=3, defects=rate(0.5, ZeroDivisionError)))
    ]
    assert failing != raising


@pytest.mark.parametrize(
    ('share', 'least', 'most'), [(0.0, 0, 0), (0.2, 330, 470), (0.7, 1300, 1500), (1.0, 2000, 2000)]
)
def test_about_the_share_happens(share: float, least: int, most: int) -> None:
    failed = sum(
        fate.startswith('<F') for fate in fates(chaos(seed=5, failures=rate(share, Down)), 2000)
    )
    assert least <= failed <= most


def test_a_number_drawn_that_is_the_share_is_no_hit() -> None:
    class Same(Random):
        @override
        def random(self) -> float:
            return 0.25

    assert [next(rate(share, Down).draws(Same()))() for share in (0.25, 0.26)] == [None, Down()]


def test_what_happens_is_made_anew_each_time() -> None:
    guard = chaos(seed=1, failures=rate(1.0, Down))
    first, second = guard.run_sync(done), guard.run_sync(done)
    assert first == second
    assert first.failure() is not second.failure()


def test_many_threads_share_one_sequence() -> None:
    guard = chaos(seed=5, failures=rate(0.3, Down))
    found: list[str] = []

    def calls() -> None:
        found.extend(fates(guard, 250))

    threads = [Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(fates(chaos(seed=5, failures=rate(0.3, Down)), 1000))


def test_a_delay_may_be_cancelled_everywhere() -> None:
    async def call() -> object:
        return await chaos(seed=1, delays=plan(0.001), failures=plan(Down())).run(done_later)

    assert asyncio.run(cancel_at_each_await(call, lambda: None)) == 1


def once(make: Callable[[], Down]) -> Plan[Down]:
    """Plan that the first call alone fails, with what is made then."""

    def draws(_random: Random) -> Iterator[Callable[[], Down | None]]:
        yield make
        yield from repeat(lambda: None)

    return Plan(draws, 'once')


def test_a_maker_may_use_the_guard_itself() -> None:
    """Nothing is held while somebody else's code runs."""
    guards: list[Guard[Down]] = []

    def make() -> Down:
        seen.append(guards[0].run_sync(done))
        return Down('made')

    seen: list[Result[str, Slow | Down]] = []
    guards.append(chaos(seed=1, failures=once(make)))
    assert guards[0].run_sync(done) == Failure(Down('made'))
    assert seen == [DONE]


@pytest.mark.parametrize('seconds', [-1.0, float('nan'), float('inf')])
def test_a_delay_that_nobody_can_sleep_is_a_defect(seconds: float) -> None:
    with pytest.raises(ValueError, match=r'^delay must be a finite number, 0 or more'):
        chaos(seed=1, delays=plan(seconds)).run_sync(done)


@pytest.mark.parametrize('share', [-0.1, 1.1, float('nan')])
def test_a_share_is_between_none_and_all(share: float) -> None:
    with pytest.raises(ValueError, match=r'^share must be a finite number, 0 or more, 1 at most'):
        rate(share, Down)


def test_what_it_cannot_be_made_with() -> None:
    rate_of_anything: Any = rate
    chaos_of_anything: Any = chaos
    with pytest.raises(TypeError, match='make must be a function'):
        rate_of_anything(0.5, Down())
    for seed in (True, '7', 1.0, None):
        with pytest.raises(TypeError, match=r'^seed must be a whole number'):
            chaos_of_anything(seed=seed)
    for argument in ('failures', 'defects', 'delays'):
        with pytest.raises(TypeError, match=rf'^{argument} must be a plan'):
            chaos_of_anything(seed=1, **{argument: 0.5})


def test_it_says_its_limits() -> None:
    assert chaos(seed=7).describe() == 'chaos: seed 7'
    shaky: Plan[float] = rate(0.25, lambda: 1.0)
    guard = chaos(seed=7, failures=plan(Down(), None), defects=NEVER, delays=shaky, name='bank')
    assert (
        guard.describe() == 'bank: seed 7, failures planned for 2 calls, delays 0.25 of the calls'
    )
