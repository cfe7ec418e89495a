"""The public surface: every public name with its signature, in `tests/public_names.txt`.

`python -m tools.public_surface` writes the file, and a test compares it with the code. A new public
name is thus a line in a diff.
"""

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tools.documentation.attributes import find_attribute
from tools.documentation.public_names import MODULES, public_names

FILE = Path(__file__).parents[1] / 'tests' / 'public_names.txt'
PUBLIC_METHODS = {'__init__', '__call__', '__or__', '__rshift__', '__await__', '__aiter__'}
"""Special methods that users call by an operator, by a call or by `await`."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> tuple[str, ...]:
    """Return the names of all public modules."""
    return tuple(name for names in MODULES.values() for name in names)


def surface() -> str:
    """Return the text of the file: each public module with its names and their signatures."""
    names = {name for module in modules() for name in public_names(module)}
    lines = [
        '# Written by `python -m tools.public_surface`.',
        f'# {len(names)} public names in {len(modules())} modules.',
    ]
    for module in modules():
        lines += ['', f'[{module}]']
        for name in public_names(module):
            lines += _describe(module, name)
    return '\n'.join(lines) + '\n'


def _describe(module: str, name: str) -> Iterator[str]:
    value: object = inspect.unwrap(getattr(importlib.import_module(module), name))
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        attribute = find_attribute(module, name)
        # The value of a table or a mapping is long, and its annotation says enough.
        is_alias = attribute.annotation in {None, 'TypeAlias'}
        yield f'{name} = {attribute.expression}' if is_alias else f'{name}: {attribute.annotation}'
        return
    definitions = _definitions(value.__module__, value.__qualname__)
    for node in definitions:
        if isinstance(node, ast.ClassDef):
            yield f'class {name}({", ".join(map(ast.unparse, [*node.bases, *node.keywords]))})'
            yield from (f'    {line}' for line in _members(node))
        else:
            yield _signature(node)


@lru_cache
def _tree(module: str) -> ast.Module:
    path = Path(inspect.getfile(sys.modules[module]))
    stub = path.with_suffix('.pyi')
    return ast.parse((stub if stub.exists() else path).read_text(encoding='utf-8'))


def _definitions(module: str, qualname: str) -> list[ast.ClassDef | Function]:
    """Return the definition of a class or a function, or the overloads of a function."""
    body: list[ast.stmt] = _tree(module).body
    *owners, name = qualname.split('.')
    for owner in owners:
        [body] = [
            node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner
        ]
    return _without_implementation(
        [
            node
            for node in _flat(body)
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name == name
        ]
    )


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If):
            yield from _flat(node.body)
        else:
            yield node


def _without_implementation(
    nodes: list[ast.ClassDef | Function],
) -> list[ast.ClassDef | Function]:
    overloads = [node for node in nodes if 'overload' in map(ast.unparse, node.decorator_list)]
    return overloads or nodes[:1]


def _members(class_: ast.ClassDef) -> Iterator[str]:
    methods: dict[str, list[ast.ClassDef | Function]] = {}
    for node in _flat(class_.body):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith('_'):
                default = '' if node.value is None else f' = {ast.unparse(node.value)}'
                yield f'{name}: {ast.unparse(node.annotation)}{default}'
            case ast.Assign(targets=[ast.Name(id=name)]) if not name.startswith('_'):
                yield f'{name} = {ast.unparse(node.value)}'
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if (
                not name.startswith('_') or name in PUBLIC_METHODS
            ):
                methods.setdefault(name, []).append(node)
            case _:
                pass
    for nodes in methods.values():
        for node in _without_implementation(nodes):
            if not isinstance(node, ast.ClassDef):
                kinds = {'property', 'staticmethod', 'classmethod'}
                kind = [
                    f'@{text} ' for text in map(ast.unparse, node.decorator_list) if text in kinds
                ]
                yield ''.join(kind) + _signature(node)


def _signature(node: Function) -> str:
    keyword = 'async def' if isinstance(node, ast.AsyncFunctionDef) else 'def'
    returns = '' if node.returns is None else f' -> {ast.unparse(node.returns)}'
    return f'{keyword} {node.name}({ast.unparse(node.args)}){returns}'


if __name__ == '__main__':
    FILE.write_text(surface(), encoding='utf-8')
