"""What a circuit tells its observer, and in which order."""

import pytest

from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.circuit import circuit
from seamwise.policies.events import CircuitChanged, GuardEvent, Refused
from seamwise.policies.testing import FakeWorld
from tests.policies.circuit_helpers import OK, fail, get_refusal, read_state, run_in_threads


def test_every_change_and_every_refusal_is_told_in_order() -> None:
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


def test_the_very_error_of_a_refusal_is_told() -> None:
    events = list[GuardEvent]()
    guard = circuit(name='mail', observer=events.append)
    guard.isolate()
    error = get_refusal(guard)
    told = events[-1]
    assert isinstance(told, Refused)
    assert told.error is error


def test_what_is_done_by_hand_is_told_where_it_changes_the_state() -> None:
    events = list[GuardEvent]()
    guard = circuit(name='mail', observer=events.append)
    for act in (guard.reset, guard.open, guard.open, guard.isolate, guard.reset, guard.reset):
        act()
    assert events == [
        CircuitChanged('mail', 'closed', 'open', 0),
        CircuitChanged('mail', 'open', 'closed', 0),
    ]


def test_where_nobody_watches_no_change_is_kept() -> None:
    guard = circuit(name='mail')
    guard.open()
    guard.reset()
    assert not guard._machine._unreported


def test_an_observer_may_use_the_circuit_and_is_told_one_thing_after_the_other() -> None:
    depth, told = 0, list[tuple[str, str]]()

    def observer(event: GuardEvent) -> None:
        nonlocal depth
        assert depth == 0
        depth += 1
        if isinstance(event, CircuitChanged):
            told.append((event.before, event.after))
            if event.after == 'open':
                guard.reset()
                assert read_state(guard) == 'closed'
        depth -= 1

    guard = circuit(name='mail', trip=consecutive(1), observer=observer)
    fail(guard)
    assert told == [('closed', 'open'), ('open', 'closed')]
    assert read_state(guard) == 'closed'


@pytest.mark.filterwarnings('ignore')
def test_an_observer_that_raises_changes_nothing() -> None:
    def broken(_event: GuardEvent) -> None:
        raise ZeroDivisionError

    guard = circuit(name='mail', trip=consecutive(1), observer=broken)
    fail(guard)
    get_refusal(guard)
    guard.reset()
    assert guard.run_sync(lambda: OK) is OK


def test_an_observer_that_is_interrupted_is_told_what_follows() -> None:
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


def test_events_of_many_threads_come_in_the_order_of_the_changes() -> None:
    events = list[GuardEvent]()
    guard = circuit(name='mail', observer=events.append)

    def work(n: int) -> None:
        for _ in range(200):
            (guard.open, guard.reset)[n % 2]()

    run_in_threads(8, work)
    changes = [event for event in events if isinstance(event, CircuitChanged)]
    assert changes
    assert [change.before for change in changes] == [
        ['closed', 'open'][n % 2] for n in range(len(changes))
    ]
    assert changes[-1].after == read_state(guard)
