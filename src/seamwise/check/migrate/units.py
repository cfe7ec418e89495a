"""Functions, places that raise, and clauses: the parts of the flow of exceptions."""

import ast
from collections.abc import Mapping

from msgspec import Struct, field

from seamwise.check.migrate.seams.handler import ErrorHandler
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module


class Clause(Struct, eq=False):
    """An `except` clause."""

    node: ast.ExceptHandler
    module: Module
    classes: tuple[str, ...]
    statement: ast.Try
    covers: frozenset[str] = frozenset()
    """Converted classes that it names, or is broad enough for."""
    arrived: frozenset[str] = frozenset()
    """Those that reach it."""
    is_broad: bool = False
    is_dynamic: bool = False
    """Whether it names something else than classes."""
    is_mixed: bool = False
    """Whether it also names other exceptions."""


class Site(Struct, eq=False):
    """A `raise` statement, or a call of a function that raises."""

    node: ast.Raise | ast.Call
    kinds: frozenset[str]
    tries: tuple[ast.Try, ...]
    """The statements whose bodies contain it, innermost first."""
    is_caught: bool
    """Whether a handler of the same function may stop it."""
    is_lazy: bool
    """Whether it runs in a lambda, when some other code calls it."""
    in_with: bool
    rethrown: Clause | None = None
    """The clause whose exception a `raise` raises again."""
    callee: 'Unit | None' = None
    is_raw: bool = False
    """Whether it keeps its exceptions, which stay beside the tagged errors."""
    all_kinds: frozenset[str] = frozenset()
    """The classes, also of a place that keeps its exceptions."""


class Unit(Struct, eq=False):
    """A function, or the top-level code of a module."""

    name: str
    module: Module
    node: Function | None
    blocker: str = ''
    """Reason why the function keeps exceptions; empty if it can be converted."""
    escapes: frozenset[str] = frozenset()
    sites: list[Site] = field(default_factory=list['Site'])
    is_test: bool = False
    """Whether only a test runner calls the function, and no code of the program."""
    is_value: bool = False
    """Whether code that is not converted needs the old name."""
    table: Mapping[str, ErrorHandler] | None = None
    """The table of the framework that calls it, which shows these errors."""
    keeps_calls: bool = False
    """Whether all callers call a function beside it, which has its exceptions and its old name:
    that of a property, or of a method that overrides or is overridden."""
    result_name: str = ''
    """New name of a function whose old name keeps its exceptions for callers outside."""

    @property
    def is_public(self) -> bool:
        """Whether no part of the name begins with an underscore; special methods are public."""
        return not any(
            part.startswith('_') and not part.endswith('__') for part in self.name.split('.')
        )

    @property
    def short_name(self) -> str:
        """Name without the module."""
        return self.name.removeprefix(f'{self.module.name}.')

    @property
    def is_inner(self) -> bool:
        """Whether another function contains the function."""
        return self.node is not None and isinstance(
            self.module.scope_of(self.module.parents[self.node]), FUNCTIONS
        )

    @property
    def is_candidate(self) -> bool:
        """Whether the function can return a Result."""
        return self.node is not None and not self.blocker

    @property
    def is_converted(self) -> bool:
        """Whether the function returns a Result from now on."""
        return self.is_candidate and bool(self.escapes)
