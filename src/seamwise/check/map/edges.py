"""The edges of a drawing: what a graph says of two nodes in one kind of way is one edge."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise.check.map.graph import Graph

Kind: TypeAlias = Literal['passes', 'handled', 'lost', 'override', 'show']


class Edge(Struct, frozen=True):
    """Errors that travel from a function to another, or to a seam where its kind is `show`."""

    source: str
    target: str
    kind: Kind
    errors: tuple[str, ...]


def edges(graph: Graph) -> list[Edge]:
    """Give every edge, sorted."""
    found: defaultdict[tuple[str, str, Kind], set[str]] = defaultdict(set)
    for source, target, kind, errors in _travels(graph):
        found[source, target, kind].update(errors)
    return [Edge(*key, tuple(sorted(errors))) for key, errors in sorted(found.items()) if errors]


def _travels(graph: Graph) -> Iterator[tuple[str, str, Kind, Iterable[str]]]:
    shown = shown_in(graph)
    for call in graph.calls:
        # What a function hands to a seam passes through it.
        to_seam = shown[call.caller].intersection(call.errors if call.fate == 'handled' else ())
        yield call.callee, call.caller, 'passes', to_seam
        yield call.callee, call.caller, call.fate, to_seam.symmetric_difference(call.errors)
    for override in graph.overrides:
        yield override.method, override.base, 'override', override.errors
    for show in graph.shows:
        yield show.function, show.seam, 'show', show.errors


def shown_in(graph: Graph) -> Mapping[str, set[str]]:
    """Give for each function the errors that it hands to a seam."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for one in graph.shows:
        found[one.function].update(one.errors)
    return found
