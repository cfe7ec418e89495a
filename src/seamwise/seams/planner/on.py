"""Arms of the planner seam: `on(NotFound).classifies(code)`."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, final, overload

from msgspec import UNSET, Struct
from typing_extensions import TypeForm

from seamwise._errors.codec import error_classes
from seamwise._errors.errors import TaggedError, retry_after
from seamwise.redaction.settings import current
from seamwise.seams.adapter import Adapter, ArmBuilder
from seamwise.seams.planner.codes import ErrorCategory, ErrorCode
from seamwise.seams.planner.shape import ErrorInfo, Origin, with_origin
from seamwise.seams.rendering.errors import direct_cause, redacted, safe_message
from seamwise.seams.rendering.render_cache import RenderCache
from seamwise.seams.rendering.values import milliseconds, safe_items
from seamwise.seams.rendering.views import full_view

K = TypeVar('K', bound=TaggedError)

_WIRE_NAMES = {'tool': 'tool_name', 'server': 'server_name'}
"""Keys of the wire for fields of all errors."""


class PlannerArm(Struct, Generic[K], frozen=True):
    """Code and details for one error class."""

    code: ErrorCode
    details: Callable[[K], Mapping[str, object]] | None
    names: Mapping[str, str]
    cache: RenderCache[ErrorInfo]

    def __call__(self, error: K) -> ErrorInfo:
        """Classify an error."""
        settings = current()
        info = self.cache.get(error, settings)
        if info is None:
            info = self._classify(error)
            if self.details is None and _is_unredacted(error, info):
                self.cache.put(error, info, settings)
        return info.copy()

    def _classify(self, error: K) -> ErrorInfo:
        if self.details:
            info = self._info(
                error, safe_message(error), safe_items(dict(self.details(redacted(error))))
            )
        else:
            message, fields = full_view(error)
            info = self._info(error, message, _rename_fields(fields, self.names))
        return with_origin(info, Origin(error.tag, direct_cause(error) or UNSET))

    def _info(self, error: K, message: str, details: dict[str, object]) -> ErrorInfo:
        category = self.code.category
        retryable = error.retryable if category is ErrorCategory.EXECUTION else category.retryable
        seconds = retry_after(error)
        if seconds is None:
            return ErrorInfo(self.code, category, message, retryable, None, details)
        delay_ms = milliseconds(seconds)
        # The remaining time of a guard has as many digits as its clock.
        name = self.names.get('retry_after', 'retry_after')
        if details.get(name) == seconds:
            details[name] = delay_ms / 1000
        details['retry_after_ms'] = delay_ms
        return ErrorInfo(self.code, category, message, retryable, delay_ms, details)


def _is_unredacted(error: TaggedError, info: ErrorInfo) -> bool:
    """Return whether all texts of an error are in its info unchanged, so that it can be cached."""
    detail_texts = {value for value in info.details.values() if type(value) is str}
    values = (getattr(error, name) for name in error.__struct_fields__)
    return info.message == str(error) and all(
        value in detail_texts for value in values if type(value) is str
    )


def _rename_fields(fields: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    """Return the fields that are not empty, under their names on the wire."""
    return {
        names.get(name, name): value for name, value in fields.items() if value not in (None, [])
    }


@final
class PlannerArmBuilder(ArmBuilder[K, ErrorInfo]):
    """Builder for the arm of one error class; `on` returns it."""

    __slots__ = ()

    def classifies(
        self,
        code: ErrorCode | str,
        *,
        details: Callable[[K], Mapping[str, object]] | None = None,
        names: Mapping[str, str] | None = None,
    ) -> Adapter[K, ErrorInfo]:
        """Declare the code of the error class.

        Args:
            code: One of the 19 codes.
            details: Returns the details of an error. Default: its public fields that are not
                empty, and `retry_after_ms` if it has a delay.
            names: Keys of fields in the details, if they differ from the names of the fields.
                `tool` is always `tool_name`, and `server` is `server_name`.

        Raises:
            ValueError: The code is unknown.
        """
        wire_names = {**_WIRE_NAMES, **(names or {})}
        arm = PlannerArm(ErrorCode(code), details, wire_names, RenderCache())
        return self._arm(arm)


@overload
def on(kind: type[K], /) -> PlannerArmBuilder[K]: ...
@overload
def on(kind: TypeForm[K], /) -> ArmBuilder[K, ErrorInfo]: ...
def on(kind: TypeForm[K], /) -> ArmBuilder[Any, ErrorInfo]:
    """Return a builder for the arm of an error class: `on(NotFound).classifies(code)`.

    Combine arms with `|`. A union is accepted for `.hidden()` only: `on(A | B).hidden()` covers all
    of its members.

    >>> from seamwise import Category, TaggedError
    >>> class QueueFull(TaggedError, category=Category.CAPACITY, message='{queue} is full.'):
    ...     queue: str
    ...     retry_after: float
    >>> on(QueueFull).classifies('BULKHEAD_FULL')(QueueFull('mail', 0.5)).retry_after_ms
    500
    """
    if isinstance(kind, type):
        return PlannerArmBuilder((kind,), 'planner')
    return ArmBuilder(error_classes(kind), 'planner')
