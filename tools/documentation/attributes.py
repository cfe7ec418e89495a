"""Constants and type aliases of modules, which have no docstring at run time."""

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass
from typing import get_origin

from tools.documentation.public_names import source_file

_TABLE = re.compile(r'^(?P<mapping>Mapping\[\w+, )?Adapter\[[\w.]+\.(?P<union>\w+), ')


@dataclass(frozen=True)
class Attribute:
    """An attribute of a module, as its source defines it."""

    annotation: str | None
    expression: str
    docstring: str | None
    """The text below the assignment."""


def find_attribute(module: str, name: str) -> Attribute:
    """Return the definition of an attribute, in the module from which it is imported.

    >>> find_attribute('seamwise.policies', 'REAL').expression
    'World()'
    """
    tree = ast.parse(source_file(module).read_text(encoding='utf-8'))
    for node, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        match node:
            case ast.ImportFrom(module=str(origin), names=aliases):
                for alias in aliases:
                    if (alias.asname or alias.name) == name:
                        return find_attribute(origin, alias.name)
            case ast.AnnAssign(
                target=ast.Name(id=target), annotation=annotation, value=ast.expr() as value
            ):
                if target == name:
                    return Attribute(
                        ast.unparse(annotation), ast.unparse(value), _docstring(following)
                    )
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                if target == name:
                    return Attribute(None, ast.unparse(value), _docstring(following))
            case _:
                pass
    raise LookupError(f'{module} has no assignment to {name}.')


def describe_attribute(module: str, name: str, value: object) -> list[str]:
    """Return the lines of an attribute in reStructuredText."""
    attribute = find_attribute(module, name)
    lines = [f'.. py:data:: {name}']
    is_alias = get_origin(value) is not None
    if not is_alias:
        lines.append(f'   :type: {_type_of(attribute, value)}')
    lines += ['', textwrap.indent(documentation_of(attribute, value), '   '), '']
    if is_alias:
        lines += [f'   Alias of ``{attribute.expression}``.', '']
    return lines


def documentation_of(attribute: Attribute, value: object) -> str:
    """Return the docstring of an attribute, or that of its class in this package.

    A table of the catalogue is described by its union.
    """
    if attribute.docstring is not None:
        return attribute.docstring
    if table := _TABLE.search(attribute.annotation or ''):
        by_revision = ', by protocol and revision' if table['mapping'] else ''
        return f'Table of all errors of `{table["union"]}`{by_revision}.'
    is_own = type(value).__module__.startswith('seamwise.')
    return (inspect.getdoc(type(value)) or '') if is_own else ''


def _type_of(attribute: Attribute, value: object) -> str:
    annotation = attribute.annotation
    if annotation is None or annotation == 'Final':
        return type(value).__name__
    return annotation[len('Final[') : -1] if annotation.startswith('Final[') else annotation


def _docstring(node: ast.stmt | None) -> str | None:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return inspect.cleandoc(text)
        case _:
            return None
