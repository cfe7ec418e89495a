"""What a session hears of an operation behind guards: each attempt that failed, each wait, and the end."""

from collections.abc import Callable, Iterator
from math import ceil
from typing import Any, Never, assert_never

import msgspec
from msgspec import Struct
from typing_extensions import Unpack

from seamwise.catalog.sessions import RecoveryFailed
from seamwise.categories import Category
from seamwise.errors import TaggedError
from seamwise.messages import field_names, fill
from seamwise.policies.events import (
    CircuitChanged,
    FellBack,
    GaveUp,
    GuardEvent,
    Observer,
    Recovered,
    Refused,
    Retrying,
)
from seamwise.seams._common import milliseconds, safe_items, timestamp
from seamwise.seams.session.events import Attempts, Surroundings, event
from seamwise.seams.session.publishing import Session, deliver
from seamwise.seams.session.shape import COMMON, ErrorEvent, ordered
from seamwise.seams.session.tables import SESSIONS
from seamwise.texts import catalogue

WAIT_MESSAGES = (
    'Attempt {attempt} of {attempts} failed; the next one begins in {seconds} second.',
    'Attempt {attempt} of {attempts} failed; the next one begins in {seconds} seconds.',
)
SESSION_END_MESSAGE = 'The session has ended because of an error.'


def observe(
    session: Session,
    *,
    adapter: Callable[[Never], ErrorEvent],
    alert: Callable[[ErrorEvent], object] | None = None,
    **surroundings: Unpack[Surroundings],
) -> Observer:
    """Make an observer that tells a session what a guard does; `adapter` covers what the guarded operation can fail with.

    Before each wait: the error's event, with the attempt, the maximum and the delay that will be slept, then
    `error.retry_attempt` (an `error.rate_limited` announces its wait itself). When no attempt is left, or the error
    leaves no way out: `error.recovery_failed`, `agent.error` with the error, `agent.session_end`. An error that was
    not worth a second try, but that somebody can mend, is one event, and the session goes on; so is a refusal of the
    guard. What ended well says nothing. `operation` is the guard's name, unless it is given.

    Give it to guards that nothing stands behind: what a fallback mends is no end. A result that was observed needs no
    `publish`. What the adapter, the session or the alert raises is a defect, as with `publish`.
    """
    show: Callable[[Any], ErrorEvent] = adapter

    def tell(happened: GuardEvent) -> None:
        known: Surroundings = {'operation': happened.name, **surroundings}
        deliver(
            session, lambda locale: _events(happened, _Teller(show, locale, known)), alert=alert
        )

    return tell


class _Teller(Struct, frozen=True):
    """Makes events of errors in one language, at one place."""

    adapter: Callable[[Any], ErrorEvent]
    locale: str
    known: Surroundings

    def of(self, error: TaggedError, **made: Unpack[Attempts]) -> ErrorEvent:
        return event(error, adapter=self.adapter, locale=self.locale, **self.known, **made)


def _events(happened: GuardEvent, teller: _Teller) -> Iterator[ErrorEvent]:
    match happened:
        case Retrying():
            yield from _before_a_wait(happened, teller)
        case GaveUp():
            yield from _at_the_end(happened, teller)
        case Refused(error=error):
            yield teller.of(error)
        case Recovered() | CircuitChanged() | FellBack():
            return
        case _:
            assert_never(happened)


def _before_a_wait(happened: Retrying, teller: _Teller) -> Iterator[ErrorEvent]:
    told = teller.of(
        happened.error,
        attempt=happened.attempt,
        max_attempts=happened.attempts,
        retry_after_ms=milliseconds(happened.delay),
    )
    yield told
    if told.event == 'error.rate_limited':
        return
    wait = _Wait(happened.attempt, happened.attempts, max(1, ceil(happened.delay)))
    common = {name: value for name, value in told.metadata.items() if name in (*COMMON, 'context')}
    yield msgspec.structs.replace(
        told,
        event='error.retry_attempt',
        metadata=common,
        content=_waiting(wait, 'en'),
        show_content=_waiting(wait, teller.locale),
    )


class _Wait(Struct, frozen=True):
    """What the text about a wait says."""

    attempt: int
    attempts: int
    seconds: int


def _waiting(wait: _Wait, locale: str) -> str:
    english = WAIT_MESSAGES[wait.seconds != 1]
    said = catalogue(locale).ngettext(*WAIT_MESSAGES, wait.seconds)
    # A catalogue from outside may be older than this text: what it cannot fill in, nobody should be shown.
    return fill(said if field_names(said) <= set(wait.__struct_fields__) else english, wait)


def _at_the_end(happened: GaveUp, teller: _Teller) -> Iterator[ErrorEvent]:
    made: Attempts = {
        'attempt': happened.attempts,
        'max_attempts': happened.attempts if happened.why == 'attempts' else None,
    }
    told = teller.of(happened.error, **made)
    is_mendable = told.metadata.get('recoverable') or happened.error.category is Category.CANCELLED
    if happened.why == 'not_retryable' and is_mendable:
        yield told
        return
    failed = (
        told if told.event == 'error.recovery_failed' else _recovery_failed(happened, teller, made)
    )
    elapsed = safe_items({'elapsed_seconds': happened.elapsed})
    yield msgspec.structs.replace(failed, metadata=ordered({**failed.metadata, **elapsed}))
    yield msgspec.structs.replace(told, event='agent.error')
    yield _session_end(teller.locale)


def _recovery_failed(happened: GaveUp, teller: _Teller, made: Attempts) -> ErrorEvent:
    failed = RecoveryFailed(str(teller.known.get('operation')), happened.attempts, happened.error)
    return msgspec.structs.replace(teller, adapter=SESSIONS).of(failed, **made)


def _session_end(locale: str) -> ErrorEvent:
    metadata = {'timestamp': timestamp(None), 'status': 'failed', 'reason': 'error'}
    shown = catalogue(locale).gettext(SESSION_END_MESSAGE)
    return ErrorEvent(
        event='agent.session_end',
        content=SESSION_END_MESSAGE,
        metadata=metadata,
        show_content=shown,
    )
