"""Complete session events: the error's event with the time, the user's language and the context."""

from collections.abc import Callable, Mapping
from datetime import datetime
from math import ceil
from types import SimpleNamespace
from typing import TypedDict, TypeVar, cast

from typing_extensions import Unpack

from seamwise._errors.categories import Recovery
from seamwise._errors.errors import MAX_DELAY, TaggedError
from seamwise._errors.messages import field_names, fill
from seamwise._errors.texts import catalogue
from seamwise.seams.adapter import translated
from seamwise.seams.rendering.errors import public_items
from seamwise.seams.rendering.values import DEFECT_MESSAGE, milliseconds, timestamp
from seamwise.seams.session.localized import localize, message_renderer, replace_fields
from seamwise.seams.session.shape import STRATEGIES, ErrorEvent, order_metadata

E = TypeVar('E', bound=TaggedError)

# The English forms are equal, as in other messages about delays; other languages can differ.
DELAY_MESSAGES = (
    'The next attempt can begin in {seconds} s.',
    'The next attempt can begin in {seconds} s.',
)

RETRY_STRATEGIES = frozenset(
    STRATEGIES[recovery] for recovery in (Recovery.RETRY, Recovery.WAIT, Recovery.RECONNECT)
)
"""Strategies that repeat the operation."""


class OperationDetails(TypedDict, total=False):
    """The operation that failed: stage and task of the session, name, and any other context."""

    stage: str | None
    task_id: str | None
    operation: str | None
    context: Mapping[str, object] | None


class AttemptDetails(TypedDict, total=False):
    """Number of this attempt (from 1), maximum number, duration, and delay before the next attempt.

    `backoff_multiplier` is the factor by which the delays of a rate limit grow.
    """

    attempt: int | None
    max_attempts: int | None
    retry_after_ms: int | None
    elapsed_seconds: float | None
    backoff_multiplier: float | None


class EventDetails(OperationDetails, AttemptDetails, total=False):
    """Metadata that the error does not know; None and empty values are omitted."""


def event(
    error: E,
    *,
    adapter: Callable[[E], ErrorEvent],
    locale: str,
    now: datetime | None = None,
    **details: Unpack[EventDetails],
) -> ErrorEvent:
    """Return the event of an error, with its time, its message in `locale`, and the details.

    `show_content` of a rate limit also says the delay.

    Args:
        error: The error.
        adapter: Table from errors to events.
        locale: Language of `show_content`, such as `en` or `zh_CN`.
        now: Time of the event. Default: the current time.
        **details: Further metadata. A `context` is merged with that of the error's arm.

    Raises:
        ValueError: `retry_after_ms` is out of range.

    >>> from datetime import UTC
    >>> from seamwise.catalog.tools import FileNotFound
    >>> from seamwise.seams.session.tables import TOOLS
    >>> missing = FileNotFound('read_file', 'a.txt')
    >>> timeless = event(missing, adapter=TOOLS, locale='zh_CN')
    >>> timeless.event, timeless.content, timeless.show_content
    ('error.correctable', "'a.txt' does not exist.", "'a.txt' 不存在。")
    >>> now = datetime(2026, 2, 20, tzinfo=UTC)
    >>> event(missing, adapter=TOOLS, locale='en', now=now).metadata['timestamp']
    '2026-02-20T00:00:00Z'
    """
    safe_details = _safe_details(details)
    error_event = translated(error, adapter, ErrorEvent)
    context = {
        **_as_mapping(error_event.metadata.get('context')),
        **_as_mapping(safe_details.get('context')),
    }
    metadata = order_metadata(
        {
            **error_event.metadata,
            'timestamp': timestamp(now),
            **safe_details,
            'context': context or None,
        }
    )
    delay = metadata.get('retry_after_ms') if error_event.event == 'error.rate_limited' else None
    message_in = message_renderer(error)

    def render(locale: str) -> str:
        message = message_in(locale)
        return _with_delay(message, delay, locale) if isinstance(delay, int) else message

    return localize(error_event, render, locale, metadata=metadata)


def without_retry(event: ErrorEvent) -> ErrorEvent:
    """Return the event of a call that may have taken effect: a person decides, not a retry."""
    if event.metadata.get('recovery_strategy') not in RETRY_STRATEGIES:
        return event
    strategy = STRATEGIES[Recovery.ASK]
    return replace_fields(event, metadata={**event.metadata, 'recovery_strategy': strategy})


def _with_delay(message: str, milliseconds: int, locale: str) -> str:
    seconds = max(1, ceil(milliseconds / 1000))
    return join_sentences(message, counted_text(DELAY_MESSAGES, seconds, locale, seconds=seconds))


def join_sentences(first: str, second: str) -> str:
    """Return two sentences as one text; Chinese ones have no space between them."""
    return f'{first}{second}' if first.endswith('。') else f'{first} {second}'


def counted_text(templates: tuple[str, str], number: int, locale: str, **values: object) -> str:
    """Return a text in a language, in the plural form for a number, filled with some values.

    Args:
        templates: The English text in the singular and in the plural.
        number: The number that decides about the plural form.
        locale: Language of the text.
        **values: Values for the placeholders.
    """
    translated = catalogue(locale).ngettext(*templates, number)
    # A catalogue from another package can be older, with placeholders that no longer exist.
    is_current = field_names(translated) <= values.keys()
    template = translated if is_current else templates[number != 1]
    return fill(template, SimpleNamespace(**values))


def _safe_details(details: EventDetails) -> dict[str, object]:
    allowed = EventDetails.__annotations__
    if unknown := details.keys() - allowed.keys():
        raise TypeError(
            f'Unknown event details: {", ".join(sorted(unknown))}. Allowed: {", ".join(allowed)}.'
        )
    delay = details.get('retry_after_ms')
    max_delay = milliseconds(MAX_DELAY)
    if delay is not None and not 0 <= delay <= max_delay:
        raise ValueError(f'retry_after_ms must be 0 to {max_delay} milliseconds, not {delay}.')
    return public_items({name: value for name, value in details.items() if value is not None})


def _as_mapping(context: object) -> Mapping[str, object]:
    # After `isinstance`, type checkers do not know the types of the members.
    return cast('Mapping[str, object]', context) if isinstance(context, Mapping) else {}


def defect(ref: str, *, locale: str, now: datetime | None = None) -> ErrorEvent:
    """Return the event of a defect, which contains its reference and nothing of the exception.

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
    defect_event = ErrorEvent(
        event='error.permanent',
        content=DEFECT_MESSAGE,
        metadata=order_metadata(metadata),
        show_content=DEFECT_MESSAGE,
    )
    return localize(defect_event, lambda locale: catalogue(locale).gettext(DEFECT_MESSAGE), locale)
