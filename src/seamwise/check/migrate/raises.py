"""Rewriting of `raise` statements."""

import ast
from typing import TypeAlias

import libcst as cst

from seamwise.check.migrate.decisions import Decisions
from seamwise.check.migrate.names import Names
from seamwise.check.migrate.syntax import call_with, fail_call, with_commas
from seamwise.check.migrate.units import Clause

Replacement: TypeAlias = tuple[cst.If | None, cst.BaseSmallStatement]
"""A statement before the last one, and that one."""


class Raises:
    """Statements instead of those that raise."""

    def __init__(self, decisions: Decisions, names: Names) -> None:
        self.decisions = decisions
        self.names = names

    def of_statement(self, node: ast.Raise, updated: cst.Raise) -> Replacement | None:
        """Return the statements instead of a `raise`; None if it stays."""
        decisions = self.decisions
        unit, site = decisions.sites[node]
        if site.is_raw or decisions.flow.keeps_exceptions(unit, site.kinds):
            return None
        if site.rethrown is not None:
            is_rewritten = self.names.is_rewritten(site.rethrown)
            return self._rethrow(node, site.rethrown) if is_rewritten else None
        if not site.kinds:
            return self._foreign(node, updated)
        error = updated.exc
        if error is None:
            return None
        if not isinstance(error, cst.Call):
            error = cst.Call(error)
        kind = decisions.kinds.all[next(iter(site.kinds))]
        if kind.is_wrapped:
            error = cst.Call(cst.parse_expression(decisions.local(kind.name)), [cst.Arg(error)])
        elif kind.has_twin:
            error = error.with_changes(func=cst.parse_expression(decisions.local(kind.name)))
        form = decisions.leaves_function(node)
        if isinstance(node.cause, ast.Name):
            clause = decisions.flow.clause_of(node.cause, decisions.module)
            name = node.cause.id
            if clause is not None and self.names.is_rewritten(clause):
                # The error of a broad clause has no type; its exception has one.
                name = self.names.raised_names[clause.node] if clause.is_broad else name
            cause = cst.Arg(
                cst.Name(name),
                keyword=cst.Name('cause'),
                equal=cst.AssignEqual(cst.SimpleWhitespace(''), cst.SimpleWhitespace('')),
            )
            error = error.with_changes(args=[*with_commas(error.args), cause])
        match form:
            case 'return':
                decisions.use('Failure')
                return None, cst.Return(call_with('Failure', error))
            case 'fail':
                return None, fail_call(error)
            case _:
                decisions.use('Raised')
                kept = self._raised_cause(node, updated)
                return None, cst.Raise(call_with('Raised', error), kept)

    def _raised_cause(self, node: ast.Raise, updated: cst.Raise) -> cst.From | None:
        """Return the `from` part, which must name an exception."""
        if updated.cause is None or not isinstance(node.cause, ast.Name):
            return updated.cause
        clause = self.decisions.flow.clause_of(node.cause, self.decisions.module)
        if clause is None or not self.names.is_rewritten(clause):
            return updated.cause
        raised = self.names.raised_names.get(clause.node)
        if raised is None:
            self.decisions.use('Raised')
            value: cst.BaseExpression = call_with('Raised', cst.Name(node.cause.id))
        else:
            value = cst.Name(raised)
        return updated.cause.with_changes(item=value)

    def _foreign(self, node: ast.Raise, updated: cst.Raise) -> Replacement | None:
        cause = self._raised_cause(node, updated)
        return None if cause is updated.cause else (None, updated.with_changes(cause=cause))

    def _rethrow(self, node: ast.Raise, clause: Clause) -> Replacement:
        decisions = self.decisions
        name = self.names.handler_names[clause.node]
        form = decisions.leaves_function(node)
        is_matched = clause.statement in decisions.matched
        if not form or not clause.arrived:
            if is_matched:
                decisions.use('Raised')
                return None, cst.Raise(call_with('Raised', cst.Name(name)))
            return None, cst.Raise()
        fail = fail_call(cst.Name(name))
        if not clause.is_broad and (is_matched or clause.covers == clause.arrived):
            return None, fail
        names = [decisions.local(kind) for kind in decisions.ordered(clause.arrived)]
        wanted = names[0] if len(names) == 1 else f'({", ".join(names)})'
        test = cst.parse_expression(f'isinstance({name}, {wanted})')
        return cst.If(test, cst.IndentedBlock([cst.SimpleStatementLine([fail])])), cst.Raise()
