"""What every seam writes alike: times, whole milliseconds, texts and values that are safe to show."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from math import ceil
from re import search
from typing import get_args, get_origin

from seamwise._annotations import resolved_hints
from seamwise._text.jsonable import replace_surrogates, to_builtins, to_builtins_dict
from seamwise.errors import TaggedError
from seamwise.messages import shorten
from seamwise.redaction import redact
from seamwise.secrets import Secret
from seamwise.texts import text

DEFECT_MESSAGE = 'The server met an unexpected condition.'
"""All that a client is told of a defect, beside its reference."""


def timestamp(now: datetime | None) -> str:
    """Say a moment, None for the present one, as RFC 3339 in UTC with `Z`; one without a time zone is a ValueError.

    >>> timestamp(datetime(2026, 2, 20, 10, 30, tzinfo=UTC))
    '2026-02-20T10:30:00Z'
    """
    moment = datetime.now(UTC) if now is None else now
    if moment.tzinfo is None:
        raise ValueError(f'{moment!r} has no time zone: nobody can tell which moment that is.')
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + 'Z'


def milliseconds(seconds: float) -> int:
    """Give a duration in whole milliseconds, rounded up: who waits that long has waited long enough.

    >>> milliseconds(1.5), milliseconds(0.0001), milliseconds(1.001)
    (1500, 1, 1001)
    """
    # The inner rounding takes away what binary fractions add: 1.001 * 1000 is 1000.9999999999999, 0.57 * 1000 is 570 and a bit.
    return ceil(round(seconds * 1000, 6))


def milliseconds_or_none(seconds: float | None) -> int | None:
    """Give a duration in whole milliseconds, rounded up, or None where there is none."""
    return None if seconds is None else milliseconds(seconds)


def safe_text(text: str) -> str:
    """Make a text fit to be shown: secrets masked, lone surrogates replaced, at most 1,024 characters and how many more there were.

    >>> safe_text('x' * 1025)[-10:]
    '… (1 more)'
    """
    return shorten(safe_line(text))


def message_of(error: TaggedError, locale: str = 'en') -> str:
    """Give the message of an error in a language, safe to show.

    >>> from seamwise.catalog.tools import FileNotFound
    >>> message_of(FileNotFound('read_file', 'https://ann:hunter2@example.org/a'))
    "'https://***@example.org/a' does not exist."
    """
    # Redacted before it is filled in, too: a message cuts long values, and half a secret has lost the form that gives it away.
    return safe_text(text(redact(error), locale))


def safe_line(text: str) -> str:
    """Make a text fit to be shown at its full length: secrets masked, lone surrogates replaced."""
    return replace_surrogates(redact(text))


def safe(value: object) -> object:
    """Give any value as redacted builtins that JSON can say; every text in it is a safe one.

    >>> safe({'path': 'a.txt', 'lines': (1, 2), 'key': Secret('k')})
    {'path': 'a.txt', 'lines': [1, 2], 'key': '***'}
    """
    return to_builtins(redact(value))


def safe_items(values: Mapping[str, object]) -> dict[str, object]:
    """Give named values as safe ones, under their own names; a name may say that its value is a secret."""
    return to_builtins_dict(redact(values))


def public_fields(error: TaggedError) -> dict[str, object]:
    """Give what an error says beside its message: all its fields but its cause and its secrets, safe to show."""
    named = {name: getattr(error, name) for name in _public_names(type(error))}
    return safe_items(
        {name: value for name, value in named.items() if not isinstance(value, Secret)}
    )


@lru_cache(maxsize=4096)
def _public_names(kind: type[TaggedError]) -> tuple[str, ...]:
    # By annotation, not by value: whether a secret was set is nobody's business either.
    found = resolved_hints(kind)
    return tuple(
        name
        for name in kind.__struct_fields__
        if name != 'cause' and not _holds_secret(found.get(name))
    )


def _holds_secret(hint: object) -> bool:
    if isinstance(hint, str):
        return search(r'\bSecret\b', hint) is not None
    return (
        hint is Secret
        or get_origin(hint) is Secret
        or any(_holds_secret(one) for one in get_args(hint) if not isinstance(one, str))
    )


def drop_none(values: dict[str, object | None]) -> dict[str, object]:
    """Leave out what is None: on most wires, what is unknown is absent."""
    return {name: value for name, value in values.items() if value is not None}
