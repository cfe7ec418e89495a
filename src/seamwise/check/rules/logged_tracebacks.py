"""Handlers that log or print their exception with its traceback."""

import ast
from collections.abc import Iterator

from seamwise.check.inference.data_flow.bindings import own_nodes
from seamwise.check.inference.exception_flow.kept import handler_of
from seamwise.check.typed_ast.program import Module, walk

_LOG_METHODS = frozenset({
    'debug', 'info', 'warning', 'warn', 'error', 'critical', 'fatal', 'log', 'exception',
})  # fmt: skip
_PRINTERS = frozenset({'print_exc', 'print_exception', 'capture_exception'})
_FORMATTERS = frozenset({'format_exc', 'format_exception'})
_WRITERS = _LOG_METHODS | {'print', 'write'}


def logs_traceback(handler: ast.ExceptHandler, module: Module) -> bool:
    """Return whether a handler logs or prints its exception with the traceback."""
    formatted = _formatted_names(handler)
    for node in own_nodes(handler.body):
        if not isinstance(node, ast.Call):
            continue
        name = _method_name(node.func, module)
        if name in _PRINTERS:
            return True
        if handler_of(node, module) is not handler:
            continue
        # A function that gets `exc_info` is a method of a logger, or passes it to one.
        if _has_exc_info(node) or name == 'exception':
            return True
        if name in _WRITERS and any(_is_traceback(part, formatted) for part in walk(node)):
            return True
    return False


def _method_name(function: ast.expr, module: Module) -> str:
    """Return the name of a method or function, also behind `error = logger.error`."""
    match function:
        case ast.Attribute(attr=name):
            return name
        case ast.Name(name):
            return next(_method_aliases(name, module), '' if name == 'exception' else name)
        case _:
            return ''


def _method_aliases(alias: str, module: Module) -> Iterator[str]:
    """Yield the methods that assignments of a file bind to a name."""
    for assignment in module.nodes_of_type(ast.Assign):
        for target in assignment.targets:
            match target, assignment.value:
                case ast.Name(name), ast.Attribute(attr=method) if name == alias:
                    yield method
                case ast.Tuple(targets), ast.Tuple(values):
                    for element, value in zip(targets, values, strict=False):
                        match element, value:
                            case ast.Name(name), ast.Attribute(attr=method) if name == alias:
                                yield method
                            case _:
                                pass
                case _:
                    pass


def _has_exc_info(call: ast.Call) -> bool:
    return any(
        keyword.arg == 'exc_info'
        and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
        for keyword in call.keywords
    )


def _formatted_names(handler: ast.ExceptHandler) -> frozenset[str]:
    """Return the names to which a handler assigns its formatted traceback."""
    return frozenset(
        target.id
        for node in own_nodes(handler.body)
        if isinstance(node, ast.Assign)
        and any(_is_traceback(part, frozenset()) for part in walk(node.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    )


def _is_traceback(node: ast.AST, names: frozenset[str]) -> bool:
    match node:
        case ast.Call(ast.Attribute(_, name)) | ast.Call(ast.Name(name)):
            return name in _FORMATTERS
        case ast.Name(name):
            return name in names
        case _:
            return False
