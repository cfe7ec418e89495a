"""Traces of errors: origin, propagation, and handler or seam."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from math import inf

from msgspec import Struct

from seamwise.check.map.graph import CallEdge, Creation, Fate, Graph, OverrideEdge, SeamEdge


class SeamPaths(Struct, frozen=True):
    """The functions on the paths of an error to a seam."""

    showing: set[str]
    """Functions that pass the error to the seam."""
    propagating: set[str]
    """Functions from which the error propagates to those."""

    def functions(self, fate: Fate) -> set[str]:
        """Return the functions in which an error with this fate is on a path to the seam."""
        return {'passes': self.propagating, 'handled': self.showing, 'lost': set[str]()}[fate]


class ErrorTrace:
    """The parts of a graph that concern one error."""

    def __init__(self) -> None:
        self.makes: defaultdict[str, list[Creation]] = defaultdict(list)
        """Creations by function."""
        self.calls: defaultdict[str, list[CallEdge]] = defaultdict(list)
        """Calls by called function."""
        self.overrides: defaultdict[str, list[OverrideEdge]] = defaultdict(list)
        """Overrides by overriding method."""
        self.shows: defaultdict[str, list[SeamEdge]] = defaultdict(list)
        """Edges to seams by function."""
        self.out: set[str] = set()
        """The functions that return the error."""

    @property
    def is_empty(self) -> bool:
        """Whether no function creates, returns or shows the error."""
        return not (self.makes or self.calls or self.shows or self.out)

    def seams(self) -> tuple[str, ...]:
        """Return the names of the seams that the error reaches."""
        return tuple(sorted({edge.seam for edges in self.shows.values() for edge in edges}))

    def handled(self) -> tuple[Creation | CallEdge, ...]:
        """Return the places that handle the error in functions without a seam for it."""
        makes = chain.from_iterable(self.makes.values())
        calls = chain.from_iterable(self.calls.values())
        return tuple(
            part
            for part in chain[Creation | CallEdge](makes, calls)
            if part.fate == 'handled' and not self.is_shown(part)
        )

    def is_shown(self, end: Creation | CallEdge) -> bool:
        """Return whether the function that handles the error passes it to a seam."""
        return bool(self.shows.get(end.function if isinstance(end, Creation) else end.caller))

    def creators(self) -> tuple[str, ...]:
        """Return the functions that create the error and return it."""
        return tuple(
            sorted(
                function
                for function, makes in self.makes.items()
                if any(creation.fate == 'passes' for creation in makes)
            )
        )

    def unknown_origins(self) -> tuple[str, ...]:
        """Return the functions that have the error from an unknown origin.

        These are external functions, and those that declare an error which no function creates. A
        cycle without an entry is represented by one of its functions.
        """
        reached = set(_walk(self.creators(), self.next_functions))
        handling = {
            call.caller for calls in self.calls.values() for call in calls if call.fate == 'handled'
        }
        handling |= {
            function
            for function, makes in self.makes.items()
            if any(creation.fate == 'handled' for creation in makes)
        }
        sources = (
            self.calls.keys() | self.overrides.keys() | self.out | (self.shows.keys() - handling)
        )
        unreached = sorted(sources - reached)
        previous = self.previous_functions()
        origins = [function for function in unreached if function not in previous]
        reached |= _walk(origins, self.next_functions).keys()
        for function in unreached:
            if function not in reached:
                origins.append(function)
                reached |= _walk([function], self.next_functions).keys()
        return tuple(origins)

    def next_functions(self, function: str) -> tuple[str, ...]:
        """Return the functions to which the error propagates from a function."""
        callers = [call.caller for call in self.calls.get(function, ()) if call.fate == 'passes']
        return (*callers, *(edge.base for edge in self.overrides.get(function, ())))

    def previous_functions(self) -> Mapping[str, set[str]]:
        """Return for each function those from which the error propagates to it."""
        previous: defaultdict[str, set[str]] = defaultdict(set)
        for function in self.calls.keys() | self.overrides.keys():
            for next_function in self.next_functions(function):
                previous[next_function].add(function)
        return previous

    def lengths(self) -> Mapping[str, float]:
        """Return for each function the number of calls to the nearest end of a path.

        An end is a seam, a handler, or a function without callers.
        """
        handled = [
            function
            for function, calls in self.calls.items()
            if any(call.fate != 'passes' for call in calls)
        ]
        without_callers = [
            function
            for function in self.out
            if not self.calls.get(function) and not self.overrides.get(function)
        ]
        ends = [*handled, *without_callers, *self.shows]
        return defaultdict(lambda: inf, _distances(ends, self.previous_functions()))

    def paths_to(self, seam: str) -> SeamPaths:
        """Return the functions on the paths to a seam."""
        showing = {
            function
            for function, edges in self.shows.items()
            if any(edge.seam == seam for edge in edges)
        }
        # An error that is handled in a function with a seam ends at that seam.
        callees = [
            callee
            for callee, calls in self.calls.items()
            if any(call.caller in showing and call.fate != 'lost' for call in calls)
        ]
        propagating = set(_distances([*callees, *showing], self.previous_functions()))
        return SeamPaths(showing, propagating)

    def sources(self, seam: str) -> tuple[str, ...]:
        """Return the functions at the start of paths to a seam."""
        paths = self.paths_to(seam)
        origins = {*self.creators(), *self.unknown_origins()} & paths.propagating
        origins |= {
            function
            for function in paths.showing
            if any(creation.fate == 'handled' for creation in self.makes.get(function, ()))
        }
        return tuple(sorted(origins))


def error_traces(graph: Graph) -> Mapping[str, ErrorTrace]:
    """Return the trace of each error by its full name."""
    traces: dict[str, ErrorTrace] = {error.name: ErrorTrace() for error in graph.errors}
    for creation in graph.makes:
        for error in creation.errors:
            traces[error].makes[creation.function].append(creation)
    for call in graph.calls:
        for error in call.errors:
            traces[error].calls[call.callee].append(call)
    for override in graph.overrides:
        for error in override.errors:
            traces[error].overrides[override.method].append(override)
    for edge in graph.shows:
        for error in edge.errors:
            traces[error].shows[edge.function].append(edge)
    for function in graph.functions:
        for error in function.errors:
            traces[error].out.add(function.name)
    return traces


def _distances(functions: Iterable[str], previous: Mapping[str, set[str]]) -> dict[str, int]:
    return _walk(functions, lambda function: previous.get(function, ()))


def _walk(functions: Iterable[str], neighbours: Callable[[str], Iterable[str]]) -> dict[str, int]:
    """Return the reachable functions with their distances, by breadth-first search."""
    distances = dict.fromkeys(functions, 0)
    queue = deque(distances)
    while queue:
        function = queue.popleft()
        for neighbour in neighbours(function):
            if neighbour not in distances:
                distances[neighbour] = distances[function] + 1
                queue.append(neighbour)
    return distances
