"""Observer that reports guarded operations to a session: failed attempts, waits and the end."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from logging import Logger
from math import ceil
from types import SimpleNamespace
from typing import Any, Never, assert_never

import msgspec
from msgspec import Struct
from typing_extensions import Unpack

from seamwise._errors.categories import Category, Recovery
from seamwise._errors.errors import TaggedError, retry_after
from seamwise._errors.messages import fill
from seamwise._errors.texts import catalogue
from seamwise._runtime.world import REAL, World
from seamwise.catalog.sessions import RecoveryFailed
from seamwise.policies import Guard, retry
from seamwise.policies.events import (
    CircuitChanged,
    Completed,
    FellBack,
    GaveUp,
    GuardEvent,
    Observer,
    Recovered,
    Refused,
    Retrying,
    StoreAway,
    StoreBack,
)
from seamwise.seams.adapter import check_seam
from seamwise.seams.rendering.values import milliseconds, safe_items, timestamp
from seamwise.seams.reporting.event_record import event_record
from seamwise.seams.reporting.failure_log import FailureLog, failure_log
from seamwise.seams.session.events import (
    AttemptDetails,
    OperationDetails,
    counted_text,
    event,
    join_sentences,
    without_retry,
)
from seamwise.seams.session.localized import Render, localize, message_renderer, replace_fields
from seamwise.seams.session.publishing import Receiver, deliver
from seamwise.seams.session.reported import reported
from seamwise.seams.session.shape import COMMON_METADATA, STRATEGIES, ErrorEvent, order_metadata
from seamwise.seams.session.tables import SESSIONS

# The English forms are equal, as in other messages about delays; other languages can differ.
WAIT_MESSAGES = (
    'Attempt {attempt} of {attempts} failed; the next one begins in {seconds} s.',
    'Attempt {attempt} of {attempts} failed; the next one begins in {seconds} s.',
)
FAILED_MESSAGES = (
    'The operation failed after {attempts} attempt and will not be retried.',
    'The operation failed after {attempts} attempts and will not be retried.',
)
CAP_MESSAGE = 'The service asks for a wait of {delay} s, more than the maximum of {limit} s.'
REQUEST_MESSAGE = (
    'The service asks for a wait of {delay} s, which would exceed the time limit of {limit} s.'
)
TIME_MESSAGE = 'A further wait of {delay} s would exceed the time limit of {limit} s.'
BUDGET_MESSAGE = 'The budget of retries is used up.'
SESSION_END_MESSAGE = 'The session has ended because of an error.'

DEFAULT_NAMES = frozenset({'chaos', 'deadline', 'fallback', 'retry'})
"""Names of guards without a name of their own: they name no operation."""


def observer(
    session: Receiver,
    *,
    adapter: Callable[[Never], ErrorEvent],
    alert: Callable[[ErrorEvent], object] | None = None,
    log: Logger | FailureLog | None = None,
    **details: Unpack[OperationDetails],
) -> Observer:
    """Return an observer that reports the events of a guard to a session.

    .. list-table::
       :header-rows: 1

       * - Guard event
         - Session events
       * - retry
         - the error with attempt, maximum and delay, then `error.retry_attempt`
       * - retry after `error.rate_limited`
         - the error only, which announces its wait itself
       * - final failure, also of a first attempt
         - `error.recovery_failed`, `agent.error`, `agent.session_end`
       * - failure that is recoverable but not retryable, or cancelled
         - the error
       * - refusal
         - the error
       * - success, change of a circuit or a store, fallback
         - none

    Use it only for the outermost guard that retries: a failure that a fallback replaces is not
    final. `publish` the result of the whole operation too: it reports the failures that no guard
    has seen, such as a deadline around the retry, and adds nothing to one that was observed. If a
    time limit ends a retry, event and log have both numbers. Exceptions of the adapter, the session
    or `alert` are defects, as with `publish`.

    Args:
        session: Receiver of the events.
        adapter: Table from the errors of the guarded operation to events.
        alert: Called with each event that is not recoverable, unless a person cancelled the
            operation.
        log: Logger or `FailureLog`; by default the logger `seamwise`. Each event is logged once: a
            final failure as by `publish`, an attempt that is retried at level INFO.
        **details: Metadata of the operation. `operation` defaults to the name of the guard, if it
            has one of its own.
    """
    check_seam(adapter, 'session')
    to_event: Callable[[Any], ErrorEvent] = adapter

    def report(guard_event: GuardEvent) -> None:
        name = None if guard_event.name in DEFAULT_NAMES else guard_event.name
        operation_details: OperationDetails = {'operation': name, **details}

        def build(locale: str) -> list[ErrorEvent]:
            events = list(_events(guard_event, _EventFactory(to_event, locale, operation_details)))
            _log(events, guard_event, failure_log(log))
            return events

        deliver(session, build, alert=alert)
        if isinstance(guard_event, (GaveUp, Refused)):
            reported.add(session, guard_event.error)

    return report


def chat_retry(
    session: Receiver,
    *,
    adapter: Callable[[Never], ErrorEvent],
    alert: Callable[[ErrorEvent], object] | None = None,
    log: Logger | FailureLog | None = None,
    world: World = REAL,
    **details: Unpack[OperationDetails],
) -> Guard[Never]:
    """Return a `retry` with the settings of a chat, which reports to a session.

    Three attempts; delays from 1 s to 60 s with a tenth of jitter, and as long as a service asks
    for, up to 60 s; no limit on the total time, because the user sees each wait and can cancel. For
    other settings, pass `observer(…)` to `policies.retry`. Arguments as for `observer`.

    >>> from seamwise import Failure, Success
    >>> from seamwise.catalog.network import UpstreamRateLimited
    >>> from seamwise.seams.session.tables import NETWORK
    >>> from seamwise.testing import FakeWorld
    >>> class Chat:
    ...     locale, session_id = 'en', None
    ...     def send(self, event):
    ...         print(event.event, event.metadata['retry_after_ms'])
    >>> results = [Failure(UpstreamRateLimited('openai', retry_after=60.0)), Success('answer')]
    >>> world = FakeWorld(random=lambda: 0.0)
    >>> chat_retry(Chat(), adapter=NETWORK, world=world).run_sync(lambda: results.pop(0))
    error.rate_limited 60000
    Success('answer')
    """
    return retry(
        attempts=3,
        timeout=None,
        base=1.0,
        cap=60.0,
        jitter='tenth',
        retry_after_cap=60.0,
        observer=observer(session, adapter=adapter, alert=alert, log=log, **details),
        world=world,
    )


def _log(events: Iterable[ErrorEvent], guard_event: GuardEvent, log: FailureLog) -> None:
    failure = guard_event.error if isinstance(guard_event, (GaveUp, Refused)) else None
    for error_event in events:
        record = event_record(error_event)
        if failure is None:
            log.event(record, error_event.content, seam='session')
        else:
            note = None
            if isinstance(guard_event, GaveUp) and (limit := _ended_by(guard_event)) is not None:
                note = limit('en')
            operation = record.operation
            log.failed(failure, seam='session', operation=operation, event=record, note=note)
        # Only the first event reports the failure.
        failure = None


class _EventFactory(Struct, frozen=True):
    """Factory of the events of one operation in one language."""

    adapter: Callable[[Any], ErrorEvent]
    locale: str
    details: OperationDetails

    def create(self, error: TaggedError, **attempt: Unpack[AttemptDetails]) -> ErrorEvent:
        return event(error, adapter=self.adapter, locale=self.locale, **self.details, **attempt)


def _events(guard_event: GuardEvent, factory: _EventFactory) -> Iterator[ErrorEvent]:
    match guard_event:
        case Retrying():
            yield from _retry_events(guard_event, factory)
        case GaveUp():
            yield from _final_events(guard_event, factory)
        case Refused(error=error):
            yield factory.create(error)
        case Recovered() | CircuitChanged() | FellBack() | StoreAway() | StoreBack() | Completed():
            return
        case _:
            assert_never(guard_event)


def _retry_events(retry: Retrying, factory: _EventFactory) -> Iterator[ErrorEvent]:
    error_event = _measured(
        factory.create(
            retry.error,
            attempt=retry.attempt,
            max_attempts=retry.attempts,
            retry_after_ms=milliseconds(retry.delay),
        ),
        retry,
    )
    yield error_event
    if error_event.event == 'error.rate_limited':
        return
    seconds = max(1, ceil(retry.delay))

    def message(locale: str) -> str:
        numbers = {'attempt': retry.attempt, 'attempts': retry.attempts, 'seconds': seconds}
        return counted_text(WAIT_MESSAGES, seconds, locale, **numbers)

    metadata = {
        name: value
        for name, value in error_event.metadata.items()
        if name in (*COMMON_METADATA, 'context')
    }
    yield localize(
        error_event,
        message,
        factory.locale,
        event='error.retry_attempt',
        metadata=order_metadata({**metadata, 'error_message': error_event.content}),
        content=message('en'),
    )


def _measured(error_event: ErrorEvent, retry: Retrying) -> ErrorEvent:
    """Return an event with what only the guard knows: the duration, or the growth of the delays."""
    measure: Mapping[str, object] = {}
    if error_event.event == 'error.timeout':
        measure = {'elapsed_seconds': retry.duration}
    elif error_event.event == 'error.rate_limited':
        measure = {'backoff_multiplier': retry.factor}
    metadata = order_metadata({**error_event.metadata, **safe_items(measure)})
    return replace_fields(error_event, metadata=metadata)


def _final_events(end: GaveUp, factory: _EventFactory) -> Iterator[ErrorEvent]:
    attempt: AttemptDetails = {
        'attempt': end.attempts,
        'max_attempts': end.attempts if end.why == 'attempts' else None,
    }
    error_event = factory.create(end.error, **attempt)
    is_recoverable = error_event.metadata.get('recoverable')
    if end.why == 'not_retryable' and (is_recoverable or end.error.category is Category.CANCELLED):
        # The guard decided against a retry, for example of a call that may have taken effect.
        yield without_retry(error_event)
        return
    # The session ends, so the delay of the error is omitted.
    ended = localize(
        error_event,
        message_renderer(end.error),
        factory.locale,
        metadata=_over(error_event.metadata),
    )
    failed = (
        ended
        if error_event.event == 'error.recovery_failed'
        else _recovery_failed(end, factory, attempt)
    )
    elapsed = safe_items({'elapsed_seconds': end.elapsed})
    yield replace_fields(failed, metadata=order_metadata({**failed.metadata, **elapsed}))
    yield replace_fields(ended, event='agent.error')
    yield failed_end(factory.locale)


def _over(metadata: Mapping[str, object]) -> dict[str, object]:
    """Return the metadata of an error after which nothing is tried."""
    return order_metadata(
        {
            **metadata,
            'recoverable': False,
            'recovery_strategy': STRATEGIES[Recovery.STOP],
            'severity': 'critical',
            'retry_after_ms': None,
        }
    )


def _recovery_failed(end: GaveUp, factory: _EventFactory, attempt: AttemptDetails) -> ErrorEvent:
    operation = factory.details.get('operation')
    failed = RecoveryFailed(operation or '', end.attempts, end.error)
    failed_event = msgspec.structs.replace(factory, adapter=SESSIONS).create(failed, **attempt)
    in_locale = message_renderer(failed)
    limit = _ended_by(end)
    if operation and limit is None:
        return failed_event

    def render(locale: str) -> str:
        text = (
            in_locale(locale)
            if operation
            else counted_text(FAILED_MESSAGES, end.attempts, locale, attempts=end.attempts)
        )
        return text if limit is None else join_sentences(text, limit(locale))

    return localize(failed_event, render, factory.locale, content=render('en'))


def _ended_by(end: GaveUp) -> Render | None:
    """Return a function that renders the limit that ended a retry; None if none did."""
    if end.why == 'budget':
        return lambda locale: catalogue(locale).gettext(BUDGET_MESSAGE)
    if end.delay is None or end.limit is None:
        return None
    if end.why == 'retry_after':
        message = CAP_MESSAGE
    else:
        message = TIME_MESSAGE if retry_after(end.error) is None else REQUEST_MESSAGE
    values = SimpleNamespace(delay=f'{end.delay:g}', limit=f'{end.limit:g}')
    return lambda locale: fill(catalogue(locale).gettext(message), values)


def failed_end(locale: str) -> ErrorEvent:
    """Return the event for a session that ends because of an error."""
    session_end = ErrorEvent(
        event='agent.session_end',
        content=SESSION_END_MESSAGE,
        metadata={'timestamp': timestamp(None), 'status': 'failed', 'reason': 'error'},
        show_content=SESSION_END_MESSAGE,
    )
    return localize(
        session_end, lambda locale: catalogue(locale).gettext(SESSION_END_MESSAGE), locale
    )
