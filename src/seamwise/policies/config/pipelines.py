"""Pipelines from a document that has a table of defaults and a section of named tables."""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Final, Generic, TypeVar

from msgspec import Struct

from seamwise._runtime.registry import unregister
from seamwise.catalog.problem import Problem
from seamwise.policies._engine.order_rules import order_warnings
from seamwise.policies._engine.pipeline import Guard, identity
from seamwise.policies.config.guard_builder import TableProblem, build_guards, convert_pipeline
from seamwise.policies.config.schema import (
    KeyPath,
    Table,
    child_pointer,
    field_types,
    first_key,
    is_table,
    string_keys,
    struct_types,
    unknown_name_message,
    value_text,
)
from seamwise.policies.config.settings import GuardDependencies
from seamwise.policies.errors import GuardError

S = TypeVar('S', bound=Struct)

DEFAULT: Final = 'default'
"""The key of the table of defaults."""


class Layout(Struct, Generic[S], frozen=True):
    """The form of a document: a table `default`, and a section with a table for each name.

    Attributes:
        section: The key of the section.
        noun: The noun for a named table in messages.
        defaults: The Struct of the table `default`. Its fields are guards, the outermost first.
        table: The Struct of a named table, with the same guards.
        merges_options: Whether a guard of a named table inherits the options of the same guard in
            `default`; otherwise it replaces that guard completely.
        is_strict: Whether a pipeline that contradicts itself, and a name without any guards, are
            problems.
    """

    section: str
    noun: str
    defaults: type[Struct]
    table: type[S]
    merges_options: bool
    is_strict: bool


class Report:
    """The problems with a document, each once.

    >>> report = Report(lambda path: ' (from a variable)' if 'retry' in path else '')
    >>> report.add(('default', 'retry'), 'must be a table')
    >>> report.problems()
    (Problem(pointer='/default/retry', message='must be a table (from a variable)'),)

    Args:
        note: Returns a text about the value at a path, which is added to the message.
    """

    def __init__(self, note: Callable[[KeyPath], str] = lambda _path: '') -> None:
        self._note = note
        self._paths: set[KeyPath] = set()
        self._problems: dict[tuple[KeyPath, str], None] = {}

    def add(self, path: KeyPath, message: str, *, note: str | None = None) -> None:
        """Add a problem with the value at a path of the document; `note` replaces its note."""
        self._paths.add(path)
        self._problems[path, f'{message}{self._note(path) if note is None else note}'] = None

    def has(self, path: KeyPath) -> bool:
        """Return whether there is a problem with the value at a path."""
        return path in self._paths

    def problems(self, prefix: str = '') -> tuple[Problem, ...]:
        """Return the problems; their pointers begin with `prefix`."""
        return tuple(
            Problem(reduce(child_pointer, path, prefix), message)
            for path, message in self._problems
        )


class PipelineBuilder(Generic[S]):
    """Builder for the pipelines of a document.

    Args:
        document: The parsed document.
        layout: Its form.
        dependencies: Returns what a document cannot supply, for a name and its table.
        report: Receives the problems; the pipelines are usable only if there are none.
    """

    def __init__(
        self,
        document: Table,
        layout: Layout[S],
        *,
        dependencies: Callable[[str, S], GuardDependencies],
        report: Report,
    ) -> None:
        self._layout = layout
        self._kinds = layout.defaults.__struct_fields__
        self._dependencies = dependencies
        self._report = report
        keys = (DEFAULT, layout.section)
        for key in self._string_keys(document, ()):
            if key not in keys:
                report.add((key,), unknown_name_message(key, keys, noun='key'))
        self._defaults = self._table(document, (DEFAULT,))
        section = self._table(document, (layout.section,))
        self._tables = {
            name: self._table(section, (layout.section, name))
            for name in self._string_keys(section, (layout.section,))
        }

    def build(self, names: Iterable[str] | None = None) -> dict[str, Guard[GuardError]]:
        """Return a pipeline for each name, by default for each named table."""
        layout, report = self._layout, self._report
        names = tuple(self._tables if names is None else names)
        default_guards = self._check_defaults()
        if layout.is_strict and not self._tables.keys() >= set(names):
            self._check_order((DEFAULT,), default_guards)
        for name in self._tables:
            if name not in names:
                message = unknown_name_message(name, names, noun=layout.noun)
                report.add((layout.section, name), message)
                self._build(name)
        return {name: self._build(name) for name in names}

    def _string_keys(self, table: Table, path: KeyPath) -> Iterable[str]:
        problems: list[Problem] = []
        keys = tuple(string_keys(table, problems, ''))
        for problem in problems:
            self._report.add(path, problem.message)
        return keys

    def _table(self, parent: Table, path: KeyPath) -> Table:
        value = parent.get(path[-1], {})
        if is_table(value):
            return value
        self._report.add(path, f'must be a table, not {value_text(value)}')
        return {}

    def _check_defaults(self) -> Iterable[Guard[GuardError]]:
        """Report the problems with the defaults, even if every named table overrides them."""
        config, problems = convert_pipeline(self._layout.defaults, self._defaults)
        dependencies = self._dependencies(DEFAULT, self._layout.table())
        guards, more_problems = build_guards(self._kinds, config, dependencies)
        unregister(guards.values())
        for problem in (*problems, *more_problems):
            self._report.add((DEFAULT, *problem.path), problem.message)
        return in_order(_sound_guards(guards, problems))

    def _build(self, name: str) -> Guard[GuardError]:
        path = (self._layout.section, name)
        if not name.strip():
            self._report.add(path, 'needs a name: it identifies the guard in errors and events')
            return identity
        has_table = name in self._tables
        if self._layout.is_strict and not has_table and not _has_guards(self._defaults):
            message = f'needs the table {name!r}, or else guards in {DEFAULT!r}'
            self._report.add(path[:1], message)
        own = self._tables.get(name, {})
        table, inherited = self._inherit(own)
        config, problems = convert_pipeline(self._layout.table, table)
        dependencies = self._dependencies(name, config)
        guards, more_problems = build_guards(self._kinds, config, dependencies)
        for problem in (*problems, *more_problems):
            self._report_inherited(path, problem, inherited)
        if self._layout.is_strict and has_table:
            self._check_order(path, in_order(_sound_guards(guards, problems)))
        pipeline: Guard[GuardError] = identity
        for guard in in_order(guards):
            pipeline = pipeline >> guard
        return pipeline

    def _check_order(self, path: KeyPath, guards: Iterable[Guard[GuardError]]) -> None:
        for warning in order_warnings(guards):
            self._report.add(path, warning.removesuffix('.'))

    def _inherit(self, own: Table) -> tuple[Table, set[KeyPath]]:
        """Return a named table with the defaults, and the paths of the values from there."""
        table = dict(own)
        inherited: set[KeyPath] = set()
        for kind in string_keys(self._defaults, [], ''):
            default = self._defaults[kind]
            if kind not in own:
                table[kind] = default
                inherited.add((kind,))
                continue
            value = own[kind]
            if not (self._layout.merges_options and is_table(value) and is_table(default)):
                continue
            structs = struct_types(field_types([self._layout.defaults], kind))
            form = first_key(structs, value)
            if form is None or form == first_key(structs, default):
                options = string_keys(default, [], '')
                missing = {option: default[option] for option in options if option not in value}
                table[kind] = {**missing, **value}
                inherited.update((kind, option) for option in missing)
        return table, inherited

    def _report_inherited(
        self, path: KeyPath, problem: TableProblem, inherited: set[KeyPath]
    ) -> None:
        """Report a problem with a named table, or with the default that it inherits."""
        kind, default_path = problem.path[:1], (DEFAULT, *problem.path)
        if kind not in inherited and problem.path[:2] not in inherited:
            self._report.add((*path, *problem.path), problem.message)
        elif self._report.has(default_path):
            # The check of the defaults has found it.
            return
        elif kind in inherited:
            self._report.add(default_path, problem.message)
        else:
            # The default is valid with the other options of `default`, but not with these.
            self._report.add((*path, *kind), f'{problem.message} (from {DEFAULT!r})')


def in_order(guards: Mapping[str, Guard[GuardError]]) -> tuple[Guard[GuardError], ...]:
    """Return guards in the order of their pipeline, the outermost one first.

    A hedge is innermost except for the deadline. With a rate limit or a bulkhead, which would not
    count its further attempts, it is outermost.
    """
    kinds = list(guards)
    if 'hedge' in guards and not guards.keys().isdisjoint({'rate_limit', 'bulkhead'}):
        kinds.sort(key=lambda kind: kind != 'hedge')
    return tuple(guards[kind] for kind in kinds)


def _sound_guards(
    guards: Mapping[str, Guard[GuardError]], problems: Iterable[TableProblem]
) -> Mapping[str, Guard[GuardError]]:
    """Return the guards without placeholders, which could contradict other guards."""
    kinds = {problem.path[0] for problem in problems if problem.path}
    return {kind: guard for kind, guard in guards.items() if kind not in kinds}


def _has_guards(table: Table) -> bool:
    return any(value is not False for value in table.values())
