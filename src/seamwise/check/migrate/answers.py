"""Clauses at the seams of a program that answer errors, which a table can do for them."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from seamwise.check.migrate.exception_classes import NotMigrated
from seamwise.check.migrate.flow import Flow
from seamwise.check.migrate.seams.commands import exit_of, runs_only
from seamwise.check.migrate.seams.handler import Answers, ErrorHandler, outer_statements
from seamwise.check.migrate.seams.web import answer_of, application_name
from seamwise.check.migrate.units import Clause
from seamwise.check.typed_ast.program import FUNCTIONS, Function

_ADVICE = 'Its clause becomes a `match`; write an arm by hand if the answer may change.'
_ESCAPING = 'also leaves functions that keep their exceptions'


class _Seam(Struct):
    """Code that a framework runs, with clauses that answer errors."""

    clauses: Mapping[Clause, AbstractSet[str]]
    """The clauses, with the classes that reach them."""
    answer: Callable[[Clause], ErrorHandler | str]
    """Returns the answer of a clause, or what it is that no table expresses."""
    wrong: Mapping[str, str]
    """Classes that a table must not answer, with the reason."""
    problem: str = ''


_NO_SEAM = _Seam({}, lambda _: '', {})


def seam_answers(flow: Flow) -> Answers:
    """Return the answers of clauses, by the classes that all code of a seam answers alike."""
    commands = flow.kinds.commands
    routes, kept = _answered(_web_seam(flow), flow)
    exits, others = _answered(_terminal_seam(flow), flow)
    # A function that is not meant as a program catches exceptions for other reasons.
    is_listed = exits or (commands is not None and not commands.is_main)
    return Answers(routes, exits, [*kept, *others] if is_listed else kept)


def waiting_middlewares(flow: Flow, answers: Answers) -> Iterator[NotMigrated]:
    """Yield the clauses of middlewares that prevent a table, because no exception reaches them."""
    if not (flow.kinds.table or answers.routes):
        return
    for node in flow.kinds.middleware_clauses - answers.nodes:
        clause = flow.clauses[node]
        yield NotMigrated(
            str(clause.module.path),
            node.lineno,
            ast.unparse(node.type) if node.type is not None else 'except',
            'is handled by a middleware, whose clauses `install` would leave without exceptions',
            'Write a handler of the application for it by hand, and migrate again.',
        )


def _web_seam(flow: Flow) -> _Seam:
    kinds = flow.kinds
    application = kinds.application
    if application is None or not application_name(application):
        return _NO_SEAM
    clauses: dict[Clause, AbstractSet[str]] = {
        clause: clause.arrived
        for clause in flow.clauses.values()
        if clause.statement in kinds.wrappers
        or ((function := _function(clause)) and kinds.is_route(function, clause.module))
    }
    by_statement: dict[ast.Try, set[str]] = {}
    outside: set[str] = set()
    for statement, wrapper in kinds.wrappers.items():
        reached = [flow.clauses[handler] for handler in statement.handlers]
        if wrapper.is_middleware:
            # An inner middleware stops the errors that it handles.
            clauses.update((clause, clause.arrived - outside) for clause in reached)
            outside.update(*(clause.arrived for clause in reached))
        by_statement[statement] = {name for clause in reached for name in clause.arrived}
    wrong = dict.fromkeys(kinds.table, 'has a handler of the application, too')
    for unit in flow.units:
        if unit.is_converted or unit.is_test or (kinds.commands and unit.node in kinds.commands):
            continue
        answered = set(outside)
        for wrapper in kinds.decorators(unit.node, unit.module) if unit.node is not None else ():
            answered |= by_statement[wrapper.statement]
        # Without a clause, the error would get another answer than before.
        wrong.update(dict.fromkeys(unit.escapes - answered, _ESCAPING))

    def answer(clause: Clause) -> ErrorHandler | str:
        wrapper = kinds.wrappers.get(clause.statement)
        is_middleware = wrapper is not None and wrapper.is_middleware
        if wrapper is not None and wrapper.problem:
            return wrapper.problem
        return (
            answer_of(clause.node, clause.module, application, is_middleware=is_middleware)
            or 'another answer than an `HTTPException` or a JSON response with a client error'
        )

    return _Seam(clauses, answer, wrong)


def _terminal_seam(flow: Flow) -> _Seam:
    kinds = flow.kinds
    commands = kinds.commands
    if commands is None:
        return _NO_SEAM
    clauses = {
        clause: clause.arrived
        for clause in flow.clauses.values()
        if _function(clause) in commands or runs_only(clause.statement, commands)
    }
    outside = {
        name
        for clause in clauses
        if runs_only(clause.statement, commands)
        for name in clause.arrived
    }
    wrong: dict[str, str] = {}
    for unit in flow.units:
        is_route = unit.node is not None and kinds.is_route(unit.node, unit.module)
        if unit.node in commands:
            wrong.update(dict.fromkeys(unit.escapes - outside, _ESCAPING))
        elif not unit.is_converted and not unit.is_test and not is_route:
            wrong.update(dict.fromkeys(unit.escapes, _ESCAPING))

    def answer(clause: Clause) -> ErrorHandler | str:
        outer = outer_statements(clause.statement, clause.module)
        if clause.statement.finalbody or any(isinstance(item, ast.With) for item in outer):
            return 'an exit before a `finally` or the end of a `with`'
        return (
            exit_of(clause.node, clause.module, commands, is_own=_function(clause) in commands)
            or 'more than a text on standard error and an exit code from 1 to 255'
        )

    return _Seam(clauses, answer, wrong, commands.problem)


def _answered(
    seam: _Seam, flow: Flow
) -> tuple[Mapping[str, Sequence[ErrorHandler]], list[NotMigrated]]:
    found: dict[str, list[ErrorHandler]] = {}
    reasons: dict[str, str] = {}
    by_statement: dict[ast.Try, set[str]] = {}
    for clause, arrived in seam.clauses.items():
        by_statement.setdefault(clause.statement, set()).update(arrived)
        answer = _answer(clause, seam)
        place = f'{clause.module.path}:{clause.node.lineno}'
        for name in arrived:
            if seam.problem:
                reasons[name] = f'is answered by a program that {seam.problem}'
            elif isinstance(answer, str):
                reasons[name] = f'has a clause at {place} that no table expresses: {answer}'
            elif name in found and not found[name][0].is_like(answer):
                reasons[name] = f'has a clause at {place} with another answer than elsewhere'
            else:
                found.setdefault(name, []).append(answer)
    for name, reason in seam.wrong.items():
        reasons.setdefault(name, reason)
    before = -1
    while len(reasons) != before:
        before = len(reasons)
        for clause, arrived in seam.clauses.items():
            if not arrived or arrived & reasons.keys():
                # A clause that stays also handles the classes of clauses before it that go.
                names = clause.covers & by_statement[clause.statement] - reasons.keys()
                reasons.update(dict.fromkeys(names, 'is handled together with a class that stays'))
    kept = [
        NotMigrated(
            str(clause.module.path),
            clause.node.lineno,
            kind.short_name,
            reasons[kind.name],
            _ADVICE,
        )
        for clause, arrived in seam.clauses.items()
        for kind in flow.kinds.of_names(arrived & reasons.keys())
    ]
    return {name: items for name, items in found.items() if name not in reasons}, kept


def _answer(clause: Clause, seam: _Seam) -> ErrorHandler | str:
    """Return the answer of a clause, if nothing around it sees the error."""
    outer = outer_statements(clause.statement, clause.module)
    if any(isinstance(statement, ast.Try) for statement in outer):
        return 'a `try` in another one'
    return seam.answer(clause)


def _function(clause: Clause) -> Function | None:
    scope = clause.module.scope_of(clause.statement)
    return scope if isinstance(scope, FUNCTIONS) else None
