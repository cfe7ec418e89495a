"""Look-up of errors and seams by the names that a user types."""

from collections.abc import Iterable

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.close_matches import close_matches
from seamwise.check.map.graph import ErrorNode, Graph, SeamNode


def find_errors(graph: Graph, name: str) -> Result[tuple[ErrorNode, ...], tuple[str, ...]]:
    """Return the errors with a class name, tag or full name; fail with similar names.

    The end of a full name is sufficient (`errors.NoSuchOrder`). If no name matches exactly, upper
    and lower case are ignored.
    """
    exact = tuple(error for error in graph.errors if _matches(error.name, error.tag, name))
    if exact:
        return Success(exact)
    folded = name.casefold()
    similar = tuple(
        error
        for error in graph.errors
        if _matches(error.name.casefold(), error.tag.casefold(), folded)
    )
    if similar:
        return Success(similar)
    return Failure(close_matches(name, _all_names(graph.errors)))


def find_seam(graph: Graph, name: str) -> Result[SeamNode, tuple[str, ...]]:
    """Return the seam of a name in upper or lower case; fail with the names of all seams."""
    folded = name.casefold()
    seam = next((seam for seam in graph.seams if seam.name.casefold() == folded), None)
    return Success(seam) if seam else Failure(tuple(seam.name for seam in graph.seams))


def _matches(full_name: str, tag: str, name: str) -> bool:
    return name == tag or f'.{full_name}'.endswith(f'.{name}')


def _all_names(errors: Iterable[ErrorNode]) -> list[str]:
    return sorted(
        {
            name
            for error in errors
            for name in (error.tag, error.name, error.name.rpartition('.')[2])
        }
    )
