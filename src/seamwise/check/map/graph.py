"""Graph of a program: functions and seams, and the errors that propagate between them.

The structs also define the JSON format of the map, which `docs/check/map.md` documents.
"""

from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

Fate: TypeAlias = Literal['passes', 'handled', 'lost']
"""Treatment of errors in a function: propagated to its callers, handled, or ignored."""


class SourceLine(Struct, frozen=True, order=True):
    """A line of a file; `path` is relative to the current directory, `line` starts at 1."""

    path: str
    line: int


class ErrorNode(Struct, frozen=True):
    """An error class by its full name. `place` is None if its source was not analysed."""

    name: str
    tag: str
    category: str | None = None
    place: SourceLine | None = None


class FunctionNode(Struct, frozen=True):
    """A function or method by its full name, and the errors that it returns.

    An external function was not analysed: its `place` is None.
    """

    name: str
    module: str
    """Empty for an external function."""
    errors: tuple[str, ...] = ()
    place: SourceLine | None = None


class AdapterTable(Struct, frozen=True):
    """An adapter of a seam, and the errors that it shows."""

    name: str
    """Empty if the adapter is built and used in one expression."""
    errors: tuple[str, ...]
    place: SourceLine


class SeamNode(Struct, frozen=True):
    """A seam with its adapters."""

    name: str
    tables: tuple[AdapterTable, ...] = ()


class Creation(Struct, frozen=True):
    """Errors that a function creates, and their treatment there."""

    function: str
    errors: tuple[str, ...]
    places: tuple[SourceLine, ...]
    fate: Fate = 'passes'


class CallEdge(Struct, frozen=True):
    """Errors that propagate from a function to a caller, and their treatment in the caller."""

    callee: str
    caller: str
    errors: tuple[str, ...]
    places: tuple[SourceLine, ...]
    fate: Fate = 'passes'


class OverrideEdge(Struct, frozen=True):
    """Errors that propagate from a method to the method that it overrides.

    A call of the method of the base class may reach the override.
    """

    method: str
    base: str
    errors: tuple[str, ...]
    places: tuple[SourceLine, ...]


class SeamEdge(Struct, frozen=True):
    """Errors that a function passes to a seam."""

    function: str
    seam: str
    errors: tuple[str, ...]
    places: tuple[SourceLine, ...]


class Graph(Struct, frozen=True):
    """A map. All parts are sorted by name and unique."""

    errors: tuple[ErrorNode, ...] = ()
    functions: tuple[FunctionNode, ...] = ()
    seams: tuple[SeamNode, ...] = ()
    makes: tuple[Creation, ...] = ()
    calls: tuple[CallEdge, ...] = ()
    overrides: tuple[OverrideEdge, ...] = ()
    shows: tuple[SeamEdge, ...] = ()

    def connected_functions(self) -> set[str]:
        """Return the names of the functions that create, propagate or show errors."""
        names = {creation.function for creation in self.makes}
        names |= {edge.function for edge in self.shows}
        names |= {name for call in self.calls for name in (call.callee, call.caller)}
        return names | {name for edge in self.overrides for name in (edge.method, edge.base)}


def encode_graph(graph: Graph) -> str:
    """Return a graph as one JSON object with the fields of `Graph`."""
    return msgspec.json.encode(graph).decode()
