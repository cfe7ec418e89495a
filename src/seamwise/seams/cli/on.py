"""The terminal's verb: `on(Kind).exits(code, hint=…)`."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Generic, TypeAlias, TypeVar, final, overload

from msgspec import Struct
from typing_extensions import TypeForm

from seamwise._close_matches import close_matches
from seamwise._text.escaping import escape
from seamwise._text.phrases import join_quoted
from seamwise.codec import error_classes
from seamwise.errors import TaggedError, retry_after
from seamwise.seams._arm_builder import ArmBuilder
from seamwise.seams._common import message_of, safe_text
from seamwise.seams._redacted import all_causes, redacted
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli.shape import Place, Rendered

K = TypeVar('K', bound=TaggedError)
K_contra = TypeVar('K_contra', bound=TaggedError, contravariant=True)

Hint: TypeAlias = Callable[[K_contra], str | Iterable[str] | None]
"""Makes what may help out of an error: one hint, several, or none."""

MOST_HINTS = 20
HIGHEST = 255


class CliArm(Struct, Generic[K], frozen=True):
    """The declared answer for a kind: its exit code, what may help, what was meant, and where in a file it stands."""

    code: int
    hint: 'str | Hint[K] | None' = None
    meant: Callable[[K], tuple[str, Iterable[str]]] | None = None
    place: Callable[[K], Place] | None = None

    def __call__(self, error: K) -> Rendered:
        """Render an error."""
        shown = redacted(error)
        given = self.hint(shown) if callable(self.hint) else self.hint
        place = self.place(shown) if self.place else None
        lines = [
            message_of(error),
            *_at(place),
            *_hints(given),
            *_wait(retry_after(error)),
            *_near(self._suggestions(shown)),
            *_causes(error),
        ]
        return Rendered('\n'.join(escape(safe_text(line)) for line in lines), self.code, place)

    def _suggestions(self, error: K) -> tuple[str, ...]:
        known: tuple[str, ...] = getattr(error, 'suggestions', ())
        return close_matches(*self.meant(error)) if self.meant and not known else known


def _at(place: Place | None) -> Iterator[str]:
    if place:
        yield f'at {place.path}:{place.line}:{place.column}'


def _wait(seconds: float | None) -> Iterator[str]:
    if seconds is not None:
        yield f'hint: try again in {seconds:g} s.' if seconds else 'hint: try again now.'


def _hints(given: str | Iterable[str] | None) -> Iterator[str]:
    hints = iter([given] if isinstance(given, str) else given or [])
    for hint in islice(hints, MOST_HINTS):
        yield f'hint: {hint}'
    more = sum(1 for _ in hints)
    if more:
        yield f'hint: … ({more} more)'


def _near(suggestions: tuple[str, ...]) -> Iterator[str]:
    if suggestions:
        yield f'did you mean {join_quoted(suggestions)}?'


def _causes(error: TaggedError) -> Iterator[str]:
    for cause in all_causes(error):
        yield (
            f'caused by: {cause.type}: {cause.message}'
            if cause.message
            else f'caused by: {cause.type}'
        )


@final
class CliArmBuilder(ArmBuilder[K, Rendered]):
    """One error class without a declared answer; `on` returns it."""

    __slots__ = ('_kind',)

    def __init__(self, kind: type[K]) -> None:
        super().__init__((kind,), 'cli')
        self._kind = kind

    def exits(
        self,
        code: int,
        *,
        hint: 'str | Hint[K] | None' = None,
        meant: Callable[[K], tuple[str, Iterable[str]]] | None = None,
        place: Callable[[K], Place] | None = None,
    ) -> Adapter[K, Rendered]:
        """Say the exit code, 1 to 255 (else a ValueError), and what may help: a text, or a function of the error.

        `meant` gives a name that may be misspelt and the names that there are; an error's own `suggestions` go first.
        `place` gives the place in a file that an error of configuration points to; `report` shows the line itself.
        """
        if not 0 < code <= HIGHEST:
            raise ValueError(
                f'{self._kind.__name__}: a failure exits with 1 to {HIGHEST}, not {code}.'
            )
        return Adapter({self._kind: CliArm(code, hint, meant, place)})


@overload
def on(kind: type[K], /) -> CliArmBuilder[K]: ...
@overload
def on(kind: TypeForm[K], /) -> ArmBuilder[K, Rendered]: ...
def on(kind: TypeForm[K], /) -> ArmBuilder[K, Rendered]:
    """Name a kind of error; `.exits(code, hint=…)` says how it looks at a terminal, `|` adds more kinds.

    The first line is the error's message; then come its place in a file, the hints, the delay of its `retry_after` (seconds),
    `did you mean` with its `suggestions` (texts), and its causes.

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
        return CliArmBuilder(kind)
    return ArmBuilder(error_classes(kind), 'cli')
