"""The way of events to a session: what it is sent of a result, and what of its own bugs."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Protocol, TypeVar

import msgspec
from typing_extensions import Unpack

from seamwise.containers import Result, Success
from seamwise.defects import report_defect
from seamwise.errors import TaggedError
from seamwise.seams.session.events import Circumstances, defect, event
from seamwise.seams.session.shape import ErrorEvent

E = TypeVar('E', bound=TaggedError)


class Session(Protocol):
    """What an event is sent to: it knows its id and its reader's language, and numbers the events as it sends them on."""

    @property
    def locale(self) -> str:
        """The language of `show_content`: `en`, `zh_CN`."""
        ...

    @property
    def session_id(self) -> str | None:
        """The id that events carry; None leaves it out."""
        ...

    def send(self, event: ErrorEvent, /) -> object:
        """Take an event, at once: what this gives back is not awaited. Its `seq` is this session's to set."""
        ...


def publish(
    result: Result[object, E],
    session: Session,
    *,
    adapter: Callable[[E], ErrorEvent],
    now: datetime | None = None,
    alert: Callable[[ErrorEvent], object] | None = None,
    **circumstances: Unpack[Circumstances],
) -> list[ErrorEvent]:
    """Send a session the event of a failure, and give the events that were made: none for a success.

    An event that is not recoverable is handed to `alert` too. What the adapter, the session or the alert raises is a
    defect: it is reported, and changes nothing here; of an adapter's, the session is sent the reference.
    """
    if type(result) is Success:
        return []
    error = result.failure()
    return deliver(
        session,
        lambda locale: [event(error, adapter=adapter, locale=locale, now=now, **circumstances)],
        alert=alert,
    )


def deliver(
    session: Session,
    make: Callable[[str], Iterable[ErrorEvent]],
    *,
    alert: Callable[[ErrorEvent], object] | None,
) -> list[ErrorEvent]:
    """Send a session events that are made in its language, as `publish` does."""
    try:
        made = list(make(session.locale))
    except Exception as raised:  # noqa: BLE001 -- whatever it is, it is reported, and the session hears of it
        made = [defect(report_defect(raised).ref, locale=session.locale)]
    told = [msgspec.structs.replace(one, session_id=session.session_id) for one in made]
    for one in told:
        _hand(one, session.send)
        if (
            alert is not None
            and one.event.startswith('error.')
            and not one.metadata.get('recoverable', True)
        ):
            _hand(one, alert)
    return told


def _hand(told: ErrorEvent, take: Callable[[ErrorEvent], object]) -> None:
    try:
        take(told)
    except Exception as raised:  # noqa: BLE001 -- an outcome must not depend on whether it could be told
        report_defect(raised)
