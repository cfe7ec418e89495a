"""Propagation of exception classes through functions, statement by statement."""

import ast
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from seamwise.check.migrate.arrivals import Arrivals
from seamwise.check.migrate.flow import Flow
from seamwise.check.migrate.units import Clause, Site, Unit
from seamwise.check.typed_ast.program import FUNCTIONS, children

_EAGER = frozenset(
    {'sum', 'list', 'tuple', 'set', 'dict', 'any', 'all', 'sorted', 'min', 'max', 'frozenset'}
)


def propagate(flow: Flow) -> Flow:
    """Follow the exceptions through all functions, until nothing changes."""
    while True:
        before = set(flow.kept)
        _follow(flow)
        if not flow.kinds.is_keeping:
            _read_clauses(flow)
            for unit in flow.units:
                if unit.table is None or not unit.is_converted:
                    continue
                if unit.escapes - unit.table.keys():
                    flow.rejected[unit.name] = (
                        'is called by a framework, whose table lacks some of its errors'
                    )
            return flow
        arrivals = Arrivals(flow)
        owners = {unit.node: unit for unit in flow.units}
        for clause in flow.clauses.values():
            scope = clause.module.scope_of(clause.statement)
            owner = owners.get(scope if isinstance(scope, FUNCTIONS) else None)
            if owner is None or not owner.is_converted:
                continue
            if _needs_exceptions(flow, clause, arrivals.reaching(clause)):
                flow.kept.add(clause.statement)
        if flow.kept == before:
            for unit in flow.units:
                if unit.is_converted and arrivals.leaks(unit):
                    flow.rejected[unit.name] = (
                        'has a clause that errors reach both as exceptions and in Results'
                    )
            return flow


def _follow(flow: Flow) -> None:
    for clause in flow.clauses.values():
        clause.arrived = frozenset()
    for unit in flow.units:
        unit.escapes = frozenset()
    while True:
        before = _state(flow)
        loose: set[str] = set()
        for unit in flow.units:
            unit.sites = []
            visitor = _Visitor(unit, flow)
            body = unit.module.syntax.body if unit.node is None else unit.node.body
            unit.escapes = frozenset(visitor.statements(body, (), None, in_with=False))
            if unit.node is not None and unit.blocker and not unit.is_test:
                loose |= unit.escapes
            loose.update(name for callback in flow.callbacks.values() for name in callback.escapes)
            loose.update(name for site in unit.sites if site.is_lazy for name in site.kinds)
        if not flow.kinds.is_keeping:
            flow.loose |= loose
        if _state(flow) == before:
            return


def _read_clauses(flow: Flow) -> None:
    for clause in flow.clauses.values():
        reached = clause.arrived if clause.is_broad else clause.covers
        flow.kinds.read_handler(clause.node, clause.module, reached)


def _needs_exceptions(flow: Flow, clause: Clause, reaching: AbstractSet[str]) -> bool:
    """Return whether a clause must see exceptions, which stay beside the tagged errors."""
    if reaching and (
        not clause.is_broad
        or clause.arrived
        or any(site.rethrown is clause for unit in flow.units for site in unit.sites)
    ):
        return True
    if not clause.arrived:
        return False
    refused = dict(flow.kinds.refused)
    flow.kinds.read_handler(clause.node, clause.module, clause.arrived)
    is_known = flow.kinds.refused == refused
    flow.kinds.refused = refused
    return clause.is_mixed or clause.is_dynamic or not is_known


def _state(flow: Flow) -> object:
    return (
        flow.loose,
        tuple((unit.escapes, unit.is_converted) for unit in flow.units),
        tuple(clause.arrived for clause in flow.clauses.values()),
    )


class _Visitor:
    """Exceptions of one function, statement by statement."""

    def __init__(self, unit: Unit, flow: Flow) -> None:
        self.unit = unit
        self.flow = flow
        self.is_lazy = False

    def statements(
        self,
        body: Sequence[ast.AST],
        tries: tuple[ast.Try, ...],
        current: Clause | None,
        *,
        in_with: bool,
    ) -> set[str]:
        """Return the classes that leave some nodes."""
        leaving: set[str] = set()
        for node in body:
            leaving |= self._node(node, tries, current, in_with=in_with)
        return leaving

    def _node(
        self, node: ast.AST, tries: tuple[ast.Try, ...], current: Clause | None, *, in_with: bool
    ) -> set[str]:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                defaults: list[ast.AST] = [*node.decorator_list, *node.args.defaults]
                return self.statements(defaults, tries, current, in_with=in_with)
            case ast.Lambda() | ast.GeneratorExp() if not self._is_eager(node):
                was_lazy, self.is_lazy = self.is_lazy, True
                # Its exceptions leave the function that calls it.
                self.statements(children(node), tries, current, in_with=in_with)
                self.is_lazy = was_lazy
                return set()
            case ast.Try():
                return self._try(node, tries, current, in_with=in_with)
            case ast.With() | ast.AsyncWith() if node in self.flow.expected:
                leaving = self.statements(node.items, tries, current, in_with=in_with)
                expected = self.flow.covered_by(self.flow.expected[node], self.unit.module)
                inner = self.statements(node.body, tries, current, in_with=True)
                return leaving | (inner - expected)
            case ast.With() | ast.AsyncWith():
                leaving = self.statements(node.items, tries, current, in_with=in_with)
                return leaving | self.statements(node.body, tries, current, in_with=True)
            case ast.Raise():
                return self._raise(node, tries, current, in_with=in_with)
            case ast.Call():
                leaving = self.statements(children(node), tries, current, in_with=in_with)
                callee = self.flow.callee(node, self.unit.module)
                if callee is not None and callee.is_converted and not callee.keeps_calls:
                    leaving |= self._site(
                        node, callee.escapes, tries, in_with=in_with, callee=callee
                    )
                return leaving
            case _:
                return self.statements(children(node), tries, current, in_with=in_with)

    def _is_eager(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.GeneratorExp):
            return False
        parent = self.unit.module.parents.get(node)
        return isinstance(parent, ast.Call) and (
            (isinstance(parent.func, ast.Name) and parent.func.id in _EAGER)
            or (
                isinstance(parent.func, ast.Attribute)
                and parent.func.attr == 'join'
                and isinstance(parent.func.value, ast.Constant)
            )
        )

    def _try(
        self, node: ast.Try, tries: tuple[ast.Try, ...], current: Clause | None, *, in_with: bool
    ) -> set[str]:
        remaining = self.statements(node.body, (node, *tries), current, in_with=in_with)
        loose = set(self.flow.loose)
        leaving: set[str] = set()
        for handler in node.handlers:
            clause = self.flow.clauses[handler]
            if clause.is_dynamic and self.flow.kinds.is_keeping:
                if remaining and self.unit.is_candidate:
                    self.flow.kept.add(node)
            elif clause.is_dynamic:
                self.flow.refuse_caught(
                    clause,
                    remaining | loose,
                    'reaches a clause whose exceptions are not known',
                    'Name the exceptions in the clause.',
                )
            clause.arrived = clause.arrived | (clause.covers & (remaining | loose))
            remaining -= clause.covers
            loose -= clause.covers
            leaving |= self.statements(handler.body, tries, clause, in_with=in_with)
        leaving |= self.statements(node.orelse, tries, current, in_with=in_with)
        leaving |= self.statements(node.finalbody, tries, current, in_with=in_with)
        return leaving | remaining

    def _raise(
        self, node: ast.Raise, tries: tuple[ast.Try, ...], current: Clause | None, *, in_with: bool
    ) -> set[str]:
        inner = [child for child in (node.exc, node.cause) if child is not None]
        leaving = self.statements(inner, tries, current, in_with=in_with)
        rethrown = current if node.exc is None else self.flow.clause_of(node.exc, self.unit.module)
        if rethrown is not None:
            return leaving | self._site(
                node, rethrown.arrived, tries, in_with=in_with, rethrown=rethrown
            )
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        name = self.unit.module.full_name(raised) if raised is not None else ''
        kind = self.flow.kinds.all.get(name)
        names: frozenset[str] = frozenset()
        if kind is not None and self.flow.kinds.is_converted(kind):
            names = frozenset({name})
        return leaving | self._site(node, names, tries, in_with=in_with)

    def _site(
        self,
        node: ast.Raise | ast.Call,
        kinds: frozenset[str],
        tries: tuple[ast.Try, ...],
        *,
        in_with: bool,
        rethrown: Clause | None = None,
        callee: Unit | None = None,
    ) -> set[str]:
        is_caught = any(
            self.flow.clauses[handler].is_broad or kinds & self.flow.clauses[handler].covers
            for statement in tries
            for handler in statement.handlers
        )
        is_raw = self._is_raw(kinds, tries)
        left = frozenset[str]() if is_raw else kinds
        self.unit.sites.append(
            Site(
                node, left, tries, is_caught, self.is_lazy, in_with, rethrown, callee, is_raw, kinds
            )
        )
        return set(left)

    def _is_raw(self, kinds: frozenset[str], tries: Sequence[ast.Try]) -> bool:
        """Return whether a place keeps its exceptions, for a clause or a caller of a lambda."""
        if not (self.flow.kinds.is_keeping and self.unit.is_candidate):
            return False
        clauses = (
            self.flow.clauses[handler]
            for statement in tries
            if statement in self.flow.kept
            for handler in statement.handlers
        )
        return self.is_lazy or any(
            clause.is_broad or clause.is_dynamic or kinds & clause.covers for clause in clauses
        )
