"""The map as text: what there is, the ways of an error, and what arrives at a seam."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from textwrap import wrap

from seamwise._text.escaping import escape
from seamwise._text.phrases import join_limited, pluralize
from seamwise.check.map.graph import Error, Graph, Place, Seam
from seamwise.check.map.labels import error_labels
from seamwise.check.map.paths import Kind, Stop, ways
from seamwise.check.map.traces import Trail, trails

WIDTH = 80
"""In columns; a name or a path that is longer is not broken."""

DEEPEST = 16
"""No line is indented more often; a deeper one says how deep it is."""

MOST_PLACES = 5
"""So many are named of one function."""

TOLD: Mapping[Kind, str] = {
    'made': 'made in {}',
    'called': '-> {}',
    'overridden': '-> {}, in whose place it stands',
    'shown': '=> shown by {}',
    'handled': '=| handled there',
    'lost': '=| lost there: nobody looks at it',
    'out': '=> nobody here calls it',
    'again': '.. and on, as told above',
    'cycle': '.. and round again',
}
BEGINNINGS: frozenset[Kind] = frozenset({'made', 'unmade'})


class Words:
    """What there is to say of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.trails = trails(graph)
        self.labels = error_labels(graph)
        self._functions = {one.name: one for one in graph.functions}

    def overview(self) -> str:
        """Sum up: how much there is of what, and which errors have no beginning or no end."""
        graph, labels = self.graph, self.labels
        foreign = sum(one.place is None for one in graph.functions)
        own = pluralize(len(graph.functions) - foreign, 'function')
        counts = [pluralize(len(graph.errors), 'error'), own, pluralize(len(graph.seams), 'seam')]
        lines = [
            ', '.join(counts)
            + (f', {pluralize(foreign, "function")} from elsewhere' if foreign else '')
        ]
        arriving = Counter(seam for trail in self.trails.values() for seam in trail.seams())
        lines += [f'{_arriving(seam, arriving[seam.name])}.' for seam in graph.seams]
        unmade = [
            labels[name]
            for name, one in self.trails.items()
            if not one.makes and not any(map(self._is_foreign, one.unmade()))
        ]
        unseen = [
            labels[name]
            for name, one in self.trails.items()
            if one.makes and not one.shows and not one.handled()
        ]
        lines += [f'Made nowhere: {join_limited(unmade)}.'] if unmade else []
        lines += [f'Neither shown nor handled: {join_limited(unseen)}.'] if unseen else []
        return _joined(piece for line in lines for piece in _wrapped(line))

    def of_error(self, error: Error) -> str:
        """Tell of an error where it is made, through which functions it travels, where it ends; the shortest ways first."""
        name = error.name.rpartition('.')[2]
        also = [f'tag {error.tag}'] if error.tag != name else []
        head = _line(0, ', '.join([name, *also, *filter(None, [error.category])]))
        head += _line(0, error.name, (error.place,) if error.place else ())
        return _joined([*head, *_wrapped(self.sum(error)), '', *self.ways(error)])

    def sum(self, error: Error) -> str:
        """Say of an error in how many places it begins and ends."""
        trail = self.trails[error.name]
        handled = len({place for one in trail.handled() for place in one.places})
        parts = [
            f'made in {pluralize(len(trail.makes), "function")}'
            if trail.makes
            else 'made nowhere here',
            f'shown by {join_limited(trail.seams())}' if trail.shows else 'shown by no seam',
            f'handled in {pluralize(handled, "place")}' if handled else 'handled nowhere',
        ]
        return '; '.join(parts)

    def ways(self, error: Error) -> Iterator[str]:
        """Tell the ways of an error, line by line, and which tables it never comes to."""
        trail = self.trails[error.name]
        for number, stop in enumerate(ways(trail)):
            if number and stop.kind in BEGINNINGS:
                yield ''
            yield from self._stop(stop, error.name)
        elsewhere = [one for one in self.graph.seams if one.name not in trail.seams()]
        tables = [
            (one.name, table)
            for one in elsewhere
            for table in one.tables
            if error.name in table.errors
        ]
        if tables:
            yield from [
                *([''] if not trail.is_empty else []),
                *_wrapped('In tables of seams where it does not arrive:'),
            ]
        for seam, table in tables:
            yield from _line(1, ', '.join(filter(None, [seam, table.name])), (table.place,))

    def to_seam(self, seam: Seam) -> str:
        """Tell which errors arrive at a seam, and where each one begins."""
        arriving = self.arriving(seam)
        lines = _wrapped(f'{_arriving(seam, len(arriving))}.')
        for table in seam.tables:
            lines += _line(0, f'table {table.name or "without a name"}', (table.place,))
        for name, trail in arriving.items():
            lines += ['', self.labels[name]]
            lines += [
                line for source in trail.sources(seam.name) for line in self._begin(source, name)
            ]
        idle = sorted({error for table in seam.tables for error in table.errors} - arriving.keys())
        if idle:
            told = join_limited([self.labels[one] for one in idle])
            lines += ['', *_wrapped(f'In its tables, and arriving from nowhere here: {told}.')]
        return _joined(lines)

    def arriving(self, seam: Seam) -> Mapping[str, Trail]:
        """Give the errors that arrive at a seam."""
        return {name: trail for name, trail in self.trails.items() if seam.name in trail.seams()}

    def _stop(self, stop: Stop, error: str) -> list[str]:
        if stop.kind == 'unmade':
            return self._unmade(stop.depth, stop.name, error)
        return _line(stop.depth, TOLD[stop.kind].format(stop.name), stop.places)

    def _begin(self, source: str, error: str) -> list[str]:
        places = {place for one in self.trails[error].makes.get(source, ()) for place in one.places}
        return (
            _line(1, TOLD['made'].format(source), sorted(places))
            if places
            else self._unmade(1, source, error)
        )

    def _unmade(self, depth: int, name: str, error: str) -> list[str]:
        function = self._functions[name]
        if function.place is None:
            return _line(depth, f'from elsewhere: {name}')
        told = (
            'declared by {}, made nowhere' if error in function.errors else 'given to {} as a value'
        )
        return _line(depth, told.format(name), (function.place,))

    def _is_foreign(self, name: str) -> bool:
        return self._functions[name].place is None


def _arriving(seam: Seam, count: int) -> str:
    return f'{seam.name}: {pluralize(count, "error")} arrive{"s" if count == 1 else ""}'


def _line(depth: int, text: str, places: Iterable[Place] = ()) -> list[str]:
    """Give a line, in two where it would be too long."""
    indent = '  ' * min(depth, DEEPEST) + (f'({depth}) ' if depth > DEEPEST else '')
    where = _places(places)
    whole = escape(indent + (f'{text}, {where}' if where else text))
    if not where or len(whole) <= WIDTH:
        return [whole]
    return [escape(f'{indent}{text},'), escape(f'{" " * len(indent)}     {where}')]


def _places(places: Iterable[Place]) -> str:
    """Name places, those of one file together.

    >>> _places([Place('a.py', 3), Place('a.py', 7), Place('b.py', 1)])
    'a.py:3, 7, b.py:1'
    """
    every = list(places)
    more = [f'… {len(every) - MOST_PLACES} more'] if len(every) > MOST_PLACES else []
    files = groupby(every[:MOST_PLACES], lambda one: one.path)
    return ', '.join(
        [*(f'{path}:{", ".join(str(one.line) for one in group)}' for path, group in files), *more]
    )


def _wrapped(line: str) -> list[str]:
    return wrap(
        escape(line), WIDTH, subsequent_indent='  ', break_long_words=False, break_on_hyphens=False
    )


def _joined(lines: Iterable[str]) -> str:
    return '\n'.join(lines)
