"""Guards with real observers: a session, telemetry and a list."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from seamwise import Failure, Result, Success
from seamwise.catalog.network import NetworkTimedOut
from seamwise.policies import CircuitChanged, GuardEvent, Refused, circuit, consecutive, retry
from seamwise.seams.session import observer as session_observer
from seamwise.seams.session.tables import NETWORK
from seamwise.seams.telemetry import Telemetry
from seamwise.testing import FakeWorld
from tests.seams.test_session import RecordingSession

LATE = NetworkTimedOut('api.example.org', 'search', 2.0)


def fail() -> Result[int, NetworkTimedOut]:
    return Failure(LATE)


def fail_then_succeed(failures: int) -> Callable[[], Result[int, NetworkTimedOut]]:
    results: list[Result[int, NetworkTimedOut]] = [Failure(LATE)] * failures
    return lambda: results.pop() if results else Success(1)


def test_session_receives_each_retry_before_its_delay_and_the_end() -> None:
    world = FakeWorld(random=lambda: 0.5)
    chat = RecordingSession('en')
    slept_at_events: list[list[float]] = []
    notify = session_observer(chat, adapter=NETWORK)

    def observer(event: GuardEvent) -> None:
        slept_at_events.append(list(world.slept))
        notify(event)

    guard = retry(attempts=3, base=1.0, world=world, observer=observer)
    assert guard.run_sync(fail) == Failure(LATE)
    assert slept_at_events == [[], [0.5], [0.5, 1.0]]
    names = [event.event for event in chat.sent if event.event.startswith('error.')]
    assert [name for name in names if name != 'error.timeout'] == [
        'error.retry_attempt',
        'error.retry_attempt',
        'error.recovery_failed',
    ]


def test_telemetry_counts_attempts_and_outcomes() -> None:
    reader = InMemoryMetricReader()
    telemetry = Telemetry(MeterProvider(metric_readers=[reader]).get_meter('tests'))
    guard = retry(attempts=3, base=1.0, world=FakeWorld(), observer=telemetry.observer())

    async def op() -> Result[int, NetworkTimedOut]:
        return call()

    call = fail_then_succeed(2)
    assert asyncio.run(guard.run(op)) == Success(1)
    guard.run_sync(fail)
    metrics: Any = reader.get_metrics_data()
    points = {
        metric.name: [
            (dict(point.attributes), getattr(point, 'value', None))
            for point in metric.data.data_points
        ]
        for resource in metrics.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    assert [value for _, value in points['seamwise.retry.attempts']] == [4]
    assert sorted(
        attributes['seamwise.guard.outcome'] for attributes, _ in points['seamwise.retry.outcomes']
    ) == [
        'gave_up',
        'recovered',
    ]
    assert 'seamwise.recovery.duration' in points


def test_observer_that_raises_changes_nothing_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken_observer(event: GuardEvent) -> None:
        raise ZeroDivisionError(type(event).__name__)

    guard = circuit(name='bank', trip=consecutive(1), observer=broken_observer) >> retry(
        attempts=3, world=FakeWorld(), observer=broken_observer
    )
    with caplog.at_level(logging.ERROR):
        assert guard.run_sync(fail) == Failure(LATE)
        assert guard.run_sync(fail).swap().unwrap() != LATE
    # One record for each guard.
    assert [record.name for record in caplog.records] == ['seamwise', 'seamwise']
    assert 'ZeroDivisionError' in caplog.text


def test_append_method_of_a_list_can_be_an_observer() -> None:
    events: list[GuardEvent] = []
    guard = circuit(name='bank', trip=consecutive(1), observer=events.append)
    guard.run_sync(fail)
    guard.run_sync(fail)
    assert [type(event) for event in events] == [CircuitChanged, Refused]
