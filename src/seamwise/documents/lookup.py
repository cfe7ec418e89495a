"""Lookup of error classes by tag, class name, or a code of any seam."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

from seamwise.documents.seams import arms_of
from seamwise.documents.unions import UNION_OF
from seamwise.errors import TaggedError, iter_registered


class Match(Struct, frozen=True):
    """An error class that a word refers to, and the role of the word, e.g. `tag` or `http code`."""

    kind: type[TaggedError]
    role: str


def lookup(word: str) -> tuple[Match, ...]:
    """Return the error classes that a word refers to, each once; case is ignored.

    >>> [(match.kind.__name__, match.role) for match in lookup('file_not_found')]
    [('FileNotFound', 'http code')]
    """
    first_matches: dict[type[TaggedError], Match] = {}
    for match in _index().get(word.casefold(), ()):
        first_matches.setdefault(match.kind, match)
    return tuple(first_matches.values())


def errors_in_module(module: str) -> tuple[type[TaggedError], ...]:
    """Return the error classes that an imported module or package defines."""
    return tuple(
        kind for kind in iter_registered() if f'{kind.__module__}.'.startswith(f'{module}.')
    )


def known_words() -> tuple[str, ...]:
    """Return all words that `lookup` finds, in their usual spelling."""
    return tuple(dict.fromkeys(word for kind in UNION_OF for word, _ in _words_of(kind)))


@lru_cache(maxsize=1)
def _index() -> Mapping[str, tuple[Match, ...]]:
    index: dict[str, tuple[Match, ...]] = {}
    for kind in UNION_OF:
        for word, role in _words_of(kind):
            index[word.casefold()] = (*index.get(word.casefold(), ()), Match(kind, role))
    return index


def _words_of(kind: type[TaggedError]) -> Iterator[tuple[str, str]]:
    yield kind.__traits__.tag, 'tag'
    yield kind.__name__, 'class'
    for arm in arms_of(kind):
        code: object = getattr(arm.declared, 'code', None)
        if code is not None:
            yield str(code), 'exit code' if arm.seam == 'cli' else f'{arm.seam} code'
