"""Events of a circuit, and their order."""

import pytest

from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.circuit import circuit
from seamwise.policies.events import CircuitChanged, GuardEvent, Refused
from seamwise.testing import FakeWorld
from tests.policies.circuit_helpers import OK, fail, get_refusal, read_state, run_in_threads


def test_observer_receives_all_changes_and_refusals_in_order() -> None:
    world, events = FakeWorld(), list[GuardEvent]()
    guard = circuit(
        name='mail', trip=consecutive(2), open_for=10.0, observer=events.append, world=world
    )
    fail(guard, 2)
    refused = get_refusal(guard)
    world.advance(10.0)
    fail(guard)
    world.advance(10.0)
    guard.run_sync(lambda: OK)
    assert events == [
        CircuitChanged('mail', 'closed', 'open', 2),
        Refused('mail', refused),
        CircuitChanged('mail', 'open', 'half_open', 2),
        CircuitChanged('mail', 'half_open', 'open', 3),
        CircuitChanged('mail', 'open', 'half_open', 3),
        CircuitChanged('mail', 'half_open', 'closed', 3),
    ]


def test_refused_event_contains_the_error_object_of_the_refusal() -> None:
    events = list[GuardEvent]()
    guard = circuit(name='mail', observer=events.append)
    guard.isolate()
    error = get_refusal(guard)
    event = events[-1]
    assert isinstance(event, Refused)
    assert event.error is error


def test_manual_control_is_reported_only_if_the_state_changes() -> None:
    events = list[GuardEvent]()
    guard = circuit(name='mail', observer=events.append)
    for action in (guard.reset, guard.open, guard.open, guard.isolate, guard.reset, guard.reset):
        action()
    assert events == [
        CircuitChanged('mail', 'closed', 'open', 0),
        CircuitChanged('mail', 'open', 'closed', 0),
    ]


def test_changes_are_not_queued_without_an_observer() -> None:
    guard = circuit(name='mail')
    guard.open()
    guard.reset()
    assert not guard._machine._unreported


def test_observer_can_control_the_circuit_and_is_never_called_recursively() -> None:
    depth, changes = 0, list[tuple[str, str]]()

    def observer(event: GuardEvent) -> None:
        nonlocal depth
        assert depth == 0
        depth += 1
        if isinstance(event, CircuitChanged):
            changes.append((event.before, event.after))
            if event.after == 'open':
                guard.reset()
                assert read_state(guard) == 'closed'
        depth -= 1

    guard = circuit(name='mail', trip=consecutive(1), observer=observer)
    fail(guard)
    assert changes == [('closed', 'open'), ('open', 'closed')]
    assert read_state(guard) == 'closed'


@pytest.mark.filterwarnings('ignore')
def test_exception_of_the_observer_does_not_affect_the_circuit() -> None:
    def raise_defect(_event: GuardEvent) -> None:
        raise ZeroDivisionError

    guard = circuit(name='mail', trip=consecutive(1), observer=raise_defect)
    fail(guard)
    get_refusal(guard)
    guard.reset()
    assert guard.run_sync(lambda: OK) is OK


def test_observer_receives_events_after_it_was_interrupted() -> None:
    events = list[GuardEvent]()

    def observer(event: GuardEvent) -> None:
        events.append(event)
        if len(events) == 1:
            raise KeyboardInterrupt

    guard = circuit(name='mail', observer=observer)
    with pytest.raises(KeyboardInterrupt):
        guard.open()
    guard.reset()
    assert events == [
        CircuitChanged('mail', 'closed', 'open', 0),
        CircuitChanged('mail', 'open', 'closed', 0),
    ]


def test_events_of_several_threads_are_in_the_order_of_the_changes() -> None:
    events = list[GuardEvent]()
    guard = circuit(name='mail', observer=events.append)

    def change_state(n: int) -> None:
        for _ in range(200):
            (guard.open, guard.reset)[n % 2]()

    run_in_threads(8, change_state)
    changes = [event for event in events if isinstance(event, CircuitChanged)]
    assert changes
    assert [change.before for change in changes] == [
        ['closed', 'open'][n % 2] for n in range(len(changes))
    ]
    assert changes[-1].after == read_state(guard)
