"""Edits that replace the body of an unreachable wildcard arm by `assert_never`."""

import ast
from collections.abc import Iterator

from seamwise.check.facts import TextEdit
from seamwise.check.inference.annotations import node_edit, node_source
from seamwise.check.inference.dispositions import is_irrefutable, pattern_classes
from seamwise.check.inference.error_inference import ErrorInference
from seamwise.check.typed_ast.channels import ErrorSet, is_error, subtract
from seamwise.check.typed_ast.program import Module

_ASSERT_NEVER = 'assert_never'
_TYPING_MODULES = frozenset({'typing', 'typing_extensions'})


def assert_never_edits(
    match: ast.Match, arm: ast.match_case, inference: ErrorInference
) -> tuple[TextEdit, ...]:
    """Return the edits that make a wildcard arm call `assert_never`, and import it.

    They are empty if an error can reach the arm, or if its body has more than one statement.
    """
    name = _matched_name(match, arm)
    if name is None or len(arm.body) != 1 or not _is_unreachable(match, arm, inference):
        return ()
    module = inference.module
    return (
        node_edit(arm.body[0], f'{_ASSERT_NEVER}({name})', module),
        *_import_edits(module),
    )


def _matched_name(match: ast.Match, arm: ast.match_case) -> str | None:
    if isinstance(arm.pattern, ast.MatchAs) and arm.pattern.name is not None:
        return arm.pattern.name
    return match.subject.id if isinstance(match.subject, ast.Name) else None


def _is_unreachable(match: ast.Match, arm: ast.match_case, inference: ErrorInference) -> bool:
    """Return whether the arms above handle every error that the type of the subject allows."""
    remaining: ErrorSet | None = inference.typed_classes(match.subject)
    if not remaining or not all(is_error(info) for info in remaining.values()):
        return False
    for previous in match.cases[: match.cases.index(arm)]:
        if previous.guard is None and _matches_by_class_only(previous.pattern):
            remaining = subtract(remaining, pattern_classes(inference, previous.pattern))
    return not remaining


def _matches_by_class_only(pattern: ast.pattern) -> bool:
    match pattern:
        case ast.MatchOr(alternatives):
            return all(_matches_by_class_only(alternative) for alternative in alternatives)
        case ast.MatchAs(ast.pattern() as inner):
            return _matches_by_class_only(inner)
        case ast.MatchClass(_, positional, _, keywords):
            return all(is_irrefutable(part) for part in (*positional, *keywords))
        case _:
            return False


def _import_edits(module: Module) -> Iterator[TextEdit]:
    """Yield the edit that imports `assert_never`, if it is not imported yet.

    It extends a one-line import from `typing`, or adds a line above the first import.
    """
    imports = [
        statement
        for statement in module.syntax.body
        if isinstance(statement, ast.ImportFrom | ast.Import)
    ]
    from_imports = [node for node in imports if isinstance(node, ast.ImportFrom)]
    if any(
        node.module in _TYPING_MODULES and any(alias.name == _ASSERT_NEVER for alias in node.names)
        for node in from_imports
    ):
        return
    for node in from_imports:
        if (
            node.module == 'typing'
            and node.lineno == node.end_lineno
            and '(' not in node_source(node, module)
        ):
            names = sorted([_ASSERT_NEVER, *(ast.unparse(alias) for alias in node.names)])
            yield node_edit(node, f'from typing import {", ".join(names)}', module)
            return
    for statement in imports:
        if not (isinstance(statement, ast.ImportFrom) and statement.module == '__future__'):
            line = statement.lineno
            yield TextEdit(line, 0, line, 0, '', f'from typing import {_ASSERT_NEVER}\n')
            return
