"""Events with all that they are to say: the time, the reader's language, the circumstances."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypedDict, TypeVar, cast

import msgspec
from typing_extensions import Unpack

from seamwise.categories import Recovery
from seamwise.errors import MAX_DELAY, TaggedError
from seamwise.seams._common import DEFECT_MESSAGE, message_of, milliseconds, safe_items, timestamp
from seamwise.seams.session.shape import STRATEGIES, ErrorEvent, ordered
from seamwise.texts import catalogue

E = TypeVar('E', bound=TaggedError)


class Surroundings(TypedDict, total=False):
    """Where an error happened: the stage and the task that the session is at, the operation, whatever else helps."""

    stage: str | None
    task_id: str | None
    operation: str | None
    context: Mapping[str, object] | None


class Attempts(TypedDict, total=False):
    """How often it was tried, how often it will be, and the delay that will be slept before the next time."""

    attempt: int | None
    max_attempts: int | None
    retry_after_ms: int | None


class Circumstances(Surroundings, Attempts, total=False):
    """What an event tells beside the error; what is None or empty is left out."""


def event(
    error: E,
    *,
    adapter: Callable[[E], ErrorEvent],
    locale: str,
    now: datetime | None = None,
    **circumstances: Unpack[Circumstances],
) -> ErrorEvent:
    """Tell of an error as an event: with the time (default now), its message in `locale`, and the circumstances.

    A `context` is added to that of the error's arm. A delay that is none is a ValueError.

    >>> from datetime import UTC
    >>> from seamwise.catalog.tools import FileNotFound
    >>> from seamwise.seams.session.tables import TOOLS
    >>> told = event(FileNotFound('read_file', 'a.txt'), adapter=TOOLS, locale='zh_CN', now=datetime(2026, 2, 20, tzinfo=UTC))
    >>> told.event, told.content, told.show_content, told.metadata['timestamp']
    ('error.permanent', "'a.txt' does not exist.", "'a.txt' 不存在。", '2026-02-20T00:00:00Z')
    """
    known = _known(circumstances)
    told = adapter(error)
    context = {**_items(told.metadata.get('context')), **_items(known.get('context'))}
    metadata = {**told.metadata, 'timestamp': timestamp(now), **known, 'context': context or None}
    return msgspec.structs.replace(
        told, metadata=ordered(metadata), show_content=message_of(error, locale)
    )


def _known(given: Circumstances) -> dict[str, object]:
    if unknown := given.keys() - Circumstances.__annotations__.keys():
        raise TypeError(
            f'An event takes no {", ".join(sorted(unknown))}; it takes {", ".join(Circumstances.__annotations__)}.'
        )
    delay = given.get('retry_after_ms')
    if delay is not None and not 0 <= delay <= milliseconds(MAX_DELAY):
        raise ValueError(f'retry_after_ms must be 0 to {milliseconds(MAX_DELAY)} milliseconds.')
    return safe_items({name: value for name, value in given.items() if value is not None})


def _items(context: object) -> Mapping[str, object]:
    # What checkers make of `isinstance` has members of no known type.
    return cast('Mapping[str, object]', context) if isinstance(context, Mapping) else {}


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
    shown = catalogue(locale).gettext(DEFECT_MESSAGE)
    return ErrorEvent(
        event='error.permanent',
        content=DEFECT_MESSAGE,
        metadata=ordered(metadata),
        show_content=shown,
    )
