"""Output of a call at the session seam, with the events of its attempts."""

from collections.abc import Callable
from typing import Never, assert_never

from msgspec.structs import replace

from seamwise._results.containers import Failure, Success
from seamwise.policies.events import GaveUp, Retrying
from seamwise.program.outputs import CallResult, Defect
from seamwise.seams import session
from seamwise.seams.rendering.values import timestamp
from seamwise.seams.reporting.failure_log import SILENT_LOG
from seamwise.seams.session import tables
from seamwise.seams.session.events import without_retry
from seamwise.toolhost.guards.guarded_call import CallStats

TABLE = tables.TOOLS | tables.PARSING | tables.GUARDS


def output(result: CallResult) -> list[session.ErrorEvent]:
    """Return the events of a call."""
    stats = result.stats or CallStats()
    events, includes_failure = _retry_events(
        stats, adapter=TABLE, locale=result.locale, operation=result.tool
    )
    match result.outcome:
        case Success():
            return events
        case Failure(error):
            if includes_failure:
                return events
            event = session.event(error, adapter=TABLE, locale=result.locale, operation=result.tool)
            return [*events, without_retry(event) if result.may_have_taken_effect else event]
        case Defect(ref=ref):
            return [*events, session.defect(ref, locale=result.locale)]
        case _:
            assert_never(result.outcome)


def _retry_events(
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
    observer = session.observer(recorder, adapter=adapter, operation=operation, log=SILENT_LOG)
    gave_up = False
    for timed_event in stats.events:
        match timed_event.event:
            case GaveUp(attempts=1, why='not_retryable'):
                # The caller reports a failure without a retry, like any other.
                pass
            case Retrying() | GaveUp() as guard_event:
                recorder.timestamp = timestamp(timed_event.at)
                observer(guard_event)
                gave_up = gave_up or isinstance(guard_event, GaveUp)
            case _:
                pass
    # The session continues with the next call.
    events = [event for event in recorder.events if event.event != 'agent.session_end']
    return events, gave_up


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
