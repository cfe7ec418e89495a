"""Errors of decoding, for the client side of the seams."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import msgspec

from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError
from seamwise._errors.internal import Internal
from seamwise._errors.type_hints import resolved_hints, struct_fields
from seamwise._text.json_fields import is_object
from seamwise._text.shortening import shorten
from seamwise.seams.rendering.audience import hides_data
from seamwise.seams.rendering.errors import pair_fields
from seamwise.seams.rendering.values import safe_text

_EXCERPT_LENGTH = 200

DECODE_ERRORS: Final[tuple[type[Exception], ...]] = (
    msgspec.DecodeError,
    UnicodeError,
    RecursionError,
)
"""The exceptions that msgspec raises if a text is not JSON, or not of the expected shape."""


class UnreadableBody(
    TaggedError, category=Category.EXECUTION, message='The body cannot be read: {problem}.'
):
    """A body is incomplete or has another format. A person reads the excerpt and decides."""

    problem: str
    excerpt: Internal[str]


@lru_cache(maxsize=4096)
def hidden_fields(kind: type[TaggedError], *, has_fields: bool) -> frozenset[str]:
    """Return the required fields that a peer may hide; a client sees the mask in their place.

    They are texts, and values of any type.

    Args:
        kind: The class of the error.
        has_fields: Whether the peer sent fields other than the delay. Without them, it may hide all
            fields of the class; otherwise only the internal ones.
    """
    hides_all = not has_fields and hides_data(kind)
    hints = resolved_hints(kind)
    return frozenset(
        field.name
        for field in struct_fields(kind)
        if field.required
        # A field for any value is left out if the value is a secret.
        and (
            hints.get(field.name) is object
            or (
                hints.get(field.name) is str
                and (hides_all or field.name in kind.__traits__.internal)
            )
        )
    )


def with_pairs(kind: type[TaggedError], fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of an error with the pairs of each object that stands for pairs."""
    pairs = pair_fields(kind)
    return {
        name: [*value.items()] if name in pairs and is_object(value) else value
        for name, value in fields.items()
    }


def unreadable_body(problem: object, body: bytes | str) -> UnreadableBody:
    """Return the error for a body that cannot be read, with its redacted first 200 characters."""
    # Redaction needs more context than the excerpt shows.
    beginning = body[: 4 * _EXCERPT_LENGTH]
    text = beginning.decode('utf-8', 'replace') if isinstance(beginning, bytes) else beginning
    reason = safe_text(str(problem)).rstrip('.') or type(problem).__name__
    return UnreadableBody(reason, shorten(safe_text(text), _EXCERPT_LENGTH))
