"""Metrics over sessions whose calls run beside each other."""

from itertools import count

from seamwise.live import Event
from seamwise.toolhost.server.live_metrics import LiveMetrics


def event(name: str, task: str, **metadata: object) -> Event:
    return Event(name, metadata={'task_id': task, **metadata})


def fail(task: str) -> Event:
    return event('error.timeout', task, error_type='ToolTimedOut')


def metrics() -> LiveMetrics:
    """Return metrics with a clock that advances by a second with each event."""
    ticks = count()
    live = LiveMetrics(clock=lambda: float(next(ticks)))
    live.begin()
    return live


def test_a_call_that_succeeds_says_nothing_about_another_one() -> None:
    live = metrics()
    live.add('s-1', fail('r1.1'))
    live.add('s-1', event('agent.tool_result', 'r1.2', success=True))
    assert live.snapshot().time_to_recovery.count == 0
    live.add('s-1', event('agent.tool_result', 'r1.1', success=True))
    assert live.snapshot().time_to_recovery.median == 2.0


def test_the_same_task_in_two_sessions_is_not_the_same() -> None:
    live = metrics()
    live.add('s-1', fail('r1.1'))
    live.add('s-2', event('agent.tool_result', 'r1.1', success=True))
    assert live.snapshot().time_to_recovery.count == 0


def test_a_call_that_fails_ends_its_error_path() -> None:
    live = metrics()
    live.add('s-1', fail('r1.1'))
    live.add('s-1', event('agent.tool_result', 'r1.1', success=False))
    [path] = live.snapshot().error_paths
    assert path.steps == ('error.timeout', 'failed')


def test_unrecoverable_errors_are_counted_for_each_session_of_a_user() -> None:
    live = metrics()
    live.begin()
    for task in ('r1.1', 'r1.2', 'r1.3'):
        live.add('s-1', event('error.permanent', task, recoverable=False))
    unrecoverable = live.snapshot().unrecoverable
    assert (unrecoverable.count, unrecoverable.sessions) == (3, 2)
    assert unrecoverable.per_session == 1.5


def test_there_are_metrics_before_the_first_session() -> None:
    assert LiveMetrics().snapshot().unrecoverable.per_session == 0
