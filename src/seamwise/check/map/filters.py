"""Parts of a graph: what has to do with some errors, or with one seam."""

from collections.abc import Callable, Collection, Iterable
from typing import TypeAlias, TypeVar

from msgspec.structs import replace

from seamwise.check.map.graph import Call, Graph, Make, Override, Seam, Show
from seamwise.check.map.traces import trails

_Travel: TypeAlias = Make | Call | Override | Show
_T = TypeVar('_T', Make, Call, Override, Show)


def filter_by_errors(graph: Graph, names: Collection[str]) -> Graph:
    """Leave out every other error, and the functions, seams and tables that have nothing to do with these."""
    kept = frozenset(names)
    cut = _cut(graph, lambda error, _: error in kept)
    met = _met(cut)
    functions = [replace(one, errors=_those(one.errors, kept)) for one in graph.functions]
    arrived = {one.seam for one in cut.shows}
    seams = (_of_errors(one, kept) for one in graph.seams)
    return replace(
        cut,
        errors=tuple(one for one in graph.errors if one.name in kept),
        functions=tuple(one for one in functions if one.errors or one.name in met),
        seams=tuple(one for one in seams if one.tables or one.name in arrived),
    )


def filter_by_seam(graph: Graph, seam: str) -> Graph:
    """Leave out every way that does not end at a seam; its tables stay as they are."""
    towards = {name: trail.towards(seam) for name, trail in trails(graph).items()}

    def leads_there(error: str, one: _Travel) -> bool:
        ways = towards[error]
        match one:
            case Make():
                return one.function in ways.met(one.fate)
            case Call():
                return one.caller in ways.met(one.fate)
            case Override():
                return one.base in ways.passing
            case Show():
                return one.seam == seam

    cut = _cut(graph, leads_there)
    met = _met(cut)
    arriving = {error for one in cut.shows for error in one.errors}
    seams = tuple(one for one in graph.seams if one.name == seam)
    shown = {error for one in seams for table in one.tables for error in table.errors}
    return replace(
        cut,
        errors=tuple(one for one in graph.errors if one.name in arriving | shown),
        functions=tuple(
            replace(one, errors=_those(one.errors, arriving))
            for one in graph.functions
            if one.name in met
        ),
        seams=seams,
    )


def _cut(graph: Graph, keeps: Callable[[str, _Travel], bool]) -> Graph:
    """Keep what travels of some errors, and nothing else yet."""

    def kept(every: Iterable[_T]) -> tuple[_T, ...]:
        return tuple(
            replace(one, errors=errors)
            for one in every
            if (errors := tuple(error for error in one.errors if keeps(error, one)))
        )

    return Graph(
        makes=kept(graph.makes),
        calls=kept(graph.calls),
        overrides=kept(graph.overrides),
        shows=kept(graph.shows),
    )


def _met(graph: Graph) -> set[str]:
    ends = {one.function for one in graph.makes} | {one.function for one in graph.shows}
    calls = {name for one in graph.calls for name in (one.callee, one.caller)}
    return ends | calls | {name for one in graph.overrides for name in (one.method, one.base)}


def _of_errors(seam: Seam, names: Collection[str]) -> Seam:
    tables = (replace(one, errors=_those(one.errors, names)) for one in seam.tables)
    return replace(seam, tables=tuple(one for one in tables if one.errors))


def _those(errors: Iterable[str], names: Collection[str]) -> tuple[str, ...]:
    return tuple(one for one in errors if one in names)
