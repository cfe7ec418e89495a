"""Hints that several errors share."""

from collections.abc import Iterable, Iterator

from seamwise._errors.errors import TaggedError, retry_after
from seamwise._text.phrases import truncate
from seamwise.catalog.problem import Problem

LATER_MESSAGE = 'try again later.'

EXCERPT_LIMIT = 200
"""In characters. Longer texts are cut in a hint."""


def retry_later_hint(error: TaggedError) -> str | None:
    """Return the hint to retry later, or None if the delay is known.

    A known delay becomes a hint for every error, so that tables need not repeat it.
    """
    return LATER_MESSAGE if retry_after(error) is None else None


def excerpt_hint(text: str) -> str | None:
    """Return a hint with the text that could not be read, or None if it is empty."""
    return f'the text is {truncate(text, EXCERPT_LIMIT)!r}' if text else None


def last_line_hint(output: str) -> Iterator[str]:
    """Yield a hint with the last line of a command's output, if there is one."""
    if lines := output.strip().splitlines():
        yield f'the last line of its output is {truncate(lines[-1], EXCERPT_LIMIT)!r}'


def problem_hints(problems: Iterable[Problem], *, whole: str) -> Iterator[str]:
    """Yield one hint per problem; `whole` replaces an empty pointer."""
    return (f'{problem.pointer or whole}: {problem.message}.' for problem in problems)
