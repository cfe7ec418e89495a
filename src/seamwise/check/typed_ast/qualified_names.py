"""Full names of objects of untyped libraries, by the imports of a module."""

import ast
from collections.abc import Mapping

from seamwise.check._mypy.types import AnyType
from seamwise.check.typed_ast.program import Module


def qualified_name(node: ast.expr, module: Module) -> str:
    """Return the full name of an object, for annotations and untyped libraries by the imports.

    It is empty if the expression is not a dotted name, and has no full name in mypy.
    """
    types = module.types_of(node)
    if types and not all(isinstance(type_, AnyType) for type_ in types):
        return module.full_name(node)
    if isinstance(node, ast.Name):
        return _imported_names(module).get(node.id) or module.full_name(node)
    if not isinstance(node, ast.Attribute):
        return module.full_name(node)
    prefix = (
        qualified_name(node.value, module)
        if isinstance(node.value, ast.Name | ast.Attribute)
        else ''
    )
    return module.full_name(node) or (prefix and f'{prefix}.{node.attr}')


class _ImportedNames:
    """The names that the imports of a module bind, with their full names."""

    def __init__(self, module: Module) -> None:
        self.names: dict[str, str] = {}
        for plain in module.nodes_of_type(ast.Import):
            for alias in plain.names:
                package = alias.name.partition('.')[0]
                self.names[alias.asname or package] = alias.name if alias.asname else package
        for node in module.nodes_of_type(ast.ImportFrom):
            source = source_module(node, module)
            for alias in node.names:
                self.names[alias.asname or alias.name] = f'{source}.{alias.name}'


def source_module(node: ast.ImportFrom, module: Module) -> str:
    """Return the full name of the module from which a statement imports."""
    if node.level == 0:
        return node.module or ''
    # One dot is the package that contains the module; a package contains its `__init__.py`.
    levels = node.level - (module.path.stem == '__init__')
    package = module.name.rsplit('.', levels)[0] if levels else module.name
    return f'{package}.{node.module}' if node.module else package


def _imported_names(module: Module) -> Mapping[str, str]:
    imported = module.memo.get(_ImportedNames)
    if not isinstance(imported, _ImportedNames):
        imported = module.memo[_ImportedNames] = _ImportedNames(module)
    return imported.names
