"""Log line of one session event: the facts by which a monitoring system groups events."""

from collections.abc import Mapping
from typing import Protocol, TypeVar

import msgspec
from msgspec import Struct

from seamwise.seams.rendering.values import safe_text

T = TypeVar('T')


class SessionEvent(Protocol):
    """An event of a session: its name and its metadata."""

    @property
    def event(self) -> str:
        """Name of the event, such as `error.timeout`."""
        ...

    @property
    def metadata(self) -> Mapping[str, object]:
        """Metadata of the event."""
        ...


class EventRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session event in a log; unknown fields are absent."""

    event_type: str
    error_code: str | None = None
    recoverable: bool | None = None
    attempt: int | None = None
    stage: str | None = None
    operation: str | None = None

    def extra(self) -> dict[str, object]:
        """Return the record as `extra=` for `logging`."""
        fields: dict[str, object] = msgspec.to_builtins(self)
        return fields


def event_record(event: SessionEvent) -> EventRecord:
    """Return the record of a session event, for the `extra=` of a log line.

    >>> from seamwise.catalog.tools import ToolTimedOut
    >>> from seamwise.seams import session
    >>> from seamwise.seams.session.tables import TOOLS
    >>> late = session.event(ToolTimedOut('search', 30.0, 1), adapter=TOOLS, locale='en')
    >>> event_record(late).event_type, event_record(late).attempt
    ('error.timeout', 1)
    """

    def value(name: str, type_: type[T]) -> T | None:
        item = event.metadata.get(name)
        return item if isinstance(item, type_) else None

    def line(name: str) -> str | None:
        text = value(name, str)
        return None if text is None else safe_text(text)

    return EventRecord(
        event_type=event.event,
        error_code=line('error_code'),
        recoverable=value('recoverable', bool),
        attempt=value('attempt', int),
        stage=line('stage'),
        operation=line('operation'),
    )
