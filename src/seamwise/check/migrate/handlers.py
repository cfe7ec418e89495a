"""Rewriting of handlers: a `match` of a call, or clauses for `Raised`."""

import ast
from collections.abc import Iterable, Sequence

import libcst as cst

from seamwise.check.migrate.decisions import Decisions
from seamwise.check.migrate.names import Names
from seamwise.check.migrate.syntax import (
    Renaming,
    awaited_value,
    block_of,
    handler_case,
    header_comments,
    new_case,
    parse_pattern,
    statements_of,
)
from seamwise.check.migrate.units import Clause, Site, Unit
from seamwise.check.typed_ast.program import FUNCTIONS


class Handlers:
    """Statements instead of those that handle converted classes."""

    def __init__(self, decisions: Decisions, names: Names) -> None:
        self.decisions = decisions
        self.names = names
        self.subjects: dict[ast.Try, cst.BaseExpression] = {}
        """The calls that a `match` replaces, by statement."""

    def of_statement(self, node: ast.Try, updated: cst.Try) -> cst.BaseStatement:
        """Return the statement instead of a `try`."""
        if node in self.decisions.matched:
            return self._match(node, updated)
        return self._caught(node, updated)

    def _pattern(self, names: Iterable[str]) -> str:
        """Return the pattern for the classes with some full names."""
        return ' | '.join(f'{self.decisions.local(name)}()' for name in names)

    def _match(self, node: ast.Try, updated: cst.Try) -> cst.BaseStatement:
        """Return a `match` of the only call in the body."""
        decisions = self.decisions
        decisions.use('Failure', 'Success')
        unit, site = decisions.sites[decisions.matched[node]]
        name = self.names.value_names[node]
        first = node.body[0]
        body = list(statements_of(updated.body))
        if (
            isinstance(first, ast.Expr | ast.Assign)
            and awaited_value(first.value) is (decisions.matched[node])
        ):
            # Without a name the statement is the call alone.
            body = body[1:] if name == '' or isinstance(first, ast.Assign) else body
        if updated.orelse is not None:
            body += statements_of(updated.orelse.body)
        cases = [
            cst.MatchCase(
                parse_pattern(f'Success({name})'), block_of(body or [cst.parse_statement('pass')])
            ),
            *self._failure_cases(node, updated, unit, site),
        ]
        leading = [*updated.leading_lines, *header_comments(updated)]
        match_ = cst.Match(self.subjects[node], cases, leading_lines=leading)
        if updated.finalbody is None:
            return match_
        return updated.with_changes(
            body=cst.IndentedBlock([match_.with_changes(leading_lines=[])]),
            handlers=[],
            orelse=None,
        )

    def _failure_cases(
        self, node: ast.Try, updated: cst.Try, unit: Unit, site: Site
    ) -> list[cst.MatchCase]:
        decisions = self.decisions
        remaining = set(site.kinds)
        arms: list[tuple[list[str], Clause, cst.ExceptHandler]] = []
        for clause, handler in zip(decisions.clauses(node), updated.handlers, strict=True):
            names = decisions.ordered(clause.covers & remaining)
            remaining -= clause.covers
            if names:
                arms.append((names, clause, handler))
        if len(arms) == 1 and not remaining:
            _, clause, handler = arms[0]
            name = self.names.handler_names[clause.node]
            return [self._arm(f'Failure({name})', clause, handler)]
        subject = next(
            (name for _, clause, _ in arms if (name := self.names.handler_names[clause.node])), ''
        ) or decisions.fresh('error', node)
        cases: list[cst.MatchCase] = []
        for names, clause, handler in arms:
            pattern = self._pattern(names)
            own = self.names.handler_names[clause.node]
            name = f' as {own}' if own not in {'', subject} else ''
            cases.append(self._arm(pattern + name, clause, handler))
        if remaining:
            pattern = self._pattern(decisions.ordered(remaining))
            if self._passes_on(unit, node):
                text = f'do.fail({subject})'
            else:
                decisions.use('Raised')
                text = f'raise Raised({subject})'
            cases.append(new_case(pattern, text))
        inner = cst.Match(cst.Name(subject), cases)
        return [cst.MatchCase(parse_pattern(f'Failure({subject})'), cst.IndentedBlock([inner]))]

    def _arm(self, pattern: str, clause: Clause, handler: cst.ExceptHandler) -> cst.MatchCase:
        """Return an arm with the body of a clause."""
        old, new = clause.node.name, self.names.handler_names[clause.node]
        case = handler_case(pattern, handler)
        if old is None or old == new:
            return case
        return case.with_changes(body=case.body.visit(Renaming(old, new)))

    def _passes_on(self, unit: Unit, node: ast.Try) -> bool:
        """Return whether the errors that no clause handles leave the function."""
        decisions = self.decisions
        child: ast.AST = node
        for outer in self.decisions.module.ancestors(node):
            if isinstance(outer, FUNCTIONS):
                break
            # Errors in a handler, an `else` or a `finally` do not reach the clauses.
            if (
                isinstance(outer, ast.Try)
                and child in outer.body
                and any(clause.covers or clause.is_broad for clause in decisions.clauses(outer))
            ):
                return False
            child = outer
        return unit.is_converted

    def _caught(self, node: ast.Try, updated: cst.Try) -> cst.BaseStatement:
        """Return the statement with clauses for `Raised`."""
        decisions = self.decisions
        decisions.use('Raised')
        clauses = decisions.clauses(node)
        is_merged = self.names.is_merged(node)
        arms: list[cst.MatchCase] = []
        handlers: list[cst.ExceptHandler] = []
        seen: set[str] = set()
        place: int | None = None
        leading: Sequence[cst.EmptyLine] = ()
        raised = ''
        for clause, handler in zip(clauses, updated.handlers, strict=True):
            if not self.names.is_rewritten(clause):
                handlers.append(handler)
                continue
            if clause.is_broad:
                handlers.append(self._broad(clause, handler, arms))
                continue
            names = [name for name in decisions.ordered(clause.covers) if name not in seen]
            seen.update(names)
            if not names:
                continue
            plain = handler
            if place is None:
                place, leading = len(handlers), handler.leading_lines
                plain = handler.with_changes(leading_lines=[])
            raised = self.names.raised_names[clause.node]
            pattern = self._pattern(names)
            own = self.names.handler_names[clause.node]
            arms.append(self._arm(pattern + (f' as {own}' if own else ''), clause, plain))
        if arms and not is_merged:
            unhandled = self._unhandled(node, seen)
            if unhandled:
                pattern = self._pattern(unhandled)
                error = self.names.rest_name(node, set(unhandled))
                arms.append(new_case(f'{pattern} as {error}', f'do.fail({error})'))
            arms.append(new_case('_', 'raise'))
            subject = cst.Attribute(cst.Name(raised), cst.Name('error'))
            handlers.insert(
                place or 0,
                cst.ExceptHandler(
                    cst.IndentedBlock([cst.Match(subject, arms)]),
                    type=cst.Name('Raised'),
                    name=cst.AsName(cst.Name(raised)),
                    leading_lines=leading,
                ),
            )
        return updated.with_changes(handlers=handlers)

    def _unhandled(self, node: ast.Try, seen: set[str]) -> list[str]:
        """Return the classes that must leave the function as failures."""
        decisions = self.decisions
        found = [(unit, site) for unit, site in decisions.sites.values() if node in site.tries]
        names: set[str] = set()
        for _, site in found:
            # An inner statement may handle the error of this site, but not that of another one.
            inner = site.tries[: site.tries.index(node)]
            handled = {
                name
                for statement in inner
                for clause in decisions.clauses(statement)
                for name in clause.covers
            }
            names |= site.kinds - handled
        unit = found[0][0] if found else None
        if unit is None or not self._passes_on(unit, node):
            return []
        return decisions.ordered((names - seen) & unit.escapes)

    def _broad(
        self, clause: Clause, handler: cst.ExceptHandler, arms: Sequence[cst.MatchCase]
    ) -> cst.ExceptHandler:
        """Return a clause for every exception, which sees the error in a `Raised`."""
        name = self.names.handler_names[clause.node]
        if not arms and not name:
            return handler
        raised = self.names.raised_names[clause.node]
        subject = cst.parse_expression(
            f'{raised}.error if isinstance({raised}, Raised) else {raised}'
        )
        type_ = handler.type or cst.Name('BaseException')
        if arms:
            last = self._arm(name or '_', clause, handler)
            body: cst.BaseSuite = cst.IndentedBlock([cst.Match(subject, [*arms, last])])
        else:
            target = cst.Assign([cst.AssignTarget(cst.Name(name))], subject)
            body = cst.IndentedBlock(
                [
                    cst.SimpleStatementLine([target]),
                    *statements_of(self._arm('_', clause, handler).body),
                ]
            )
        return handler.with_changes(
            type=type_,
            whitespace_after_except=cst.SimpleWhitespace(' '),
            name=cst.AsName(cst.Name(raised)),
            body=body,
        )
