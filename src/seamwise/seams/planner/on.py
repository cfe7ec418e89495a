"""The planner's verb: `on(Kind).classifies(code)`."""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar, final, overload

from msgspec import UNSET, Struct
from typing_extensions import TypeForm

from seamwise.codec import error_classes
from seamwise.errors import TaggedError, retry_after
from seamwise.seams._arm_builder import ArmBuilder
from seamwise.seams._common import message_of, milliseconds, safe_items
from seamwise.seams._public_view import public_view
from seamwise.seams._redacted import direct_cause, redacted
from seamwise.seams._render_cache import RenderCache
from seamwise.seams.adapter import Adapter
from seamwise.seams.planner.codes import ErrorCategory, ErrorCode
from seamwise.seams.planner.shape import ErrorInfo, Origin, with_origin

K = TypeVar('K', bound=TaggedError)
E = TypeVar('E')

_WIRE_NAMES = {'tool': 'tool_name', 'server': 'server_name'}
"""What the wire calls a field wherever it stands."""


class PlannerArm(Struct, Generic[K], frozen=True):
    """The declared answer for a kind: its code, and what its `details` are, default its public fields."""

    code: ErrorCode
    details: Callable[[K], Mapping[str, object]] | None
    names: Mapping[str, str]
    known: RenderCache[ErrorInfo]

    def __call__(self, error: K) -> ErrorInfo:
        """Classify an error."""
        info = self.known.get(error)
        if info is None:
            info = self._looked_at(error)
            if self.details is None and _is_whole(error, info):
                self.known.put(error, info)
        return info.twin()

    def _looked_at(self, error: K) -> ErrorInfo:
        if self.details:
            info = self._info(
                error, message_of(error), safe_items(dict(self.details(redacted(error))))
            )
        else:
            message, fields = public_view(error)
            info = self._info(error, message, _named(fields, self.names))
        return with_origin(info, Origin(error.tag, direct_cause(error) or UNSET))

    def _info(self, error: K, message: str, details: dict[str, object]) -> ErrorInfo:
        category = self.code.category
        retryable = error.retryable if category is ErrorCategory.EXECUTION else category.retryable
        seconds = retry_after(error)
        if seconds is None:
            return ErrorInfo(self.code, category, message, retryable, None, details)
        delay_ms = milliseconds(seconds)
        details['retry_after_ms'] = delay_ms
        return ErrorInfo(self.code, category, message, retryable, delay_ms, details)


def _is_whole(error: TaggedError, info: ErrorInfo) -> bool:
    """Whether every text of an error stands in its answer as it is."""
    there = {value for value in info.details.values() if type(value) is str}
    texts = (getattr(error, name) for name in error.__struct_fields__)
    return info.message == str(error) and all(text in there for text in texts if type(text) is str)


def _named(fields: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    """Give the fields that say something, under the names that the wire has for them."""
    return {
        names.get(name, name): value for name, value in fields.items() if value not in (None, [])
    }


@final
class PlannerArmBuilder(ArmBuilder[K, ErrorInfo]):
    """One error class without a declared answer; `on` returns it."""

    __slots__ = ('_kind',)

    def __init__(self, kind: type[K]) -> None:
        super().__init__((kind,), 'planner')
        self._kind = kind

    def classifies(
        self,
        code: ErrorCode | str,
        *,
        details: Callable[[K], Mapping[str, object]] | None = None,
        names: Mapping[str, str] | None = None,
    ) -> Adapter[K, ErrorInfo]:
        """Say the code, one of 19 (another is a ValueError).

        `details` default to the public fields that say something; `names` says what a field is called in them, where
        it is not what it is called in the error, `tool_name` for `tool` or `server_name` for `server`. An error with a
        delay has its `retry_after_ms` in them too.
        """
        kind, wire_names = self._kind, {**_WIRE_NAMES, **(names or {})}
        known = ErrorCode(code)
        return Adapter({kind: PlannerArm(known, details, wire_names, RenderCache())})


@overload
def on(kind: type[K], /) -> PlannerArmBuilder[K]: ...
@overload
def on(kind: TypeForm[K], /) -> ArmBuilder[K, ErrorInfo]: ...
def on(kind: TypeForm[K], /) -> ArmBuilder[K, ErrorInfo]:
    """Name a kind of error; `.classifies(code)` says what it is to a planner, `|` adds more kinds.

    A union is accepted for `.hidden()` only: `on(A | B).hidden()` covers all of its members.

    >>> from seamwise import Category, TaggedError
    >>> class QueueFull(TaggedError, category=Category.CAPACITY, message='{queue} is full.'):
    ...     queue: str
    ...     retry_after: float
    >>> on(QueueFull).classifies('BULKHEAD_FULL')(QueueFull('mail', 0.5)).retry_after_ms
    500
    """
    if isinstance(kind, type):
        return PlannerArmBuilder(kind)
    return ArmBuilder(error_classes(kind), 'planner')


def from_error(error: E, *, adapter: Callable[[E], ErrorInfo]) -> ErrorInfo:
    """Classify an error of the union that `adapter` covers.

    >>> from seamwise.catalog.tools import ToolTimedOut
    >>> from seamwise.seams.planner.tables import TOOLS
    >>> from_error(ToolTimedOut('search', 30.0, 3), adapter=TOOLS).details
    {'tool_name': 'search', 'timeout': 30.0, 'attempts': 3}
    """
    return adapter(error)
