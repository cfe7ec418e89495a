"""Arms of the CLI seam: `on(NotFound).exits(code, hint=…)`."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Generic, TypeAlias, TypeVar, final, overload

from msgspec import Struct
from typing_extensions import TypeForm

from seamwise._errors.codec import error_classes
from seamwise._errors.errors import TaggedError, retry_after
from seamwise._errors.texts import catalogue
from seamwise._runtime.source_excerpt import Place
from seamwise._text.close_matches import close_matches
from seamwise._text.escaping import escape
from seamwise._text.phrases import join_quoted
from seamwise.seams.adapter import Adapter, ArmBuilder
from seamwise.seams.cli.shape import Rendered
from seamwise.seams.rendering.errors import all_causes, redacted, safe_message
from seamwise.seams.rendering.values import safe_text
from seamwise.seams.reporting.request_context import current_locale

K = TypeVar('K', bound=TaggedError)
K_contra = TypeVar('K_contra', bound=TaggedError, contravariant=True)

Hint: TypeAlias = Callable[[K_contra], str | Iterable[str] | None]
"""Returns one hint, several or none for an error."""

Lookup: TypeAlias = Callable[[K_contra], tuple[str, Iterable[str]]]
"""Returns an unknown name and the available names, between which close matches are searched."""

DELAY_MESSAGE = 'try again in {seconds:g} s.'
NO_DELAY_MESSAGE = 'try again now.'

MAX_HINTS = 20
MAX_EXIT_CODE = 255


class CliArm(Struct, Generic[K], frozen=True):
    """Exit code, hints, name lookup and file position for one error class."""

    code: int
    hint: 'str | Hint[K] | None' = None
    lookup: 'Lookup[K] | None' = None
    place: Callable[[K], Place | None] | None = None

    def __call__(self, error: K) -> Rendered:
        """Render an error."""
        safe_error = redacted(error)
        hint = self.hint(safe_error) if callable(self.hint) else self.hint
        place = self.place(safe_error) if self.place else None
        lines = [
            safe_message(error, current_locale()),
            *_place_line(place),
            *_hint_lines(hint),
            *_delay_hint(retry_after(error)),
            *_suggestion_line(self._suggestions(safe_error)),
            *_cause_lines(error),
        ]
        return Rendered('\n'.join(escape(safe_text(line)) for line in lines), self.code, place)

    def _suggestions(self, error: K) -> tuple[str, ...]:
        suggestions: tuple[str, ...] = getattr(error, 'suggestions', ())
        if self.lookup is None or suggestions:
            return suggestions
        return close_matches(*self.lookup(error))


def _place_line(place: Place | None) -> Iterator[str]:
    if place:
        yield f'at {place.path}:{place.line}:{place.column}'


def _delay_hint(seconds: float | None) -> Iterator[str]:
    if seconds is not None:
        hint = DELAY_MESSAGE if seconds else NO_DELAY_MESSAGE
        yield f'hint: {_translated(hint).format(seconds=seconds)}'


def _hint_lines(hint: str | Iterable[str] | None) -> Iterator[str]:
    hints = iter([hint] if isinstance(hint, str) else hint or [])
    for text in islice(hints, MAX_HINTS):
        yield f'hint: {_translated(text)}'
    omitted = sum(1 for _ in hints)
    if omitted:
        yield f'hint: … ({omitted} more)'


def _translated(hint: str) -> str:
    """Return a hint in the language of the reader; a text without a translation is unchanged."""
    locale = current_locale()
    return hint if locale == 'en' or not hint else catalogue(locale).gettext(hint)


def _suggestion_line(suggestions: tuple[str, ...]) -> Iterator[str]:
    if suggestions:
        yield f'did you mean {join_quoted(suggestions)}?'


def _cause_lines(error: TaggedError) -> Iterator[str]:
    for cause in all_causes(error):
        message = f': {cause.message}' if cause.message else ''
        yield f'caused by: {cause.type}{message}'


@final
class CliArmBuilder(ArmBuilder[K, Rendered]):
    """Builder for the arm of one error class; `on` returns it."""

    __slots__ = ('_kind',)

    def __init__(self, kind: type[K]) -> None:
        super().__init__((kind,), 'cli')
        self._kind = kind

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
        if not 0 < code <= MAX_EXIT_CODE:
            raise ValueError(
                f'{self._kind.__name__}: the exit code of a failure must be 1 to {MAX_EXIT_CODE}, '
                f'not {code}.'
            )
        return Adapter({self._kind: CliArm(code, hint, lookup, place)})


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
        return CliArmBuilder(kind)
    return ArmBuilder(error_classes(kind), 'cli')
