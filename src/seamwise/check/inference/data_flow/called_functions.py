"""Functions that calls name, in the same file and in others, and the parameters of arguments."""

import ast
import sys
from collections.abc import Sequence
from typing import NamedTuple

from seamwise.check.facts import HelperUse
from seamwise.check.inference.data_flow.bindings import own_nodes
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module

_STDLIB = sys.stdlib_module_names | {'typing_extensions'}


class Helper(NamedTuple):
    """Function that gets a caught exception, and the parameter for it."""

    function: Function
    parameter: str


def helper_of(call: ast.Call, name: str | None, module: Module) -> Helper | None:
    """Return the function of the same file to which a call passes the exception of a name."""
    position = next(
        (
            index
            for index, argument in enumerate(call.args)
            if isinstance(argument, ast.Name) and argument.id == name
        ),
        None,
    )
    function = function_of(call, module) if position is not None else None
    if function is None or position is None:
        return None
    parameters = positional_parameters(function, call)
    return Helper(function, parameters[position]) if position < len(parameters) else None


def helper_use(call: ast.Call, use: HelperUse, inference: ErrorInference) -> HelperUse | None:
    """Add the full name of the called function to a use; None if it is in no checked file."""
    callee = inference.callee_name(call)
    if not callee or callee.partition('.')[0] in _STDLIB:
        return None
    is_awaited = isinstance(inference.module.parents.get(call), ast.Await)
    return HelperUse(callee, use.position, use.keyword, use.is_starred, is_awaited)


def positional_parameters(
    function: Function | ast.Lambda, call: ast.Call | None = None
) -> list[str]:
    """Return the names of the positional parameters, without the object of a method.

    Args:
        function: The function.
        call: A call of it; it names the object by `object.method`.
    """
    names = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
    is_bound = call is None or isinstance(call.func, ast.Attribute)
    return names[1:] if is_bound and names[:1] in (['self'], ['cls']) else names


def passed_parameters(
    use: HelperUse, parameters: Sequence[str], rest: ast.arg | str | None
) -> Sequence[str]:
    """Return the parameters that may contain the exception of a call; none if it passes none.

    Args:
        use: The call.
        parameters: Positional parameters of the called function.
        rest: The parameter for further arguments, as in `*args`.
    """
    if use.keyword:
        return (use.keyword,)
    if use.position is None:
        return ()
    following = parameters[use.position :]
    last = [rest.arg if isinstance(rest, ast.arg) else rest] if rest else []
    if use.is_starred:
        return [*following, *last]
    return following[:1] or last


def function_of(call: ast.Call, module: Module) -> Function | None:
    """Return the function that a call names, if the same file defines it."""
    match call.func:
        case ast.Name(name):
            return _visible_function(name, call.func, module)
        case ast.Attribute(ast.Name('self' | 'cls'), name):
            classes = (outer for outer in module.ancestors(call) if isinstance(outer, ast.ClassDef))
            class_ = next(classes, None)
            scope: Sequence[ast.stmt] = class_.body if class_ is not None else []
        case ast.Attribute(_, name):
            # The class of the object is unknown: the method is the only one of this name.
            methods = [
                node
                for class_ in module.syntax.body
                if isinstance(class_, ast.ClassDef)
                for node in class_.body
                if isinstance(node, FUNCTIONS) and node.name == name
            ]
            scope = methods if len(methods) == 1 else []
        case _:
            return None
    return _function_in(scope, name)


def _visible_function(name: str, node: ast.expr, module: Module) -> Function | None:
    """Return the function of a name in the scopes around a node, the innermost first."""
    for outer in module.ancestors(node):
        if isinstance(outer, FUNCTIONS):
            statements = [node for node in own_nodes(outer.body) if isinstance(node, ast.stmt)]
            function = _function_in(statements, name)
            if function is not None:
                return function
    return _function_in(module.syntax.body, name)


def _function_in(scope: Sequence[ast.stmt], name: str) -> Function | None:
    return next((node for node in scope if isinstance(node, FUNCTIONS) and node.name == name), None)
