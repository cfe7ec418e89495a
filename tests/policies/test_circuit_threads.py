"""A circuit with concurrent threads."""

import threading

import pytest

from seamwise import Result
from seamwise._runtime.world import World
from seamwise.policies._engine.permit import Permit
from seamwise.policies._parts.trip_conditions import consecutive, ratio
from seamwise.policies.circuit import Circuit, circuit
from seamwise.testing import FakeWorld
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
def test_half_open_circuit_admits_the_configured_number_of_threads(probes: int) -> None:
    world = FakeWorld()
    guard = circuit(name='mail', open_for=10.0, probes=probes, successes=probes, world=world)
    for _ in range(20):
        guard.open()
        world.advance(10.0)
        decisions = list[object]()
        run_in_threads(50, lambda _n: decisions.append(guard.enter()))  # noqa: B023 -- called only in this iteration
        permits = [decision for decision in decisions if isinstance(decision, Permit)]
        assert len(permits) == probes
        assert len(decisions) == 50
        run_in_threads(probes, lambda n: permits[n].leave(OK))  # noqa: B023 -- called only in this iteration
        assert read_state(guard) == 'closed'


def test_closed_circuit_admits_concurrent_threads() -> None:
    guard = circuit(name='mail', trip=ratio(0.5, minimum=20, window=30.0))
    all_admitted = threading.Barrier(5)

    def work() -> Result[str, Down]:
        all_admitted.wait(10.0)
        return OK

    run_in_threads(5, lambda _n: guard.run_sync(work))


def test_failures_of_all_threads_are_counted() -> None:
    guard = circuit(name='mail', trip=consecutive(8 * 200 + 1))
    run_in_threads(8, lambda _n: fail(guard, 200))
    assert read_state(guard) == 'closed'
    fail(guard)
    assert read_state(guard) == 'open'


def test_concurrent_releases_keep_the_number_of_probes_exact() -> None:
    guard = half_open_circuit(FakeWorld(), probes=3, successes=10**6)
    in_flight = 0
    max_in_flight = 0
    lock = threading.Lock()

    def work(n: int) -> None:
        nonlocal in_flight, max_in_flight
        for turn in range(100):
            permit = guard.enter()
            if not isinstance(permit, Permit):
                continue
            with lock:
                in_flight += 1
                max_in_flight = max(max_in_flight, in_flight)
            with lock:
                in_flight -= 1
            if (n + turn) % 2:
                permit.abort(GeneratorExit())
            else:
                permit.leave(OK)

    run_in_threads(8, work)
    assert max_in_flight <= 3
    assert read_state(guard) == 'half_open'
    assert [isinstance(guard.enter(), Permit) for _ in range(4)] == [True, True, True, False]


def test_probe_can_be_released_in_a_thread_that_has_the_lock() -> None:
    # The garbage collector can close an abandoned coroutine in any thread.
    world = FakeWorld()
    releases = list[bool]()

    def clock() -> float:
        if probes:
            probes.pop().abort(GeneratorExit())
            releases.append(True)
        return world.now

    probes = list[Permit]()
    guard = circuit(name='mail', open_for=10.0, world=World(clock=clock))
    guard.open()
    world.advance(10.0)
    probes.append(acquire_permit(guard))
    run_in_threads(1, lambda _n: acquire_permit(guard))
    assert releases == [True]


def test_call_is_admitted_if_another_thread_closes_the_circuit_first() -> None:
    now = 0.0

    def clock() -> float:
        if to_reset:
            # Simulates another thread between two reads of the state.
            to_reset.pop().reset()
        return now

    to_reset = list[Circuit]()
    guard = circuit(name='mail', open_for=10.0, world=World(clock=clock))
    guard.open()
    now = 10.0
    to_reset.append(guard)
    acquire_permit(guard).leave(OK)
    assert read_state(guard) == 'closed'
