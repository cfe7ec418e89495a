"""A half-open circuit, and manual control of a circuit."""

from typing import Any

import pytest

from seamwise import Failure
from seamwise.policies._engine.permit import Outcome
from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.circuit import circuit
from seamwise.policies.errors import CircuitOpen
from seamwise.policies.events import CircuitChanged, GuardEvent
from seamwise.testing import FakeWorld
from tests.policies.circuit_helpers import (
    DOWN,
    OK,
    acquire_permit,
    fail,
    get_refusal,
    half_open_circuit,
    read_state,
)
from tests.policies.errors import Wrong

# Half-open


def test_failed_probe_adds_to_the_failures_and_opens_the_circuit_again() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world)
    fail(guard)
    assert get_refusal(guard) == CircuitOpen('mail', 1, 10.0, 'open')
    world.advance(10.0)
    fail(guard)
    assert get_refusal(guard).failures == 2


def test_refusal_of_a_half_open_circuit_contains_the_time_left_of_the_oldest_probe() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world, probes=2, probe_timeout=5.0)
    acquire_permit(guard)
    world.advance(1.0)
    acquire_permit(guard)
    world.advance(1.5)
    assert get_refusal(guard).retry_after == 2.5
    assert get_refusal(guard).state == 'half_open'


def test_retry_after_never_exceeds_open_for() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world, probe_timeout=1e9)
    acquire_permit(guard)
    assert get_refusal(guard).retry_after == 10.0


def test_probe_expires_exactly_at_its_timeout() -> None:
    for seconds, state in ((4.75, 'closed'), (5.0, 'open')):
        world = FakeWorld()
        guard = half_open_circuit(world, probe_timeout=5.0)
        probe = acquire_permit(guard)
        world.advance(seconds)
        assert probe.leave(OK) is OK
        assert read_state(guard) == state


def test_probe_timeout_defaults_to_open_for() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world)
    acquire_permit(guard)
    world.advance(9.75)
    assert read_state(guard) == 'half_open'
    world.advance(0.25)
    assert read_state(guard) == 'open'
    assert get_refusal(guard).retry_after == 10.0


def test_probe_that_expired_long_ago_opened_the_circuit_at_its_expiry() -> None:
    world, events = FakeWorld(), list[GuardEvent]()
    guard = half_open_circuit(world, probe_timeout=5.0, observer=events.append)
    acquire_permit(guard)
    events.clear()
    world.advance(15.0)
    acquire_permit(guard)
    assert events == [
        CircuitChanged('mail', 'half_open', 'open', 1),
        CircuitChanged('mail', 'open', 'half_open', 1),
    ]


@pytest.mark.parametrize('ending', ['caller error', 'cancelled', 'ok'])
def test_expired_probe_counts_as_failed_regardless_of_its_outcome(ending: str) -> None:
    world = FakeWorld()
    guard = half_open_circuit(world, probe_timeout=5.0)
    probe = acquire_permit(guard)
    world.advance(5.0)
    if ending == 'cancelled':
        probe.abort(GeneratorExit())
    else:
        probe.leave(OK if ending == 'ok' else Failure(Wrong()))
    assert get_refusal(guard) == CircuitOpen('mail', 1, 10.0, 'open')


def test_success_of_a_probe_does_not_hide_the_expiry_of_an_older_probe() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world, probes=2, probe_timeout=5.0)
    acquire_permit(guard)
    world.advance(3.0)
    second = acquire_permit(guard)
    world.advance(2.0)
    second.leave(OK)
    assert read_state(guard) == 'open'


def test_successful_probe_does_not_expire() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world, successes=2, probe_timeout=5.0)
    assert guard.run_sync(lambda: OK) is OK
    world.advance(60.0)
    assert read_state(guard) == 'half_open'
    assert guard.run_sync(lambda: OK) is OK
    assert read_state(guard) == 'closed'


def test_failure_resets_the_count_of_successful_probes() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world, successes=2)
    guard.run_sync(lambda: OK)
    fail(guard)
    world.advance(10.0)
    guard.run_sync(lambda: OK)
    assert read_state(guard) == 'half_open'
    guard.run_sync(lambda: OK)
    assert read_state(guard) == 'closed'


@pytest.mark.parametrize('outcome', [Failure(Wrong()), Failure('text')])
def test_probe_releases_its_permit_after_a_failure_that_does_not_count(
    outcome: Failure[Any],
) -> None:
    guard = half_open_circuit(FakeWorld())
    for _ in range(3):
        assert guard.run_sync(lambda: outcome) is outcome
        assert read_state(guard) == 'half_open'
    acquire_permit(guard)
    get_refusal(guard)


def test_probe_with_a_defect_opens_the_circuit() -> None:
    guard = half_open_circuit(FakeWorld())
    assert acquire_permit(guard).abort(ZeroDivisionError()) is None
    assert read_state(guard) == 'open'


def test_number_of_concurrent_probes_is_limited_also_after_a_success() -> None:
    guard = half_open_circuit(FakeWorld(), probes=3, successes=9)
    first, *_ = [acquire_permit(guard) for _ in range(3)]
    get_refusal(guard)
    first.leave(OK)
    acquire_permit(guard)
    get_refusal(guard)


def test_probe_of_an_earlier_state_does_not_release_a_permit() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world)
    earlier_probe = acquire_permit(guard)
    guard.open()
    world.advance(10.0)
    acquire_permit(guard)
    earlier_probe.abort(GeneratorExit())
    get_refusal(guard)
    assert read_state(guard) == 'half_open'


@pytest.mark.parametrize('end', [OK, DOWN, OSError()])
def test_outcome_of_a_probe_of_an_earlier_state_is_ignored(
    end: Outcome | OSError,
) -> None:
    world = FakeWorld()
    guard = half_open_circuit(world)
    earlier_probe = acquire_permit(guard)
    guard.open()
    world.advance(10.0)
    acquire_permit(guard)
    if isinstance(end, OSError):
        earlier_probe.abort(end)
    else:
        earlier_probe.leave(end)
    assert read_state(guard) == 'half_open'
    get_refusal(guard)


# Manual control


def test_open_opens_for_the_full_time_from_now() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', open_for=10.0, world=world)
    guard.open()
    assert get_refusal(guard) == CircuitOpen('mail', 0, 10.0, 'open')
    world.advance(4.0)
    guard.open()
    assert get_refusal(guard).retry_after == 10.0
    world.advance(10.0)
    assert guard.run_sync(lambda: OK) is OK
    assert read_state(guard) == 'closed'


def test_reset_closes_the_circuit_and_clears_its_counts() -> None:
    guard = circuit(name='mail', trip=consecutive(2), world=FakeWorld())
    fail(guard)
    earlier_call = acquire_permit(guard)
    guard.reset()
    earlier_call.leave(DOWN)
    fail(guard)
    assert read_state(guard) == 'closed'
    fail(guard)
    assert read_state(guard) == 'open'
    guard.reset()
    assert read_state(guard) == 'closed'
    assert guard.run_sync(lambda: OK) is OK


def test_isolated_circuit_stays_open_until_reset() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', open_for=10.0, world=world)
    guard.isolate()
    world.advance(1e8)
    assert get_refusal(guard) == CircuitOpen('mail', 0, 10.0, 'open')
    guard.open()
    world.advance(1e8)
    get_refusal(guard)
    assert read_state(guard) == 'open'
    guard.reset()
    assert guard.run_sync(lambda: OK) is OK


def test_open_circuit_can_be_isolated() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', open_for=10.0, world=world)
    guard.open()
    guard.isolate()
    world.advance(10.0)
    get_refusal(guard)
