"""Helpers of all seams: timestamps, milliseconds, and texts and values that are safe to show."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from math import ceil

from msgspec import NODEFAULT, structs

from seamwise._annotations import is_secret, resolved_hints
from seamwise._text.jsonable import replace_surrogates, to_builtins, to_builtins_dict
from seamwise.errors import TaggedError
from seamwise.messages import field_names, shorten
from seamwise.redaction import redact, redact_and_count
from seamwise.secrets import Secret
from seamwise.texts import public_text, text

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
    # Round first: binary fractions may exceed the decimal value (0.57 * 1000 > 570).
    return ceil(round(seconds * 1000, 6))


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


def message_of(error: TaggedError, locale: str = 'en') -> str:
    """Return the message of an error in a language, safe to show.

    >>> from seamwise.catalog.tools import FileNotFound
    >>> message_of(FileNotFound('read_file', 'https://ann:hunter2@example.org/a'))
    "'https://***@example.org/a' does not exist."
    """
    # Redact before formatting too: a message cuts long values, and the first half of a secret
    # no longer matches the patterns of redaction.
    return safe_text(text(redact(error), locale))


def public_message_of(error: TaggedError, locale: str = 'en') -> str:
    """Return the message of an error for clients like `message_of`, without its internal fields.

    >>> from seamwise.catalog.tools import FileNotFound
    >>> public_message_of(FileNotFound('read_file', 'a.txt'), 'zh_CN')
    "'a.txt' 不存在。"
    """
    return safe_text(public_text(redact(error), locale))


def safe_line(text: str) -> str:
    """Return a text of any length without secrets (masked) and lone surrogates (replaced)."""
    return replace_surrogates(redact(text))


def counted_line(text: str) -> tuple[str, int]:
    """Return a text like `safe_line`, and the number of masked places in it."""
    redacted, masked = redact_and_count(text)
    return replace_surrogates(str(redacted)), masked


def safe(value: object) -> object:
    """Return any value as JSON-compatible builtins, with its secrets masked and its texts safe.

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


def counted_message_of(error: TaggedError) -> tuple[str, int]:
    """Return the message like `message_of`, and the number of places that redaction masks in it."""
    shown_fields = field_names(error.__traits__.template)
    fields = {
        name: getattr(error, name) for name in error.__struct_fields__ if name in shown_fields
    }
    message, masked = counted_line(text(redact(error)))
    return shorten(message), masked + masked_places(fields)


def all_fields(error: TaggedError) -> dict[str, object]:
    """Return the fields of an error, safe to show, without its cause and its secrets."""
    return _safe_fields(error, all_field_names(type(error)))


def public_fields(error: TaggedError) -> dict[str, object]:
    """Return the fields of an error like `all_fields`, without the internal ones."""
    return _safe_fields(error, public_field_names(type(error)))


def _safe_fields(error: TaggedError, names: tuple[str, ...]) -> dict[str, object]:
    fields = {name: getattr(error, name) for name in names}
    return safe_items(
        {name: value for name, value in fields.items() if not isinstance(value, Secret)}
    )


@lru_cache(maxsize=4096)
def all_field_names(kind: type[TaggedError]) -> tuple[str, ...]:
    """Return the names of all fields of a class, except its cause and its secrets."""
    # By annotation, not by value: whether an optional secret is set must not be shown either.
    annotations = resolved_hints(kind)
    return tuple(
        name
        for name in kind.__struct_fields__
        if name != 'cause' and not is_secret(annotations.get(name))
    )


@lru_cache(maxsize=4096)
def public_field_names(kind: type[TaggedError]) -> tuple[str, ...]:
    """Return the names of the fields of a class that clients may see.

    They are all fields except the cause, the secrets and the internal ones.
    """
    internal = kind.__traits__.internal
    return tuple(name for name in all_field_names(kind) if name not in internal)


@lru_cache(maxsize=4096)
def fields_with_null(kind: type[TaggedError]) -> frozenset[str]:
    """Return the names of the fields whose default is a value: for them, None is not the default.

    All other fields can be left out if they are None.
    """
    return frozenset(
        field.name
        for field in structs.fields(kind)
        if field.default is not NODEFAULT and field.default is not None
    )


def drop_none(values: dict[str, object | None]) -> dict[str, object]:
    """Return a mapping without the values that are None: most wire formats omit unknown values."""
    return {name: value for name, value in values.items() if value is not None}
