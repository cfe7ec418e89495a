"""Clauses at the seams of a program that answer errors, which a table can do for them."""

import ast
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from seamwise.check.migrate.exception_classes import NotMigrated
from seamwise.check.migrate.flow import Flow
from seamwise.check.migrate.seams.commands import exit_of, runs_only
from seamwise.check.migrate.seams.handler import ErrorHandler, outer_statements
from seamwise.check.migrate.seams.web import answer_of, application_name, is_route
from seamwise.check.migrate.units import Clause, Unit
from seamwise.check.typed_ast.program import FUNCTIONS, Function

_ADVICE = 'Its clause becomes a `match`; write an arm by hand if the answer may change.'


class _Seam(Struct):
    """Code that a framework runs, with clauses that answer errors."""

    clauses: Sequence[Clause]
    answer: Callable[[Clause], ErrorHandler | None]
    wrong: set[str]
    """Classes that a table must not answer."""
    problem: str = ''


class SeamAnswers(Struct, frozen=True):
    """Answers of clauses that tables replace, by the classes that they answer."""

    routes: Mapping[str, Sequence[ErrorHandler]]
    exits: Mapping[str, Sequence[ErrorHandler]]
    kept: Sequence[NotMigrated]
    """Clauses that stay, with the reason."""


def seam_answers(flow: Flow) -> SeamAnswers:
    """Return the answers of clauses, by the classes that all code of a seam answers alike."""
    kept: list[NotMigrated] = []
    web, terminal = _web_seam(flow), _terminal_seam(flow)
    routes = _answered(web, flow, kept) if web is not None else {}
    exits = _answered(terminal, flow, kept) if terminal is not None else {}
    return SeamAnswers(routes, exits, kept)


def _web_seam(flow: Flow) -> _Seam | None:
    application = flow.kinds.application
    if application is None or not application_name(application):
        return None
    commands = flow.kinds.commands
    functions = commands.functions if commands is not None else frozenset[ast.AST]()
    wrong = set(flow.kinds.table)
    for unit in flow.units:
        if not unit.is_converted and not unit.is_test and unit.node not in functions:
            # Without a clause, the error would get another answer than before.
            wrong |= unit.escapes
    clauses = [
        clause
        for clause in flow.clauses.values()
        if clause.arrived and (function := _function(clause)) and is_route(function, clause.module)
    ]
    return _Seam(clauses, lambda clause: answer_of(clause.node, clause.module), wrong)


def _terminal_seam(flow: Flow) -> _Seam | None:
    commands = flow.kinds.commands
    if commands is None:
        return None
    clauses = [
        clause
        for clause in flow.clauses.values()
        if clause.arrived
        and (_function(clause) in commands.functions or runs_only(clause.statement, commands))
    ]
    outside = {
        name
        for clause in clauses
        if runs_only(clause.statement, commands)
        for name in clause.arrived
    }
    wrong: set[str] = set()
    for unit in flow.units:
        if unit.node in commands.functions:
            wrong |= unit.escapes - outside
        elif not unit.is_converted and not unit.is_test and not _is_route(unit):
            wrong |= unit.escapes

    def answer(clause: Clause) -> ErrorHandler | None:
        is_unordered = clause.statement.finalbody or any(
            isinstance(outer, ast.With)
            for outer in outer_statements(clause.statement, clause.module)
        )
        # An arm prints after the end of the function.
        if is_unordered:
            return None
        is_main = commands.run is not commands.start and _function(clause) in commands.functions
        return exit_of(clause.node, clause.module, commands, is_main=is_main)

    return _Seam(clauses, answer, wrong, commands.problem)


def _answered(
    seam: _Seam, flow: Flow, kept: list[NotMigrated]
) -> Mapping[str, Sequence[ErrorHandler]]:
    answers = {clause: _answer(clause, seam, flow) for clause in seam.clauses}
    found: dict[str, list[ErrorHandler]] = {}
    reasons: dict[str, str] = {}
    for clause, answer in answers.items():
        for name in clause.arrived:
            if seam.problem:
                reasons[name] = f'is answered where a table cannot: the program {seam.problem}'
            elif answer is None:
                reasons[name] = f'is handled in {_place(clause)} in a way that no table expresses'
            elif name in found and not found[name][0].is_like(answer):
                reasons[name] = f'is answered in {_place(clause)} in another way than elsewhere'
            else:
                found.setdefault(name, []).append(answer)
    for name in seam.wrong:
        reasons.setdefault(name, 'also leaves functions that keep their exceptions')
    by_statement: dict[ast.Try, set[str]] = {}
    for clause in seam.clauses:
        by_statement.setdefault(clause.statement, set()).update(clause.arrived)
    # A statement loses all of its clauses, or none.
    while joined := [
        names - reasons.keys()
        for names in by_statement.values()
        if names & reasons.keys() and not names <= reasons.keys()
    ]:
        for names in joined:
            reasons.update(dict.fromkeys(names, 'is handled together with a class that stays'))
    kept += [
        NotMigrated(
            str(clause.module.path),
            clause.node.lineno,
            kind.short_name,
            reasons[kind.name],
            _ADVICE,
        )
        for clause in seam.clauses
        for kind in flow.kinds.of_names(clause.arrived & reasons.keys())
    ]
    return {name: items for name, items in found.items() if name not in reasons}


def _answer(clause: Clause, seam: _Seam, flow: Flow) -> ErrorHandler | None:
    """Return the answer of a clause, if its statement has no other kind of clause."""
    outer = outer_statements(clause.statement, clause.module)
    if any(isinstance(statement, ast.Try) for statement in outer):
        return None
    clauses = [flow.clauses[handler] for handler in clause.statement.handlers]
    if any(not other.arrived or seam.answer(other) is None for other in clauses):
        return None
    return seam.answer(clause)


def _place(clause: Clause) -> str:
    return f'{clause.module.path}:{clause.node.lineno}'


def _function(clause: Clause) -> Function | None:
    scope = clause.module.scope_of(clause.statement)
    return scope if isinstance(scope, FUNCTIONS) else None


def _is_route(unit: Unit) -> bool:
    return unit.node is not None and is_route(unit.node, unit.module)
