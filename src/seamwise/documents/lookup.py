"""The words by which a kind of error is known: its tag, its class, and its codes at the seams."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

from seamwise.documents.seams import arms
from seamwise.documents.unions import UNION_OF
from seamwise.errors import TaggedError


class Match(Struct, frozen=True):
    """What a word is to a kind: `tag`, `class`, or `http code` and the like."""

    kind: type[TaggedError]
    role: str


def lookup(word: str) -> tuple[Match, ...]:
    """Give the kinds that a word stands for, each once, in the order of the catalogue; upper and lower case aside.

    >>> [(one.kind.__name__, one.role) for one in lookup('file_not_found')]
    [('FileNotFound', 'http code')]
    """
    return tuple({one.kind: one for one in reversed(_index().get(word.casefold(), ()))}.values())[
        ::-1
    ]


def words() -> tuple[str, ...]:
    """Give every word that there is, as it is written."""
    return tuple(dict.fromkeys(word for kind in UNION_OF for word, _ in _words(kind)))


@lru_cache(maxsize=1)
def _index() -> Mapping[str, tuple[Match, ...]]:
    index: dict[str, tuple[Match, ...]] = {}
    for kind in UNION_OF:
        for word, role in _words(kind):
            index[word.casefold()] = (*index.get(word.casefold(), ()), Match(kind, role))
    return index


def _words(kind: type[TaggedError]) -> Iterator[tuple[str, str]]:
    yield kind.__traits__.tag, 'tag'
    yield kind.__name__, 'class'
    for arm in arms(kind):
        code: object = getattr(arm.declared, 'code', None)
        if code is not None:
            yield str(code), 'exit code' if arm.seam == 'cli' else f'{arm.seam} code'
