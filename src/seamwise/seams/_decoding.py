"""The client's side of every seam: what a body that cannot be read is, and why."""

from typing import Final

import msgspec

from seamwise.categories import Category
from seamwise.errors import TaggedError
from seamwise.messages import shorten
from seamwise.seams._common import safe_text

_EXCERPT = 200

UNREADABLE: Final[tuple[type[Exception], ...]] = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What msgspec raises where a text is no JSON, or not of the shape that was asked for."""


class UnreadableBody(
    TaggedError, category=Category.EXECUTION, message='The body cannot be read: {problem}.'
):
    """Somebody sent something else than was expected, or what came is cut off. A person reads the excerpt and decides."""

    problem: str
    excerpt: str


def unreadable(problem: object, body: bytes | str) -> UnreadableBody:
    """Say why a body cannot be read, with the beginning of it, redacted."""
    text = (
        body[: 4 * _EXCERPT].decode('utf-8', 'replace')
        if isinstance(body, bytes)
        else body[: 4 * _EXCERPT]
    )
    said = safe_text(str(problem)).rstrip('.') or type(problem).__name__
    return UnreadableBody(said, shorten(safe_text(text), _EXCERPT))
