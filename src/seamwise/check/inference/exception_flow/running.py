"""Functions that run at an expression: called ones, constructors, properties and generators."""

import ast
from collections.abc import Iterator
from types import MappingProxyType

from seamwise.check._mypy.nodes import Decorator, OverloadedFuncDef, SymbolNode
from seamwise.check._mypy.types import Instance
from seamwise.check.inference.data_flow.bindings import own_nodes
from seamwise.check.inference.data_flow.error_inference import ErrorInference, inherited_name
from seamwise.check.typed_ast.channels import union_members
from seamwise.check.typed_ast.program import Module

CONSTRUCTORS = ('__new__', '__init__', '__post_init__')
"""Methods that a call of a class runs."""
_READERS = frozenset({
    'builtins.all', 'builtins.any', 'builtins.dict', 'builtins.frozenset', 'builtins.list',
    'builtins.max', 'builtins.min', 'builtins.set', 'builtins.sorted', 'builtins.sum',
    'builtins.tuple', 'collections.deque', 'collections.Counter',
})  # fmt: skip
"""Functions that read all values of an iterable."""
_ITERATORS = frozenset({
    'builtins.enumerate', 'builtins.filter', 'builtins.map', 'builtins.zip',
})  # fmt: skip
"""Functions that read an iterable as far as their own values are read."""
_FUNCTION_ARGUMENTS = MappingProxyType({
    'builtins.map': (0, ''), 'builtins.filter': (0, ''), 'functools.reduce': (0, ''),
    'asyncio.threads.to_thread': (0, ''), 'builtins.sorted': (None, 'key'),
    'builtins.min': (None, 'key'), 'builtins.max': (None, 'key'),
})  # fmt: skip
"""Position or name of the argument that a function of the standard library calls itself."""


def called_helpers(node: ast.AST, inference: ErrorInference) -> Iterator[tuple[str, str]]:
    """Yield the full names of the functions that run at a node, and the text of the node.

    A generator whose values are read has `()` behind its name.
    """
    match node:
        case ast.Call(function):
            text = f'{ast.unparse(function)}()'
            callee = inference.callee_name(node)
            if callee:
                yield callee, text
                if _is_read(node, inference.module):
                    yield f'{callee}()', text
            yield from ((name, text) for name in _constructors(function, inference.module))
            yield from _helpers_in_argument(node, inference)
        case ast.Attribute(owner, name, ast.Load()):
            for member in union_members(inference.module.type_of(owner)):
                symbol = member.type.get(name) if isinstance(member, Instance) else None
                if symbol is not None and _is_property(symbol.node):
                    yield inference.qualified_name(node), ast.unparse(node)
        case _:
            pass


def _is_property(node: SymbolNode | None) -> bool:
    return (isinstance(node, Decorator) and node.var.is_property) or (
        isinstance(node, OverloadedFuncDef) and node.is_property
    )


def _constructors(function: ast.expr, module: Module) -> Iterator[str]:
    info = module.class_at(function)
    if info is not None:
        names = (inherited_name(info.mro[:-1], method) for method in CONSTRUCTORS)
        yield from filter(None, names)


def _helpers_in_argument(call: ast.Call, inference: ErrorInference) -> Iterator[tuple[str, str]]:
    """Yield the functions that the standard library calls for this call."""
    name = inference.module.full_name(call.func)
    if name not in _FUNCTION_ARGUMENTS or (
        name in _ITERATORS and not _is_read(call, inference.module)
    ):
        return
    position, keyword = _FUNCTION_ARGUMENTS[name]
    passed = [item.value for item in call.keywords if keyword and item.arg == keyword]
    if position is not None:
        passed += call.args[position : position + 1]
    for function in passed:
        if isinstance(function, ast.Lambda):
            for inner in own_nodes([function.body]):
                yield from called_helpers(inner, inference)
        elif callee := inference.qualified_name(function):
            yield callee, f'{ast.unparse(function)}()'
            yield from (
                (constructor, f'{ast.unparse(function)}()')
                for constructor in _constructors(function, inference.module)
            )


def _is_read(node: ast.expr, module: Module) -> bool:
    """Return whether the values of an iterable are read in the same statement."""
    parent = module.parents.get(node)
    match parent:
        case ast.For(_, iterable) | ast.AsyncFor(_, iterable):
            return iterable is node
        case ast.Starred() | ast.YieldFrom():
            return True
        case ast.comprehension(_, iterable) if iterable is node:
            outer = module.parents.get(parent)
            return not isinstance(outer, ast.GeneratorExp) or _is_read(outer, module)
        case ast.Call(ast.Attribute(_, 'join' | 'extend' | 'update'), [argument]):
            return argument is node
        case ast.Call(function) if node in parent.args:
            name = module.full_name(function)
            return name in _READERS or (name in _ITERATORS and _is_read(parent, module))
        case _:
            return False
