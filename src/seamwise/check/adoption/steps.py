"""What would change first: what the fewest functions know of."""

import ast
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise.check.adoption.exception_paths import Ending, Way, Ways
from seamwise.check.adoption.exceptions import RAISED, Raisable, Unit
from seamwise.check.adoption.function_status import Given, Standing
from seamwise.check.rules import broad_except as swallowing
from seamwise.check.typed_ast.program import Module, Program

Kind: TypeAlias = Literal['error', 'raise', 'safe', 'result', 'container', 'bridge', 'handler']
ORDER: Sequence[Kind] = ('error', 'raise', 'safe', 'result', 'container', 'bridge', 'handler')
LAST = frozenset({'bridge', 'handler'})
"""What waits until the rest has changed: a call of `or_raise`, and a broad handler, which does not know what it catches."""
FEW = 3
"""How many names a line holds before it says how many more there are."""


class Step(Struct, frozen=True):
    """One thing to change: where it stands, why, and how."""

    kind: Kind
    path: str
    line: int
    name: str
    touches: int
    """How many functions know of it: raise it, let it through, handle it, or call it."""
    why: str
    how: str
    is_handled: bool = True
    """False of an exception that nobody here handles: it is a bug, or others have to change with it."""


CONTAINERS: Mapping[Given, tuple[str, str]] = {
    'safe': (
        'takes in exceptions by a decorator; its channel is `{said}`.',
        'Write `@attempt(when(…).becomes(…))` in its place, with each exception that is expected.',
    ),
    'result': (
        'has the channel `{said}`, which names no tagged error.',
        'Write a TaggedError for each thing that goes wrong there, and name them in the channel.',
    ),
    'container': (
        'gives `{said}`, which names no error.',
        'Return a Result, with a TaggedError for each way in which there is no value.',
    ),
}
"""Why and how what gives a container of `returns` would change."""
RAISE: tuple[Kind, str] = (
    'raise',
    'Return a Failure of a TaggedError for what is expected; a bug raises AssertionError.',
)
BRIDGE: tuple[Kind, str] = (
    'bridge',
    'Return the Result, in direct style where there are several: `@fallible`, and `do` in place of `or_raise`.',
)


def steps(program: Program, ways: Ways, standings: Mapping[Unit, Standing]) -> list[Step]:
    """Give all steps, the easiest first."""
    found = [
        *_errors(program, ways, standings),
        *_raises(program, ways, standings),
        *_containers(ways, standings),
        *_handlers(program),
    ]
    return sorted(found, key=_rank)


def _rank(step: Step) -> tuple[bool, bool, bool, int, int, str, int]:
    return (
        step.kind in LAST,
        step.kind == 'handler',
        not step.is_handled,
        step.touches,
        ORDER.index(step.kind),
        step.path,
        step.line,
    )


def raised(ways: Ways) -> Mapping[Raisable, Sequence[Unit]]:
    """Give each kind of ordinary exception with the functions that raise it."""
    found: dict[Raisable, dict[Unit, None]] = {}
    for unit in ways.units:
        for one in unit.raises:
            found.setdefault(one.kind, {})[unit] = None
    return {kind: tuple(raisers) for kind, raisers in found.items()}


def swallowed(program: Program) -> Iterator[tuple[Module, ast.AST, int]]:
    """Give the handlers that the rule SW103 finds, each with its line."""
    for module in program.modules:
        for spot in swallowing.RULE.check_module(module):
            if not isinstance(spot.node, ast.match_case):
                yield module, spot.node, spot.node.lineno


def _errors(program: Program, ways: Ways, standings: Mapping[Unit, Standing]) -> Iterator[Step]:
    """Own classes of exceptions, which become tagged errors."""
    modules = {one.name: one for one in program.modules}
    for kind, raisers in raised(ways).items():
        module = modules.get(kind.module)
        if module is not None and kind.name != RAISED:
            way = ways.way(raisers, kind)
            again = [
                one
                for one in way.starts
                if one not in standings and one in ways.functions and not one.is_called_by_python
            ]
            how = f'Make it a TaggedError{f", which {_names(again)} would return in a Failure" if again else ""}.'
            why = f'is raised by {_names(way.starts)} and {_ends(way)}.'
            yield Step(
                'error',
                _relative(module),
                kind.line,
                kind.short,
                len(way.touched),
                why,
                how,
                bool(way.ends),
            )


def _raises(program: Program, ways: Ways, standings: Mapping[Unit, Standing]) -> Iterator[Step]:
    """Functions that raise exceptions of others, such as ValueError, and let them out."""
    own = {one.name for one in program.modules}
    for unit in ways.functions:
        if unit.node is None or unit in standings or unit.is_called_by_python:
            continue
        kinds = list(dict.fromkeys(one.kind for one in unit.raises if one.kind.module not in own))
        found = {kind: way for kind in kinds if unit in (way := ways.way([unit], kind)).passes}
        if found:
            widest = max(found.values(), key=lambda one: len(one.touched))
            touched = {one for way in found.values() for one in way.touched}
            why = f'raises {_listed([one.short for one in found])}, which {_ends(widest)}.'
            is_bridge = {one.name for one in found} == {RAISED}
            which, how = BRIDGE if is_bridge else RAISE
            yield Step(
                which,
                _relative(unit.module),
                unit.node.lineno,
                unit.short,
                len(touched),
                why,
                how,
                bool(widest.ends),
            )


def _containers(ways: Ways, standings: Mapping[Unit, Standing]) -> Iterator[Step]:
    """Functions that give what `returns` has, without naming their errors."""
    for unit, found in standings.items():
        if found.given != 'channel' and unit.node is not None:
            why, how = CONTAINERS[found.given]
            touches = len({unit, *ways.callers(unit)})
            yield Step(
                found.given,
                _relative(unit.module),
                unit.node.lineno,
                unit.short,
                touches,
                why.format(said=found.said),
                how,
            )


def _handlers(program: Program) -> Iterator[Step]:
    """Handlers that swallow defects beside what they are meant for."""
    for module, _, line in swallowed(program):
        name = module.lines[line - 1].strip().removesuffix(':')
        how = 'Name what is expected; at a seam, show that by an adapter, and hand the rest to `report_defect`.'
        yield Step(
            'handler',
            _relative(module),
            line,
            name,
            1,
            'swallows every bug beside what it is meant for.',
            how,
        )


def _ends(way: Way) -> str:
    if not way.ends:
        return 'is handled nowhere here'
    first = sorted(
        way.ends, key=lambda one: (_relative(one.handler.module), one.handler.node.lineno)
    )
    return f'ends in {_listed([_place(one) for one in first])}{", or nowhere here" if way.is_loose else ""}'


def _place(end: Ending) -> str:
    place = f'{_relative(end.handler.module)}:{end.handler.node.lineno}'
    return f'`{end.unit.short}` ({place})' if end.unit.node is not None else place


def _names(units: Sequence[Unit]) -> str:
    return _listed(
        [
            f'`{one.short}`' if one.node is not None else f'the file {_relative(one.module)}'
            for one in units
        ]
    )


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:FEW], *([f'{len(names) - FEW} more'] if len(names) > FEW else [])]
    return ' and '.join([', '.join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _relative(module: Module) -> str:
    try:
        return os.path.relpath(module.path)
    except ValueError:
        # On another drive there is no way from here.
        return str(module.path)
