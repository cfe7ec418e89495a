"""An error and its causes without their secrets, for what a seam makes out of their fields."""

from typing import TypeVar

from msgspec.structs import replace

from seamwise._text.jsonable import safe_str
from seamwise.causes import causes, chain
from seamwise.codec import ReportedCause
from seamwise.defects import Link
from seamwise.errors import TaggedError
from seamwise.redaction import redact
from seamwise.seams._common import message_of, safe_text

K = TypeVar('K', bound=TaggedError)


def redacted(error: K) -> K:
    """Give an error with its texts redacted at their full length, so that they may be cut; its cause stays."""
    shown = redact(error)
    return (
        replace(shown, cause=getattr(error, 'cause', None))
        if 'cause' in error.__struct_fields__
        else shown
    )


def direct_cause(error: TaggedError) -> Link | None:
    """Give what caused an error at once, if anything is known to have; safe to show."""
    return next(map(cause_link, causes(error)), None)


def all_causes(error: TaggedError) -> tuple[Link, ...]:
    """Give everything that led to an error, nearest first, without the error itself; safe to show."""
    return tuple(cause_link(one) for one in chain(error) if one is not error)


def cause_link(cause: TaggedError | BaseException) -> Link:
    if isinstance(cause, ReportedCause):
        return Link(safe_text(cause.type), safe_text(cause.message))
    if isinstance(cause, TaggedError):
        return Link(cause.tag, message_of(cause))
    return Link(type(cause).__name__, safe_text(safe_str(cause)))
