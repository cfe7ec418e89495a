"""Lookup of error classes by tag, class name, union, category, or a word of any seam."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from msgspec import Struct

from seamwise._errors.errors import TaggedError
from seamwise.documents.error_catalog import ErrorCatalog

GROUPS = frozenset(
    ('category', 'event', 'exit code', 'http status', 'model type', 'recovery', 'union')
)
"""Roles of words that mean a group of errors, even if only one error belongs to it."""


class Match(Struct, frozen=True):
    """An error class that a word refers to, and the role of the word, e.g. `tag` or `http code`."""

    kind: type[TaggedError]
    role: str


class Index:
    """The words of a catalog of errors.

    An exact spelling wins: `RATE_LIMIT` is a code of HTTP, `rate_limit` a category. Otherwise, case
    is ignored.

    >>> from seamwise.documents.library import library_catalog
    >>> index = Index(library_catalog())
    >>> [(match.kind.__name__, match.role) for match in index.lookup('file_not_found')]
    [('FileNotFound', 'http code')]
    """

    def __init__(self, catalog: ErrorCatalog) -> None:
        self._exact: defaultdict[str, list[Match]] = defaultdict(list)
        self._folded: defaultdict[str, list[Match]] = defaultdict(list)
        for kind in catalog.kinds:
            for word, role in _words_of(kind, catalog):
                self._exact[word].append(Match(kind, role))
                self._folded[word.casefold()].append(Match(kind, role))

    def lookup(self, word: str) -> tuple[Match, ...]:
        """Return the error classes that a word refers to, each once."""
        matches = self._exact.get(word) or self._folded.get(word.casefold(), [])
        first_matches: dict[type[TaggedError], Match] = {}
        for match in matches:
            first_matches.setdefault(match.kind, match)
        return tuple(first_matches.values())

    def words(self) -> tuple[str, ...]:
        """Return all words, in their usual spelling."""
        return tuple(self._exact)


def _words_of(kind: type[TaggedError], catalog: ErrorCatalog) -> Iterator[tuple[str, str]]:
    yield kind.__traits__.tag, 'tag'
    yield kind.__name__, 'class'
    yield f'{kind.__module__}.{kind.__qualname__}', 'class'
    for arm in catalog.arms_of(kind):
        for attribute, role in _WORDS_OF_ARMS[arm.seam].items():
            value: object = getattr(arm.declared, attribute, None)
            if value is not None:
                yield str(value), role
    yield kind.__traits__.category.value, 'category'
    yield kind.__traits__.recovery.value, 'recovery'
    yield from ((name, 'union') for name, kinds in catalog.unions.items() if kind in kinds)


_WORDS_OF_ARMS: Mapping[str, Mapping[str, str]] = {
    'cli': {'code': 'exit code'},
    'http': {'code': 'http code', 'status': 'http status'},
    'session': {'code': 'session code', 'event': 'event'},
    'model': {'type': 'model type'},
    'planner': {'code': 'planner code'},
    'jsonrpc': {'code': 'jsonrpc code'},
}
