"""Edits that propagate the errors of a Result which a function discards or unwraps."""

import ast
from collections.abc import Iterator

from seamwise.check.facts import TextEdit
from seamwise.check.inference.data_flow.bindings import free_name
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.inference.definitions.functions import declared_errors, do_parameter
from seamwise.check.inference.edits.annotations import node_edit, node_source, top_level_names
from seamwise.check.inference.edits.imports import import_edits
from seamwise.check.typed_ast.channels import (
    ErrorSet,
    channel_of,
    errors_in,
    errors_of_type,
    without_type_variables,
)
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, walk
from seamwise.check.typed_ast.transactions import commits

_FAILURE = 'seamwise._results.containers.Failure'
_CONDITIONAL = (
    ast.BoolOp, ast.IfExp, ast.Lambda, ast.comprehension,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
"""Expressions that evaluate their parts later, several times or not at all."""
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)


def discarded_result_edits(statement: ast.Expr, inference: ErrorInference) -> tuple[TextEdit, ...]:
    """Return the edits that propagate the errors of a statement, with `do` or an early return.

    They are empty unless the channel of the function contains all of these errors.
    """
    module, value = inference.module, statement.value
    function = _function_around(statement, module)
    errors = _errors(value, module)
    if function is None or errors is None or _has_other_exit(statement, module):
        return ()
    do = _do_name(function, errors, module)
    if do is not None:
        return (node_edit(value, f'{do}({node_source(value, module)})', module),)
    if not _may_return(function, errors, inference) or _would_commit(statement, module):
        return ()
    name = _result_name(value, function)
    return tuple(_early_return(statement, value, name, module))


def unwrap_edits(call: ast.Call, inference: ErrorInference) -> tuple[TextEdit, ...]:
    """Return the edits that replace `result.unwrap()`, by `do(result)` or after an early return.

    They are empty unless the channel of the function contains all errors of the Result.
    """
    module = inference.module
    if not isinstance(call.func, ast.Attribute) or call.func.attr != 'unwrap':
        return ()
    value = call.func.value
    function = _function_around(call, module)
    errors = _errors(value, module)
    if function is None or errors is None or _has_other_exit(call, module):
        return ()
    do = _do_name(function, errors, module)
    if do is not None:
        # Parentheses around an `await` are no longer needed, and harmless.
        return (node_edit(call, f'{do}({node_source(value, module)})', module),)
    statement = _statement_of(call, module)
    if statement is None or not _may_return(function, errors, inference):
        return ()
    if _would_commit(statement, module):
        return ()
    if isinstance(value, ast.Name):
        if _binds(statement, value.id):
            return ()
        return tuple(_check_before(statement, value.id, module))
    if getattr(statement, 'value', None) is not call:
        # Another part of the statement might have to run before the call.
        return ()
    name = _result_name(value, function)
    rest = node_source(statement, module)
    prefix, unwrapped, suffix = rest.partition(node_source(call, module))
    if not unwrapped or '\n' in rest or suffix.strip():
        return ()
    return tuple(_early_return(statement, value, name, module, rest=f'{prefix}{name}.unwrap()'))


def _errors(value: ast.expr, module: Module) -> ErrorSet | None:
    """Return the errors of a Result; None if they are unknown or it is no Result."""
    type_ = module.type_of(value)
    channel = channel_of(type_)
    if channel is None or channel.is_open or not channel.is_failure:
        return None
    errors = errors_in(type_)
    if not errors or len(without_type_variables(errors)) < len(errors):
        return None
    return errors


def _function_around(node: ast.AST, module: Module) -> Function | None:
    """Return the function that runs a node; None in a lambda or a class."""
    scopes = (*FUNCTIONS, ast.Lambda, ast.ClassDef, ast.comprehension, ast.GeneratorExp)
    scope = next((outer for outer in module.ancestors(node) if isinstance(outer, scopes)), None)
    return scope if isinstance(scope, FUNCTIONS) else None


def _has_other_exit(node: ast.AST, module: Module) -> bool:
    """Return whether a failure at a node must not leave the function.

    In `finally`, and in a handler that raises, it would replace an exception.
    """
    parent = module.parents.get(node)
    while parent is not None and not isinstance(parent, FUNCTIONS):
        match parent:
            case ast.Try(finalbody=final) | ast.TryStar(finalbody=final) if node in final:
                return True
            case ast.ExceptHandler() if any(isinstance(part, ast.Raise) for part in walk(parent)):
                return True
            case _:
                pass
        node, parent = parent, module.parents.get(parent)
    return False


def _would_commit(node: ast.AST, module: Module) -> bool:
    """Return whether a `return` at a node commits a transaction."""
    for outer in module.ancestors(node):
        if isinstance(outer, FUNCTIONS):
            return any(commits(decorator, module) for decorator in outer.decorator_list)
        if isinstance(outer, ast.With | ast.AsyncWith) and any(
            commits(item.context_expr, module) for item in outer.items
        ):
            return True
    return False


def _covers(channel: ErrorSet | None, errors: ErrorSet) -> bool:
    return channel is not None and all(
        any(base.fullname in channel for base in info.mro) for info in errors.values()
    )


def _do_name(function: Function, errors: ErrorSet, module: Module) -> str | None:
    """Return the name of the `do` parameter, if its channel contains the errors."""
    parameter = do_parameter(function, module)
    if parameter is None or not _covers(errors_of_type(parameter[1].args[0]), errors):
        return None
    return parameter[0]


def _may_return(function: Function, errors: ErrorSet, inference: ErrorInference) -> bool:
    """Return whether a function can return a failure with these errors."""
    module = inference.module
    if do_parameter(function, module) is not None or any(
        inference.own_nodes(kind, function) for kind in (ast.Yield, ast.YieldFrom)
    ):
        return False
    return _covers(declared_errors(function, inference), errors)


def _statement_of(node: ast.AST, module: Module) -> ast.stmt | None:
    """Return the simple statement that always evaluates an expression."""
    parent = module.parents.get(node)
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, _CONDITIONAL):
            return None
        parent = module.parents.get(parent)
    return parent if isinstance(parent, _SIMPLE) else None


def _binds(statement: ast.stmt, name: str) -> bool:
    """Return whether an expression of a statement binds a name: `(name := …)`."""
    return any(
        isinstance(node, ast.NamedExpr) and node.target.id == name for node in walk(statement)
    )


def _result_name(value: ast.expr, function: Function) -> str:
    """Return an unused name for a Result, as in `find_result`."""
    call = value.value if isinstance(value, ast.Await) else value
    callee = call.func if isinstance(call, ast.Call) else None
    match callee:
        case ast.Name(name) | ast.Attribute(_, name):
            stem = f'{name.strip("_")}_result'
        case _:
            stem = 'result'
    used = {node.id for node in walk(function) if isinstance(node, ast.Name)}
    used |= {node.arg for node in walk(function) if isinstance(node, ast.arg)}
    return free_name(stem, used)


def _indent(statement: ast.stmt, module: Module) -> str | None:
    """Return the indentation of a statement; None if another one is in the same line."""
    line = module.lines[statement.lineno - 1]
    start = line[: module.column(statement.lineno, statement.col_offset)]
    end_line = statement.end_lineno or statement.lineno
    end = module.column(end_line, statement.end_col_offset or statement.col_offset)
    rest = module.lines[end_line - 1][end:].lstrip()
    return start if not start.strip() and not rest.startswith(';') else None


def _early_return(
    statement: ast.stmt, value: ast.expr, name: str, module: Module, *, rest: str = ''
) -> Iterator[TextEdit]:
    indent = _indent(statement, module)
    failure = _failure(module)
    if indent is None or failure is None:
        return
    step = '\t' if '\t' in indent else '    '
    lines = [
        f'{name} = {node_source(value, module)}',
        f'{indent}if isinstance({name}, {failure}):',
        f'{indent}{step}return {name}',
    ]
    if rest:
        lines.append(f'{indent}{rest}')
    yield node_edit(statement, '\n'.join(lines), module)
    yield from _failure_import(module)


def _check_before(statement: ast.stmt, name: str, module: Module) -> Iterator[TextEdit]:
    indent = _indent(statement, module)
    failure = _failure(module)
    if indent is None or failure is None:
        return
    step = '\t' if '\t' in indent else '    '
    line, column = statement.lineno, len(indent)
    text = f'if isinstance({name}, {failure}):\n{indent}{step}return {name}\n{indent}'
    yield TextEdit(line, column, line, column, '', text)
    yield from _failure_import(module)


def _failure(module: Module) -> str | None:
    """Return the name of Failure in a module; None if the name stands for something else."""
    names = top_level_names(module)
    return names.get(_FAILURE, 'Failure' if 'Failure' not in names.values() else None)


def _failure_import(module: Module) -> Iterator[TextEdit]:
    if _FAILURE not in top_level_names(module):
        yield from import_edits('Failure', 'seamwise', module)
