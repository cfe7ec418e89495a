"""Conversion of the table of a pipeline to guards, which finds all problems at once."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeVar, cast

import msgspec
from msgspec import UNSET, Struct

from seamwise._text.json_pointer import pointer_keys
from seamwise.catalog.problem import Problem
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.config.schema import KeyPath, Table, convert_struct, is_table, string_keys
from seamwise.policies.config.settings import (
    PLACEHOLDERS,
    GuardConfig,
    GuardDependencies,
    NestedConfig,
    RateConfig,
)
from seamwise.policies.errors import GuardError

S = TypeVar('S', bound=Struct)
C = TypeVar('C', bound=GuardConfig | NestedConfig)
T = TypeVar('T')


class TableProblem(NamedTuple):
    """A problem with a value in the table of a pipeline."""

    path: KeyPath
    message: str


_PLACEHOLDER_RATES: Final = [RateConfig(limit=1_000_000_000)]


def convert_pipeline(struct: type[S], table: Table) -> tuple[S, list[TableProblem]]:
    """Convert the table of a pipeline, and return all problems with its keys and types.

    The Struct has placeholders for invalid values, so that the other values can be checked.

    >>> from seamwise.policies.config.settings import PipelineConfig
    >>> config, problems = convert_pipeline(PipelineConfig, {'retry': {'attempts': 'x', 'cap': 9}})
    >>> problems
    [TableProblem(path=('retry', 'attempts'), message='must be an integer, not a string')]
    >>> config.retry.cap
    9.0
    """
    remaining: list[Problem] = []
    config = convert_struct(struct, table, remaining)
    problems = remaining
    while config is None:
        for problem in remaining:
            table = cast('Table', _without_problem(table, pointer_keys(problem.pointer)))
        remaining = []
        config = convert_struct(struct, table, remaining)
    return config, [TableProblem(pointer_keys(item.pointer), item.message) for item in problems]


def _without_problem(value: object, path: KeyPath, kind: str = '') -> object:
    """Return a copy of a table with a placeholder for the value at a path, or without the value."""
    if isinstance(value, list | tuple):
        items = list(cast('Iterable[object]', value))
        index, *rest = path
        item = items[int(index)]
        items[int(index)] = (
            _without_problem(item, tuple(rest), kind) if rest else _with_required_key(kind, item)
        )
        return items
    if not is_table(value):
        return value
    copy = {key: value[key] for key in string_keys(value, [], '')}
    if not path:
        return copy
    key, *rest = path
    item = copy.get(key)
    if rest:
        copy[key] = _without_problem(item, tuple(rest), key)
    elif not kind and is_table(item) and (repaired := _with_required_key(key, item)) != item:
        copy[key] = repaired
    elif kind and key in PLACEHOLDERS and item is not PLACEHOLDERS[key]:
        copy[key] = PLACEHOLDERS[key]
    else:
        copy.pop(key, None)
    return copy


def _with_required_key(kind: str, table: object) -> Table:
    """Return a copy of the table of a guard without keys that are no strings."""
    copy = {key: table[key] for key in string_keys(table, [], '')} if is_table(table) else {}
    required = _REQUIRED_KEYS.get(kind)
    if required is not None:
        copy.setdefault(required, PLACEHOLDERS[required])
    return copy


_REQUIRED_KEYS = {
    'rate_limit': 'limit',
    'rates': 'limit',
    'bulkhead': 'limit',
    'hedge': 'after',
    'deadline': 'seconds',
}


def build_guards(
    kinds: Iterable[str], config: Struct, dependencies: GuardDependencies
) -> tuple[Mapping[str, Guard[GuardError]], list[TableProblem]]:
    """Build the guards of a pipeline by kind, and return all problems with their values.

    A guard with a problem is left out.

    >>> from seamwise.policies import REAL
    >>> from seamwise.policies.config.settings import DeadlineConfig, PipelineConfig
    >>> config = PipelineConfig(deadline=DeadlineConfig(seconds=0))
    >>> guards, problems = build_guards(
    ...     ['retry', 'deadline'], config, GuardDependencies('bank', None, REAL)
    ... )
    >>> guards, problems[0].path
    ({}, ('deadline', 'seconds'))

    Args:
        kinds: The fields of the Struct that are guards.
        config: The settings of the pipeline.
        dependencies: The name, observer and world of all guards.
    """
    guards: dict[str, Guard[GuardError]] = {}
    problems: list[TableProblem] = []
    for kind in kinds:
        value: object = getattr(config, kind)
        if isinstance(value, GuardConfig):
            guard = _build_guard(value, (kind,), dependencies, problems)
            if guard is not None:
                guards[kind] = guard
    return guards, problems


def _build_guard(
    config: GuardConfig,
    path: KeyPath,
    dependencies: GuardDependencies,
    problems: list[TableProblem],
) -> Guard[GuardError] | None:
    count = len(problems)
    world = dependencies.world
    for key in config.__struct_fields__:
        value: object = getattr(config, key)
        nested = cast('list[object]', value) if isinstance(value, list) else [value]
        for index, table in enumerate(nested):
            if not isinstance(table, NestedConfig):
                continue
            place = (*path, key, str(index)) if isinstance(value, list) else (*path, key)
            if _build(table, lambda table: table.build(world), place, problems) is None:
                config = _replace(config, key)
    guard = _build(config, lambda config: config.build(dependencies), path, problems)
    return guard if len(problems) == count else None


def _build(
    config: C, build: Callable[[C], T], path: KeyPath, problems: list[TableProblem]
) -> T | None:
    """Return the result of `build`, or None after adding the problems with all values."""
    has_problems = False
    while True:
        try:
            result = build(config)
        except ValueError as error:
            key, problem = _locate(config, path, str(error).removesuffix('.'))
            problems.append(problem)
            has_problems = True
            if key is None:
                return None
            repaired = _replace(config, key)
            if getattr(repaired, key) is getattr(config, key):
                return None
            config = repaired
        else:
            return None if has_problems else result


def _replace(config: C, key: str) -> C:
    """Return a copy with a placeholder for a value, or without it."""
    value = _PLACEHOLDER_RATES if key == 'rates' else PLACEHOLDERS.get(key, UNSET)
    return msgspec.structs.replace(config, **{key: value})


def _locate(
    config: GuardConfig | NestedConfig, path: KeyPath, message: str
) -> tuple[str | None, TableProblem]:
    """Find the key of a guard's error message, which begins with the name of an argument."""
    keys = {key: key for key in config.__struct_fields__}
    if isinstance(config, NestedConfig):
        first_key = config.__struct_fields__[0]
        keys = {config.first_argument: first_key, **keys}
    for argument, key in keys.items():
        if message.startswith(f'{argument} '):
            return key, TableProblem((*path, key), message.replace(argument, key, 1))
    return None, TableProblem(path, message)
