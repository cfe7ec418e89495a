"""Map as text: summary of the graph, paths of an error, and errors that arrive at a seam."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from textwrap import wrap

from seamwise._text.escaping import escape
from seamwise._text.phrases import join_limited, pluralize
from seamwise.check.map.graph import ErrorNode, Graph, SeamNode, SourceLine
from seamwise.check.map.labels import error_labels
from seamwise.check.map.paths import PathStep, StepKind, path_steps
from seamwise.check.map.traces import ErrorTrace, error_traces

_WIDTH = 80
"""Width of a line in columns. Longer names and paths are not broken."""

MAX_INDENT = 16
"""Deepest indentation, in steps of two spaces. Deeper lines show their depth as a number."""

_MAX_SOURCE_LINES = 5
"""Number of lines listed for one function; the others are counted."""

_STEP_TEXTS: Mapping[StepKind, str] = {
    'made': 'created in {}',
    'called': '-> {}',
    'overridden': '-> {} (overridden method)',
    'shown': '=> shown by {}',
    'handled': '=| handled',
    'lost': '=| lost: never read',
    'out': '=> no caller',
    'again': '.. continued above',
    'cycle': '.. recursion',
}
_START_KINDS: frozenset[StepKind] = frozenset({'made', 'unmade'})


class MapText:
    """Texts about a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.traces = error_traces(graph)
        self.labels = error_labels(graph)
        self._functions = {function.name: function for function in graph.functions}

    def overview(self) -> str:
        """Return the numbers of nodes, and the errors without an origin or an end."""
        graph, labels = self.graph, self.labels
        external = sum(function.place is None for function in graph.functions)
        counts = [
            pluralize(len(graph.errors), 'error'),
            pluralize(len(graph.functions) - external, 'function'),
            pluralize(len(graph.seams), 'seam'),
            *([pluralize(external, 'external function')] if external else []),
        ]
        lines = [', '.join(counts)]
        arriving = Counter(seam for trace in self.traces.values() for seam in trace.seams())
        lines += [f'{_arriving_text(seam, arriving[seam.name])}.' for seam in graph.seams]
        never_created = [
            labels[name]
            for name, trace in self.traces.items()
            if not trace.makes and not any(map(self._is_external, trace.unknown_origins()))
        ]
        unhandled = [
            labels[name]
            for name, trace in self.traces.items()
            if trace.makes and not trace.shows and not trace.handled()
        ]
        lines += [f'Never created: {join_limited(never_created)}.'] if never_created else []
        lines += [f'Neither shown nor handled: {join_limited(unhandled)}.'] if unhandled else []
        return _join_lines(part for line in lines for part in _wrap(line))

    def of_error(self, error: ErrorNode) -> str:
        """Return a description of an error with its paths, the shortest first."""
        name = error.name.rpartition('.')[2]
        tag = [f'tag {error.tag}'] if error.tag != name else []
        head = _line(0, ', '.join([name, *tag, *filter(None, [error.category])]))
        head += _line(0, error.name, (error.place,) if error.place else ())
        return _join_lines([*head, *_wrap(self.summary(error)), '', *self.path_lines(error)])

    def summary(self, error: ErrorNode) -> str:
        """Return the numbers of places that create, show and handle an error."""
        trace = self.traces[error.name]
        handled = len({line for part in trace.handled() for line in part.places})
        parts = [
            f'created in {pluralize(len(trace.makes), "function")}'
            if trace.makes
            else 'never created',
            f'shown by {join_limited(trace.seams())}' if trace.shows else 'shown by no seam',
            f'handled in {pluralize(handled, "place")}' if handled else 'never handled',
        ]
        return '; '.join(parts)

    def path_lines(self, error: ErrorNode) -> Iterator[str]:
        """Yield the paths of an error, then the tables that list it without receiving it."""
        trace = self.traces[error.name]
        for index, step in enumerate(path_steps(trace)):
            if index and step.kind in _START_KINDS:
                yield ''
            yield from self._step_lines(step, error.name)
        tables = [
            (seam.name, table)
            for seam in self.graph.seams
            if seam.name not in trace.seams()
            for table in seam.tables
            if error.name in table.errors
        ]
        if tables:
            if not trace.is_empty:
                yield ''
            yield from _wrap('In tables of seams that it never reaches:')
        for seam_name, table in tables:
            yield from _line(1, ', '.join(filter(None, [seam_name, table.name])), (table.place,))

    def to_seam(self, seam: SeamNode) -> str:
        """Return the errors that arrive at a seam, each with its origins."""
        arriving = self.arriving(seam)
        lines = _wrap(f'{_arriving_text(seam, len(arriving))}.')
        for table in seam.tables:
            lines += _line(0, f'table {table.name or "(unnamed)"}', (table.place,))
        for name, trace in arriving.items():
            lines += ['', self.labels[name]]
            for source in trace.sources(seam.name):
                lines += self._source_lines(source, name)
        unused = sorted(
            {error for table in seam.tables for error in table.errors} - arriving.keys()
        )
        if unused:
            names = join_limited([self.labels[error] for error in unused])
            lines += ['', *_wrap(f'In its tables, but never arriving: {names}.')]
        return _join_lines(lines)

    def arriving(self, seam: SeamNode) -> Mapping[str, ErrorTrace]:
        """Return the traces of the errors that arrive at a seam."""
        return {name: trace for name, trace in self.traces.items() if seam.name in trace.seams()}

    def _step_lines(self, step: PathStep, error: str) -> list[str]:
        if step.kind == 'unmade':
            return self._unknown_origin_lines(step.depth, step.name, error)
        return _line(step.depth, _STEP_TEXTS[step.kind].format(step.name), step.source_lines)

    def _source_lines(self, source: str, error: str) -> list[str]:
        creations = self.traces[error].makes.get(source, ())
        source_lines = {line for creation in creations for line in creation.places}
        if not source_lines:
            return self._unknown_origin_lines(1, source, error)
        return _line(1, _STEP_TEXTS['made'].format(source), sorted(source_lines))

    def _unknown_origin_lines(self, depth: int, name: str, error: str) -> list[str]:
        function = self._functions[name]
        if function.place is None:
            return _line(depth, f'from external {name}')
        if error in function.errors:
            return _line(depth, f'declared by {name}, never created', (function.place,))
        return _line(depth, f'passed to {name} as a value', (function.place,))

    def _is_external(self, name: str) -> bool:
        return self._functions[name].place is None


def _arriving_text(seam: SeamNode, count: int) -> str:
    return f'{seam.name}: {pluralize(count, "error")} arrive{"s" if count == 1 else ""}'


def _line(depth: int, text: str, source_lines: Iterable[SourceLine] = ()) -> list[str]:
    """Return an indented line; its source lines are on a second line if it would be too long."""
    indent = '  ' * min(depth, MAX_INDENT) + (f'({depth}) ' if depth > MAX_INDENT else '')
    locations = _format_source_lines(source_lines)
    line = escape(indent + (f'{text}, {locations}' if locations else text))
    if not locations or len(line) <= _WIDTH:
        return [line]
    return [escape(f'{indent}{text},'), escape(f'{" " * len(indent)}     {locations}')]


def _format_source_lines(source_lines: Iterable[SourceLine]) -> str:
    """Return source lines as text, grouped by file.

    >>> _format_source_lines([SourceLine('a.py', 3), SourceLine('a.py', 7), SourceLine('b.py', 1)])
    'a.py:3, 7, b.py:1'
    """
    all_lines = list(source_lines)
    listed = all_lines[:_MAX_SOURCE_LINES]
    parts = [
        f'{path}:{", ".join(str(item.line) for item in group)}'
        for path, group in groupby(listed, lambda item: item.path)
    ]
    if len(all_lines) > len(listed):
        parts.append(f'… {len(all_lines) - len(listed)} more')
    return ', '.join(parts)


def _wrap(line: str) -> list[str]:
    return wrap(
        escape(line), _WIDTH, subsequent_indent='  ', break_long_words=False, break_on_hyphens=False
    )


def _join_lines(lines: Iterable[str]) -> str:
    return '\n'.join(lines)
