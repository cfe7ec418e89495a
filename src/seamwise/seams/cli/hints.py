"""What tables say alike: hints of one line each, out of what errors have in common."""

from collections.abc import Iterable, Iterator

from seamwise._text.phrases import truncate
from seamwise.catalog.problem import Problem
from seamwise.errors import TaggedError, retry_after

EXCERPT_LIMIT = 200
"""Of a text that may be long, a hint shows at most so many characters."""


def later(error: TaggedError) -> str | None:
    """Say to try again, where the error does not know when: a known delay is told of every error."""
    return 'try again later.' if retry_after(error) is None else None


def reads(text: str) -> str | None:
    """Show a text that is in trouble."""
    return f'it reads {truncate(text, EXCERPT_LIMIT)!r}' if text else None


def last_words(output: str) -> Iterator[str]:
    """Show what a command wrote last."""
    if lines := output.strip().splitlines():
        yield f'it last wrote {truncate(lines[-1], EXCERPT_LIMIT)!r}'


def places(problems: Iterable[Problem], *, whole: str) -> Iterator[str]:
    """Name every place that is wrong; `whole` is what a pointer to everything is called."""
    return (f'{one.pointer or whole}: {one.message}.' for one in problems)
