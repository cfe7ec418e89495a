"""Redacted errors and causes, as input of the functions that a seam applies to their fields."""

from typing import TypeVar

from msgspec.structs import replace

from seamwise._text.jsonable import safe_str
from seamwise.causes import causes, chain
from seamwise.codec import ReportedCause
from seamwise.defects import Link
from seamwise.errors import TaggedError
from seamwise.redaction import redact
from seamwise.seams.rendering.values import message_of, safe_text

K = TypeVar('K', bound=TaggedError)


def redacted(error: K) -> K:
    """Return an error with redacted texts in full length; its cause is unchanged.

    The texts may be cut afterwards: no secret is left in them.
    """
    copy = redact(error)
    if 'cause' not in error.__struct_fields__:
        return copy
    return replace(copy, cause=getattr(error, 'cause', None))


def direct_cause(error: TaggedError) -> Link | None:
    """Return the direct cause of an error, safe to show, or None if it has none."""
    return next(map(cause_link, causes(error)), None)


def all_causes(error: TaggedError) -> tuple[Link, ...]:
    """Return the whole chain of causes of an error, nearest first, safe to show."""
    return tuple(cause_link(cause) for cause in chain(error) if cause is not error)


def cause_link(cause: TaggedError | BaseException) -> Link:
    """Return the type and the message of a cause, safe to show."""
    if isinstance(cause, ReportedCause):
        return Link(safe_text(cause.type), safe_text(cause.message))
    if isinstance(cause, TaggedError):
        return Link(cause.tag, message_of(cause))
    return Link(type(cause).__name__, safe_text(safe_str(cause)))
