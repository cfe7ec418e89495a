"""The adapters of a file, and the errors that arms, `catch` and adapters decide about."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from mypy.nodes import RefExpr, TypeInfo
from mypy.types import Instance

from seamwise.check.facts import SeamFacts
from seamwise.check.inference.dispositions import CHECKS, pattern_classes
from seamwise.check.inference.error_inference import CATCH, CAUGHT, ErrorInference
from seamwise.check.inference.functions import ADAPTER, seam_of_adapter
from seamwise.check.typed_ast.channels import (
    NO_ERRORS,
    errors_of_type,
    is_error,
    union_members,
    without_type_variables,
)
from seamwise.check.typed_ast.program import Module, walk

FIND = 'seamwise.causes.find'


def seam_facts(reader: ErrorInference) -> Iterator[SeamFacts]:
    """Give the adapters of a file that have a name."""
    module = reader.module
    for kind in (ast.Assign, ast.AnnAssign):
        for statement in module.nodes_of_type(kind):
            match statement:
                case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(
                    ast.Name(name), _, ast.expr() as value
                ):
                    seam = seam_of_adapter(value, module)
                    if seam:
                        yield SeamFacts(
                            f'{module.name}.{name}',
                            seam,
                            module.location_of(statement),
                            tuple(sorted(_shown(value, reader))),
                        )
                case _:
                    pass


def _shown(adapter: ast.expr, reader: ErrorInference) -> set[str]:
    found: set[str] = set()
    for one in union_members(reader.module.type_of(adapter)):
        if isinstance(one, Instance) and one.type.fullname == ADAPTER:
            found |= set(without_type_variables(errors_of_type(one.args[0]) or NO_ERRORS))
    return found - {
        name
        for node in walk(adapter)
        if isinstance(node, ast.Call)
        for name in _hidden(node, reader)
    }


def _hidden(node: ast.Call, reader: ErrorInference) -> set[str]:
    match node.func:
        case ast.Attribute(ast.Call(_, [kind]), 'hidden'):
            return set(reader.constructed_by(kind) or NO_ERRORS)
        case _:
            return set()


class ErrorUses(NamedTuple):
    """What a file does with error classes."""

    constructed: frozenset[str]
    """It makes them, or hands them to others who do."""
    handled: frozenset[str]
    """An arm, a check, a `catch` or an adapter decides about them."""


def error_uses(reader: ErrorInference) -> ErrorUses:
    """Give what a file does with error classes: each use either asks for one, or makes it."""
    made: set[str] = set()
    found: set[str] = set()
    for node, name in _used(reader):
        (found if _only_asks(node, reader) else made).add(name)
    for call in reader.module.nodes_of_type(ast.Call):
        if _class_at(call.func, reader):
            # Inside of another error it travels on, and is shown with it.
            for one in (*call.args, *(keyword.value for keyword in call.keywords)):
                found |= {
                    name
                    for name, info in (
                        errors_of_type(reader.module.type_of(one)) or NO_ERRORS
                    ).items()
                    if is_error(info)
                }
    for match in reader.module.nodes_of_type(ast.Match):
        for arm in match.cases:
            for pattern in walk(arm.pattern):
                if isinstance(pattern, ast.MatchClass):
                    found |= {
                        info.fullname for info in pattern_classes(reader, pattern) if is_error(info)
                    }
    return ErrorUses(frozenset(made), frozenset(found))


def _used(reader: ErrorInference) -> Iterator[tuple[ast.expr, str]]:
    """Give each error class that is called, itself or by a method of its own, handed to a call, or kept for one to come."""
    for node in _values(reader.module):
        name = _class_at(node, reader)
        if name:
            yield node, name


def _values(module: Module) -> Iterator[ast.expr]:
    for call in module.nodes_of_type(ast.Call):
        yield from (call.func, *call.args, *(one.value for one in call.keywords))
        if isinstance(call.func, ast.Attribute):
            yield call.func.value
    rows: list[ast.Tuple | ast.List | ast.Set] = [
        *module.nodes_of_type(ast.Tuple),
        *module.nodes_of_type(ast.List),
        *module.nodes_of_type(ast.Set),
    ]
    for row in rows:
        if not _is_of_annotation(row, module):
            yield from row.elts
    for table in module.nodes_of_type(ast.Dict):
        yield from table.values
    for choice in module.nodes_of_type(ast.IfExp):
        yield from (choice.body, choice.orelse)
    for back in module.nodes_of_type(ast.Return):
        if back.value is not None:
            yield back.value


def _is_of_annotation(row: ast.expr, module: Module) -> bool:
    """Whether it stands in brackets, as in `Result[int, A]` and `Callable[[A], B]`."""
    around = module.parents.get(row)
    return isinstance(around, ast.Subscript) or (
        isinstance(around, ast.Tuple) and _is_of_annotation(around, module)
    )


def _class_at(node: ast.expr, reader: ErrorInference) -> str:
    """Give the name of the error class that an expression is; empty for anything else."""
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return ''
    found = reader.module.mypy_node(node.value if isinstance(node, ast.Subscript) else node)
    return (
        found.node.fullname
        if isinstance(found, RefExpr) and isinstance(found.node, TypeInfo) and is_error(found.node)
        else ''
    )


def _only_asks(node: ast.expr, reader: ErrorInference) -> bool:
    around = reader.module.parents.get(node)
    if isinstance(around, ast.Tuple):
        around = reader.module.parents.get(around)
    if not isinstance(around, ast.Call) or around.func is node:
        return False
    name = reader.module.full_name(around.func)
    return (
        name in CHECKS
        or name in {CATCH, CAUGHT, FIND}
        or (name.startswith('seamwise.seams.') and name.endswith('.on'))
    )
