"""Variable names of a module after the migration."""

import ast

from seamwise.check.migrate.decisions import Decisions, names_in
from seamwise.check.migrate.expectations import Expectation, readings
from seamwise.check.migrate.syntax import awaited_value
from seamwise.check.migrate.units import Clause


class Names:
    """Variables of clauses, of values and of errors that tests assert."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions
        self.handler_names: dict[ast.ExceptHandler, str] = {}
        self.raised_names: dict[ast.ExceptHandler, str] = {}
        self.value_names: dict[ast.Try, str] = {}
        self.result_names: dict[ast.AST, str] = {}
        """Names of the errors that tests assert, by the place of the expectation."""
        self.reading_names: dict[ast.AST, str] = {}
        """Expressions instead of `info.value`, by their nodes."""
        self._shared: dict[tuple[ast.AST, str], list[str]] = {}
        self._rests: dict[tuple[ast.AST, str], tuple[str, set[str]]] = {}
        self._captured: dict[tuple[ast.AST, str], set[str]] = {}
        """Classes that a variable may have, by its function and name."""
        module = decisions.module
        for statement in module.nodes_of_type(ast.Try):
            for clause in decisions.clauses(statement):
                if clause.node.name and not self.is_rewritten(clause):
                    self._captured[module.scope_of(statement), clause.node.name] = set()
        for place, expectation in decisions.flow.expected.items():
            if expectation.call in module.parents and self.is_converted(expectation):
                self._name_expectation(place, expectation)
        tries = sorted(
            module.nodes_of_type(ast.Try),
            key=lambda node: node.handlers[0].lineno if node.handlers else node.lineno,
        )
        for statement in tries:
            self._name_clauses(statement)
            if statement in decisions.matched:
                self.value_names[statement] = self._new_value_name(statement)

    def is_converted(self, expectation: Expectation) -> bool:
        """Return whether a test expects classes that become errors for it."""
        names = self.decisions.flow.covered_by(expectation, self.decisions.module)
        return bool(names) and not self.decisions.keeps_exceptions(expectation.call, names)

    def _name_expectation(self, place: ast.AST, expectation: Expectation) -> None:
        decisions = self.decisions
        names = list(readings(expectation, decisions.module))
        is_direct = place in decisions.direct
        if is_direct and (names or expectation.pattern is not None):
            self.result_names[place] = decisions.fresh('error', place)
        elif not is_direct:
            self.result_names[place] = expectation.variable or decisions.fresh('info', place)
        for name in names:
            parent = decisions.module.parents.get(name)
            if isinstance(parent, ast.Attribute) and parent.attr == expectation.attribute:
                self.reading_names[parent] = (
                    self.result_names[place]
                    if is_direct
                    else f'{name.id}.{expectation.attribute}.error'
                )

    def _name_clauses(self, statement: ast.Try) -> None:
        decisions = self.decisions
        clauses = [clause for clause in decisions.clauses(statement) if self.is_rewritten(clause)]
        if not clauses:
            return
        # mypy infers the type of a variable from its first capture.
        scope = decisions.module.scope_of(statement)
        by_name: dict[str, set[str]] = {}
        certain: dict[str, set[str]] = {}
        matched = decisions.matched.get(statement)
        remaining = decisions.sites[matched][1].kinds if matched is not None else None
        seen: set[str] = set()
        for clause in clauses:
            if clause.node.name:
                kinds = by_name.setdefault(clause.node.name, set())
                kinds.update(clause.covers)
                arrived = clause.covers if remaining is None else clause.covers & remaining
                certain.setdefault(clause.node.name, set()).update(arrived - seen)
                seen |= clause.covers
                if clause.is_broad:
                    kinds.add('builtins.object')
        new_names: dict[str, str] = {}
        for name, kinds in by_name.items():
            captured = self._captured.get((scope, name))
            if captured is None:
                self._captured[scope, name] = kinds if 'builtins.object' in kinds else certain[name]
                new_names[name] = name
            elif kinds <= captured:
                new_names[name] = name
            else:
                new_names[name] = decisions.fresh(name, statement)
        default = ''
        raised = ''
        for clause in clauses:
            handler = clause.node
            own = new_names.get(handler.name or '', '')
            rethrows = any(
                site.rethrown is clause and isinstance(site.node, ast.Raise)
                for _, site in decisions.sites.values()
            )
            if not own and rethrows:
                default = default or next(
                    (
                        new
                        for old, new in new_names.items()
                        if not any(old in names_in(part) for part in handler.body)
                    ),
                    '',
                )
                own = default = default or decisions.fresh('error', statement)
            self.handler_names[handler] = own
            if statement not in decisions.matched:
                base = 'exception' if self.is_merged(statement) else 'raised'
                raised = raised or self._raised_name(base, statement)
                self.raised_names[handler] = raised

    def is_rewritten(self, clause: Clause) -> bool:
        """Return whether a clause becomes an arm, or binds its error by an assignment."""
        return (
            bool(clause.arrived if self.decisions.kinds.is_keeping else clause.covers)
            and not clause.is_mixed
            and clause.statement not in self.decisions.flow.kept
            and (not clause.is_broad or self.is_merged(clause.statement))
            and not self.decisions.keeps_exceptions(clause.statement, clause.covers)
        )

    def _raised_name(self, base: str, statement: ast.Try) -> str:
        """Return a name for a `Raised`; clauses share one, except an inner one with an outer."""
        scope = self.decisions.module.scope_of(statement)
        inner = {
            name
            for outer in self.decisions.module.ancestors(statement)
            if isinstance(outer, ast.Try)
            for handler in outer.handlers
            if (name := self.raised_names.get(handler))
        }
        known = self._shared.setdefault((scope, base), [])
        for name in known:
            if name not in inner:
                return name
        known.append(self.decisions.fresh(base, statement))
        return known[-1]

    def rest_name(self, statement: ast.Try, kinds: set[str]) -> str:
        """Return a name for the errors that no arm handles."""
        key = (self.decisions.module.scope_of(statement), 'rest')
        name, known = self._rests.get(key, ('', set[str]()))
        if not kinds <= known:
            name = self.decisions.fresh('other', statement)
            self._rests[key] = (name, kinds)
        return name

    def is_merged(self, statement: ast.Try) -> bool:
        """Return whether a broad clause must see the errors, too."""
        return any(
            clause.is_broad and clause.arrived for clause in self.decisions.clauses(statement)
        )

    def _new_value_name(self, statement: ast.Try) -> str:
        """Return the name of the value of a matched call; empty if it is discarded."""
        call = self.decisions.matched[statement]
        match statement.body[0]:
            case ast.Assign([ast.Name(name)], value) if awaited_value(value) is call:
                return name
            case ast.Expr(value) if awaited_value(value) is call:
                return ''
            case _:
                return self.decisions.fresh('value', statement)
