"""Events with all that they are to say, and their way to a session."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol, TypedDict, TypeVar

import msgspec
from typing_extensions import Unpack

from seamwise.categories import Recovery
from seamwise.containers import Result, Success
from seamwise.errors import TaggedError
from seamwise.seams._common import DEFECT_MESSAGE, message_of, safe_items, timestamp
from seamwise.seams.session.shape import STRATEGIES, ErrorEvent, ordered
from seamwise.texts import catalogue

E = TypeVar('E', bound=TaggedError)


class Circumstances(TypedDict, total=False):
    """What an event tells of its surroundings; what is None or empty is left out. `retry_after_ms` is the delay that will be slept."""

    stage: str | None
    task_id: str | None
    operation: str | None
    attempt: int | None
    max_attempts: int | None
    retry_after_ms: int | None
    context: Mapping[str, object] | None


class Session(Protocol):
    """What an event is sent to: it numbers events, and knows its id and its reader's language."""

    @property
    def locale(self) -> str:
        """The language of `show_content`: `en`, `zh_CN`."""
        ...

    @property
    def session_id(self) -> str | None:
        """The id that events carry; None leaves it out."""
        ...

    def send(self, event: ErrorEvent, /) -> object:
        """Take an event, at once: what this gives back is not awaited."""
        ...


def event(
    error: E, *, adapter: Callable[[E], ErrorEvent], locale: str, now: datetime | None = None, **circumstances: Unpack[Circumstances]
) -> ErrorEvent:
    """Tell of an error as an event: with the time (default now), its message in `locale`, and the circumstances.

    >>> from datetime import UTC
    >>> from seamwise.catalog.tools import FileNotFound
    >>> from seamwise.seams.session.tables import TOOLS
    >>> told = event(FileNotFound('read_file', 'a.txt'), adapter=TOOLS, locale='zh_CN', now=datetime(2026, 2, 20, tzinfo=UTC))
    >>> told.event, told.content, told.metadata['timestamp']
    ('error.permanent', "'a.txt' does not exist.", '2026-02-20T00:00:00Z')
    """
    told = adapter(error)
    metadata = {**told.metadata, 'timestamp': timestamp(now), **_known(circumstances)}
    return msgspec.structs.replace(told, metadata=ordered(metadata), show_content=message_of(error, locale))


def _known(given: Circumstances) -> dict[str, object]:
    if unknown := given.keys() - Circumstances.__annotations__.keys():
        raise TypeError(f'An event takes no {", ".join(sorted(unknown))}; it takes {", ".join(Circumstances.__annotations__)}.')
    return safe_items({name: value for name, value in given.items() if value is not None and value != {}})


def defect(ref: str, *, locale: str, now: datetime | None = None) -> ErrorEvent:
    """Tell of a defect: its reference, and nothing of the exception.

    >>> defect('err_2f4ad7qz', locale='en').metadata['ref']
    'err_2f4ad7qz'
    """
    metadata = {
        'error_code': 'ERR_INTERNAL_001',
        'error_type': 'UnknownError',
        'timestamp': timestamp(now),
        'recoverable': False,
        'recovery_strategy': STRATEGIES[Recovery.STOP],
        'severity': 'critical',
        'ref': ref,
    }
    shown = catalogue(locale).gettext(DEFECT_MESSAGE) if locale != 'en' else DEFECT_MESSAGE
    return ErrorEvent(event='error.permanent', content=DEFECT_MESSAGE, metadata=ordered(metadata), show_content=shown)


def publish(
    result: Result[object, E],
    session: Session,
    *,
    adapter: Callable[[E], ErrorEvent],
    now: datetime | None = None,
    alert: Callable[[ErrorEvent], object] | None = None,
    **circumstances: Unpack[Circumstances],
) -> list[ErrorEvent]:
    """Send a session the event of a failure, and give the events that were sent: none for a success.

    An event that is not recoverable is handed to `alert` too.
    """
    if type(result) is Success:
        return []
    told = event(result.failure(), adapter=adapter, locale=session.locale, now=now, **circumstances)
    told = msgspec.structs.replace(told, session_id=session.session_id)
    session.send(told)
    if alert is not None and not told.metadata['recoverable']:
        alert(told)
    return [told]
