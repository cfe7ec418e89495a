"""The graph made of what files say."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from msgspec.structs import replace

from seamwise._text.jsonable import replace_surrogates
from seamwise.check.facts import ClassFacts, ErrorSource, FileFacts, FunctionFacts, SeamFacts
from seamwise.check.facts import Location as Spot
from seamwise.check.map.graph import (
    Call,
    Error,
    Fate,
    Function,
    Graph,
    Make,
    Override,
    Place,
    Seam,
    Show,
    Table,
)

_Key: TypeAlias = tuple[str, str, Fate]
_Errors: TypeAlias = dict[str, set[Place]]
_Edges: TypeAlias = defaultdict[_Key, defaultdict[str, set[Place]]]


def build_graph(files: Iterable[FileFacts]) -> Graph:
    """Draw the map of files: a function without errors is not on it, one that is called and was not read is, as foreign.

    A call of a method reaches the methods that stand in its place too, so that their errors travel by way of it.
    """
    # What UTF-8 cannot say of a path, no drawing can.
    mended_files = (replace(one, path=replace_surrogates(one.path)) for one in files)
    every = sorted(mended_files, key=lambda one: (one.path, one.module))
    functions: dict[str, _Read] = {}
    for file in every:
        for one in sorted(file.functions, key=lambda one: one.location.line):
            functions.setdefault(one.name, _Read(file)).definitions.append(one)
    classes = {one.name: (one, file.path) for file in reversed(every) for one in file.classes}
    edges = _Collected()
    for read in functions.values():
        edges.collect(read)
    edges.lead_to_bases(functions)
    graph = edges.as_graph()
    tables = [(one, file.path) for file in every for one in file.seams]
    seams = _seams(tables, graph.shows)
    drawn = replace(graph, functions=_functions(functions, graph), seams=seams)
    return replace(drawn, errors=_errors(classes, drawn))


class _Read:
    """A function that was read; one that is defined twice, as by an `if`, is one."""

    def __init__(self, file: FileFacts) -> None:
        self.file = file
        self.definitions: list[FunctionFacts] = []

    def place(self) -> Place:
        return Place(self.file.path, self.definitions[0].location.line)

    def out(self) -> set[str]:
        """Give what comes out: what really can, else what it says, else what nothing in it ends."""
        return set(chain.from_iterable(map(_out, self.definitions)))


def _out(function: FunctionFacts) -> Iterable[str]:
    if function.inferred is not None:
        return function.inferred
    if function.declared is not None:
        return function.declared
    return {
        error
        for entry in function.error_sources
        for error in entry.errors
        if _fate(error, entry) == 'passes'
    }


def _fate(error: str, entry: ErrorSource) -> Fate:
    if error in entry.handled:
        return 'handled'
    return 'lost' if error in entry.lost else 'passes'


class _Collected:
    """What travels, while it is being put together: by its two ends, each error with its places."""

    def __init__(self) -> None:
        self.travels: _Edges = defaultdict(lambda: defaultdict(set))
        """By (callee, caller, fate); the callee is empty where the caller makes it."""
        self.shows: _Edges = defaultdict(lambda: defaultdict(set))
        self.overrides: _Edges = defaultdict(lambda: defaultdict(set))

    def collect(self, read: _Read) -> None:
        for function in read.definitions:
            for entry in function.error_sources:
                place = _place(read, entry.location)
                for error in entry.errors:
                    self.travels[entry.callee, function.name, _fate(error, entry)][error].add(place)
            for showing in function.seam_uses:
                for error in showing.errors:
                    self.shows[function.name, showing.seam, 'passes'][error].add(
                        _place(read, showing.location)
                    )

    def lead_to_bases(self, functions: Mapping[str, _Read]) -> None:
        """Let the errors of a method travel to its bases where a call of these takes them for granted."""
        taken: defaultdict[str, set[str]] = defaultdict(set)
        for (callee, _, _), errors in self.travels.items():
            taken[callee] |= errors.keys()
        for name, read in functions.items():
            out = read.out()
            for base in _bases(name, functions):
                for error in out & taken.get(base, set()):
                    self.overrides[name, base, 'passes'][error].add(read.place())

    def as_graph(self) -> Graph:
        travels = sorted(self.travels.items())
        return Graph(
            makes=tuple(
                Make(caller, errors, places, fate)
                for (callee, caller, fate), by_error in travels
                for errors, places in _bundled(by_error)
                if not callee
            ),
            calls=tuple(
                Call(callee, caller, errors, places, fate)
                for (callee, caller, fate), by_error in travels
                for errors, places in _bundled(by_error)
                if callee
            ),
            overrides=tuple(
                Override(method, base, errors, places)
                for (method, base, _), by_error in sorted(self.overrides.items())
                for errors, places in _bundled(by_error)
            ),
            shows=tuple(
                Show(function, seam, errors, places)
                for (function, seam, _), by_error in sorted(self.shows.items())
                for errors, places in _bundled(by_error)
            ),
        )


def _place(read: _Read, spot: Spot) -> Place:
    return Place(read.file.path, spot.line)


def _bases(name: str, functions: Mapping[str, _Read]) -> list[str]:
    """Give the methods in whose place one stands, near and far."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        read = functions.get(waiting.pop())
        for base in chain.from_iterable(one.overrides for one in read.definitions) if read else ():
            if base != name and base not in found:
                found[base] = None
                waiting.append(base)
    return sorted(found)


def _bundled(by_error: _Errors) -> list[tuple[tuple[str, ...], tuple[Place, ...]]]:
    """Put those errors together that travel at the same places."""
    bundles: defaultdict[tuple[Place, ...], list[str]] = defaultdict(list)
    for error, places in sorted(by_error.items()):
        bundles[tuple(sorted(places))].append(error)
    return sorted((tuple(errors), places) for places, errors in bundles.items())


def _functions(read: Mapping[str, _Read], graph: Graph) -> tuple[Function, ...]:
    named = {one.function for one in graph.makes} | {one.function for one in graph.shows}
    named |= {name for one in graph.calls for name in (one.callee, one.caller)}
    named |= {name for one in graph.overrides for name in (one.method, one.base)}
    foreign: defaultdict[str, set[str]] = defaultdict(set)
    for call in graph.calls:
        foreign[call.callee].update(call.errors)
    known = (
        Function(name, one.file.module, tuple(sorted(one.out())), one.place())
        for name, one in read.items()
    )
    unread = (Function(name, '', tuple(sorted(foreign[name]))) for name in named - read.keys())
    return tuple(
        sorted(
            (one for one in (*known, *unread) if one.errors or one.name in named),
            key=lambda one: one.name,
        )
    )


def _seams(tables: Sequence[tuple[SeamFacts, str]], shows: Iterable[Show]) -> tuple[Seam, ...]:
    names = {one.seam for one in shows} | {one.seam for one, _ in tables}
    own: defaultdict[str, list[Table]] = defaultdict(list)
    for one, path in tables:
        own[one.seam].append(
            Table(one.name, tuple(sorted(set(one.errors))), Place(path, one.location.line))
        )
    return tuple(
        Seam(name, tuple(sorted(own[name], key=lambda one: (one.name, one.place))))
        for name in sorted(names)
    )


def _errors(classes: Mapping[str, tuple[ClassFacts, str]], graph: Graph) -> tuple[Error, ...]:
    """Give every class that is read or met."""
    named = {error for one in graph.makes for error in one.errors} | {
        error for one in graph.calls for error in one.errors
    }
    named |= {error for one in graph.shows for error in one.errors} | {
        error for one in graph.functions for error in one.errors
    }
    named |= {error for seam in graph.seams for table in seam.tables for error in table.errors}
    return tuple(_error(name, classes.get(name)) for name in sorted(named | classes.keys()))


def _error(name: str, known: tuple[ClassFacts, str] | None) -> Error:
    if known is None:
        return Error(name, name.rpartition('.')[2])
    facts, path = known
    return Error(name, facts.tag, facts.category, Place(path, facts.location.line))
