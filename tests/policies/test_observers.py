"""Observers are told of every event, and nothing that they do changes an outcome."""

import logging
from typing import Any

import pytest

from seamwise.policies._engine.observers import safe_observer
from seamwise.policies.events import FellBack, GuardEvent
from tests.policies.errors import Down

EVENT = FellBack('bank', Down())


def test_an_observer_is_told_of_each_event() -> None:
    told: list[GuardEvent] = []
    tell = safe_observer(told.append)
    assert tell is not None
    tell(EVENT)
    tell(EVENT)
    assert told == [EVENT, EVENT]
    assert told[0] is EVENT


def test_where_there_is_no_observer_nobody_tells() -> None:
    assert safe_observer(None) is None


@pytest.mark.parametrize('wrong', ['log', 0, []])
def test_what_cannot_be_told_is_refused(wrong: Any) -> None:
    with pytest.raises(
        TypeError, match=r'^observer must be a function that accepts an event, not '
    ):
        safe_observer(wrong)


def test_what_an_observer_raises_is_reported_the_first_time_and_it_is_told_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[GuardEvent] = []

    def observer(event: GuardEvent) -> None:
        told.append(event)
        raise ZeroDivisionError(f'defect {len(told)}')

    tell = safe_observer(observer)
    assert tell is not None
    with caplog.at_level(logging.ERROR, 'seamwise'):
        for _ in range(3):
            tell(EVENT)
    assert len(told) == 3
    (record,) = caplog.records
    assert 'ZeroDivisionError: defect 1' in record.getMessage()
    assert 'guard: bank' in record.getMessage()


def test_what_ends_the_program_is_no_defect_of_an_observer() -> None:
    def observer(_event: GuardEvent) -> None:
        raise KeyboardInterrupt

    tell = safe_observer(observer)
    assert tell is not None
    with pytest.raises(KeyboardInterrupt):
        tell(EVENT)
