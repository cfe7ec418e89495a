"""The real guards tell the real observers: a session, the telemetry, a recorder."""

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
from seamwise.policies.testing import FakeWorld
from seamwise.seams.session import observe
from seamwise.seams.session.tables import NETWORK
from seamwise.seams.telemetry import Telemetry
from tests.seams.test_session import RecordingSession

LATE = NetworkTimedOut('api.example.org', 'search', 2.0)


def failing() -> Result[int, NetworkTimedOut]:
    return Failure(LATE)


def succeeding_after(failures: int) -> Callable[[], Result[int, NetworkTimedOut]]:
    answers: list[Result[int, NetworkTimedOut]] = [Failure(LATE)] * failures
    return lambda: answers.pop() if answers else Success(1)


def test_a_session_hears_of_each_wait_before_it_and_of_the_end() -> None:
    world = FakeWorld(random=lambda: 0.5)
    chat = RecordingSession('en')
    slept_when_told: list[list[float]] = []
    tell = observe(chat, adapter=NETWORK)

    def observer(event: GuardEvent) -> None:
        slept_when_told.append(list(world.slept))
        tell(event)

    guard = retry(attempts=3, base=1.0, world=world, observer=observer)
    assert guard.run_sync(failing) == Failure(LATE)
    assert slept_when_told == [[], [0.5], [0.5, 1.0]]
    names = [event.event for event in chat.sent if event.event.startswith('error.')]
    assert [name for name in names if name != 'error.timeout'] == [
        'error.retry_attempt',
        'error.retry_attempt',
        'error.recovery_failed',
    ]


def test_telemetry_counts_attempts_and_how_they_ended() -> None:
    reader = InMemoryMetricReader()
    telemetry = Telemetry(MeterProvider(metric_readers=[reader]).get_meter('tests'))
    guard = retry(attempts=3, base=1.0, world=FakeWorld(), observer=telemetry.observer())

    async def op() -> Result[int, NetworkTimedOut]:
        return answer()

    answer = succeeding_after(2)
    assert asyncio.run(guard.run(op)) == Success(1)
    guard.run_sync(failing)
    metrics: Any = reader.get_metrics_data()
    found = {
        metric.name: [
            (dict(point.attributes), getattr(point, 'value', None))
            for point in metric.data.data_points
        ]
        for resource in metrics.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    assert [value for _, value in found['seamwise.retry.attempts']] == [4]
    assert sorted(attributes['outcome'] for attributes, _ in found['seamwise.retry.outcomes']) == [
        'gave_up',
        'recovered',
    ]
    assert 'seamwise.recovery.duration' in found


def test_an_observer_that_raises_harms_nothing_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(event: GuardEvent) -> None:
        raise ZeroDivisionError(type(event).__name__)

    guard = circuit(name='bank', trip=consecutive(1), observer=broken) >> retry(
        attempts=3, world=FakeWorld(), observer=broken
    )
    with caplog.at_level(logging.ERROR):
        assert guard.run_sync(failing) == Failure(LATE)
        assert guard.run_sync(failing).swap().unwrap() != LATE
    # One of each guard.
    assert [record.name for record in caplog.records] == ['seamwise', 'seamwise']
    assert 'ZeroDivisionError' in caplog.text


def test_a_recorder_is_a_list() -> None:
    heard: list[GuardEvent] = []
    guard = circuit(name='bank', trip=consecutive(1), observer=heard.append)
    guard.run_sync(failing)
    guard.run_sync(failing)
    assert [type(event) for event in heard] == [CircuitChanged, Refused]
