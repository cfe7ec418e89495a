"""A code base as mypy understands it: the source of each file, its syntax, and the type of each expression."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from mypy.nodes import Decorator, FuncDef, RefExpr, TypeAlias, Var
from mypy.types import CallableType, FunctionLike, Instance, Type, get_proper_type

from seamwise.check.nodes import Key, Nodes, key

Function = ast.FunctionDef | ast.AsyncFunctionDef
N = TypeVar('N', bound=ast.AST)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Module:
    """One file: what is written there, and what mypy knows of it."""

    def __init__(self, name: str, path: Path, source: str, nodes: Nodes, types: Mapping[Key, Sequence[Type]]) -> None:
        self.name = name
        self.path = path
        # A form feed ends no line, as `str.splitlines` would have it.
        self.lines = source.replace('\r\n', '\n').replace('\r', '\n').split('\n')
        self.syntax = ast.parse(source)
        self._nodes = nodes
        self._types = types

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """Of each node the one that it stands in."""
        return {child: parent for nodes in self._kinds.values() for parent in nodes for child in ast.iter_child_nodes(parent)}

    def every(self, kind: type[N]) -> Iterator[N]:
        """Give the nodes of a kind; they are gathered once, for all rules."""
        for node in self._kinds.get(kind, ()):
            if isinstance(node, kind):
                yield node

    def functions(self) -> Iterator[Function]:
        """Give all functions and methods, inner ones too."""
        yield from self.every(ast.FunctionDef)
        yield from self.every(ast.AsyncFunctionDef)

    @cached_property
    def _kinds(self) -> Mapping[type[ast.AST], Sequence[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = {}
        for node in ast.walk(self.syntax):
            found.setdefault(type(node), []).append(node)
        return found

    def types(self, node: ast.expr) -> Sequence[Type]:
        """Give the inferred types of an expression: one as a rule, none in code that mypy takes for unreachable.

        Several where mypy reads a function several times, once for each type that a type variable may stand for.
        """
        found = self._types.get(key(node))
        if found is None and isinstance(around := self.parents.get(node), ast.FormattedValue):
            # mypy has it stand where the braces do.
            found = self._types.get(key(node, around))
        return found or ()

    def type(self, node: ast.expr) -> Type | None:
        """Give the inferred type of an expression, or None where there is none, or more than one."""
        found = self.types(node)
        return get_proper_type(found[0]) if len(found) == 1 else None

    def full_name(self, node: ast.expr) -> str:
        """Give the name by which a thing was defined, however it was imported; empty where nobody knows it."""
        found = self._nodes.expressions.get(key(node))
        if not isinstance(found, RefExpr):
            return ''
        if isinstance(found.node, TypeAlias) and isinstance(aliased := get_proper_type(found.node.target), Instance):
            return aliased.type.fullname
        return (found.node.fullname if found.node is not None else '') or found.fullname

    def variable(self, node: ast.Name) -> Type | None:
        """Give the type of the variable that is assigned to here."""
        found = self._nodes.expressions.get(key(node))
        variable = found.node if isinstance(found, RefExpr) else None
        return get_proper_type(variable.type) if isinstance(variable, Var) and variable.type is not None else None

    def declared(self, function: Function) -> CallableType | None:
        """Give the type of a function as its annotations say, its decorators aside; None where it has none."""
        found = self._function(function)
        typed = None if found is None or found.type is None else get_proper_type(found.type)
        return typed if isinstance(typed, CallableType) else None

    def decorated(self, function: Function) -> FunctionLike | None:
        """Give the type of a function as its callers see it; None where it has no decorator, or nobody knows."""
        found = self._nodes.decorated.get((function.lineno, function.col_offset))
        typed = get_proper_type(found.var.type) if isinstance(found, Decorator) and found.var.type is not None else None
        return typed if isinstance(typed, FunctionLike) else None

    def implements_overloads(self, function: Function) -> bool:
        """Whether callers never see this signature, but overloads of it."""
        return (function.lineno, function.col_offset) in self._nodes.implementations

    def _function(self, function: Function) -> FuncDef | None:
        return self._nodes.functions.get((function.lineno, function.col_offset))


class Program:
    """The modules that were asked for; what they import from elsewhere is read for its types only."""

    def __init__(self, modules: Sequence[Module]) -> None:
        self.modules = modules
