"""Errors of decoding, for the client side of the seams."""

from typing import Final

import msgspec

from seamwise.categories import Category
from seamwise.errors import TaggedError
from seamwise.messages import shorten
from seamwise.seams._common import safe_text

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
    excerpt: str


def unreadable_body(problem: object, body: bytes | str) -> UnreadableBody:
    """Return the error for a body that cannot be read, with its redacted first 200 characters."""
    # Redaction needs more context than the excerpt shows.
    beginning = body[: 4 * _EXCERPT_LENGTH]
    text = beginning.decode('utf-8', 'replace') if isinstance(beginning, bytes) else beginning
    reason = safe_text(str(problem)).rstrip('.') or type(problem).__name__
    return UnreadableBody(reason, shorten(safe_text(text), _EXCERPT_LENGTH))
