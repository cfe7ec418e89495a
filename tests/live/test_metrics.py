"""Tests of the metrics of document 002."""

import json

import msgspec
import pytest

from seamwise.live import Event, Position, Stored
from seamwise.live.metrics import MAX_NAMES, OTHER, ErrorPath, Metrics


def fed(*events: tuple[float, str, dict[str, object]], session: str = 's') -> Metrics:
    metrics = Metrics()
    feed(metrics, *events, session=session)
    return metrics


def feed(metrics: Metrics, *events: tuple[float, str, dict[str, object]], session: str) -> None:
    for seq, (at, name, metadata) in enumerate(events, 1):
        metrics.add(session, Stored(Position('e', seq), at, Event(name, metadata=metadata)))


TIMEOUT: dict[str, object] = {
    'error_type': 'NetworkTimedOut',
    'recoverable': True,
    'operation': 'search',
}


def test_a_retry_that_succeeds_is_a_recovery() -> None:
    snapshot = fed(
        (0, 'agent.tool_call', {}),
        (1, 'error.timeout', TIMEOUT),
        (1, 'error.retry_attempt', TIMEOUT),
        (3, 'agent.tool_call', {}),
        (4, 'error.timeout', TIMEOUT),
        (4, 'error.retry_attempt', TIMEOUT),
        (8, 'agent.tool_call', {}),
        (9, 'agent.tool_result', {}),
    ).snapshot()
    assert (snapshot.retries.attempts, snapshot.retries.succeeded, snapshot.retries.failed) == (
        2,
        1,
        1,
    )
    assert snapshot.retries.success_rate == 0.5
    assert (snapshot.time_to_recovery.count, snapshot.time_to_recovery.mean) == (1, 8.0)
    assert [(rate.type, rate.count) for rate in snapshot.error_rates] == [('NetworkTimedOut', 2)]
    assert snapshot.unrecoverable.count == 0


def test_the_final_failure_counts_once_under_the_type_of_the_error() -> None:
    snapshot = fed(
        (1, 'error.timeout', TIMEOUT),
        (1, 'error.retry_attempt', TIMEOUT),
        (
            3,
            'error.recovery_failed',
            {'error_type': 'RecoveryFailed', 'recoverable': False, 'operation': 'search'},
        ),
        (3, 'agent.error', {**TIMEOUT, 'recoverable': False}),
        (3, 'agent.session_end', {'status': 'failed'}),
    ).snapshot()
    assert [(rate.type, rate.count) for rate in snapshot.error_rates] == [('NetworkTimedOut', 2)]
    assert snapshot.unrecoverable.per_session == 1.0
    assert snapshot.retries.success_rate == 0.0
    assert snapshot.error_paths == (
        ErrorPath(('error.timeout', 'error.retry_attempt', 'error.recovery_failed', 'failed'), 1),
    )


def test_a_validation_error_recovers_after_the_corrected_message() -> None:
    snapshot = fed(
        (0, 'error.validation', {'error_type': 'InvalidInput', 'recoverable': True}),
        (1, 'agent.thinking', {}),
        (5, 'user.message', {}),
        (6, 'agent.thinking', {}),
    ).snapshot()
    assert snapshot.time_to_recovery.mean == 6.0
    assert snapshot.error_paths[0].steps == ('error.validation', 'user.message', 'recovered')


def test_a_rate_limit_announces_its_retry_itself() -> None:
    limited: dict[str, object] = {'error_type': 'UpstreamRateLimited', 'retry_after_ms': 60_000}
    snapshot = fed((0, 'error.rate_limited', limited), (60, 'agent.text', {})).snapshot()
    assert snapshot.retries.success_rate == 1.0
    assert snapshot.error_rates[0].per_minute == 1.0


def test_sessions_do_not_mix() -> None:
    metrics = fed((0, 'error.timeout', TIMEOUT), session='a')
    feed(metrics, (1, 'agent.text', {}), session='b')
    assert metrics.snapshot().time_to_recovery.count == 0
    assert metrics.snapshot().unrecoverable.sessions == 2


def test_progress_of_another_operation_is_no_recovery() -> None:
    metrics = fed((0, 'error.timeout', TIMEOUT), (1, 'agent.text', {'operation': 'plan'}))
    assert metrics.snapshot().time_to_recovery.count == 0


def test_names_are_bounded() -> None:
    metrics = Metrics()
    for number in range(MAX_NAMES + 50):
        feed(metrics, (0, 'error.transient', {'error_type': f'T{number}'}), session='s')
    counts = {rate.type: rate.count for rate in metrics.snapshot().error_rates}
    assert counts[OTHER] == 50


@pytest.mark.parametrize('metrics', [Metrics(), fed((0, 'error.timeout', TIMEOUT))])
def test_a_snapshot_is_json(metrics: Metrics) -> None:
    assert set(json.loads(msgspec.json.encode(metrics.snapshot()))) == {
        'events',
        'seconds',
        'error_rates',
        'retries',
        'time_to_recovery',
        'unrecoverable',
        'error_paths',
    }
