"""Filters that reduce a graph to some errors, or to the paths to one seam."""

from collections.abc import Callable, Collection, Iterable
from typing import TypeAlias, TypeVar

from msgspec.structs import replace

from seamwise.check.map.graph import CallEdge, Creation, Graph, OverrideEdge, SeamEdge, SeamNode
from seamwise.check.map.traces import error_traces

_Part: TypeAlias = Creation | CallEdge | OverrideEdge | SeamEdge
_T = TypeVar('_T', Creation, CallEdge, OverrideEdge, SeamEdge)


def filter_by_errors(graph: Graph, names: Collection[str]) -> Graph:
    """Return the part of a graph that concerns some errors, given by their full names."""
    selected = frozenset(names)
    part = _filter_parts(graph, lambda error, _: error in selected)
    connected = part.connected_functions()
    functions = [
        replace(function, errors=_intersect(function.errors, selected))
        for function in graph.functions
    ]
    reached_seams = {edge.seam for edge in part.shows}
    seams = (_filter_tables(seam, selected) for seam in graph.seams)
    return replace(
        part,
        errors=tuple(error for error in graph.errors if error.name in selected),
        functions=tuple(
            function for function in functions if function.errors or function.name in connected
        ),
        seams=tuple(seam for seam in seams if seam.tables or seam.name in reached_seams),
    )


def filter_by_seam(graph: Graph, seam: str) -> Graph:
    """Return the paths of a graph that end at a seam. The tables of the seam remain complete."""
    paths = {name: trace.paths_to(seam) for name, trace in error_traces(graph).items()}

    def leads_to_seam(error: str, part: _Part) -> bool:
        error_paths = paths[error]
        match part:
            case Creation():
                return part.function in error_paths.functions(part.fate)
            case CallEdge():
                return part.caller in error_paths.functions(part.fate)
            case OverrideEdge():
                return part.base in error_paths.propagating
            case SeamEdge():
                return part.seam == seam

    part = _filter_parts(graph, leads_to_seam)
    connected = part.connected_functions()
    arriving = {error for edge in part.shows for error in edge.errors}
    seams = tuple(node for node in graph.seams if node.name == seam)
    listed = {error for node in seams for table in node.tables for error in table.errors}
    return replace(
        part,
        errors=tuple(error for error in graph.errors if error.name in arriving | listed),
        functions=tuple(
            replace(function, errors=_intersect(function.errors, arriving))
            for function in graph.functions
            if function.name in connected
        ),
        seams=seams,
    )


def _filter_parts(graph: Graph, is_selected: Callable[[str, _Part], bool]) -> Graph:
    """Return a graph of the selected creations and edges, without nodes."""

    def select(parts: Iterable[_T]) -> tuple[_T, ...]:
        return tuple(
            replace(part, errors=errors)
            for part in parts
            if (errors := tuple(error for error in part.errors if is_selected(error, part)))
        )

    return Graph(
        makes=select(graph.makes),
        calls=select(graph.calls),
        overrides=select(graph.overrides),
        shows=select(graph.shows),
    )


def _filter_tables(seam: SeamNode, names: Collection[str]) -> SeamNode:
    tables = (replace(table, errors=_intersect(table.errors, names)) for table in seam.tables)
    return replace(seam, tables=tuple(table for table in tables if table.errors))


def _intersect(errors: Iterable[str], names: Collection[str]) -> tuple[str, ...]:
    return tuple(error for error in errors if error in names)
