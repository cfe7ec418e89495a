"""Rendering of attempts and waiting time for each seam of `seamwise run`."""

from collections.abc import Callable
from typing import Never

from msgspec.structs import replace

from seamwise.policies.events import GaveUp, Retrying
from seamwise.seams import cli, log, model, session
from seamwise.seams._common import timestamp
from seamwise.seams._failure_log import SILENT_LOG
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.guards.guarded_call import CallStats

MIN_REPORTED_WAIT = 0.01
"""In seconds. Shorter waits are the overhead of the guards, not a delay for users."""


def retry_summary(stats: CallStats | None) -> str | None:
    """Return the attempts and the waiting time of a call, or None if it ran once without waiting.

    >>> retry_summary(CallStats(attempts=3, waited=1.2))
    'tried 3 times, waited 1.2 s'
    >>> retry_summary(CallStats(attempts=1, waited=0.5))
    'waited 0.5 s'
    >>> retry_summary(CallStats(attempts=1)) is None
    True
    """
    if stats is None:
        return None
    parts: list[str] = []
    if stats.attempts > 1:
        parts.append(f'tried {stats.attempts} times')
    if stats.waited >= MIN_REPORTED_WAIT:
        parts.append(f'waited {round(stats.waited, 3):g} s')
    return ', '.join(parts) or None


def add_retry_hint(rendered: cli.Rendered, stats: CallStats | None) -> cli.Rendered:
    """Append a hint line to CLI output, so that users know that retrying did not help."""
    summary = retry_summary(stats)
    if summary is None:
        return rendered
    return replace(rendered, text=f'{rendered.text}\nhint: {summary}.')


def add_retry_note(guidance: model.Guidance, stats: CallStats | None) -> model.Guidance:
    """Append the attempts that were made to the suggestion for a model."""
    summary = retry_summary(stats)
    if summary is None:
        return guidance
    sentences = [guidance.suggestion, f'So far: {summary}.']
    return replace(guidance, suggestion=' '.join(filter(None, sentences)))


def session_events(
    stats: CallStats,
    *,
    adapter: Callable[[Never], session.ErrorEvent],
    locale: str,
    operation: str | None,
) -> tuple[list[session.ErrorEvent], bool]:
    """Return the session events of the attempts, and whether they report the final failure.

    Events of guards that refused the call are not included: the caller reports such a failure
    like any other, or the retry around the guard does.

    Args:
        stats: The attempts of the call, with the events of its guards.
        adapter: Table from errors to session events.
        locale: Language tag of the texts, e.g. `en`.
        operation: Name of the tool, if known.
    """
    recorder = _EventRecorder(locale)
    observer = session.observe(recorder, adapter=adapter, operation=operation, log=SILENT_LOG)
    gave_up = False
    for timed_event in stats.events:
        guard_event = timed_event.event
        if isinstance(guard_event, Retrying | GaveUp):
            recorder.timestamp = timestamp(timed_event.at)
            observer(guard_event)
        gave_up = gave_up or isinstance(guard_event, GaveUp)
    # The session continues with the next call.
    events = [event for event in recorder.events if event.event != 'agent.session_end']
    return events, gave_up


def retry_records(stats: CallStats, call: ToolCall) -> list[log.LogRecord]:
    """Return one log record for each attempt that failed and was retried."""
    return [
        log.record(
            timed_event.event.error,
            operation=call.tool,
            params=call.arguments,
            outcome='retried',
            now=timed_event.at,
        )
        for timed_event in stats.events
        if isinstance(timed_event.event, Retrying)
    ]


class _EventRecorder:
    """Session that records the events sent to it, with the time set in `timestamp`."""

    session_id = None

    def __init__(self, locale: str) -> None:
        self.locale = locale
        self.timestamp = ''
        self.events: list[session.ErrorEvent] = []

    def send(self, event: session.ErrorEvent, /) -> None:
        metadata = {**event.metadata, 'timestamp': self.timestamp}
        self.events.append(replace(event, metadata=metadata))
