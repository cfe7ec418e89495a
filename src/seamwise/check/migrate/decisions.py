"""Decisions for the nodes of a module: names, forms of functions and handlers."""

import ast
from collections.abc import Iterable, Sequence
from functools import cached_property

from seamwise.check.migrate.blockers import own_nodes
from seamwise.check.migrate.exception_classes import Kind
from seamwise.check.migrate.expectations import Expectation, readings
from seamwise.check.migrate.flow import Flow, is_run
from seamwise.check.migrate.syntax import awaited_value
from seamwise.check.migrate.units import Clause, Site, Unit
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module


class Decisions:
    """Decisions for the nodes of one module."""

    def __init__(self, module: Module, flow: Flow) -> None:
        self.module = module
        self.flow = flow
        self.kinds = flow.kinds
        self.units = [unit for unit in flow.units if unit.module is module]
        self.sites: dict[ast.AST, tuple[Unit, Site]] = {
            site.node: (unit, site) for unit in self.units for site in unit.sites
        }
        self.unit_of_function = {unit.node: unit for unit in self.units}
        self.classes = {kind.node: kind for kind in self.kinds.converted() if kind.module is module}
        covering = {
            module.scope_of(statement)
            for statement in module.nodes_of_type(ast.Try)
            if any(
                clause.arrived if self.kinds.is_keeping else clause.covers
                for clause in self.clauses(statement)
            )
        }
        self.leaves = {
            unit.node for unit in self.units if _is_leaf(unit) and unit.node not in covering
        }
        self._names: dict[ast.AST, set[str]] = {}
        self.seamwise: set[str] = set()
        """Names to import from `seamwise`."""
        self.imports: dict[str, set[str]] = {}
        """Names to import from other modules."""
        self.inner_imports: dict[str, str] = {}
        """Names to import where functions import others, by these."""
        self.matched = {
            statement: call
            for statement in module.nodes_of_type(ast.Try)
            if (call := self._matched_call(statement)) is not None
        }
        self._matched_calls = set(self.matched.values())
        self.direct = {
            place: call
            for place, expectation in flow.expected.items()
            if expectation.call in module.parents
            and (call := self._direct_call(expectation)) is not None
        }
        """Calls whose Result a test can assert, by the place of the expectation."""
        self._matched_calls.update(self.direct.values())

    # Names

    def use(self, *names: str) -> None:
        """Import names of the library."""
        self.seamwise.update(names)

    @cached_property
    def terminal(self) -> str:
        """Return the name of the seam of terminals in this module; import it."""
        is_free = 'cli' not in set(names_in(self.module.syntax))
        name = 'cli' if is_free else self.fresh('terminal', self.module.syntax)
        alias = 'cli' if is_free else f'cli as {name}'
        self.imports.setdefault('seamwise.seams', set()).add(alias)
        return name

    @cached_property
    def exit_table(self) -> str:
        """Return the name of the table of exit codes in this module."""
        return self.fresh('EXITS', self.module.syntax)

    def local(self, name: str) -> str:
        """Return the expression that names a class in this module; import it if necessary."""
        kind = self.kinds.all[name]
        known = self.module.class_names.get(name)
        if kind.has_twin and known is not None:
            scope, dot, _ = known.rpartition('.')
            known = f'{scope}{dot}{kind.error_name}' if dot else None
        if known is None and kind.module is not self.module:
            self.imports.setdefault(kind.module.name, set()).add(kind.error_name)
        return known or kind.error_name

    def local_any(self, kind: Kind) -> str:
        """Return the expression for all errors that a class covers, for `isinstance`."""
        if not self.kinds.is_alias(kind):
            return self.local(kind.name)
        names = [self.local(member.name) for member in self.kinds.members(kind.name)]
        return f'({", ".join(names)})'

    def keeps_exceptions(self, node: ast.AST, names: Iterable[str]) -> bool:
        """Return whether the function around a node stays as it is."""
        unit = self.unit_of_function.get(_function(self.module.scope_of(node)))
        return self.flow.keeps_exceptions(unit, names)

    def result_function(self, node: ast.expr) -> str:
        """Return the name that replaces the one of a function in a call; empty if it stays."""
        parent = self.module.parents.get(node)
        unit = self.flow.callbacks.get(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            unit = self.flow.callee(parent, self.module)
        found = self.sites.get(parent) if parent is not None else None
        if found is not None and found[1].is_raw:
            return ''
        if unit is None or not unit.result_name or unit.keeps_calls:
            return ''
        if self.keeps_exceptions(node, unit.escapes):
            return ''
        if isinstance(node, ast.Name) and unit.module is not self.module:
            if self._is_imported_inside(node):
                # At the top, the import might be part of a circle.
                self.inner_imports[node.id] = unit.result_name
            else:
                self.imports.setdefault(unit.module.name, set()).add(unit.result_name)
        return unit.result_name

    def _is_imported_inside(self, node: ast.Name) -> bool:
        """Return whether the function around a name imports it."""
        scope = self.module.scope_of(node)
        return isinstance(scope, FUNCTIONS) and any(
            (alias.asname or alias.name) == node.id
            for part in own_nodes(scope)
            if isinstance(part, ast.ImportFrom)
            for alias in part.names
        )

    def union(self, kinds: Iterable[Kind]) -> str:
        """Return the union of some classes."""
        return ' | '.join(self.local(kind.name) for kind in kinds)

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Return names of classes in the order of their definitions."""
        wanted = set(names)
        return [kind.name for kind in self.kinds.all.values() if kind.name in wanted]

    def fresh(self, name: str, node: ast.AST) -> str:
        """Return a variable name that the function around a node does not use, and take it."""
        scope = self.module.scope_of(self.module.parents.get(node, node))
        names = self._names.get(scope)
        if names is None:
            names = self._names[scope] = set(names_in(scope))
        number, new = 1, name
        while new in names:
            number += 1
            new = f'{name}_{number}'
        names.add(new)
        return new

    # Sites

    def call_wrapper(self, call: ast.Call) -> str:
        """Return the function around a call: `do`, `or_raise`, or none."""
        found = self.sites.get(call)
        if found is None or call in self._matched_calls:
            return ''
        unit, site = found
        if site.callee is None or site.is_raw or self.flow.keeps_exceptions(unit, site.kinds):
            return ''
        if unit.is_converted and not site.is_caught and not site.is_lazy:
            return 'do'
        self.use('or_raise')
        return 'or_raise'

    def leaves_function(self, node: ast.AST) -> str:
        """Return how a `raise` ends: `return`, `fail`, or empty if it stays an exception."""
        unit, site = self.sites[node]
        if not unit.is_converted or site.is_caught or site.is_lazy:
            return ''
        return 'return' if unit.node in self.leaves else 'fail'

    # Handlers

    def clauses(self, statement: ast.Try) -> list[Clause]:
        """Return the clauses of a statement that stay."""
        return [
            self.flow.clauses[handler]
            for handler in statement.handlers
            if handler not in self.kinds.answering
        ]

    def expected(self, expectation: Expectation, kinds: Iterable[str] | None = None) -> str:
        """Return the expression of the classes that a test expects.

        Args:
            expectation: The assertion of the test.
            kinds: Full names of the classes that can arrive; all without it.
        """
        first = expectation.call.args[0]
        if isinstance(first, ast.Name) and (self.module.scope_of(first), first.id) in (
            self.kinds.variables
        ):
            return first.id
        names = self.flow.covered_by(expectation, self.module)
        if kinds is not None and names & set(kinds):
            names &= set(kinds)
        items = [self.local(name) for name in self.ordered(names)]
        return items[0] if len(items) == 1 else f'({", ".join(items)})'

    def _direct_call(self, expectation: Expectation) -> ast.Call | None:
        """Return the call that must fail, if the others before it cannot."""
        statement = expectation.statement
        covered = self.flow.covered_by(expectation, self.module)
        if expectation.pattern is not None and 'search' in names_in(self.module.syntax):
            return None
        if statement is None:
            called = expectation.called
            unit = None if called is None else self.flow.expected_functions.get(called[0])
            is_direct = unit is not None and unit.is_converted and covered & unit.escapes
            return expectation.call if is_direct else None
        if len(statement.items) != 1 or any(
            not isinstance(parent := self.module.parents.get(name), ast.Attribute)
            or parent.attr != expectation.attribute
            for name in readings(expectation, self.module)
        ):
            return None
        last = statement.body[-1]
        if not isinstance(last, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return):
            return None
        call = awaited_value(last.value)
        if is_run(call, self.module) and isinstance(call, ast.Call) and call.args:
            call = call.args[0]
        inside = {node for part in statement.body for node in ast.walk(part)}
        sites = [site for node, (_, site) in self.sites.items() if node in inside and site.kinds]
        match sites:
            case [Site(node=ast.Call() as only, callee=Unit(), is_caught=False, is_lazy=False)]:
                return only if only is call and covered & sites[0].kinds else None
            case _:
                return None

    def _matched_call(self, statement: ast.Try) -> ast.Call | None:
        """Return the only call of a body that may fail, if nothing is evaluated before it."""
        clauses = self.clauses(statement)
        covered = {name for clause in clauses for name in clause.covers}
        if (
            not clauses
            or statement in self.flow.kept
            or any(clause.is_broad or clause.is_mixed or not clause.covers for clause in clauses)
            or self.keeps_exceptions(statement, covered)
            or covered & self.flow.loose
            or statement not in self._tried()
        ):
            return None
        inside = [
            (unit, site)
            for unit, site in self.sites.values()
            if statement in site.tries and site.kinds
        ]
        match inside:
            case [(_, Site(node=ast.Call() as call) as site)] if (
                site.tries[0] is statement and not site.is_lazy
            ):
                first = statement.body[0]
                value = getattr(first, 'value', None)
                if (
                    isinstance(first, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return)
                    and isinstance(value, ast.expr)
                    and _is_first(value, call)
                ):
                    return call
            case _:
                pass
        return None

    def _tried(self) -> set[ast.Try]:
        return {statement for _, site in self.sites.values() for statement in site.tries}


def _function(scope: ast.AST) -> Function | None:
    return scope if isinstance(scope, FUNCTIONS) else None


def names_in(scope: ast.AST) -> Iterable[str]:
    """Yield the names that a scope binds or reads."""
    for node in ast.walk(scope):
        match node:
            case ast.Name(name) | ast.arg(name):
                yield name
            case ast.ExceptHandler(name=str() as name):
                yield name
            case ast.alias(name, asname):
                yield asname or name.partition('.')[0]
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name
            case ast.MatchAs(name=str() as name):
                yield name
            case _:
                pass


def _is_leaf(unit: Unit) -> bool:
    """Return whether a function only raises, so that it can return its failures."""
    node = unit.node
    if node is None or not unit.is_converted or node.returns is None:
        return False
    if isinstance(node.returns, ast.Constant):
        return False
    own = list(own_nodes(node))
    returns_none = any(isinstance(part, ast.Return) and part.value is None for part in own)
    return (
        not returns_none
        and all(
            not site.kinds
            or (
                isinstance(site.node, ast.Raise)
                and site.rethrown is None
                and not (site.is_caught or site.is_lazy or site.in_with)
            )
            for site in unit.sites
        )
        and not any(isinstance(part, ast.Try) and part.finalbody for part in own)
    )


def _is_first(value: ast.expr, call: ast.Call) -> bool:
    """Return whether a call is evaluated first, once, and always."""
    match value:
        case ast.Call() if value is call:
            return True
        case ast.Await(inner) | ast.UnaryOp(_, inner) | ast.Starred(inner):
            return _is_first(inner, call)
        case ast.FormattedValue(inner, _, None):
            return _is_first(inner, call)
        case ast.Attribute(inner, _) | ast.Subscript(inner, _):
            return _is_first(inner, call)
        case ast.BinOp(left, _, right):
            parts: Sequence[ast.expr | None] = [left, right]
        case ast.BoolOp(_, operands):
            parts = operands[:1]
        case ast.Compare(left):
            parts = [left]
        case ast.IfExp(test):
            parts = [test]
        case ast.JoinedStr(items) | ast.Tuple(items) | ast.List(items) | ast.Set(items):
            parts = items
        case ast.Dict(keys, values):
            parts = [part for pair in zip(keys, values, strict=True) for part in pair]
        case ast.Call(function, arguments, keywords):
            parts = [function, *arguments, *(keyword.value for keyword in keywords)]
        case _:
            return False
    for part in parts:
        if part is None:
            return False
        if _is_first(part, call):
            return True
        is_plain = isinstance(part, ast.Constant | ast.Name) or (
            isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name)
        )
        if not is_plain:
            return False
    return False
