"""What each seam tells of a call that was tried again or held up, beside its outcome: in its own form, and only what is so."""

from collections.abc import Callable
from typing import Never

from msgspec.structs import replace

from seamwise.policies.events import GaveUp, Retrying
from seamwise.seams import cli, log, model, session
from seamwise.seams._common import timestamp
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.guards.guarded_call import CallStats

WORTH_TELLING = 0.01
"""In seconds: a shorter wait is the guards' own work, and nothing to people."""


def effort(tries: CallStats | None) -> str | None:
    """Say how often a tool was tried and how long its call waited, or None where it just ran.

    >>> effort(CallStats(attempts=3, waited=1.2)), effort(CallStats(attempts=1, waited=0.5)), effort(CallStats(attempts=1))
    ('tried 3 times, waited 1.2 s', 'waited 0.5 s', None)
    """
    if tries is None:
        return None
    tried = [f'tried {tries.attempts} times'] if tries.attempts > 1 else []
    waited = [f'waited {round(tries.waited, 3):g} s'] if tries.waited >= WORTH_TELLING else []
    return ', '.join([*tried, *waited]) or None


def hinted(rendered: cli.Rendered, tries: CallStats | None) -> cli.Rendered:
    """Add a hint for whoever may think that another try helps."""
    told = effort(tries)
    return rendered if told is None else replace(rendered, text=f'{rendered.text}\nhint: {told}.')


def guided(guidance: model.Guidance, tries: CallStats | None) -> model.Guidance:
    """Tell a model what was tried without it, after what it can do."""
    told = effort(tries)
    if told is None:
        return guidance
    return replace(
        guidance, suggestion=' '.join(filter(None, [guidance.suggestion, f'So far: {told}.']))
    )


def events(
    tries: CallStats,
    *,
    adapter: Callable[[Never], session.ErrorEvent],
    locale: str,
    operation: str | None,
) -> tuple[list[session.ErrorEvent], bool]:
    """Give what a session hears of the attempts, and whether the failure of the call is told thereby.

    What a guard refused is a failure like others: it is told as such, or by the retry around it.
    """
    told = _Told(locale)
    observer = session.observe(told, adapter=adapter, operation=operation)
    happened = [one for one in tries.events if isinstance(one.event, Retrying | GaveUp)]
    for one in happened:
        told.now = timestamp(one.at)
        observer(one.event)
    # The session goes on: the next call runs.
    kept = [one for one in told.events if one.event != 'agent.session_end']
    return kept, any(isinstance(one.event, GaveUp) for one in happened)


def records(tries: CallStats, call: ToolCall) -> list[log.LogRecord]:
    """Give the record of each failure that another attempt followed."""
    return [
        log.record(
            one.event.error,
            operation=call.tool,
            params=call.arguments,
            outcome='retried',
            now=one.at,
        )
        for one in tries.events
        if isinstance(one.event, Retrying)
    ]


class _Told:
    """A session that keeps what it is sent, with the time at which it happened."""

    session_id = None

    def __init__(self, locale: str) -> None:
        self.locale = locale
        self.now = ''
        self.events: list[session.ErrorEvent] = []

    def send(self, event: session.ErrorEvent, /) -> None:
        self.events.append(replace(event, metadata={**event.metadata, 'timestamp': self.now}))
