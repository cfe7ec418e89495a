"""Paths of one error from origin to end, as a tree: the shortest first, each function once."""

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise.check.map.graph import Fate, SourceLine
from seamwise.check.map.traces import ErrorTrace

StepKind: TypeAlias = Literal[
    'made', 'unmade', 'called', 'overridden', 'shown', 'handled', 'lost', 'out', 'again', 'cycle'
]

_END_FATES: tuple[Fate, ...] = ('handled', 'lost')


class PathStep(Struct, frozen=True):
    """One step on a path of an error.

    `made` and `unmade` (unknown origin) start a path; `called` and `overridden` continue it.
    `shown`, `handled`, `lost` and `out` (no caller) end it. `again` and `cycle` cut it: the rest
    was listed before, or the path returns to itself.
    """

    kind: StepKind
    name: str
    """Name of the function, or of the seam for `shown`."""
    depth: int
    """Number of branches before this step."""
    source_lines: tuple[SourceLine, ...] = ()


def path_steps(trace: ErrorTrace) -> Iterator[PathStep]:
    """Yield the paths of an error in depth-first order; steps of equal depth are alternatives."""
    return _PathWalk(trace).steps()


class _Visit(Struct, frozen=True):
    """A function to visit, and how the error gets there."""

    kind: StepKind
    name: str
    source_lines: tuple[SourceLine, ...]
    fate: Fate = 'passes'


class _PathWalk:
    def __init__(self, trace: ErrorTrace) -> None:
        self._trace = trace
        self._lengths: Mapping[str, float] = trace.lengths()
        self._visited: set[str] = set()
        self._on_path: set[str] = set()

    def steps(self) -> Iterator[PathStep]:
        trace = self._trace
        known = [
            _Visit('made', name, _creation_lines(trace, name, 'passes'))
            for name in trace.creators()
        ]
        unknown = [_Visit('unmade', name, ()) for name in trace.unknown_origins()]
        for start in (*sorted(known, key=self._order), *sorted(unknown, key=self._order)):
            yield from self._path(start)
        for name in sorted(trace.makes):
            for fate in _END_FATES:
                if source_lines := _creation_lines(trace, name, fate):
                    yield PathStep('made', name, 0, source_lines)
                    yield from self._end(name, 0, fate)

    def _order(self, visit: _Visit) -> tuple[float, str, str]:
        length = -1 if visit.fate != 'passes' else self._lengths[visit.name]
        return length, visit.name, visit.fate

    def _path(self, start: _Visit) -> Iterator[PathStep]:
        """Yield the steps after a start, depth first.

        The walk uses no recursion: a chain of calls may be longer than the Python stack.
        """
        stack: list[tuple[_Visit | None, str, int]] = [(start, start.name, 0)]
        while stack:
            visit, name, depth = stack.pop()
            if visit is None:
                self._on_path.discard(name)
                continue
            yield PathStep(visit.kind, name, depth, visit.source_lines)
            if visit.fate != 'passes':
                yield from self._end(name, depth, visit.fate)
                continue
            if name in self._visited:
                yield PathStep(self._repeated_kind(name), name, depth)
                continue
            self._visited.add(name)
            self._on_path.add(name)
            stack.append((None, name, depth))
            visits = self._next_visits(name)
            seam_edges = self._trace.shows.get(name, [])
            next_depth = depth + (len(visits) + len(seam_edges) > 1)
            for edge in seam_edges:
                yield PathStep('shown', edge.seam, next_depth, edge.places)
            if not visits and not seam_edges:
                yield PathStep('out', name, depth)
            stack.extend(
                (next_visit, next_visit.name, next_depth) for next_visit in reversed(visits)
            )

    def _repeated_kind(self, name: str) -> StepKind:
        if name in self._on_path:
            return 'cycle'
        trace = self._trace
        has_next = trace.calls.get(name) or trace.overrides.get(name) or trace.shows.get(name)
        return 'again' if has_next else 'out'

    def _next_visits(self, name: str) -> list[_Visit]:
        calls = [
            _Visit('called', call.caller, call.places, call.fate)
            for call in self._trace.calls.get(name, ())
        ]
        bases = [
            _Visit('overridden', edge.base, edge.places)
            for edge in self._trace.overrides.get(name, ())
        ]
        return sorted([*calls, *bases], key=self._order)

    def _end(self, name: str, depth: int, fate: Fate) -> Iterator[PathStep]:
        """Yield the end in a function. An error handled in a function with seams is shown there."""
        if fate == 'lost':
            yield PathStep('lost', name, depth)
            return
        seam_edges = self._trace.shows.get(name)
        if not seam_edges:
            yield PathStep('handled', name, depth)
            return
        for edge in seam_edges:
            yield PathStep('shown', edge.seam, depth + (len(seam_edges) > 1), edge.places)


def _creation_lines(trace: ErrorTrace, name: str, fate: Fate) -> tuple[SourceLine, ...]:
    creations = (creation for creation in trace.makes[name] if creation.fate == fate)
    return tuple(sorted({line for creation in creations for line in creation.places}))
