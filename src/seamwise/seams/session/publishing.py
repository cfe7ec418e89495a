"""Delivery of events to a session, including events for defects of the delivery itself."""

from collections.abc import Callable, Iterable
from datetime import datetime
from logging import Logger
from typing import Protocol, TypeVar

from typing_extensions import Unpack

from seamwise._defects.defects import report_defect
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Result, Success
from seamwise._text.safe_call import call_or_describe
from seamwise.seams.reporting.event_record import event_record
from seamwise.seams.reporting.failure_log import FailureLog, failure_log
from seamwise.seams.reporting.tool_outcome import ToolOutcome, result_and_effect
from seamwise.seams.session.events import EventDetails, defect, event, without_retry
from seamwise.seams.session.localized import replace_fields
from seamwise.seams.session.reported import reported
from seamwise.seams.session.shape import ErrorEvent

E = TypeVar('E', bound=TaggedError)


class Receiver(Protocol):
    """Receiver of events. It knows its id and the user's language, and numbers the events."""

    @property
    def locale(self) -> str:
        """Language of `show_content`, such as `en` or `zh_CN`."""
        ...

    @property
    def session_id(self) -> str | None:
        """Id for the events; None omits it."""
        ...

    def send(self, event: ErrorEvent, /) -> object:
        """Accept an event without blocking and set its `seq`; the return value is not awaited."""
        ...


def publish(
    result: Result[object, E] | ToolOutcome[E],
    session: Receiver,
    *,
    adapter: Callable[[E], ErrorEvent],
    now: datetime | None = None,
    alert: Callable[[ErrorEvent], object] | None = None,
    log: Logger | FailureLog | None = None,
    **details: Unpack[EventDetails],
) -> list[ErrorEvent]:
    """Send the event of a failure to a session, and log it once; a success sends nothing.

    A failure that an observer has reported to the session sends nothing either, so that these two
    lines report a whole operation, whichever guard ended it:

        guard = deadline(60.0) >> retry(observer=session.observer(chat, adapter=EVENTS))
        session.publish(await guard.run(operation), chat, adapter=EVENTS)

    Exceptions of the adapter, the session or `alert` are defects: they are reported and do not
    propagate. If the adapter raises, the session receives the reference of the defect.

    Args:
        result: The result of an operation, or the outcome of a tool call. The event of a call that
            may have taken effect and must not run twice does not advise a retry.
        session: Receiver of the event.
        adapter: Table from errors to events.
        now: Time of the event. Default: the current time.
        alert: Called with each event that is not recoverable, unless a person cancelled the
            operation.
        log: Logger or `FailureLog`; by default the logger `seamwise`.
        **details: Further metadata of the event, as for `event`.

    Returns:
        The events that were made.
    """
    result, may_have_taken_effect = result_and_effect(result, 'publish')
    if type(result) is Success:
        return []
    error = result.failure()
    if reported.take(session, error):
        return []

    def build(locale: str) -> list[ErrorEvent]:
        error_event = event(error, adapter=adapter, locale=locale, now=now, **details)
        if may_have_taken_effect:
            error_event = without_retry(error_event)
        record = event_record(error_event)
        failure_log(log).failed(error, seam='session', operation=record.operation, event=record)
        return [error_event]

    return deliver(session, build, alert=alert)


def deliver(
    session: Receiver,
    build: Callable[[str], Iterable[ErrorEvent]],
    *,
    alert: Callable[[ErrorEvent], object] | None,
) -> list[ErrorEvent]:
    """Build events in the language of a session and send them, as `publish` does."""
    try:
        events = list(build(session.locale))
    except Exception as error:  # noqa: BLE001 -- every exception is reported, also to the session
        locale = call_or_describe(lambda: session.locale, lambda _: 'en')
        events = [defect(report_defect(error).ref, locale=locale)]
    # An attribute of the application can raise too, and the session must still get the error.
    session_id = call_or_describe(lambda: session.session_id, _unknown_id)
    events = [replace_fields(event, session_id=session_id) for event in events]
    for error_event in events:
        _pass_to(session.send, error_event)
        if alert is not None and _needs_alert(error_event):
            _pass_to(alert, error_event)
    return events


def _unknown_id(error: Exception) -> None:
    report_defect(error)


def _needs_alert(event: ErrorEvent) -> bool:
    return (
        event.event.startswith('error.')
        and not event.metadata.get('recoverable', True)
        and event.metadata.get('severity') != 'info'
    )


def _pass_to(receiver: Callable[[ErrorEvent], object], event: ErrorEvent) -> None:
    try:
        receiver(event)
    except Exception as error:  # noqa: BLE001 -- a failed delivery must not change the outcome
        report_defect(error)
