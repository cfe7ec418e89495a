"""The errors and seams that a word means."""

from collections.abc import Iterable

from seamwise._close_matches import close_matches
from seamwise.check.map.graph import Error, Graph, Seam
from seamwise.containers import Failure, Result, Success


def errors_named(graph: Graph, word: str) -> Result[tuple[Error, ...], tuple[str, ...]]:
    """Give the errors whose class, tag or full name a word is, or the nearest names.

    The end of a full name will do (`errors.NoSuchOrder`). Where none fits exactly, upper and lower case are the same.
    """
    same = tuple(one for one in graph.errors if _is_named(one.name, one.tag, word))
    if same:
        return Success(same)
    folded = word.casefold()
    alike = tuple(
        one for one in graph.errors if _is_named(one.name.casefold(), one.tag.casefold(), folded)
    )
    if alike:
        return Success(alike)
    return Failure(close_matches(word, _words(graph.errors)))


def _is_named(name: str, tag: str, word: str) -> bool:
    return word == tag or f'.{name}'.endswith(f'.{word}')


def _words(errors: Iterable[Error]) -> list[str]:
    return sorted(
        {word for one in errors for word in (one.tag, one.name, one.name.rpartition('.')[2])}
    )


def seam_named(graph: Graph, word: str) -> Result[Seam, tuple[str, ...]]:
    """Give the seam of a name, or the names that there are."""
    found = next((one for one in graph.seams if one.name.casefold() == word.casefold()), None)
    return Success(found) if found else Failure(tuple(one.name for one in graph.seams))
