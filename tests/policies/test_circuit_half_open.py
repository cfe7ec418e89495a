"""A circuit that is half open, and one that is opened and closed by hand."""

import pytest

from seamwise import Failure
from seamwise.policies._engine.permit import Outcome
from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.circuit import circuit
from seamwise.policies.errors import CircuitOpen
from seamwise.policies.events import CircuitChanged, GuardEvent
from seamwise.policies.testing import FakeWorld
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

# Half open


def test_a_failed_probe_counts_on_and_opens_for_a_whole_time_again() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world)
    fail(guard)
    assert get_refusal(guard) == CircuitOpen('mail', 1, 10.0, 'open')
    world.advance(10.0)
    fail(guard)
    assert get_refusal(guard).failures == 2


def test_a_refusal_while_it_is_half_open_says_what_is_left_of_the_oldest_probe() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world, probes=2, probe_timeout=5.0)
    acquire_permit(guard)
    world.advance(1.0)
    acquire_permit(guard)
    world.advance(1.5)
    assert get_refusal(guard).retry_after == 2.5
    assert get_refusal(guard).state == 'half_open'


def test_what_a_refusal_says_is_never_longer_than_the_open_time() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world, probe_timeout=1e9)
    acquire_permit(guard)
    assert get_refusal(guard).retry_after == 10.0


def test_a_probe_hangs_from_the_very_moment_when_its_time_is_over() -> None:
    for seconds, state in ((4.75, 'closed'), (5.0, 'open')):
        world = FakeWorld()
        guard = half_open_circuit(world, probe_timeout=5.0)
        probe = acquire_permit(guard)
        world.advance(seconds)
        assert probe.leave(OK) is OK
        assert read_state(guard) == state


def test_without_a_time_of_its_own_a_probe_has_the_open_time() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world)
    acquire_permit(guard)
    world.advance(9.75)
    assert read_state(guard) == 'half_open'
    world.advance(0.25)
    assert read_state(guard) == 'open'
    assert get_refusal(guard).retry_after == 10.0


def test_a_probe_that_hung_long_ago_opened_it_then_and_the_next_call_is_a_probe() -> None:
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
def test_a_probe_that_ends_too_late_has_failed_however_it_ends(ending: str) -> None:
    world = FakeWorld()
    guard = half_open_circuit(world, probe_timeout=5.0)
    probe = acquire_permit(guard)
    world.advance(5.0)
    if ending == 'cancelled':
        probe.abort(GeneratorExit())
    else:
        probe.leave(OK if ending == 'ok' else Failure(Wrong()))
    assert get_refusal(guard) == CircuitOpen('mail', 1, 10.0, 'open')


def test_a_success_of_one_probe_does_not_hide_that_an_older_one_hangs() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world, probes=2, probe_timeout=5.0)
    acquire_permit(guard)
    world.advance(3.0)
    second = acquire_permit(guard)
    world.advance(2.0)
    second.leave(OK)
    assert read_state(guard) == 'open'


def test_a_probe_that_succeeded_hangs_no_more() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world, successes=2, probe_timeout=5.0)
    assert guard.run_sync(lambda: OK) is OK
    world.advance(60.0)
    assert read_state(guard) == 'half_open'
    assert guard.run_sync(lambda: OK) is OK
    assert read_state(guard) == 'closed'


def test_a_failure_between_the_successes_begins_all_again() -> None:
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
def test_a_probe_that_says_nothing_of_the_service_gives_its_permit_back(
    outcome: Failure[object],
) -> None:
    guard = half_open_circuit(FakeWorld())
    for _ in range(3):
        assert guard.run_sync(lambda: outcome) is outcome
        assert read_state(guard) == 'half_open'
    acquire_permit(guard)
    get_refusal(guard)


def test_a_probe_with_a_defect_has_failed() -> None:
    guard = half_open_circuit(FakeWorld())
    assert acquire_permit(guard).abort(ZeroDivisionError()) is None
    assert read_state(guard) == 'open'


def test_three_probes_at_once_and_not_a_fourth_whatever_comes_back() -> None:
    guard = half_open_circuit(FakeWorld(), probes=3, successes=9)
    first, *_others = [acquire_permit(guard) for _ in range(3)]
    get_refusal(guard)
    first.leave(OK)
    acquire_permit(guard)
    get_refusal(guard)


def test_the_permit_of_a_probe_of_an_older_generation_frees_no_place() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world)
    old = acquire_permit(guard)
    guard.open()
    world.advance(10.0)
    acquire_permit(guard)
    old.abort(GeneratorExit())
    get_refusal(guard)
    assert read_state(guard) == 'half_open'


@pytest.mark.parametrize('end', [OK, DOWN, OSError()])
def test_the_result_of_a_probe_of_an_older_generation_changes_nothing(
    end: Outcome | OSError,
) -> None:
    world = FakeWorld()
    guard = half_open_circuit(world)
    old = acquire_permit(guard)
    guard.open()
    world.advance(10.0)
    acquire_permit(guard)
    if isinstance(end, OSError):
        old.abort(end)
    else:
        old.leave(end)
    assert read_state(guard) == 'half_open'
    get_refusal(guard)


# By hand


def test_open_opens_for_a_whole_time_from_now_on() -> None:
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


def test_reset_closes_and_forgets() -> None:
    guard = circuit(name='mail', trip=consecutive(2), world=FakeWorld())
    fail(guard)
    late = acquire_permit(guard)
    guard.reset()
    late.leave(DOWN)
    fail(guard)
    assert read_state(guard) == 'closed'
    fail(guard)
    assert read_state(guard) == 'open'
    guard.reset()
    assert read_state(guard) == 'closed'
    assert guard.run_sync(lambda: OK) is OK


def test_what_is_isolated_stays_open_until_reset() -> None:
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


def test_what_is_open_may_be_isolated() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', open_for=10.0, world=world)
    guard.open()
    guard.isolate()
    world.advance(10.0)
    get_refusal(guard)
