"""Modules of a program: source text, `ast` nodes, and the type of each expression."""

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from seamwise.check._mypy.node_index import ExpressionKey, NodeIndex, Position, Positions
from seamwise.check._mypy.nodes import (
    Decorator,
    Expression,
    FuncDef,
    RefExpr,
    SymbolNode,
    TypeAlias,
    TypeInfo,
    Var,
)
from seamwise.check._mypy.types import CallableType, FunctionLike, Instance, Type, get_proper_type
from seamwise.check.facts import Location

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LocatableNode = ast.stmt | ast.expr | ast.ExceptHandler | ast.match_case | ast.pattern

N = TypeVar('N', bound=ast.AST)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the same nodes as `ast.iter_child_nodes`, in half the time."""
    fields: dict[str, object] = node.__dict__
    nodes: list[ast.AST] = []
    for name in node._fields:
        value = fields.get(name)
        if isinstance(value, ast.AST):
            nodes.append(value)
        elif isinstance(value, list):
            nodes += [item for item in cast('list[object]', value) if isinstance(item, ast.AST)]
    return nodes


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the same nodes as `ast.walk`, in less than half the time."""
    nodes = [node]
    for child in nodes:
        nodes += children(child)
        yield child


def parameters(function: Function | ast.Lambda) -> Iterator[ast.arg]:
    """Yield all parameters of a function."""
    arguments = function.args
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (
        parameter for parameter in (arguments.vararg, arguments.kwarg) if parameter is not None
    )


def call_arguments(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the positional and keyword arguments of a call."""
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


def pattern_alternatives(pattern: ast.pattern) -> Iterator[ast.pattern]:
    """Yield the alternatives of a pattern, without the names bound by `as`."""
    match pattern:
        case ast.MatchOr(patterns):
            for alternative in patterns:
                yield from pattern_alternatives(alternative)
        case ast.MatchAs(ast.pattern() as inner):
            yield from pattern_alternatives(inner)
        case _:
            yield pattern


def _has_values(function: Function) -> bool:
    arguments = function.args
    return any((arguments.posonlyargs, arguments.args, arguments.kwonlyargs)) or any(
        isinstance(node, ast.Return) and node.value is not None for node in walk(function)
    )


def is_annotated(function: Function) -> bool:
    """Return whether a function has an annotation; mypy checks no body without one."""
    return function.returns is not None or any(
        parameter.annotation is not None for parameter in parameters(function)
    )


def _is_of_platform(condition: ast.expr) -> bool:
    """Return whether mypy decides a condition by the platform or the version of Python."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in {'platform', 'version_info'}
        and isinstance(node.value, ast.Name)
        and node.value.id == 'sys'
        for node in walk(condition)
    )


class Text:
    """Source text of a file."""

    def __init__(self, source: str) -> None:
        self.source = source
        # Unlike `str.splitlines`, Python does not end a line at a form feed.
        self.lines = source.replace('\r\n', '\n').replace('\r', '\n').split('\n')
        self.positions = Positions(self.lines)


class _Tree(NamedTuple):
    """Relations between the nodes of a module."""

    parents: Mapping[ast.AST, ast.AST]
    by_type: Mapping[type[ast.AST], Sequence[ast.AST]]


class Module:
    """One file, with its syntax and the types that mypy inferred."""

    def __init__(
        self,
        name: str,
        path: Path,
        text: Text,
        index: NodeIndex,
        types: Mapping[ExpressionKey, Sequence[Type]],
    ) -> None:
        self.name = name
        self.path = path
        self.lines = text.lines
        self.positions = text.positions
        with warnings.catch_warnings(action='ignore'):
            self.syntax = ast.parse(text.source)
        self._index = index
        self._types_by_key = types
        # Rules query the same expressions many times.
        self._types: dict[ast.expr, Sequence[Type]] = {}
        self._mypy_nodes: dict[ast.expr, Expression | None] = {}
        self.memo: dict[type, object] = {}
        """Objects that analyses store with the module, by class."""

    # Syntax

    @property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """Parent of each node."""
        return self._tree.parents

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around a node, the innermost first."""
        parent = self.parents.get(node)
        while parent is not None:
            yield parent
            parent = self.parents.get(parent)

    def enclosing_function(self, node: ast.AST) -> Function | None:
        """Return the innermost function around a node."""
        return next((outer for outer in self.ancestors(node) if isinstance(outer, FUNCTIONS)), None)

    def nodes_of_type(self, node_type: type[N]) -> Iterator[N]:
        """Yield the nodes of a type, in breadth-first order."""
        for node in self._tree.by_type.get(node_type, ()):
            if isinstance(node, node_type):
                yield node

    def functions(self) -> Iterator[Function]:
        """Yield all functions and methods, including inner ones."""
        yield from self.nodes_of_type(ast.FunctionDef)
        yield from self.nodes_of_type(ast.AsyncFunctionDef)

    def scope_of(self, node: ast.AST) -> ast.AST:
        """Return the function that contains a node, or that it is; else the module."""
        while not isinstance(node, FUNCTIONS) and node in self.parents:
            node = self.parents[node]
        return node

    def function_at(self, line: int, column: int) -> Function | None:
        """Return the function at a position of mypy."""
        return self._functions_by_position.get((line, column))

    def column(self, line: int, byte_offset: int) -> int:
        """Convert a byte offset of `ast` to a column in characters."""
        return self.positions.column(line, byte_offset)

    def location_of(self, node: LocatableNode) -> Location:
        """Return the location of a statement, expression, exception handler, arm or pattern."""
        if isinstance(node, ast.match_case):
            line = node.pattern.lineno
            text = self.lines[line - 1]
            pattern_column = self.column(line, node.pattern.col_offset)
            column = text.index('case', 0, pattern_column) if 'case' in text else 0
        else:
            line = node.lineno
            text = self.lines[line - 1]
            column = self.column(line, node.col_offset)
        body = getattr(node, 'body', None)
        if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
            # A compound statement is located at its keyword, and ends before its body.
            end = column + len(text[column:].split(maxsplit=1)[0].rstrip(':'))
            decorators: list[ast.expr] = getattr(body[0], 'decorator_list', [])
            body_line = min([body[0].lineno, *(decorator.lineno for decorator in decorators)])
            return Location(line, column + 1, max(line, body_line - 1), end + 1, text)
        last_line = getattr(node, 'end_lineno', line)
        if last_line == line:
            end = self.column(line, getattr(node, 'end_col_offset', 0))
        else:
            end = len(text.rstrip())
        return Location(line, column + 1, last_line, end + 1, text)

    @property
    def is_untyped(self) -> bool:
        """Whether the module has calls, but no call has a type.

        Calls in an `if` do not count, because mypy may skip them: `if not TYPE_CHECKING: …`. Those
        for another platform or another Python do: they run, and no rule checks them.
        """
        calls = list(self.nodes_of_type(ast.Call))
        return not any(map(self.types_of, calls)) and any(map(self._is_expected, calls))

    @property
    def is_unannotated(self) -> bool:
        """Whether the module has functions that take or return something, and none is annotated."""
        functions = list(self.functions())
        return any(map(_has_values, functions)) and not any(map(is_annotated, functions))

    def _is_expected(self, call: ast.Call) -> bool:
        """Return whether a call is reachable on some platform, as far as its file shows."""
        if isinstance(call.func, ast.Name) and call.func.id == 'assert_never':
            return False
        conditions = [outer.test for outer in self.ancestors(call) if isinstance(outer, ast.If)]
        return not conditions or any(map(_is_of_platform, conditions))

    @cached_property
    def _tree(self) -> _Tree:
        """Result of one walk, which all rules share; it takes half of their total time."""
        parents: dict[ast.AST, ast.AST] = {}
        by_type: dict[type[ast.AST], list[ast.AST]] = {ast.Module: [self.syntax]}
        nodes: list[ast.AST] = [self.syntax]
        for node in nodes:
            for child in children(node):
                parents[child] = node
                by_type.setdefault(type(child), []).append(child)
                nodes.append(child)
        return _Tree(parents, by_type)

    @cached_property
    def _functions_by_position(self) -> Mapping[Position, Function]:
        return {self._position(function): function for function in self.functions()}

    def _position(self, function: Function) -> Position:
        return self.positions.position(function.lineno, function.col_offset)

    # Types of expressions

    def types_of(self, node: ast.expr) -> Sequence[Type]:
        """Return the inferred types of an expression; none in code that mypy finds unreachable.

        There are several in a function that mypy checks once per value of a type variable.
        """
        types = self._types.get(node)
        if types is None:
            types = self._types[node] = self._types_by_key.get(self._key(node)) or ()
        return types

    def type_of(self, node: ast.expr) -> Type | None:
        """Return the inferred type of an expression; None if there is not exactly one."""
        types = self.types_of(node)
        return get_proper_type(types[0]) if len(types) == 1 else None

    def mypy_node(self, node: ast.expr) -> Expression | None:
        """Return mypy's node for an expression."""
        if node not in self._mypy_nodes:
            self._mypy_nodes[node] = self._index.expressions.get(self._key(node))
        return self._mypy_nodes[node]

    def class_at(self, node: ast.expr) -> TypeInfo | None:
        """Return the class that an expression names; None if it names something else."""
        reference = self.mypy_node(node)
        definition = reference.node if isinstance(reference, RefExpr) else None
        return definition if isinstance(definition, TypeInfo) else None

    def full_name(self, node: ast.expr) -> str:
        """Return the name under which an object is defined, not imported; empty if unknown."""
        reference = self.mypy_node(node)
        if not isinstance(reference, RefExpr):
            return ''
        definition = reference.node
        if isinstance(definition, TypeAlias):
            target = get_proper_type(definition.target)
            if isinstance(target, Instance):
                return target.type.fullname
        return (definition.fullname if definition is not None else '') or reference.fullname

    @property
    def class_names(self) -> Mapping[str, str]:
        """Global names of classes by their full names, as in `Gone` or, imported, `errors.Gone`."""
        return self._index.class_names

    def global_definition(self, name: str) -> SymbolNode | None:
        """Return what a global name, or one of an imported module, stands for; None if unknown."""
        return self._index.global_definition(name)

    def variable_type(self, node: ast.Name) -> Type | None:
        """Return the type of the variable that an assignment target names."""
        reference = self._index.expressions.get(self._key(node))
        variable = reference.node if isinstance(reference, RefExpr) else None
        if not isinstance(variable, Var) or variable.type is None:
            return None
        return get_proper_type(variable.type)

    def _key(self, node: ast.expr) -> ExpressionKey:
        key = self._first_key(node)
        if not self.positions.is_ambiguous(node.lineno):
            return key
        # Expressions with equal keys are matched by their order, if mypy has as many as `ast`.
        same_key = self._expressions_by_key[key]
        count = self._index.key_counts.get(key, 1)
        return *key[:-1], same_key.index(node) if len(same_key) == count else -1

    def _first_key(self, node: ast.expr) -> ExpressionKey:
        return self.positions.key(node, self.parents.get(node))

    @cached_property
    def _expressions_by_key(self) -> Mapping[ExpressionKey, Sequence[ast.expr]]:
        by_key: dict[ExpressionKey, list[ast.expr]] = {}
        for nodes in self._tree.by_type.values():
            for node in nodes:
                if isinstance(node, ast.expr) and self.positions.is_ambiguous(node.lineno):
                    by_key.setdefault(self._first_key(node), []).append(node)
        for expressions in by_key.values():
            expressions.sort(
                key=lambda node: (node.lineno, node.col_offset, -(node.end_col_offset or 0))
            )
        return by_key

    # Types of functions

    def definition(self, function: Function) -> FuncDef | None:
        """Return mypy's node for a function."""
        return self._index.functions.get(self._position(function))

    def declared_type(self, function: Function) -> CallableType | None:
        """Return the annotated type of a function, ignoring its decorators; None if it has none."""
        definition = self.definition(function)
        if definition is None or definition.type is None:
            return None
        declared = get_proper_type(definition.type)
        return declared if isinstance(declared, CallableType) else None

    def decorated_type(self, function: Function) -> FunctionLike | None:
        """Return the type of a decorated function; None if it has no decorator or is unknown."""
        decorator = self._index.decorated.get(self._position(function))
        if not isinstance(decorator, Decorator) or decorator.var.type is None:
            return None
        decorated = get_proper_type(decorator.var.type)
        return decorated if isinstance(decorated, FunctionLike) else None

    def implements_overloads(self, function: Function) -> bool:
        """Return whether a function implements overloads, which hide its signature from callers."""
        return self._position(function) in self._index.implementations


class Program:
    """Modules under check. Modules that they import are analysed for their types only."""

    def __init__(self, modules: Sequence[Module]) -> None:
        self.modules = modules
