"""Migration steps, ordered by how many functions each one touches."""

import ast
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise._text.phrases import join_limited
from seamwise.check.adoption.exception_paths import CallGraph, CatchSite, ExceptionPath
from seamwise.check.adoption.function_status import ContainerKind, FunctionStatus
from seamwise.check.inference import inference_of
from seamwise.check.inference.exception_flow.helpers import ExceptionHelpers, exception_helpers
from seamwise.check.inference.exception_flow.reraised import RAISED
from seamwise.check.inference.exception_flow.sites import CodeUnit, ExceptionClass
from seamwise.check.rules.broad_except import RULE as BROAD_EXCEPT
from seamwise.check.typed_ast.program import Module, Program

_Kind: TypeAlias = Literal['error', 'raise', 'safe', 'result', 'container', 'bridge', 'handler']
_KIND_ORDER: Sequence[_Kind] = (
    'error',
    'raise',
    'safe',
    'result',
    'container',
    'bridge',
    'handler',
)
_LATE_KINDS = frozenset({'bridge', 'handler'})
"""Steps that depend on the others: calls of `or_raise`, and broad handlers."""
_MAX_NAMES = 3
"""Number of names in a list before it ends in "… more"."""


class MigrationStep(Struct, frozen=True):
    """One proposed change, with its place, reason and instruction."""

    kind: _Kind
    path: str
    line: int
    name: str
    touches: int
    """Number of functions that raise, propagate or handle the exception, or call the function."""
    why: str
    how: str
    is_handled: bool = True
    """False for an exception that is never caught: it is a bug, or affects code elsewhere."""


_CONTAINER_TEXTS: Mapping[ContainerKind, tuple[str, str]] = {
    'safe': (
        'converts exceptions with a decorator; its channel is `{}`.',
        'Use `@attempt(when(…).becomes(…))` instead, with each expected exception.',
    ),
    'result': (
        'has the channel `{}`, which is not limited to specific tagged errors.',
        'Define a TaggedError for each expected failure, and name them in the channel.',
    ),
    'container': (
        'returns `{}`, which names no error.',
        'Return a Result, with a TaggedError for each reason why there is no value.',
    ),
}
"""Reason and instruction for each kind of container."""
_RAISE_HELP = (
    'Return a Failure of a TaggedError if it is expected; for a bug, raise AssertionError.'
)
_BRIDGE_HELP = (
    'Return the Result; if there are several, use direct style:'
    ' `@fallible`, and `do` instead of `or_raise`.'
)
_HANDLER_HELP = (
    'Name the expected exceptions; at a seam, show these with an adapter'
    ' and pass the rest to `report_defect`.'
)


def migration_steps(
    program: Program, graph: CallGraph, statuses: Mapping[CodeUnit, FunctionStatus]
) -> list[MigrationStep]:
    """Return all steps, the easiest first."""
    steps = [
        *_exception_class_steps(program, graph, statuses),
        *_raise_steps(program, graph, statuses),
        *_container_steps(graph, statuses),
        *_handler_steps(program),
    ]
    return sorted(steps, key=_rank)


def raisers_by_exception(graph: CallGraph) -> Mapping[ExceptionClass, Sequence[CodeUnit]]:
    """Return the functions that raise each ordinary exception."""
    raisers: dict[ExceptionClass, dict[CodeUnit, None]] = {}
    for unit in graph.units:
        for site in unit.raises:
            raisers.setdefault(site.exception, {})[unit] = None
    return {exception: tuple(units) for exception, units in raisers.items()}


def broad_handler_lines(program: Program) -> Iterator[tuple[Module, int]]:
    """Yield module and line of each handler that the rule SW103 reports."""
    helpers = ExceptionHelpers(
        helper for module in program.modules for helper in exception_helpers(inference_of(module))
    )
    for module in program.modules:
        for finding in BROAD_EXCEPT.check_module(module):
            if not isinstance(finding.node, ast.match_case) and not helpers.satisfy(finding.unless):
                yield module, finding.node.lineno


def _rank(step: MigrationStep) -> tuple[bool, bool, bool, int, int, str, int]:
    return (
        step.kind in _LATE_KINDS,
        step.kind == 'handler',
        not step.is_handled,
        step.touches,
        _KIND_ORDER.index(step.kind),
        step.path,
        step.line,
    )


def _exception_class_steps(
    program: Program, graph: CallGraph, statuses: Mapping[CodeUnit, FunctionStatus]
) -> Iterator[MigrationStep]:
    """Yield a step for each exception class of this code, which becomes a tagged error."""
    modules = {module.name: module for module in program.modules}
    for exception, raisers in raisers_by_exception(graph).items():
        module = modules.get(exception.module)
        if module is None or exception.name == RAISED:
            continue
        path = graph.path(raisers, exception)
        convertible = [
            unit
            for unit in path.raisers
            if unit not in statuses and unit in graph.functions and not unit.is_special_method
        ]
        how = 'Make it a TaggedError.'
        if convertible:
            names = _unit_names(convertible)
            how = f'Make it a TaggedError, and return it in a Failure from {names}.'
        yield MigrationStep(
            'error',
            _relative_path(module),
            exception.line,
            exception.short_name,
            len(path.functions),
            f'is raised by {_unit_names(path.raisers)} and {_caught_in(path)}.',
            how,
            bool(path.catch_sites),
        )


def _raise_steps(
    program: Program, graph: CallGraph, statuses: Mapping[CodeUnit, FunctionStatus]
) -> Iterator[MigrationStep]:
    """Yield a step for each function that lets out exceptions of others, such as ValueError."""
    modules = {module.name for module in program.modules}
    for unit in graph.functions:
        if unit.node is None or unit in statuses or unit.is_special_method:
            continue
        exceptions = dict.fromkeys(
            site.exception for site in unit.raises if site.exception.module not in modules
        )
        paths = {exception: graph.path([unit], exception) for exception in exceptions}
        escaping = {
            exception: path for exception, path in paths.items() if unit in path.propagators
        }
        if not escaping:
            continue
        longest = max(escaping.values(), key=lambda path: len(path.functions))
        touched = {function for path in escaping.values() for function in path.functions}
        # There is one `Raised` for each error.
        short_names = list(dict.fromkeys(exception.short_name for exception in escaping))
        names = _join_first(short_names)
        verb = 'is' if len(short_names) == 1 else 'are'
        is_bridge = {exception.name for exception in escaping} == {RAISED}
        yield MigrationStep(
            'bridge' if is_bridge else 'raise',
            _relative_path(unit.module),
            unit.node.lineno,
            unit.short_name,
            len(touched),
            f'raises {names}, which {verb} {_caught_in(longest)}.',
            _BRIDGE_HELP if is_bridge else _RAISE_HELP,
            bool(longest.catch_sites),
        )


def _container_steps(
    graph: CallGraph, statuses: Mapping[CodeUnit, FunctionStatus]
) -> Iterator[MigrationStep]:
    """Yield a step for each function that returns a container without tagged errors."""
    for unit, status in statuses.items():
        if status.kind != 'channel' and unit.node is not None:
            why, how = _CONTAINER_TEXTS[status.kind]
            yield MigrationStep(
                status.kind,
                _relative_path(unit.module),
                unit.node.lineno,
                unit.short_name,
                len({unit, *graph.callers(unit)}),
                why.format(status.description),
                how,
            )


def _handler_steps(program: Program) -> Iterator[MigrationStep]:
    """Yield a step for each handler that also swallows defects."""
    for module, line in broad_handler_lines(program):
        yield MigrationStep(
            'handler',
            _relative_path(module),
            line,
            module.lines[line - 1].strip().removesuffix(':'),
            1,
            'also swallows every defect.',
            _HANDLER_HELP,
        )


def _caught_in(path: ExceptionPath) -> str:
    if not path.catch_sites:
        return 'never caught'
    sites = sorted(
        path.catch_sites,
        key=lambda site: (_relative_path(site.handler.module), site.handler.node.lineno),
    )
    names = _join_first([_site_name(site) for site in sites])
    return f'caught in {names}{", but not on every path" if path.may_escape else ""}'


def _site_name(site: CatchSite) -> str:
    location = f'{_relative_path(site.handler.module)}:{site.handler.node.lineno}'
    return f'`{site.unit.short_name}` ({location})' if site.unit.node is not None else location


def _unit_names(units: Sequence[CodeUnit]) -> str:
    return _join_first(
        [
            f'`{unit.short_name}`'
            if unit.node is not None
            else f'the file {_relative_path(unit.module)}'
            for unit in units
        ]
    )


def _join_first(names: Sequence[str]) -> str:
    omitted = len(names) - _MAX_NAMES
    return join_limited([*names[:_MAX_NAMES], *([f'{omitted} more'] if omitted > 0 else [])])


def _relative_path(module: Module) -> str:
    try:
        return os.path.relpath(module.path)
    except ValueError:
        # On Windows no relative path leads to another drive.
        return str(module.path)
