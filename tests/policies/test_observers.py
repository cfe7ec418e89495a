"""Observers of one guard and of the process: their exceptions do not affect the outcome."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from seamwise import Failure
from seamwise.policies import circuit, consecutive, observe, retry
from seamwise.policies._engine.observers import observers_of
from seamwise.policies.events import (
    CircuitChanged,
    FellBack,
    GaveUp,
    GuardEvent,
    Refused,
    Retrying,
)
from seamwise.testing import FakeWorld
from tests.policies.errors import Down
from tests.policies.recording_layers import RecordingLayer

EVENT = FellBack('bank', Down())


def test_observer_receives_each_event() -> None:
    events: list[GuardEvent] = []
    notify = observers_of(events.append)
    notify(EVENT)
    notify(EVENT)
    assert events == [EVENT, EVENT]
    assert events[0] is EVENT


def test_guard_without_an_observer_creates_no_events() -> None:
    assert not observers_of(None).is_used


@pytest.mark.parametrize('value', ['log', 0, []])
def test_observer_that_is_not_callable_is_a_type_error(value: Any) -> None:
    with pytest.raises(
        TypeError, match=r'^observer must be a function that accepts an event, not '
    ):
        observers_of(value)


def test_first_exception_of_an_observer_is_reported_and_it_receives_further_events(
    caplog: pytest.LogCaptureFixture,
) -> None:
    events: list[GuardEvent] = []

    def observer(event: GuardEvent) -> None:
        events.append(event)
        raise ZeroDivisionError(f'defect {len(events)}')

    notify = observers_of(observer)
    with caplog.at_level(logging.ERROR, 'seamwise'):
        for _ in range(3):
            notify(EVENT)
    assert len(events) == 3
    (record,) = caplog.records
    assert 'ZeroDivisionError: defect 1' in record.getMessage()
    assert 'guard: bank' in str(record.exc_text)


def test_keyboard_interrupt_in_an_observer_propagates() -> None:
    def observer(_event: GuardEvent) -> None:
        raise KeyboardInterrupt

    notify = observers_of(observer)
    with pytest.raises(KeyboardInterrupt):
        notify(EVENT)


@pytest.fixture
def _no_observers() -> Iterator[None]:
    yield
    assert not observers_of(None).is_used, 'an observer of the process is left'


@pytest.mark.usefixtures('_no_observers')
def test_observer_of_the_process_receives_the_events_of_all_guards() -> None:
    world = FakeWorld()
    before = retry(attempts=2, base=0.0, name='before', world=world)
    events: list[GuardEvent] = []
    remove = observe(events.append)
    after = circuit(name='after', trip=consecutive(1), world=world)
    try:
        for guard in (before, after, after):
            guard.run_sync(lambda: Failure(Down()))
    finally:
        remove()
    after.reset()
    assert [(type(event), event.name) for event in events] == [
        (Retrying, 'before'),
        (GaveUp, 'before'),
        (CircuitChanged, 'after'),
        (Refused, 'after'),
    ]


@pytest.mark.usefixtures('_no_observers')
def test_observers_of_a_guard_and_of_the_process_both_receive_an_event() -> None:
    own: list[GuardEvent] = []
    of_process: list[GuardEvent] = []
    guard = circuit(name='bank', observer=own.append, world=FakeWorld())
    remove = observe(of_process.append)
    guard.open()
    remove()
    remove()
    guard.reset()
    assert len(own) == 2
    assert of_process == own[:1]


def test_observer_of_a_pipeline_receives_the_events_of_all_layers_until_it_is_removed() -> None:
    world = FakeWorld()
    bank = circuit(name='bank', trip=consecutive(1), world=world)
    guard = bank >> retry(attempts=2, base=0.0, world=world)
    events: list[GuardEvent] = []
    remove = guard.observe(events.append)
    guard.run_sync(lambda: Failure(Down()))
    assert [type(event) for event in events] == [Retrying, GaveUp, CircuitChanged]
    remove()
    bank.reset()
    assert len(events) == 3


def test_exception_of_an_observer_of_the_process_does_not_affect_a_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def observer(_event: GuardEvent) -> None:
        raise ZeroDivisionError

    remove = observe(observer)
    try:
        guard = retry(attempts=2, base=0.0, world=FakeWorld())
        assert guard.run_sync(lambda: Failure(Down())) == Failure(Down())
    finally:
        remove()
    assert len(caplog.records) == 1


def test_layer_of_an_author_can_be_observed() -> None:
    log: list[str] = []
    remove = RecordingLayer('x', log).observe(print)
    remove()


@pytest.mark.parametrize('value', ['log', 0])
def test_observer_of_the_process_that_is_not_callable_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match='observer must be a function'):
        observe(value)
    with pytest.raises(TypeError, match='observer must be a function'):
        retry().observe(value)
