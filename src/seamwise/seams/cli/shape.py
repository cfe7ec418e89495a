"""Shape of the CLI seam: a text for the terminal and an exit code (sysexits.h)."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from seamwise._errors.errors import TaggedError, retry_after
from seamwise._errors.texts import catalogue, message_of
from seamwise._runtime.source_excerpt import Place
from seamwise._text.close_matches import close_matches
from seamwise._text.escaping import escape
from seamwise._text.phrases import join_quoted
from seamwise._text.shortening import shorten
from seamwise.redaction import redact
from seamwise.seams.rendering.errors import all_causes, redacted
from seamwise.seams.reporting.request_context import current_locale

if TYPE_CHECKING:
    from logging import Logger

DEFECT_TEXT = 'INTERNAL: the program met an unexpected condition.'
DEFECT_EXIT_CODE = 70
LATER_MESSAGE = 'try again later.'
DELAY_MESSAGE = 'try again in {seconds:g} s.'
NO_DELAY_MESSAGE = 'try again now.'

MAX_HINTS = 20
MAX_EXIT_CODE = 255


class Rendered(Struct, frozen=True, omit_defaults=True):
    """A text that is safe to print, and an exit code from 0 to 255.

    The text does not end with a line break. `place` is the position that a configuration error
    points to; the text contains it too. `of` builds the text for a tagged error.
    """

    text: str
    exit_code: int
    place: Place | None = None

    @staticmethod
    def of(
        error: TaggedError,
        *,
        exit_code: int,
        hint: str | Iterable[str] | None = None,
        lookup: tuple[str, Iterable[str]] | None = None,
        place: Place | None = None,
    ) -> 'Rendered':
        """Return the text and the exit code for an error, as `on(…).exits(code)` does.

        The text consists of the message of the error, its position in a file, the hints, its delay,
        `did you mean` with its suggestions, and its causes.

        >>> from seamwise.catalog.storage import RecordNotFound
        >>> print(Rendered.of(RecordNotFound('user', '7'), exit_code=66, hint='list them.').text)
        There is no user '7'.
        hint: list them.

        Args:
            error: The error.
            exit_code: Exit code from 1 to 255.
            hint: One hint or several. They are translated if a message catalog contains them.
            lookup: An unknown name and the available names, between which close matches are
                searched if the error has no `suggestions`.
            place: The position in a file that the error points to.

        Raises:
            ValueError: The exit code is out of range.
        """
        check_exit_code(type(error), exit_code)
        return rendered(error, exit_code, hint=hint, lookup=lookup, place=place)


def rendered(
    error: TaggedError,
    exit_code: int,
    *,
    hint: str | Iterable[str] | None,
    lookup: tuple[str, Iterable[str]] | None,
    place: Place | None,
) -> Rendered:
    """Return the text for an error like `Rendered.of`, without a check of the exit code."""
    lines = [
        message_of(redacted(error), current_locale()),
        *_place_line(place),
        *_hint_lines(hint),
        *_delay_hint(retry_after(error)),
        *_suggestion_line(_suggestions(error, lookup)),
        *_cause_lines(error),
    ]
    # Not `safe_text`, which replaces the bytes of paths that are not UTF-8.
    text = '\n'.join(escape(shorten(redact(line))) for line in lines)
    return Rendered(text, exit_code, place)


def check_exit_code(kind: type, exit_code: int) -> None:
    """Check that an exit code is that of a failure; raise a ValueError for any other one."""
    if not 0 < exit_code <= MAX_EXIT_CODE:
        raise ValueError(
            f'{kind.__name__}: the exit code of a failure must be 1 to {MAX_EXIT_CODE}, '
            f'not {exit_code}.'
        )


def _suggestions(error: TaggedError, lookup: tuple[str, Iterable[str]] | None) -> tuple[str, ...]:
    if getattr(error, 'suggestions', ()):
        suggestions: tuple[str, ...] = getattr(redacted(error), 'suggestions', ())
        return suggestions
    return () if lookup is None else close_matches(*lookup)


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


def defect(ref: str, *, log: 'Logger | None' = None) -> Rendered:
    """Return the text for a defect: its reference, and the log that has the details.

    Args:
        ref: The reference of the defect, from `report_defect`.
        log: The logger that was passed to `report_defect`. Default: `seamwise`.

    >>> import logging, sys
    >>> logger = logging.Logger('docs')
    >>> logger.addHandler(logging.StreamHandler(sys.__stderr__))
    >>> print(defect('err_2f4ad7qz', log=logger).text)
    INTERNAL: the program met an unexpected condition.
    hint: the log on standard error says more about err_2f4ad7qz.
    """
    from logging import getLogger  # noqa: PLC0415 -- defects are rare

    from seamwise.seams.cli.log_location import log_location  # noqa: PLC0415 -- as above

    location = log_location(log or getLogger('seamwise'))
    hint = (
        f'no log is configured; logging.basicConfig(filename=…) keeps the details of {ref}.'
        if location is None
        else f'the log {location} says more about {ref}.'
    )
    return Rendered(f'{DEFECT_TEXT}\nhint: {hint}', DEFECT_EXIT_CODE)
