"""Metrics of errors over all sessions of the page."""

from collections.abc import Callable
from time import time
from typing import Final

from msgspec.structs import replace

from seamwise.live.events import Event, Position, Stored, as_event
from seamwise.live.metrics import Metrics, MetricsSnapshot
from seamwise.seams.session import ErrorEvent

_END: Final = 'agent.session_end'


class LiveMetrics:
    """Counts the errors of sessions in which independent calls run beside each other.

    For `Metrics`, each call is a session of its own: an error of one call says nothing about the
    other ones, and the end of a call does not end the session.

    >>> metrics = LiveMetrics(clock=iter([0.0, 2.5]).__next__)
    >>> metrics.begin()
    >>> metrics.add('s-1', Event('error.timeout', metadata={'task_id': 'r1.1'}))
    >>> succeeded = {'task_id': 'r1.1', 'success': True}
    >>> metrics.add('s-1', Event('agent.tool_result', metadata=succeeded))
    >>> snapshot = metrics.snapshot()
    >>> snapshot.time_to_recovery.median, snapshot.unrecoverable.sessions
    (2.5, 1)

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, *, clock: Callable[[], float] = time) -> None:
        self._clock = clock
        self._metrics = Metrics()
        self._sessions = 0

    def begin(self) -> None:
        """Count a session."""
        self._sessions += 1

    def add(self, session: str, event: Event | ErrorEvent) -> None:
        """Add an event of a session."""
        plain = as_event(event)
        task = plain.metadata.get('task_id')
        if plain.event == 'agent.tool_result':
            status = 'completed' if plain.metadata.get('success') is True else 'failed'
            plain = Event(_END, metadata={'status': status})
        stored = Stored(Position('metrics', 0), self._clock(), plain)
        self._metrics.add(f'{session} {task}', stored)

    def snapshot(self) -> MetricsSnapshot:
        """Return the metrics."""
        snapshot = self._metrics.snapshot()
        count = snapshot.unrecoverable.count
        unrecoverable = replace(
            snapshot.unrecoverable,
            sessions=self._sessions,
            per_session=count / max(self._sessions, 1),
        )
        return replace(snapshot, unrecoverable=unrecoverable)
