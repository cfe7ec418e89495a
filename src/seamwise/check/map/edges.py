"""Edges of a drawing: one for each pair of nodes and kind of propagation."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise.check.map.graph import Graph

EdgeKind: TypeAlias = Literal['passes', 'handled', 'lost', 'override', 'show']


class DrawnEdge(Struct, frozen=True):
    """Errors that propagate from a function to another one, or to a seam if the kind is `show`."""

    source: str
    target: str
    kind: EdgeKind
    errors: tuple[str, ...]


def drawn_edges(graph: Graph) -> list[DrawnEdge]:
    """Return all edges, sorted."""
    errors_by_edge: defaultdict[tuple[str, str, EdgeKind], set[str]] = defaultdict(set)
    for source, target, kind, errors in _propagations(graph):
        errors_by_edge[source, target, kind].update(errors)
    return [
        DrawnEdge(*edge, tuple(sorted(errors)))
        for edge, errors in sorted(errors_by_edge.items())
        if errors
    ]


def errors_shown_by(graph: Graph) -> Mapping[str, set[str]]:
    """Return for each function the errors that it passes to a seam; empty for other functions."""
    errors: defaultdict[str, set[str]] = defaultdict(set)
    for edge in graph.shows:
        errors[edge.function].update(edge.errors)
    return errors


def _propagations(graph: Graph) -> Iterator[tuple[str, str, EdgeKind, Iterable[str]]]:
    shown = errors_shown_by(graph)
    for call in graph.calls:
        # Errors that a function passes to a seam are drawn as passing through it.
        to_seam = shown[call.caller].intersection(call.errors if call.fate == 'handled' else ())
        yield call.callee, call.caller, 'passes', to_seam
        yield call.callee, call.caller, call.fate, to_seam.symmetric_difference(call.errors)
    for override in graph.overrides:
        yield override.method, override.base, 'override', override.errors
    for edge in graph.shows:
        yield edge.function, edge.seam, 'show', edge.errors
