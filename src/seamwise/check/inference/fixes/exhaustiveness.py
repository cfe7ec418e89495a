"""Edits of wildcard arms: `assert_never` after all errors, or else the names of the others."""

import ast

from seamwise.check.facts import TextEdit
from seamwise.check.inference.data_flow.dispositions import is_irrefutable, pattern_classes
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.inference.edits.annotations import node_edit, top_level_names
from seamwise.check.inference.edits.imports import import_edits
from seamwise.check.typed_ast.channels import NO_ERRORS, ErrorSet, is_error, subtract

_ASSERT_NEVER = 'assert_never'


def assert_never_edits(
    match: ast.Match, arm: ast.match_case, inference: ErrorInference
) -> tuple[TextEdit, ...]:
    """Return the edits that make a wildcard arm call `assert_never`, and import it.

    They are empty if an error can reach the arm, or if its body has more than one statement.
    """
    name = _matched_name(match, arm)
    if name is None or len(arm.body) != 1 or remaining_errors(match, arm, inference) != NO_ERRORS:
        return ()
    module = inference.module
    return (
        node_edit(arm.body[0], f'{_ASSERT_NEVER}({name})', module),
        *import_edits(_ASSERT_NEVER, 'typing', module),
    )


def _matched_name(match: ast.Match, arm: ast.match_case) -> str | None:
    if isinstance(arm.pattern, ast.MatchAs) and arm.pattern.name is not None:
        return arm.pattern.name
    return match.subject.id if isinstance(match.subject, ast.Name) else None


def missing_arm_edits(
    match: ast.Match, arm: ast.match_case, inference: ErrorInference
) -> tuple[TextEdit, ...]:
    """Return the edit that names the errors which reach a wildcard arm, as in `case A() | B():`.

    It is empty if no error does, or if the module has no name for one of them.
    """
    remaining = remaining_errors(match, arm, inference)
    module = inference.module
    local_names = top_level_names(module)
    if not remaining or any(name not in local_names for name in remaining):
        return ()
    pattern = ' | '.join(f'{local_names[name]}()' for name in remaining)
    if isinstance(arm.pattern, ast.MatchAs) and arm.pattern.name is not None:
        pattern = f'({pattern})' if len(remaining) > 1 else pattern
        pattern = f'{pattern} as {arm.pattern.name}'
    return (node_edit(arm.pattern, pattern, module),)


def remaining_errors(
    match: ast.Match, arm: ast.match_case, inference: ErrorInference
) -> ErrorSet | None:
    """Return the errors that the arms above do not handle; None if they are unknown."""
    remaining: ErrorSet | None = inference.typed_classes(match.subject)
    if not remaining or not all(is_error(info) for info in remaining.values()):
        return None
    for previous in match.cases[: match.cases.index(arm)]:
        if previous.guard is None and _matches_by_class_only(previous.pattern):
            remaining = subtract(remaining, pattern_classes(inference, previous.pattern))
    return remaining


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
