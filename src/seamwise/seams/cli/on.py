"""Arms of the CLI seam: `on(NotFound).exits(code, hint=…)`."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeAlias, TypeVar, final, overload

from msgspec import Struct
from typing_extensions import TypeForm

from seamwise._errors.codec import error_classes
from seamwise._errors.errors import TaggedError
from seamwise._runtime.source_excerpt import Place
from seamwise.seams.adapter import Adapter, ArmBuilder
from seamwise.seams.cli.shape import Rendered, check_exit_code, rendered
from seamwise.seams.rendering.errors import redacted

K = TypeVar('K', bound=TaggedError)
K_contra = TypeVar('K_contra', bound=TaggedError, contravariant=True)

Hint: TypeAlias = Callable[[K_contra], str | Iterable[str] | None]
"""Returns one hint, several or none for an error."""

Lookup: TypeAlias = Callable[[K_contra], tuple[str, Iterable[str]]]
"""Returns an unknown name and the available names, between which close matches are searched."""


class CliArm(Struct, Generic[K], frozen=True):
    """Exit code, hints, name lookup and file position for one error class."""

    code: int
    hint: 'str | Hint[K] | None' = None
    lookup: 'Lookup[K] | None' = None
    place: Callable[[K], Place | None] | None = None

    def __call__(self, error: K) -> Rendered:
        """Render an error."""
        safe_error = redacted(error)
        needs_lookup = self.lookup is not None and not getattr(error, 'suggestions', ())
        return rendered(
            error,
            self.code,
            hint=self.hint(safe_error) if callable(self.hint) else self.hint,
            lookup=self.lookup(safe_error) if self.lookup and needs_lookup else None,
            place=self.place(safe_error) if self.place else None,
        )


@final
class CliArmBuilder(ArmBuilder[K, Rendered]):
    """Builder for the arm of one error class; `on` returns it."""

    __slots__ = ()

    def exits(
        self,
        code: int,
        *,
        hint: 'str | Hint[K] | None' = None,
        lookup: 'Lookup[K] | None' = None,
        place: Callable[[K], Place | None] | None = None,
    ) -> Adapter[K, Rendered]:
        """Declare the exit code and the hints of the error class.

        Args:
            code: Exit code from 1 to 255.
            hint: A hint, or a function that returns one or several for an error. Default: none.
            lookup: Returns an unknown name and the available names. It is used to suggest close
                matches if the error has no `suggestions`.
            place: Returns the position in a file that the error points to, or None; `report` shows
                the line.

        Raises:
            ValueError: The exit code is out of range.
        """
        check_exit_code(self._kinds[0], code)
        return self._arm(CliArm(code, hint, lookup, place))


@overload
def on(kind: type[K], /) -> CliArmBuilder[K]: ...
@overload
def on(kind: TypeForm[K], /) -> ArmBuilder[K, Rendered]: ...
def on(kind: TypeForm[K], /) -> ArmBuilder[Any, Rendered]:
    """Return a builder for the arm of an error class: `on(NotFound).exits(code, hint=…)`.

    Combine arms with `|`. The rendered text consists of the error's message, its position in a
    file, the hints, the delay of its `retry_after` in seconds, `did you mean` with its
    `suggestions`, and its causes. `report` translates the message, and the hints that are in a
    message catalog.

    A union is accepted for `.hidden()` only: `on(A | B).hidden()` covers all of its members.

    >>> from seamwise import Category, TaggedError
    >>> class PortTaken(TaggedError, category=Category.CONFLICT, message='Port {port} is taken.'):
    ...     port: int
    >>> table = on(PortTaken).exits(69, hint=lambda error: f'try {error.port + 1}.')
    >>> print(table(PortTaken(8080)).text)
    Port 8080 is taken.
    hint: try 8081.
    """
    if isinstance(kind, type):
        return CliArmBuilder((kind,), 'cli')
    return ArmBuilder(error_classes(kind), 'cli')
