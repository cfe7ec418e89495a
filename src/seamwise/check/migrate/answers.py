"""Clauses of routes that answer errors with an `HTTPException`, which a table can do for them."""

import ast

from seamwise.check.migrate.flow import Flow
from seamwise.check.migrate.tables import ErrorHandler, answer_of, application_name, is_route
from seamwise.check.migrate.units import Clause
from seamwise.check.typed_ast.program import FUNCTIONS


def answered_in_routes(flow: Flow) -> dict[str, list[ErrorHandler]]:
    """Return the answers of clauses, by the classes that all routes answer alike."""
    application = flow.kinds.application
    app = application_name(application) if application is not None else ''
    if not app:
        return {}
    clauses = [clause for clause in flow.clauses.values() if clause.arrived]
    answers = {clause: _answer(clause, flow, app) for clause in clauses}
    found: dict[str, list[ErrorHandler]] = {}
    wrong = set(flow.kinds.table)
    for unit in flow.units:
        if not unit.is_converted and not unit.is_test:
            # Without a clause, the error would get another answer than before.
            wrong |= unit.escapes
    for clause, answer in answers.items():
        for name in clause.arrived:
            if answer is None or (name in found and not _are_equal(found[name][0], answer)):
                wrong.add(name)
            else:
                found.setdefault(name, []).append(answer)
    by_statement: dict[ast.Try, set[str]] = {}
    for clause in clauses:
        by_statement.setdefault(clause.statement, set()).update(clause.arrived)
    # A statement loses all of its clauses, or none.
    while joined := [
        names for names in by_statement.values() if names & wrong and not names <= wrong
    ]:
        wrong.update(*joined)
    return {name: items for name, items in found.items() if name not in wrong}


def _answer(clause: Clause, flow: Flow, app: str) -> ErrorHandler | None:
    """Return the answer of a clause of a route, if its statement has no other kind of clause."""
    module, statement = clause.module, clause.statement
    function = module.scope_of(statement)
    if not isinstance(function, FUNCTIONS) or not function.decorator_list:
        return None
    if not all(is_route(decorator, module) for decorator in function.decorator_list):
        return None
    parent = module.parents.get(statement)
    while parent is not None and parent is not function:
        if isinstance(parent, ast.Try):
            return None
        parent = module.parents.get(parent)
    others = [answer_of(handler, module, app) for handler in statement.handlers]
    is_own = all(flow.clauses[handler].arrived for handler in statement.handlers)
    return answer_of(clause.node, module, app) if is_own and None not in others else None


def _are_equal(first: ErrorHandler, second: ErrorHandler) -> bool:
    return (first.status, _text(first)) == (second.status, _text(second))


def _text(answer: ErrorHandler) -> str:
    source = ast.parse(ast.unparse(answer.content))
    for node in ast.walk(source):
        if isinstance(node, ast.Name) and node.id == answer.error:
            node.id = 'error'
    return ast.unparse(source)
