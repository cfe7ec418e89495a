"""Uses of exception classes and of caught exceptions."""

import ast

from seamwise.check._mypy.nodes import RefExpr, TypeAlias, TypeInfo
from seamwise.check._mypy.types import AnyType
from seamwise.check.inference.exception_flow.sites import exception_classes
from seamwise.check.migrate.exception_classes import Kind
from seamwise.check.migrate.expectations import Expectation, naming_expectation
from seamwise.check.typed_ast.program import Module

_MAX_PRINTED = ('str', 'print', 'type', 'isinstance', 'format')
_PRINTING_METHODS = frozenset(
    {'echo', 'secho', 'debug', 'info', 'warning', 'error', 'critical', 'exit'}
)


def unconvertible_use(node: ast.expr, module: Module) -> str:
    """Return the reason why a use of a class prevents its conversion."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.ExceptHandler | ast.Tuple):
        outer = module.parents.get(parent)
        if isinstance(outer, ast.TryStar) or isinstance(
            module.parents.get(outer or parent), ast.TryStar
        ):
            return 'is caught in an exception group, which contains exceptions only'
    if naming_expectation(node, module) is not None:
        return 'is expected by a test together with foreign exceptions, or read there as one'
    if isinstance(parent, ast.Call) and parent.func is node:
        if isinstance(module.parents.get(parent), ast.Raise):
            return 'is raised with arguments that are not one text, or not its fields'
        return 'is created without being raised in the same statement'
    if isinstance(parent, ast.Attribute):
        return 'has an attribute that is read from the class'
    return 'is used as a value, or in an annotation'


def raising_statement(node: ast.expr, module: Module) -> ast.AST | None:
    """Return the `raise` of a class or of its call; None for any other use."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        parent = module.parents.get(parent)
    return parent


def handler_classes(handler: ast.ExceptHandler, module: Module) -> list[str]:
    """Return the full names of the classes that a handler names; an unknown one is empty."""
    if handler.type is None:
        return ['builtins.BaseException']
    items = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return [_class_name(item, module) for item in items]


_FOREIGN = 'foreign'


def _class_name(node: ast.expr, module: Module) -> str:
    """Return the full name of a class, some name if it is foreign, or an empty text."""
    reference = module.mypy_node(node)
    definition = reference.node if isinstance(reference, RefExpr) else None
    if isinstance(definition, TypeInfo | TypeAlias):
        return module.full_name(node)
    # A name from a package without types cannot be a class of this program.
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    types = module.types_of(root)
    is_untyped = bool(types) and all(isinstance(type_, AnyType) for type_ in types)
    classes = exception_classes(node, module) if not is_untyped else ()
    names = [class_.name for class_ in classes]
    return _FOREIGN if is_untyped else names[0] if len(names) == 1 else ''


def is_known_result(name: ast.Name, expectation: Expectation, kind: Kind, module: Module) -> bool:
    """Return whether a test reads from a caught exception what its tagged error has, too."""
    match module.parents.get(name):
        case ast.Attribute(_, 'match') as method:
            parent = module.parents.get(method)
            return not expectation.is_method and isinstance(parent, ast.Call)
        case ast.Attribute(_, attribute) as reading:
            return attribute == expectation.attribute and is_known_reading(reading, kind, module)
        case _:
            return False


def is_known_reading(node: ast.expr, kind: Kind, module: Module) -> bool:
    """Return whether a use of an exception means the same for its tagged error."""
    parent = module.parents.get(node)
    match parent:
        case ast.Call(ast.Name(function), arguments, _) if node in arguments:
            # Beside a kept exception, the tagged error has another name.
            return function in _MAX_PRINTED and not (kind.has_twin and function == 'type')
        case ast.Call(ast.Attribute(_, method), arguments, _) if node in arguments:
            return method in _PRINTING_METHODS
        case ast.FormattedValue(_, conversion, spec):
            return conversion in {-1, 115} and spec is None
        case ast.Attribute(_, attribute):
            return (
                isinstance(parent.ctx, ast.Load)
                and kind.has_init
                and attribute in {field.name for field in kind.fields}
            )
        case ast.Raise():
            return True
        case _:
            return False


def is_text(node: ast.expr, module: Module) -> bool:
    """Return whether the value of an expression is a text."""
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    types = module.types_of(node)
    return bool(types) and all(
        str(type_).removesuffix('?') in _TEXT_TYPES or str(type_).startswith("Literal['")
        for type_ in types
    )


_TEXT_TYPES = frozenset({'str', 'builtins.str'})
