"""The edits that close a `match`: `assert_never` where nothing can arrive any more."""

import ast
from collections.abc import Iterator

from seamwise.check.facts import TextEdit
from seamwise.check.inference.annotations import node_edit, node_source
from seamwise.check.inference.dispositions import pattern_classes
from seamwise.check.inference.error_inference import ErrorInference
from seamwise.check.typed_ast.channels import ErrorSet, is_error, subtract
from seamwise.check.typed_ast.program import Module

NAME = 'assert_never'
MODULES = frozenset({'typing', 'typing_extensions'})


def assert_never_edits(
    match: ast.Match, arm: ast.match_case, reader: ErrorInference
) -> tuple[TextEdit, ...]:
    """Let a wildcard arm that no error can reach say so; nothing where one can, or where it does more than one thing."""
    name = _name(match, arm)
    if name is None or len(arm.body) != 1 or not _is_idle(match, arm, reader):
        return ()
    return (node_edit(arm.body[0], f'{NAME}({name})', reader.module), *_imported(reader.module))


def _name(match: ast.Match, arm: ast.match_case) -> str | None:
    if isinstance(arm.pattern, ast.MatchAs) and arm.pattern.name is not None:
        return arm.pattern.name
    return match.subject.id if isinstance(match.subject, ast.Name) else None


def _is_idle(match: ast.Match, arm: ast.match_case, reader: ErrorInference) -> bool:
    """Whether the arms above take every error that the type of the subject allows."""
    left: ErrorSet | None = reader.typed_classes(match.subject)
    if not left or not all(is_error(info) for info in left.values()):
        return False
    for above in match.cases[: match.cases.index(arm)]:
        if above.guard is None and _takes_whole_classes(above.pattern):
            left = subtract(left, pattern_classes(reader, above.pattern))
    return not left


def _takes_whole_classes(pattern: ast.pattern) -> bool:
    match pattern:
        case ast.MatchOr(parts):
            return all(_takes_whole_classes(one) for one in parts)
        case ast.MatchAs(ast.pattern() as inner):
            return _takes_whole_classes(inner)
        case ast.MatchClass(_, parts, _, named):
            return all(
                isinstance(one, ast.MatchAs) and one.pattern is None for one in (*parts, *named)
            )
        case _:
            return False


def _imported(module: Module) -> Iterator[TextEdit]:
    """Import it where it is not: into a line that imports from `typing`, or in a line of its own above the others."""
    imports = [one for one in module.syntax.body if isinstance(one, ast.ImportFrom | ast.Import)]
    if any(
        isinstance(one, ast.ImportFrom)
        and one.module in MODULES
        and any(name.name == NAME for name in one.names)
        for one in imports
    ):
        return
    for one in imports:
        if (
            isinstance(one, ast.ImportFrom)
            and one.module == 'typing'
            and one.lineno == one.end_lineno
            and '(' not in node_source(one, module)
        ):
            names = sorted(
                [
                    NAME,
                    *(
                        f'{name.name} as {name.asname}' if name.asname else name.name
                        for name in one.names
                    ),
                ]
            )
            yield node_edit(one, f'from typing import {", ".join(names)}', module)
            return
    line = next(
        (
            one.lineno
            for one in imports
            if not (isinstance(one, ast.ImportFrom) and one.module == '__future__')
        ),
        None,
    )
    if line is not None:
        yield TextEdit(line, 0, line, 0, '', f'from typing import {NAME}\n')
