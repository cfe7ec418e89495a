"""Circuits that stay open longer after each failed probe, and that count slow calls separately."""

import asyncio
from typing import Any

import pytest

from seamwise import Failure, Result
from seamwise.policies import Circuit, circuit, consecutive, ratio
from seamwise.testing import FakeWorld
from tests.policies.circuit_helpers import DOWN, OK, fail, get_refusal
from tests.policies.errors import Down, Wrong


def open_seconds(guard: Circuit) -> float:
    return get_refusal(guard).retry_after


def test_time_grows_with_each_failed_probe_up_to_the_cap() -> None:
    world = FakeWorld()
    guard = circuit(
        name='bank', trip=consecutive(1), open_for=10.0, factor=2.0, cap=60.0, world=world
    )
    fail(guard)
    delays: list[float] = []
    for _ in range(5):
        delays.append(open_seconds(guard))
        world.advance(delays[-1])
        fail(guard)
    assert delays == [10.0, 20.0, 40.0, 60.0, 60.0]


def test_time_starts_again_after_the_circuit_was_closed() -> None:
    world = FakeWorld()
    guard = circuit(name='bank', trip=consecutive(1), open_for=10.0, factor=3.0, world=world)
    fail(guard)
    world.advance(10.0)
    fail(guard)
    assert open_seconds(guard) == 30.0
    world.advance(30.0)
    assert guard.run_sync(lambda: OK) is OK
    fail(guard)
    assert open_seconds(guard) == 10.0


def test_expired_probe_lets_the_time_grow_too() -> None:
    async def main() -> None:
        task = asyncio.create_task(guard.run(hang))
        await asyncio.sleep(0)
        world.advance(10.0)
        assert open_seconds(guard) == 20.0
        task.cancel()
        await asyncio.wait([task])

    async def hang() -> Result[str, Down]:
        await asyncio.sleep(60)
        return OK

    world = FakeWorld()
    guard = circuit(name='bank', open_for=10.0, factor=2.0, world=world)
    guard.open()
    world.advance(10.0)
    asyncio.run(main())


def test_time_does_not_grow_by_default() -> None:
    world = FakeWorld()
    guard = circuit(name='bank', trip=consecutive(1), open_for=10.0, world=world)
    for _ in range(3):
        fail(guard)
        assert open_seconds(guard) == 10.0
        world.advance(10.0)


def test_very_large_growth_ends_at_the_cap() -> None:
    world = FakeWorld()
    guard = circuit(
        name='bank', trip=consecutive(1), open_for=10.0, factor=1e300, cap=50.0, world=world
    )
    for _ in range(4):
        fail(guard)
        world.advance(open_seconds(guard))
    fail(guard)
    assert open_seconds(guard) == 50.0


def slow_circuit(world: FakeWorld, **options: Any) -> Circuit:
    defaults: dict[str, Any] = {'slow': 1.0, 'slow_trip': ratio(0.5, minimum=4, calls=4)}
    return circuit(name='bank', trip=consecutive(2), world=world, **defaults | options)


def take(guard: Circuit, world: FakeWorld, seconds: float, outcome: Any = OK) -> None:
    def op() -> Result[str, Down]:
        world.advance(seconds)
        result: Result[str, Down] = outcome
        return result

    assert guard.run_sync(op) is outcome


def test_slow_calls_open_the_circuit_by_their_own_condition() -> None:
    world = FakeWorld()
    guard = slow_circuit(world)
    states: list[str] = []
    for seconds in (2.0, 0.1, 0.1, 2.0):
        take(guard, world, seconds)
        states.append(guard.state)
    assert states == ['closed', 'closed', 'closed', 'open']
    assert get_refusal(guard).failures == 2


def test_slow_successes_are_no_failures_with_a_condition_of_their_own() -> None:
    world = FakeWorld()
    guard = slow_circuit(world, slow_trip=ratio(1.0, minimum=100, calls=100))
    for _ in range(10):
        take(guard, world, 2.0)
    states = [guard.state]
    fail(guard, 2)
    assert [*states, guard.state] == ['closed', 'open']


def test_slow_failures_count_for_both_conditions() -> None:
    world = FakeWorld()
    guard = slow_circuit(world, slow_trip=consecutive(3))
    take(guard, world, 2.0, DOWN)
    take(guard, world, 2.0)
    take(guard, world, 2.0, DOWN)
    assert guard.state == 'open'


def test_failure_that_does_not_count_is_not_slow_either() -> None:
    world = FakeWorld()
    guard = slow_circuit(world, slow_trip=consecutive(1))
    take(guard, world, 2.0, Failure(Wrong()))
    assert guard.state == 'closed'


def test_slow_probe_opens_the_circuit_again() -> None:
    world = FakeWorld()
    guard = slow_circuit(world)
    guard.open()
    world.advance(30.0)
    take(guard, world, 2.0)
    assert guard.state == 'open'


def test_descriptions_state_growth_and_slow_calls() -> None:
    guard = circuit(
        name='bank',
        open_for=10.0,
        factor=2.0,
        cap=60.0,
        slow=1.0,
        slow_trip=ratio(0.8, minimum=20, calls=100),
    )
    assert guard.limits() == (
        'opens for 10 s, then 2 times as long up to 60 s, after 5 failures in a row, or '
        '80 % slow calls in the last 100 calls, with at least 20 calls (slower than 1 s); '
        'probes: 1 at a time, 10 s each, 1 in a row close it'
    )


@pytest.mark.parametrize(
    ('options', 'error', 'message'),
    [
        ({'factor': 0.5}, ValueError, 'factor must be a finite number, 1 or more'),
        ({'cap': 0}, ValueError, 'cap must be a finite number, more than 0'),
        ({'slow_trip': consecutive(1)}, TypeError, 'slow_trip requires slow=seconds'),
        ({'slow_trip': 5, 'slow': 1.0}, TypeError, 'slow_trip must be consecutive'),
    ],
)
def test_wrong_options_are_refused(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        circuit(name='bank', **options)
