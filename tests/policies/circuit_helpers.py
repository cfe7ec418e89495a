"""Helpers for the tests of circuits."""

import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from seamwise import Failure, Success
from seamwise.policies._engine.permit import Permit
from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.circuit import Circuit, circuit
from seamwise.policies.errors import CircuitOpen
from seamwise.policies.events import State
from seamwise.testing import FakeWorld
from tests.policies.errors import Down

DOWN: Final[Failure[Down]] = Failure(Down())
OK: Final = Success('ok')


def fail(guard: Circuit, times: int = 1) -> None:
    for _ in range(times):
        assert guard.run_sync(lambda: DOWN) is DOWN


def get_refusal(guard: Circuit) -> CircuitOpen:
    decision = guard.enter()
    assert type(decision) is Failure
    error = decision.failure()
    assert isinstance(error, CircuitOpen)
    return error


def acquire_permit(guard: Circuit) -> Permit:
    decision = guard.enter()
    assert isinstance(decision, Permit)
    return decision


def half_open_circuit(
    world: FakeWorld, *, probes: int = 1, successes: int = 1, **options: Any
) -> Circuit:
    """Return a circuit whose next call is a probe."""
    guard = circuit(
        name='mail',
        trip=consecutive(1),
        open_for=10.0,
        probes=probes,
        successes=successes,
        world=world,
        **options,
    )
    guard.open()
    world.advance(10.0)
    return guard


def read_state(guard: Circuit) -> State:
    """Return the state. A type checker would remember the value of the property."""
    return guard.state


def run_in_threads(number: int, work: Callable[[int], object]) -> None:
    """Run `work` in concurrent threads with frequent switches, and raise the first exception."""
    barrier, errors = threading.Barrier(number), list[BaseException]()

    def run(n: int) -> None:
        try:
            barrier.wait(10.0)
            work(n)
        except BaseException as error:  # noqa: BLE001 -- raised again below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(number)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30.0)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]
