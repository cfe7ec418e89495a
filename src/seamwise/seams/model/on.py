"""The model's verb: `on(Kind).guides(type, suggestion=…)`."""

from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar, final, overload

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypeForm

from seamwise.codec import error_classes
from seamwise.errors import TaggedError
from seamwise.seams._arm_builder import ArmBuilder
from seamwise.seams._common import message_of, safe_text
from seamwise.seams._redacted import redacted
from seamwise.seams.adapter import Adapter
from seamwise.seams.model.shape import Guidance, Kind, tail

K = TypeVar('K', bound=TaggedError)
K_contra = TypeVar('K_contra', bound=TaggedError, contravariant=True)

Text: TypeAlias = Callable[[K_contra], str | None]


class ModelArm(Struct, Generic[K], frozen=True):
    """The declared answer for a kind: its type, what to do next, and what of the error is its output."""

    type: Kind
    suggestion: 'str | Text[K] | None' = None
    denied: bool = False
    output: 'Text[K] | None' = None
    lists: tuple[str, ...] = ()

    def __call__(self, error: K) -> Guidance:
        """Make the guidance."""
        given = replace(error, **dict.fromkeys(self.lists, ())) if self.lists else error
        shown = redacted(given)
        suggestion = (
            self.suggestion(error if self.lists else shown)
            if callable(self.suggestion)
            else self.suggestion
        )
        path: object = getattr(shown, 'path', None)
        return Guidance(
            status='denied' if self.denied else 'error',
            type=self.type,
            error_class=error.tag,
            message=message_of(given),
            path=safe_text(path) if isinstance(path, str) else None,
            suggestion=safe_text(suggestion) if suggestion else None,
            output=(self.output or _output)(shown),
        )


def _output(error: TaggedError) -> str | None:
    output: object = getattr(error, 'output', None)
    return tail(output) or None if isinstance(output, str) else None


@final
class ModelArmBuilder(ArmBuilder[K, Guidance]):
    """One error class without a declared answer; `on` returns it."""

    __slots__ = ('_kind',)

    def __init__(self, kind: type[K]) -> None:
        super().__init__((kind,), 'model')
        self._kind = kind

    def guides(
        self,
        type: Kind,  # noqa: A002 -- the word of the wire
        *,
        suggestion: 'str | Text[K] | None' = None,
        denied: bool = False,
        output: 'Text[K] | None' = None,
        lists: tuple[str, ...] = (),
    ) -> Adapter[K, Guidance]:
        """Say the type, and what to do next in one or two sentences: a text, or a function of the error.

        `denied` is for what somebody has forbidden. `path` and `output` are the error's fields of these names;
        `output=` makes another output of the error, which is then not cut. `lists` names fields that may hold thousands of
        values, such as the names of all tools: only `suggestion` is then given them, unredacted, and redacts what it shows.
        """
        return Adapter({self._kind: ModelArm(type, suggestion, denied, output, lists)})


@overload
def on(kind: type[K], /) -> ModelArmBuilder[K]: ...
@overload
def on(kind: TypeForm[K], /) -> ArmBuilder[K, Guidance]: ...
def on(kind: TypeForm[K], /) -> ArmBuilder[K, Guidance]:
    """Name a kind of error; `.guides(type, suggestion=…)` says what a model is told, `|` adds more kinds.

    A union is accepted for `.hidden()` only: `on(A | B).hidden()` covers all of its members.

    >>> from seamwise import Category, TaggedError
    >>> class PageMissing(TaggedError, category=Category.NOT_FOUND, message='There is no page {page}.'):
    ...     page: int
    ...     last: int
    >>> table = on(PageMissing).guides('content_error', suggestion=lambda error: f'The last page is {error.last}.')
    >>> table(PageMissing(9, last=7)).suggestion
    'The last page is 7.'
    """
    if isinstance(kind, type):
        return ModelArmBuilder(kind)
    return ArmBuilder(error_classes(kind), 'model')
