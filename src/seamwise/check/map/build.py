"""Construction of the graph from the facts of all files.

Functions without errors are omitted. Functions that are called but were not analysed are external.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from msgspec.structs import replace

from seamwise._text.jsonable import replace_surrogates
from seamwise.check.facts import (
    ClassFacts,
    ErrorSource,
    FileFacts,
    FunctionFacts,
    Location,
    SeamFacts,
)
from seamwise.check.map.graph import (
    AdapterTable,
    CallEdge,
    Creation,
    ErrorNode,
    Fate,
    FunctionNode,
    Graph,
    OverrideEdge,
    SeamEdge,
    SeamNode,
    SourceLine,
)
from seamwise.check.typed_ast.channels import UNSPECIFIC

_Key: TypeAlias = tuple[str, str, Fate]
_LinesByError: TypeAlias = dict[str, set[SourceLine]]
_Edges: TypeAlias = defaultdict[_Key, defaultdict[str, set[SourceLine]]]


def build_graph(files: Iterable[FileFacts]) -> Graph:
    """Return the graph of files.

    A call of a method may reach its overrides, so their errors also propagate through the
    overridden method.
    """
    # JSON and HTML are UTF-8, which cannot encode surrogates in paths.
    encodable_files = (replace(file, path=replace_surrogates(file.path)) for file in files)
    sorted_files = sorted(encodable_files, key=lambda file: (file.path, file.module))
    functions: dict[str, _FunctionDefinitions] = {}
    for file in sorted_files:
        for function in sorted(file.functions, key=lambda function: function.location.line):
            definitions = functions.setdefault(function.name, _FunctionDefinitions(file))
            definitions.items.append(function)
    classes = {
        class_.name: (class_, file.path)
        for file in reversed(sorted_files)
        for class_ in file.classes
    }
    builder = _EdgeBuilder()
    for definitions in functions.values():
        builder.add_function(definitions)
    builder.add_overrides(functions)
    builder.add_routes(functions, sorted_files)
    builder.add_commands(functions, sorted_files)
    edges = builder.build()
    tables = [(table, file.path) for file in sorted_files for table in file.seams]
    graph = replace(
        edges, functions=_functions(functions, edges), seams=_seams(tables, edges.shows)
    )
    return replace(graph, errors=_errors(classes, graph))


class _FunctionDefinitions:
    """The definitions of one function, several if it is defined in the branches of an `if`."""

    def __init__(self, file: FileFacts) -> None:
        self.file = file
        self.items: list[FunctionFacts] = []

    def first_line(self) -> SourceLine:
        return self.source_line(self.items[0].location)

    def source_line(self, location: Location) -> SourceLine:
        return SourceLine(self.file.path, location.line)

    def returned_errors(self) -> set[str]:
        return set(chain.from_iterable(map(_returned_errors, self.items)))


def _returned_errors(function: FunctionFacts) -> Iterable[str]:
    """Return the inferred errors, else the declared ones, else those that propagate."""
    if function.inferred is not None:
        return function.inferred
    if function.declared is not None:
        return function.declared
    return {
        error
        for source in function.error_sources
        for error in source.errors
        if _fate(error, source) == 'passes'
    }


def _fate(error: str, source: ErrorSource) -> Fate:
    if error in source.handled:
        return 'handled'
    return 'lost' if error in source.lost else 'passes'


class _EdgeBuilder:
    """Edges under construction, by their ends, each with the source lines of every error."""

    def __init__(self) -> None:
        self.propagations: _Edges = defaultdict(lambda: defaultdict(set))
        """By callee, caller and fate; the callee is empty if the caller creates the error."""
        self.shows: _Edges = defaultdict(lambda: defaultdict(set))
        self.overrides: _Edges = defaultdict(lambda: defaultdict(set))

    def add_function(self, definitions: _FunctionDefinitions) -> None:
        for function in definitions.items:
            for source in function.error_sources:
                source_line = definitions.source_line(source.location)
                for error in source.errors:
                    edge = source.callee, function.name, _fate(error, source)
                    self.propagations[edge][error].add(source_line)
            for use in function.seam_uses:
                source_line = definitions.source_line(use.location)
                for error in use.errors:
                    self.shows[function.name, use.seam, 'passes'][error].add(source_line)

    def add_overrides(self, functions: Mapping[str, _FunctionDefinitions]) -> None:
        """Add edges from overrides to base methods for the errors that callers of these expect."""
        expected: defaultdict[str, set[str]] = defaultdict(set)
        for (callee, _, _), errors in self.propagations.items():
            expected[callee] |= errors.keys()
        for name, definitions in functions.items():
            returned = definitions.returned_errors()
            for base in _base_methods(name, functions):
                for error in returned & expected.get(base, set()):
                    self.overrides[name, base, 'passes'][error].add(definitions.first_line())

    def add_routes(
        self, functions: Mapping[str, _FunctionDefinitions], files: Sequence[FileFacts]
    ) -> None:
        """Add edges to HTTP for handlers and dependencies that `endpoint` or `install` answers."""
        installed = [adapter.covered for file in files for adapter in file.installed_adapters]
        for route in chain.from_iterable(file.routes for file in files):
            covered = installed if route.covered is None else [route.covered]
            self._add_answered(route.function, functions, covered)
        for use in chain.from_iterable(file.dependency_uses for file in files):
            self._add_answered(use.dependency, functions, installed)

    def add_commands(
        self, functions: Mapping[str, _FunctionDefinitions], files: Sequence[FileFacts]
    ) -> None:
        """Add edges to the terminal for commands whose failures `cli.main` shows."""
        tables = [adapter.covered for file in files for adapter in file.program_adapters]
        for command in chain.from_iterable(file.commands for file in files):
            self._add_answered(command, functions, tables, seam='cli')

    def _add_answered(
        self,
        name: str,
        functions: Mapping[str, _FunctionDefinitions],
        adapters: Sequence[Sequence[str] | None],
        *,
        seam: str = 'http',
    ) -> None:
        definitions = functions.get(name)
        if definitions is None:
            return
        for error in definitions.returned_errors():
            if any(covered is None or _covers(covered, error) for covered in adapters):
                self.shows[name, seam, 'passes'][error].add(definitions.first_line())

    def build(self) -> Graph:
        propagations = sorted(self.propagations.items())
        return Graph(
            makes=tuple(
                Creation(caller, errors, source_lines, fate)
                for (callee, caller, fate), by_error in propagations
                for errors, source_lines in _group_by_lines(by_error)
                if not callee
            ),
            calls=tuple(
                CallEdge(callee, caller, errors, source_lines, fate)
                for (callee, caller, fate), by_error in propagations
                for errors, source_lines in _group_by_lines(by_error)
                if callee
            ),
            overrides=tuple(
                OverrideEdge(method, base, errors, source_lines)
                for (method, base, _), by_error in sorted(self.overrides.items())
                for errors, source_lines in _group_by_lines(by_error)
            ),
            shows=tuple(
                SeamEdge(function, seam, errors, source_lines)
                for (function, seam, _), by_error in sorted(self.shows.items())
                for errors, source_lines in _group_by_lines(by_error)
            ),
        )


def _covers(covered: Sequence[str], error: str) -> bool:
    return error in covered or not UNSPECIFIC.isdisjoint(covered)


def _base_methods(name: str, functions: Mapping[str, _FunctionDefinitions]) -> list[str]:
    """Return the methods that a method overrides, directly or indirectly."""
    bases: set[str] = set()
    queue = [name]
    while queue:
        definitions = functions.get(queue.pop())
        for function in definitions.items if definitions else ():
            for base in function.overrides:
                if base != name and base not in bases:
                    bases.add(base)
                    queue.append(base)
    return sorted(bases)


def _group_by_lines(
    by_error: _LinesByError,
) -> list[tuple[tuple[str, ...], tuple[SourceLine, ...]]]:
    """Return groups of errors that have the same source lines."""
    groups: defaultdict[tuple[SourceLine, ...], list[str]] = defaultdict(list)
    for error, source_lines in sorted(by_error.items()):
        groups[tuple(sorted(source_lines))].append(error)
    return sorted((tuple(errors), source_lines) for source_lines, errors in groups.items())


def _functions(
    definitions: Mapping[str, _FunctionDefinitions], edges: Graph
) -> tuple[FunctionNode, ...]:
    connected = edges.connected_functions()
    external_errors: defaultdict[str, set[str]] = defaultdict(set)
    for call in edges.calls:
        external_errors[call.callee].update(call.errors)
    analysed = (
        FunctionNode(
            name, item.file.module, tuple(sorted(item.returned_errors())), item.first_line()
        )
        for name, item in definitions.items()
    )
    external = (
        FunctionNode(name, '', tuple(sorted(external_errors[name])))
        for name in connected - definitions.keys()
    )
    nodes = (node for node in (*analysed, *external) if node.errors or node.name in connected)
    return tuple(sorted(nodes, key=lambda node: node.name))


def _seams(
    adapters: Sequence[tuple[SeamFacts, str]], shows: Iterable[SeamEdge]
) -> tuple[SeamNode, ...]:
    names = {edge.seam for edge in shows} | {adapter.seam for adapter, _ in adapters}
    tables: defaultdict[str, list[AdapterTable]] = defaultdict(list)
    for adapter, path in adapters:
        errors = tuple(sorted(set(adapter.errors)))
        source_line = SourceLine(path, adapter.location.line)
        tables[adapter.seam].append(AdapterTable(adapter.name, errors, source_line))
    return tuple(
        SeamNode(name, tuple(sorted(tables[name], key=lambda table: (table.name, table.place))))
        for name in sorted(names)
    )


def _errors(classes: Mapping[str, tuple[ClassFacts, str]], graph: Graph) -> tuple[ErrorNode, ...]:
    """Return the analysed error classes, and those that a function or a table names."""
    parts = chain[Creation | CallEdge | SeamEdge | FunctionNode](
        graph.makes, graph.calls, graph.shows, graph.functions
    )
    names = {error for part in parts for error in part.errors}
    names |= {error for seam in graph.seams for table in seam.tables for error in table.errors}
    return tuple(_error(name, classes.get(name)) for name in sorted(names | classes.keys()))


def _error(name: str, class_: tuple[ClassFacts, str] | None) -> ErrorNode:
    if class_ is None:
        return ErrorNode(name, name.rpartition('.')[2])
    facts, path = class_
    return ErrorNode(name, facts.tag, facts.category, SourceLine(path, facts.location.line))
