"""The planner's verb: `on(Kind).classifies(code)`."""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar, final

from msgspec import UNSET, Struct

from seamwise.errors import TaggedError
from seamwise.seams._common import message_of, milliseconds_or_none, public_fields, retry_after, safe_items
from seamwise.seams._redacted import direct_cause, redacted
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.planner.codes import ErrorCategory, ErrorCode
from seamwise.seams.planner.shape import ErrorInfo, Origin, with_origin

K = TypeVar('K', bound=TaggedError)
E = TypeVar('E')


class Classifies(Struct, Generic[K], frozen=True):
    """The declared answer for a kind: its code, and what its `details` are, default its public fields."""

    code: ErrorCode
    details: Callable[[K], Mapping[str, object]] | None = None

    def __call__(self, error: K) -> ErrorInfo:
        """Classify an error."""
        category = self.code.category
        info = ErrorInfo(
            code=self.code,
            category=category,
            message=message_of(error),
            retryable=error.retryable if category is ErrorCategory.EXECUTION else category.retryable,
            retry_after_ms=milliseconds_or_none(retry_after(error)),
            details=safe_items(dict(self.details(redacted(error)))) if self.details else _fields(error),
        )
        return with_origin(info, Origin(error.tag, direct_cause(error) or UNSET))


_WIRE_NAMES = {'tool': 'tool_name', 'server': 'server_name'}


def _fields(error: TaggedError) -> dict[str, object]:
    """Give the public fields that say something, under the names that the wire has for them."""
    return {_WIRE_NAMES.get(name, name): value for name, value in public_fields(error).items() if value not in (None, [])}


@final
class On(Generic[K]):
    """One kind of error, still without an answer; `on` makes it."""

    __slots__ = ('_kind',)

    def __init__(self, kind: type[K]) -> None:
        self._kind = kind

    def classifies(self, code: ErrorCode | str, *, details: Callable[[K], Mapping[str, object]] | None = None) -> Adapter[K, ErrorInfo]:
        """Say the code, one of 19 (another is a ValueError); `details` default to the public fields that say something."""
        return Adapter({self._kind: Classifies(ErrorCode(code), details)})

    def hidden(self) -> Adapter[K, ErrorInfo]:
        """Say that this kind never reaches a planner; one that does is a defect."""
        return Adapter({self._kind: Hidden(self._kind, 'planner')})


def on(kind: type[K], /) -> On[K]:
    """Name a kind of error; `.classifies(code)` says what it is to a planner, `|` adds more kinds.

    >>> from seamwise import Category, TaggedError
    >>> class QueueFull(TaggedError, category=Category.CAPACITY, message='{queue} is full.'):
    ...     queue: str
    ...     retry_after: float
    >>> on(QueueFull).classifies('BULKHEAD_FULL')(QueueFull('mail', 0.5)).retry_after_ms
    500
    """
    return On(kind)


def from_error(error: E, *, adapter: Callable[[E], ErrorInfo]) -> ErrorInfo:
    """Classify an error of the union that `adapter` covers."""
    return adapter(error)
