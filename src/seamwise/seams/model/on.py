"""Arms of the model seam: `on(NotFound).guides(type, suggestion=…)`."""

from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar, final, overload

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypeForm

from seamwise._errors.codec import error_classes
from seamwise._errors.errors import TaggedError
from seamwise.seams.adapter import Adapter, ArmBuilder
from seamwise.seams.model.shape import Guidance, Kind, tail
from seamwise.seams.rendering.errors import redacted, safe_public_message
from seamwise.seams.rendering.values import safe_text

K = TypeVar('K', bound=TaggedError)
K_contra = TypeVar('K_contra', bound=TaggedError, contravariant=True)

Text: TypeAlias = Callable[[K_contra], str | None]


class ModelArm(Struct, Generic[K], frozen=True):
    """Type, suggestion and output for one error class."""

    type: Kind
    suggestion: 'str | Text[K] | None' = None
    denied: bool = False
    output: 'Text[K] | None' = None
    large_fields: tuple[str, ...] = ()

    def __call__(self, error: K) -> Guidance:
        """Return the guidance for an error."""
        reduced = error
        if self.large_fields:
            reduced = replace(error, **dict.fromkeys(self.large_fields, ()))
        safe_error = redacted(reduced)
        suggestion = (
            self.suggestion(error if self.large_fields else safe_error)
            if callable(self.suggestion)
            else self.suggestion
        )
        path = _public_text_field(safe_error, 'path')
        return Guidance(
            status='denied' if self.denied else 'error',
            type=self.type,
            error_class=error.tag,
            message=safe_public_message(reduced),
            path=None if path is None else safe_text(path),
            suggestion=safe_text(suggestion) if suggestion else None,
            output=(self.output or _output_tail)(safe_error),
        )


def _output_tail(error: TaggedError) -> str | None:
    output = _public_text_field(error, 'output')
    return None if output is None else tail(output) or None


def _public_text_field(error: TaggedError, name: str) -> str | None:
    value: object = getattr(error, name, None)
    return value if isinstance(value, str) and name not in type(error).__traits__.internal else None


@final
class ModelArmBuilder(ArmBuilder[K, Guidance]):
    """Builder for the arm of one error class; `on` returns it."""

    __slots__ = ()

    def guides(
        self,
        type: Kind,  # noqa: A002 -- the key of the wire
        *,
        suggestion: 'str | Text[K] | None' = None,
        denied: bool = False,
        output: 'Text[K] | None' = None,
        large_fields: tuple[str, ...] = (),
    ) -> Adapter[K, Guidance]:
        """Declare the type and the suggestion of the error class.

        `path` of the guidance is the error's field of this name.

        Args:
            type: Type of the failure.
            suggestion: The next step in one or two sentences, or a function that returns it.
                Default: none.
            denied: Whether a rule or a person forbids the call.
            output: Returns the output for an error; it is not cut. Default: the last 4,000
                characters of the error's field `output`.
            large_fields: Fields with up to thousands of values, such as the names of all tools.
                They are not redacted; only `suggestion` receives them, and must redact the values
                that it shows.
        """
        return self._arm(ModelArm(type, suggestion, denied, output, large_fields))


@overload
def on(kind: type[K], /) -> ModelArmBuilder[K]: ...
@overload
def on(kind: TypeForm[K], /) -> ArmBuilder[K, Guidance]: ...
def on(kind: TypeForm[K], /) -> ArmBuilder[Any, Guidance]:
    """Return a builder for the arm of an error class: `on(NotFound).guides(type, suggestion=…)`.

    Combine arms with `|`. A union is accepted for `.hidden()` only: `on(A | B).hidden()` covers all
    of its members.

    >>> from seamwise import Category, TaggedError
    >>> class PageMissing(TaggedError, category=Category.NOT_FOUND, message='No page {page}.'):
    ...     page: int
    ...     last: int
    >>> table = on(PageMissing).guides(
    ...     'content_error', suggestion=lambda error: f'The last page is {error.last}.'
    ... )
    >>> table(PageMissing(9, last=7)).suggestion
    'The last page is 7.'
    """
    if isinstance(kind, type):
        return ModelArmBuilder((kind,), 'model')
    return ArmBuilder(error_classes(kind), 'model')
