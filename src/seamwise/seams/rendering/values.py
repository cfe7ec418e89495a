"""Timestamps, milliseconds, and texts and values that are safe to show."""

from collections.abc import Mapping
from datetime import UTC, datetime

from seamwise._text.jsonable import replace_surrogates, to_builtins, to_builtins_dict
from seamwise._text.shortening import shorten
from seamwise.redaction import redact, redact_and_count

_FRACTION = 5e-7
"""A smaller fraction of a millisecond is an error of binary fractions."""

DEFECT_MESSAGE = 'The server met an unexpected condition.'
"""The message of every defect. Nothing else of a defect is shown, except its reference."""


def timestamp(now: datetime | None) -> str:
    """Return a time, by default the current one, as RFC 3339 in UTC with `Z`.

    >>> timestamp(datetime(2026, 2, 20, 10, 30, tzinfo=UTC))
    '2026-02-20T10:30:00Z'

    Raises:
        ValueError: `now` has no time zone.
    """
    return in_utc(now).replace(tzinfo=None).isoformat() + 'Z'


def in_utc(now: datetime | None) -> datetime:
    """Return a time, by default the current one, in UTC; without a time zone it is a ValueError."""
    if now is None:
        return datetime.now(UTC)
    if now.tzinfo is None:
        raise ValueError(f'{now!r} has no time zone. Pass an aware datetime, such as one in UTC.')
    return now if now.tzinfo is UTC else now.astimezone(UTC)


def milliseconds(seconds: float) -> int:
    """Return a duration in whole milliseconds, rounded up: no client retries too early.

    >>> milliseconds(1.5), milliseconds(0.0001), milliseconds(1.001)
    (1500, 1, 1001)
    """
    exact = seconds * 1000
    whole = int(exact)
    # Binary fractions may exceed the decimal value: 0.57 * 1000 > 570. `round` takes far longer.
    return whole if exact - whole < _FRACTION else whole + 1


def milliseconds_or_none(seconds: float | None) -> int | None:
    """Return a duration in whole milliseconds, rounded up, or None if there is none."""
    return None if seconds is None else milliseconds(seconds)


def safe_text(text: str) -> str:
    """Return a text that is safe to show: at most 1,024 characters, without secrets or surrogates.

    A longer text ends with the number of characters that were cut.

    >>> safe_text('x' * 1025)[-10:]
    '… (1 more)'
    """
    return shorten(safe_line(text))


def safe_line(text: str) -> str:
    """Return a text of any length without secrets (masked) and lone surrogates (replaced)."""
    return replace_surrogates(redact(text))


def counted_line(text: str) -> tuple[str, int]:
    """Return a text like `safe_line`, and the number of masked places in it."""
    redacted, masked = redact_and_count(text)
    return replace_surrogates(str(redacted)), masked


def safe(value: object) -> object:
    """Return any value as JSON-compatible builtins, with its secrets masked and its texts safe.

    >>> from seamwise import Secret
    >>> safe({'path': 'a.txt', 'lines': (1, 2), 'key': Secret('k')})
    {'path': 'a.txt', 'lines': [1, 2], 'key': '***'}
    """
    return to_builtins(redact(value))


def safe_items(values: Mapping[str, object]) -> dict[str, object]:
    """Return a mapping with safe values; a key such as `password` marks its value as a secret."""
    return to_builtins_dict(redact(values))


def counted_items(values: Mapping[str, object]) -> tuple[dict[str, object], int]:
    """Return a mapping with safe values, and the number of masked places in it."""
    redacted, masked = redact_and_count(values)
    return to_builtins_dict(redacted), masked


def masked_places(*values: object) -> int:
    """Return the number of places that redaction masks in some values.

    >>> masked_places({'token': 'abc', 'n': 1}, 'see https://ann:hunter2@example.org')
    2
    """
    return sum(redact_and_count(value)[1] for value in values)


def drop_none(values: dict[str, object | None]) -> dict[str, object]:
    """Return a mapping without the values that are None: most wire formats omit unknown values."""
    return {name: value for name, value in values.items() if value is not None}
