"""A circuit in many threads at once."""

import threading

import pytest

from seamwise import Result
from seamwise.policies._engine.permit import Permit
from seamwise.policies._engine.world import World
from seamwise.policies._parts.trip_conditions import consecutive, ratio
from seamwise.policies.circuit import Circuit, circuit
from seamwise.policies.testing import FakeWorld
from tests.policies.circuit_helpers import (
    OK,
    acquire_permit,
    fail,
    half_open_circuit,
    read_state,
    run_in_threads,
)
from tests.policies.errors import Down


@pytest.mark.parametrize('probes', [1, 3])
def test_of_fifty_threads_exactly_as_many_as_are_allowed_probe(probes: int) -> None:
    world = FakeWorld()
    guard = circuit(name='mail', open_for=10.0, probes=probes, successes=probes, world=world)
    for _ in range(20):
        guard.open()
        world.advance(10.0)
        said = list[object]()
        run_in_threads(50, lambda _n: said.append(guard.enter()))  # noqa: B023 -- it is done when this round ends
        permits = [one for one in said if isinstance(one, Permit)]
        assert len(permits) == probes
        assert len(said) == 50
        run_in_threads(probes, lambda n: permits[n].leave(OK))  # noqa: B023 -- likewise
        assert read_state(guard) == 'closed'


def test_five_calls_in_five_threads_are_at_work_at_once() -> None:
    guard = circuit(name='mail', trip=ratio(0.5, minimum=20, window=30.0))
    all_inside = threading.Barrier(5)

    def work() -> Result[str, Down]:
        all_inside.wait(10.0)
        return OK

    run_in_threads(5, lambda _n: guard.run_sync(work))


def test_no_failure_is_lost_between_threads() -> None:
    guard = circuit(name='mail', trip=consecutive(8 * 200 + 1))
    run_in_threads(8, lambda _n: fail(guard, 200))
    assert read_state(guard) == 'closed'
    fail(guard)
    assert read_state(guard) == 'open'


def test_permits_that_come_back_from_many_threads_leave_the_exact_number_of_places() -> None:
    guard = half_open_circuit(FakeWorld(), probes=3, successes=10**6)
    at_work = 0
    most = 0
    lock = threading.Lock()

    def work(n: int) -> None:
        nonlocal at_work, most
        for turn in range(100):
            said = guard.enter()
            if not isinstance(said, Permit):
                continue
            with lock:
                at_work += 1
                most = max(most, at_work)
            with lock:
                at_work -= 1
            if (n + turn) % 2:
                said.abort(GeneratorExit())
            else:
                said.leave(OK)

    run_in_threads(8, work)
    assert most <= 3
    assert read_state(guard) == 'half_open'
    assert [isinstance(guard.enter(), Permit) for _ in range(4)] == [True, True, True, False]


def test_a_probe_may_end_in_a_thread_that_holds_the_lock() -> None:
    """The garbage collector closes a coroutine that nobody waits for wherever it happens to run."""
    world = FakeWorld()
    ended = list[bool]()

    def clock() -> float:
        if probes:
            probes.pop().abort(GeneratorExit())
            ended.append(True)
        return world.now

    probes = list[Permit]()
    guard = circuit(name='mail', open_for=10.0, world=World(clock=clock))
    guard.open()
    world.advance(10.0)
    probes.append(acquire_permit(guard))
    run_in_threads(1, lambda _n: acquire_permit(guard))
    assert ended == [True]


def test_a_call_that_finds_it_closed_a_moment_later_goes_in() -> None:
    now = 0.0

    def clock() -> float:
        if to_reset:
            # As another thread does between two looks at the state.
            to_reset.pop().reset()
        return now

    to_reset = list[Circuit]()
    guard = circuit(name='mail', open_for=10.0, world=World(clock=clock))
    guard.open()
    now = 10.0
    to_reset.append(guard)
    acquire_permit(guard).leave(OK)
    assert read_state(guard) == 'closed'
