"""Adapters of a module, and the error classes that it constructs or handles."""

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

_FIND = 'seamwise.causes.find'


def seam_facts(inference: ErrorInference) -> Iterator[SeamFacts]:
    """Yield the adapters that a module assigns to a name."""
    module = inference.module
    for node_type in (ast.Assign, ast.AnnAssign):
        for statement in module.nodes_of_type(node_type):
            match statement:
                case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(
                    ast.Name(name), _, ast.expr() as value
                ):
                    seam = seam_of_adapter(value, module)
                    if seam:
                        yield SeamFacts(
                            name=f'{module.name}.{name}',
                            seam=seam,
                            location=module.location_of(statement),
                            errors=tuple(sorted(_visible_errors(value, inference))),
                        )
                case _:
                    pass


def _visible_errors(adapter: ast.expr, inference: ErrorInference) -> set[str]:
    errors: set[str] = set()
    for member in union_members(inference.module.type_of(adapter)):
        if isinstance(member, Instance) and member.type.fullname == ADAPTER:
            errors |= set(without_type_variables(errors_of_type(member.args[0]) or NO_ERRORS))
    for node in walk(adapter):
        match node:
            case ast.Call(ast.Attribute(ast.Call(_, [class_]), 'hidden')):
                errors -= set(inference.constructed_by(class_) or NO_ERRORS)
            case _:
                pass
    return errors


class ErrorUses(NamedTuple):
    """Error classes that a module uses."""

    constructed: frozenset[str]
    """Classes that it instantiates, or passes to code that may instantiate them."""
    handled: frozenset[str]
    """Classes that an arm, a check, a `catch` or an adapter handles."""


def error_uses(inference: ErrorInference) -> ErrorUses:
    """Collect the error classes that a module constructs or handles."""
    module = inference.module
    constructed: set[str] = set()
    handled: set[str] = set()
    for node, name in _referenced_classes(inference):
        (handled if _is_tested(node, inference) else constructed).add(name)
    for call in module.nodes_of_type(ast.Call):
        if _error_class_name(call.func, inference):
            # The errors in the arguments are shown with the new error.
            for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                classes = errors_of_type(module.type_of(argument)) or NO_ERRORS
                handled |= {name for name, info in classes.items() if is_error(info)}
    for match in module.nodes_of_type(ast.Match):
        for arm in match.cases:
            for pattern in walk(arm.pattern):
                if isinstance(pattern, ast.MatchClass):
                    infos = pattern_classes(inference, pattern)
                    handled |= {info.fullname for info in infos if is_error(info)}
    return ErrorUses(frozenset(constructed), frozenset(handled))


def _referenced_classes(inference: ErrorInference) -> Iterator[tuple[ast.expr, str]]:
    """Yield each error class that is called, passed to a call, stored or returned."""
    for node in _value_positions(inference.module):
        name = _error_class_name(node, inference)
        if name:
            yield node, name


def _value_positions(module: Module) -> Iterator[ast.expr]:
    for call in module.nodes_of_type(ast.Call):
        yield from (call.func, *call.args, *(keyword.value for keyword in call.keywords))
        if isinstance(call.func, ast.Attribute):
            yield call.func.value
    collections: list[ast.Tuple | ast.List | ast.Set] = [
        *module.nodes_of_type(ast.Tuple),
        *module.nodes_of_type(ast.List),
        *module.nodes_of_type(ast.Set),
    ]
    for collection in collections:
        if not _is_type_argument(collection, module):
            yield from collection.elts
    for dictionary in module.nodes_of_type(ast.Dict):
        yield from dictionary.values
    for conditional in module.nodes_of_type(ast.IfExp):
        yield from (conditional.body, conditional.orelse)
    for statement in module.nodes_of_type(ast.Return):
        if statement.value is not None:
            yield statement.value


def _is_type_argument(collection: ast.expr, module: Module) -> bool:
    """Return whether a collection is in brackets, as in `Result[int, A]` and `Callable[[A], B]`."""
    parent = module.parents.get(collection)
    if isinstance(parent, ast.Tuple):
        return _is_type_argument(parent, module)
    return isinstance(parent, ast.Subscript)


def _error_class_name(node: ast.expr, inference: ErrorInference) -> str:
    """Return the full name of the error class that a node refers to; empty if it is none."""
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return ''
    reference = inference.module.mypy_node(node.value if isinstance(node, ast.Subscript) else node)
    if (
        isinstance(reference, RefExpr)
        and isinstance(reference.node, TypeInfo)
        and is_error(reference.node)
    ):
        return reference.node.fullname
    return ''


def _is_tested(node: ast.expr, inference: ErrorInference) -> bool:
    """Return whether a class is an argument of a check, a `catch` or an arm."""
    module = inference.module
    parent = module.parents.get(node)
    if isinstance(parent, ast.Tuple):
        parent = module.parents.get(parent)
    if not isinstance(parent, ast.Call) or parent.func is node:
        return False
    name = module.full_name(parent.func)
    return (
        name in CHECKS
        or name in {CATCH, CAUGHT, _FIND}
        or (name.startswith('seamwise.seams.') and name.endswith('.on'))
    )
