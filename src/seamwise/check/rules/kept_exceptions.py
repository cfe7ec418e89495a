"""Handlers that pass their exception on, or log it, and statements that end exceptions."""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, children, walk

_SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
_RECEIVERS = frozenset({
    'set_exception', 'throw', 'athrow', '__exit__', '__aexit__',
    'put', 'put_nowait', 'send', 'send_nowait', 'call_exception_handler',
    'default_exception_handler', 'excepthook',
})  # fmt: skip
"""Methods that raise or report the exception elsewhere, or give it to another task."""
_DESCRIPTIONS = frozenset({'str', 'repr', 'type', 'format', 'print', 'len', 'isinstance'})
"""Functions whose values do not contain the exception that they get."""
_LOG_METHODS = frozenset({
    'debug', 'info', 'warning', 'warn', 'error', 'critical', 'fatal', 'log', 'exception',
})  # fmt: skip
_TRACEBACK_PRINTERS = frozenset({'print_exc', 'print_exception', 'capture_exception'})


def passes_on(handler: ast.ExceptHandler, module: Module) -> bool:
    """Return whether a handler raises its exception again on a branch, or lets others raise it."""
    for node in _own_nodes(handler.body):
        match node:
            case ast.Raise(exc=None) if _handler_of(node, module) is handler:
                return True
            case ast.Return(value) | ast.Yield(value) if _names(handler.name, value):
                # The caller gets the exception itself.
                return True
            case ast.Call() if _is_passed_to_helper(node, handler.name, module):
                return True
            case _ if _keeps(node, handler.name, handler, module):
                return True
            case _:
                pass
    return False


def _keeps(node: ast.AST, name: str | None, owner: ast.AST, module: Module) -> bool:
    """Return whether a node raises the exception of a name, or stores it for a later `raise`."""
    match node:
        case ast.Raise(exc, cause) if exc is not None:
            return _names(name, exc) or _names(name, cause)
        case ast.Call(ast.Attribute(attr=method)) if method in _RECEIVERS and any(
            _contains(name, argument) for argument in node.args
        ):
            return True
        case ast.Assign([ast.Attribute(other, '__cause__')], value) if _names(name, value):
            return isinstance(other, ast.Attribute) or _is_kept(other, owner, module)
        case ast.Assign(targets, value) if _names(name, value):
            return any(
                _is_public_attribute(target) or _is_raised(target, owner, module)
                for target in targets
            )
        case ast.AnnAssign(target, _, value) if _names(name, value):
            return _is_public_attribute(target) or _is_raised(target, owner, module)
        case ast.Call(ast.Attribute(collection, 'append' | 'add'), [argument]) if _contains(
            name, argument
        ):
            return _is_raised(collection, owner, module)
        case ast.AugAssign(collection, _, value) if _contains(name, value):
            return _is_raised(collection, owner, module)
        case _:
            return False


def _is_public_attribute(target: ast.expr) -> bool:
    """Return whether code elsewhere can read a target, and raise what it contains."""
    return isinstance(target, ast.Attribute) and not target.attr.startswith('_')


def _is_kept(exception: ast.expr, owner: ast.AST, module: Module) -> bool:
    """Return whether a handler raises another exception, or stores it for a later `raise`."""
    return isinstance(exception, ast.Name) and any(
        _keeps(node, exception.id, owner, module) for node in walk(owner)
    )


def _is_passed_to_helper(call: ast.Call, name: str | None, module: Module) -> bool:
    """Return whether a function of the same file gets the exception, and raises it or keeps it."""
    helper = helper_of(call, name, module)
    return helper is not None and any(
        _raises_current(node, module) or _keeps(node, helper.parameter, helper.function, module)
        for node in _own_nodes(helper.function.body)
    )


def _raises_current(node: ast.AST, module: Module) -> bool:
    """Return whether a node is a `raise` for the exception that the caller handles."""
    return isinstance(node, ast.Raise) and node.exc is None and _handler_of(node, module) is None


class Helper(NamedTuple):
    """Function that gets a caught exception, and the parameter for it."""

    function: Function
    parameter: str


def helper_of(call: ast.Call, name: str | None, module: Module) -> Helper | None:
    """Return the function of the same file to which a call passes the exception of a name."""
    position = next(
        (index for index, argument in enumerate(call.args) if _names(name, argument)), None
    )
    function = _function_of(call, module) if position is not None else None
    if function is None or position is None:
        return None
    parameters = [*function.args.posonlyargs, *function.args.args]
    if isinstance(call.func, ast.Attribute) and parameters[:1]:
        parameters = parameters[1:] if parameters[0].arg in {'self', 'cls'} else parameters
    return Helper(function, parameters[position].arg) if position < len(parameters) else None


def _function_of(call: ast.Call, module: Module) -> Function | None:
    """Return the function that a call names, if the same file defines it."""
    match call.func:
        case ast.Name(name):
            scope: Sequence[ast.stmt] = module.syntax.body
        case ast.Attribute(ast.Name('self' | 'cls'), name):
            parent: ast.AST | None = call
            while parent is not None and not isinstance(parent, ast.ClassDef):
                parent = module.parents.get(parent)
            scope = parent.body if parent is not None else []
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
    return next((node for node in scope if isinstance(node, FUNCTIONS) and node.name == name), None)


def _own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of a handler, but not of inner functions."""
    queue = list(body)
    while queue:
        node = queue.pop()
        yield node
        if not isinstance(node, _SCOPES):
            queue += children(node)


def _handler_of(node: ast.AST, module: Module) -> ast.ExceptHandler | None:
    parent = module.parents.get(node)
    while parent is not None and not isinstance(parent, ast.ExceptHandler):
        parent = module.parents.get(parent)
    return parent


def _names(name: str | None, node: ast.expr | None) -> bool:
    """Return whether an expression is the exception of a name, or a tuple with it."""
    match node:
        case ast.Name(identifier):
            return name is not None and name == identifier
        case ast.Tuple(elements):
            return any(_names(name, element) for element in elements)
        case ast.Call(ast.Attribute(value, 'with_traceback')) | ast.Starred(value):
            return _names(name, value)
        case ast.Call(ast.Attribute(ast.Name('sys'), 'exc_info' | 'exception')):
            return True
        case _:
            return False


def _contains(name: str | None, node: ast.expr) -> bool:
    """Return whether a value contains the exception of a name, as in `{'exception': error}`."""
    match node:
        case ast.List(elements) | ast.Set(elements) | ast.Tuple(elements):
            return any(_contains(name, element) for element in elements)
        case ast.Dict(_, values):
            return any(_contains(name, value) for value in values)
        case ast.Call(ast.Name(function)) if function in _DESCRIPTIONS:
            return False
        case ast.Call(_, arguments, keywords):
            values = [*arguments, *(keyword.value for keyword in keywords)]
            return _names(name, node) or any(_contains(name, value) for value in values)
        case _:
            return _names(name, node)


def _is_raised(target: ast.expr, owner: ast.AST, module: Module) -> bool:
    """Return whether code raises what a name, an attribute or a collection contains.

    A name counts in the function that it belongs to, an attribute in the same file.
    """
    scope: ast.AST = module.syntax
    if isinstance(target, ast.Name):
        scope = _scope_of(target.id, owner, module)
    aliases = _iteration_names(target, scope)
    for node in walk(scope):
        if isinstance(node, ast.Raise):
            # With its cause, as in `raise Failed() from error`.
            for part in walk(node):
                if _is_same(target, part) or (isinstance(part, ast.Name) and part.id in aliases):
                    return True
    return False


def _scope_of(name: str, node: ast.AST, module: Module) -> ast.AST:
    """Return the function to which a name belongs that code at a node assigns, or the module."""
    parent: ast.AST | None = node
    while parent is not None:
        if isinstance(parent, FUNCTIONS):
            statements = list(_own_nodes(parent.body))
            if any(isinstance(part, ast.Global) and name in part.names for part in statements):
                break
            if not any(
                isinstance(part, ast.Nonlocal) and name in part.names for part in statements
            ):
                return parent
        parent = module.parents.get(parent)
    return module.syntax


def _iteration_names(target: ast.expr, scope: ast.AST) -> frozenset[str]:
    """Return the names that `for name in target` and `name = target…` bind."""
    names: set[str] = set()
    for node in walk(scope):
        match node:
            case ast.For(ast.Name(name), iterable) if _is_same(target, iterable):
                names.add(name)
            case ast.Assign([ast.Name(name)], value) if any(
                _is_same(target, part) for part in walk(value)
            ):
                names.add(name)
            case _:
                pass
    return frozenset(names)


def _is_same(target: ast.expr, node: ast.AST) -> bool:
    match target, node:
        case ast.Name(first), ast.Name(second):
            return first == second
        case ast.Attribute(attr=first), ast.Attribute(attr=second):
            return first == second
        case ast.Subscript(container), _:
            return _is_same(container, node)
        case _:
            return False


def logs_traceback(handler: ast.ExceptHandler, module: Module) -> bool:
    """Return whether a handler logs or prints its exception with the traceback."""
    for node in _own_nodes(handler.body):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ''
        name = node.func.id if isinstance(node.func, ast.Name) else name
        has_traceback = any(
            keyword.arg == 'exc_info'
            and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
            for keyword in node.keywords
        )
        if name in _TRACEBACK_PRINTERS or (
            isinstance(node.func, ast.Attribute)
            and name in _LOG_METHODS
            and (has_traceback or name == 'exception')
            and _handler_of(node, module) is handler
        ):
            return True
    return False


def leaving_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements in a `finally` block that leave it and end an exception."""
    for statement in body:
        yield from _leaving(statement, in_loop=False)


def _leaving(node: ast.AST, *, in_loop: bool) -> Iterator[ast.stmt]:
    if isinstance(node, ast.Return) or (isinstance(node, ast.Break | ast.Continue) and not in_loop):
        yield node
    if isinstance(node, _SCOPES):
        return
    is_loop = isinstance(node, ast.For | ast.AsyncFor | ast.While)
    for child in children(node):
        yield from _leaving(child, in_loop=in_loop or is_loop)


def cancels_before(call: ast.Call, module: Module) -> bool:
    """Return whether the function cancels tasks before a call: it then only awaits their end."""
    scope: ast.AST = call
    while not isinstance(scope, FUNCTIONS) and scope in module.parents:
        scope = module.parents[scope]
    return any(
        isinstance(node, ast.Attribute) and node.attr == 'cancel' and node.lineno <= call.lineno
        for node in walk(scope)
    )
