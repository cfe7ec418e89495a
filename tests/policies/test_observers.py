"""`safe_observer`: exceptions of an observer do not affect the outcome."""

import logging
from typing import Any

import pytest

from seamwise.policies._engine.observers import safe_observer
from seamwise.policies.events import FellBack, GuardEvent
from tests.policies.errors import Down

EVENT = FellBack('bank', Down())


def test_observer_receives_each_event() -> None:
    events: list[GuardEvent] = []
    notify = safe_observer(events.append)
    assert notify is not None
    notify(EVENT)
    notify(EVENT)
    assert events == [EVENT, EVENT]
    assert events[0] is EVENT


def test_safe_observer_is_none_without_an_observer() -> None:
    assert safe_observer(None) is None


@pytest.mark.parametrize('value', ['log', 0, []])
def test_observer_that_is_not_callable_is_a_type_error(value: Any) -> None:
    with pytest.raises(
        TypeError, match=r'^observer must be a function that accepts an event, not '
    ):
        safe_observer(value)


def test_first_exception_of_an_observer_is_reported_and_it_receives_further_events(
    caplog: pytest.LogCaptureFixture,
) -> None:
    events: list[GuardEvent] = []

    def observer(event: GuardEvent) -> None:
        events.append(event)
        raise ZeroDivisionError(f'defect {len(events)}')

    notify = safe_observer(observer)
    assert notify is not None
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

    notify = safe_observer(observer)
    assert notify is not None
    with pytest.raises(KeyboardInterrupt):
        notify(EVENT)
