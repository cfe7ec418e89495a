"""Adapters of a module, uses of seams, and the error classes that it constructs or handles."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from seamwise.check._mypy.nodes import TypeInfo
from seamwise.check._mypy.plugin.arms import errors_and_shape
from seamwise.check._mypy.types import Instance, Type
from seamwise.check.facts import SeamFacts, SeamUse
from seamwise.check.inference.data_flow.dispositions import CHECKS, pattern_classes
from seamwise.check.inference.data_flow.error_inference import CATCH, CAUGHT, ErrorInference
from seamwise.check.typed_ast.channels import (
    NO_ERRORS,
    ErrorSet,
    errors_in,
    errors_of_type,
    filter_errors,
    is_error,
    union_members,
    without_type_variables,
)
from seamwise.check.typed_ast.program import Function, Module, call_arguments, walk

ADAPTER = 'seamwise.seams.adapter.Adapter'
_SEAMS = 'seamwise.seams.'
_FIND = 'seamwise._errors.causes.find_cause'


# Adapters and their uses


def seam_facts(inference: ErrorInference) -> Iterator[SeamFacts]:
    """Yield the adapters that a module assigns to a name, and its functions that are adapters."""
    module = inference.module
    for function in module.functions():
        if module.parents[function] is module.syntax and not function.name.startswith('_'):
            seam, covered = _function_adapter(function, module)
            if covered:
                yield SeamFacts(
                    name=f'{module.name}.{function.name}',
                    seam=seam,
                    location=module.location_of(function),
                    errors=tuple(sorted(covered)),
                )
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


def _function_adapter(function: Function, module: Module) -> tuple[str, set[str]]:
    """Return the seam and the errors of a function from errors to the shape of a seam."""
    declared = errors_and_shape(module.declared_type(function))
    if declared is None:
        return '', set()
    errors, shape = declared
    classes = errors_of_type(errors)
    if classes is None or not all(map(is_error, classes.values())):
        return '', set()
    seams = _seams_of_shape(shape)
    return (seams.pop(), set(classes)) if len(seams) == 1 else ('', set())


def is_shape(type_: Type) -> bool:
    """Return whether a type is the shape of a seam, such as `HttpError`."""
    return bool(_seams_of_shape(type_))


def _seams_of_shape(type_: Type) -> set[str]:
    names = [item.type.fullname for item in union_members(type_) if isinstance(item, Instance)]
    return {_seam_of_class(name) for name in names if '.shape.' in name} - {''}


def _visible_errors(adapter: ast.expr, inference: ErrorInference) -> set[str]:
    errors = _covered_errors(adapter, inference)
    for node in walk(adapter):
        match node:
            case ast.Call(ast.Attribute(ast.Call(_, [class_]), 'hidden')):
                # For `on(A | B)`, only the type of the whole call names the errors.
                errors -= set(inference.constructed_by(class_) or NO_ERRORS)
                errors -= _covered_errors(node, inference)
            case _:
                pass
    return errors


def _covered_errors(adapter: ast.expr, inference: ErrorInference) -> set[str]:
    """Return the names of the errors that an adapter covers, by its type."""
    errors: set[str] = set()
    for member in union_members(inference.module.type_of(adapter)):
        if isinstance(member, Instance) and member.type.fullname == ADAPTER:
            errors |= set(without_type_variables(errors_of_type(member.args[0]) or NO_ERRORS))
    return errors


def seam_uses(
    function: Function, inferred: ErrorSet | None, inference: ErrorInference
) -> Iterator[SeamUse]:
    """Yield the uses of seams in a function: calls with errors, and a decorator with an adapter.

    Args:
        function: The function.
        inferred: Its inferred errors, which a decorator receives; None if unknown.
        inference: The error inference of the module.
    """
    module = inference.module
    for node in inference.own_nodes(ast.Call, function):
        seam = _seam_of_call(node, module)
        errors = _errors_in_arguments(node, inference) if seam else NO_ERRORS
        if errors:
            yield SeamUse(module.location_of(node), seam, tuple(sorted(errors)))
    for decorator in function.decorator_list:
        seam = _seam_of_decorator(decorator, module)
        if seam and inferred:
            yield SeamUse(module.location_of(function), seam, tuple(sorted(inferred)))


def _seam_of_decorator(decorator: ast.expr, module: Module) -> str:
    for node in walk(decorator):
        seam = seam_of_adapter(node, module) if isinstance(node, ast.expr) else ''
        if seam:
            return seam
    return ''


def _errors_in_arguments(call: ast.Call, inference: ErrorInference) -> ErrorSet:
    """Return the errors that a call receives, as values or in Results."""
    errors: dict[str, TypeInfo] = {}
    for argument in call_arguments(call):
        result_errors = (
            inference.errors_of(argument)
            if errors_in(inference.module.type_of(argument)) is not None
            else None
        )
        if result_errors is None:
            classes = inference.value_classes(argument) or NO_ERRORS
            result_errors = filter_errors(classes, is_error)
        errors.update(result_errors)
    return errors


def _seam_of_call(call: ast.Call, module: Module) -> str:
    """Return the seam that a call passes an error to, by adapter or return type, or empty."""
    for node in (call.func, *call_arguments(call)):
        seam = seam_of_adapter(node, module)
        if seam:
            return seam
    for member in union_members(module.type_of(call)):
        seam = _seam_of_class(member.type.fullname) if isinstance(member, Instance) else ''
        if seam:
            return seam
    return ''


def seam_of_adapter(node: ast.expr, module: Module) -> str:
    """Return the seam of an adapter, by the type it renders to; empty for other nodes."""
    for member in union_members(module.type_of(node)):
        match member:
            case Instance(args=(_, rendered)) if member.type.fullname == ADAPTER:
                types = (type_ for type_ in union_members(rendered) if isinstance(type_, Instance))
                first = next(types, None)
                if first is None:
                    return ''
                return _seam_of_class(first.type.fullname) or first.type.name
            case _:
                pass
    return ''


def _seam_of_class(full_name: str) -> str:
    """Return the folder in `seamwise.seams` that contains a class; empty for other classes."""
    folder, *rest = full_name.removeprefix(_SEAMS).split('.')
    is_seam = full_name.startswith(_SEAMS) and rest and folder != 'adapter'
    return folder if is_seam and not folder.startswith('_') else ''


# Error classes in a module


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
        if isinstance(call.func, ast.Attribute) and call.func.attr == 'hidden':
            handled |= _covered_errors(call, inference)
        if _error_class_name(call.func, inference):
            # The errors in the arguments are shown with the new error.
            for argument in call_arguments(call):
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
        yield from (call.func, *call_arguments(call))
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
    """Return whether a collection is a type argument, as in `Callable[[A], B]`."""
    parent = module.parents.get(collection)
    if isinstance(parent, ast.Tuple):
        return _is_type_argument(parent, module)
    return isinstance(parent, ast.Subscript)


def _error_class_name(node: ast.expr, inference: ErrorInference) -> str:
    """Return the full name of the error class that a node refers to; empty for other nodes."""
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return ''
    info = inference.module.class_at(node.value if isinstance(node, ast.Subscript) else node)
    return info.fullname if info is not None and is_error(info) else ''


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
        or (name.startswith(_SEAMS) and name.endswith('.on'))
    )
