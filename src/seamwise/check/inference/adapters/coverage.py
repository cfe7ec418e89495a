"""Findings about adapters that lack a class of their declared type.

mypy reports them, too, but as an unsupported operand or as two long types.
"""

import ast
from collections.abc import Iterator

from seamwise.check._mypy.plugin import ADAPTER
from seamwise.check._mypy.plugin.arms import (
    as_adapter,
    join_adapters,
    missing_arms,
    missing_arms_message,
    unknown_arms,
    unknown_arms_message,
)
from seamwise.check._mypy.types import CallableType, Instance, Type
from seamwise.check.findings import RawFinding
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.typed_ast.program import Module


def find_missing_arms(inference: ErrorInference) -> Iterator[RawFinding]:
    """Yield a finding for each adapter that covers less than its declared type."""
    module = inference.module
    for assignment in module.nodes_of_type(ast.AnnAssign):
        if isinstance(assignment.target, ast.Name) and assignment.value is not None:
            declared = module.variable_type(assignment.target)
            yield from _check(assignment.value, declared, module)
    for function in module.functions():
        signature = module.declared_type(function)
        for statement in inference.own_nodes(ast.Return, function) if signature else ():
            if signature is not None and statement.value is not None:
                yield from _check(statement.value, signature.ret_type, module)
    for call in module.nodes_of_type(ast.Call):
        yield from _check_arguments(call, module)
        yield from _check_replacement(call, module)


def _check(node: ast.expr, declared: Type | None, module: Module) -> Iterator[RawFinding]:
    adapter = _adapter_type(node, module)
    if declared is not None and adapter is not None:
        names = missing_arms(declared, adapter)
        if names:
            yield RawFinding(node, *missing_arms_message(names))


def _check_arguments(call: ast.Call, module: Module) -> Iterator[RawFinding]:
    callee = module.type_of(call.func)
    if not isinstance(callee, CallableType) or module.full_name(call.func) == ADAPTER:
        return
    for index, node in enumerate(call.args):
        parameter = callee.argument_by_position(index)
        if parameter is not None and not isinstance(node, ast.Starred):
            yield from _check(node, parameter.typ, module)
    for keyword in call.keywords:
        parameter = callee.argument_by_name(keyword.arg) if keyword.arg is not None else None
        if parameter is not None:
            yield from _check(keyword.value, parameter.typ, module)


def _check_replacement(call: ast.Call, module: Module) -> Iterator[RawFinding]:
    """Check `table.but(on(NotFound).verb(…))`."""
    match call:
        case ast.Call(ast.Attribute(table, 'but'), [other]):
            adapter = _adapter_type(table, module)
            replacement = _adapter_type(other, module) or module.type_of(other)
            if adapter is not None and replacement is not None:
                names = unknown_arms(adapter, replacement)
                if names:
                    yield RawFinding(other, *unknown_arms_message(names))
        case _:
            pass


def _adapter_type(node: ast.expr, module: Module) -> Instance | None:
    """Return the type of an adapter by its arms, without regard to its declared type."""
    match node:
        case ast.BinOp(left, ast.BitOr(), right):
            return join_adapters(
                _adapter_type(left, module) or module.type_of(left),
                _adapter_type(right, module) or module.type_of(right),
            )
        case ast.Call(ast.Attribute(table, 'but')) if as_adapter(module.type_of(table)):
            return _adapter_type(table, module)
        case ast.Call(ast.Attribute(attr='of'), [ast.expr() as function]) if as_adapter(
            module.type_of(node)
        ) and as_adapter(module.type_of(function)):
            return _adapter_type(function, module)
        case ast.Call(function, [ast.Lambda(body=body)]) if module.full_name(function) == ADAPTER:
            return _adapter_type(body, module)
        case _:
            return as_adapter(module.type_of(node))
