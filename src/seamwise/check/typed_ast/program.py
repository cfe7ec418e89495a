"""A code base as mypy understands it: the source of each file, its syntax, and the type of each expression."""

import ast
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar, cast

from mypy.nodes import Decorator, Expression, FuncDef, RefExpr, TypeAlias, Var
from mypy.types import CallableType, FunctionLike, Instance, Type, get_proper_type

from seamwise.check.facts import Location
from seamwise.check.typed_ast.mypy_nodes import ExpressionKey, NodeIndex, Position, Positions

Function = ast.FunctionDef | ast.AsyncFunctionDef
N = TypeVar('N', bound=ast.AST)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LocatableNode = ast.stmt | ast.expr | ast.ExceptHandler | ast.match_case


def children(node: ast.AST) -> Iterator[ast.AST]:
    """Give what `ast.iter_child_nodes` gives, in half the time."""
    fields: dict[str, object] = node.__dict__
    for name in node._fields:
        value = fields.get(name)
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            yield from (one for one in cast('list[object]', value) if isinstance(one, ast.AST))


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Give what `ast.walk` gives, in half the time."""
    waiting = deque([node])
    while waiting:
        one = waiting.popleft()
        waiting.extend(children(one))
        yield one


class Text:
    """What is written in a file."""

    def __init__(self, source: str) -> None:
        self.source = source
        # A form feed ends no line, as `str.splitlines` would have it.
        self.lines = source.replace('\r\n', '\n').replace('\r', '\n').split('\n')
        self.positions = Positions(self.lines)


class Module:
    """One file: what is written there, and what mypy knows of it."""

    def __init__(
        self,
        name: str,
        path: Path,
        text: Text,
        nodes: NodeIndex,
        types: Mapping[ExpressionKey, Sequence[Type]],
    ) -> None:
        self.name = name
        self.path = path
        self.lines = text.lines
        self.positions = text.positions
        with warnings.catch_warnings(action='ignore'):
            self.syntax = ast.parse(text.source)
        self._nodes = nodes
        self._types = types
        # Rules ask again and again about the same expressions.
        self._seen: dict[ast.expr, Sequence[Type]] = {}
        self._met: dict[ast.expr, Expression | None] = {}
        self.memo: dict[type, object] = {}
        """What those who read the module keep with it, each under its own class."""

    @property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """Of each node the one that it stands in."""
        return self._walked[0]

    def nodes_of_type(self, kind: type[N]) -> Iterator[N]:
        """Give the nodes of a kind; they are gathered once, for all rules."""
        for node in self._kinds.get(kind, ()):
            if isinstance(node, kind):
                yield node

    def functions(self) -> Iterator[Function]:
        """Give all functions and methods, inner ones too."""
        yield from self.nodes_of_type(ast.FunctionDef)
        yield from self.nodes_of_type(ast.AsyncFunctionDef)

    @property
    def _kinds(self) -> Mapping[type[ast.AST], Sequence[ast.AST]]:
        return self._walked[1]

    @cached_property
    def _walked(
        self,
    ) -> tuple[Mapping[ast.AST, ast.AST], Mapping[type[ast.AST], Sequence[ast.AST]]]:
        """Go through the syntax once, which is half of what all rules cost: level by level, as `ast.walk` does."""
        parents: dict[ast.AST, ast.AST] = {}
        kinds: dict[type[ast.AST], list[ast.AST]] = {ast.Module: [self.syntax]}
        level: list[ast.AST] = [self.syntax]
        for node in level:
            for child in children(node):
                parents[child] = node
                kinds.setdefault(type(child), []).append(child)
                level.append(child)
        return parents, kinds

    def _key(self, node: ast.expr) -> ExpressionKey:
        found = self.positions.key(node)
        if not self.positions.is_wide(node.lineno):
            return found
        # Those that mypy puts at one place are told apart by their order, if it has as many there as `ast`.
        crowd = self._crowds[found]
        number = crowd.index(node) if len(crowd) == self._nodes.crowds.get(found, 1) else -1
        return *found[:-1], number

    @cached_property
    def _crowds(self) -> Mapping[ExpressionKey, Sequence[ast.expr]]:
        found: dict[ExpressionKey, list[ast.expr]] = {}
        for kind in self._kinds:
            for node in self.nodes_of_type(kind):
                if isinstance(node, ast.expr) and self.positions.is_wide(node.lineno):
                    found.setdefault(self.positions.key(node), []).append(node)
        for crowd in found.values():
            crowd.sort(key=lambda one: (one.lineno, one.col_offset, -(one.end_col_offset or 0)))
        return found

    def column(self, line: int, offset: int) -> int:
        """Give the characters before a byte of a line: `ast` counts bytes."""
        return self.positions.characters(line, offset)

    def location_of(self, node: LocatableNode) -> Location:
        """Give the place of a statement, an expression, a handler or an arm."""
        if isinstance(node, ast.match_case):
            line = node.pattern.lineno
            text = self.lines[line - 1]
            column = (
                text.index('case', 0, self.column(line, node.pattern.col_offset))
                if 'case' in text
                else 0
            )
        else:
            line = node.lineno
            text = self.lines[line - 1]
            column = self.column(line, node.col_offset)
        body = getattr(node, 'body', None)
        if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
            # Of what has a body the head is meant: its first word, and the lines before the body.
            end = column + len(text[column:].split(maxsplit=1)[0].rstrip(':'))
            begin = min(
                [body[0].lineno, *(one.lineno for one in getattr(body[0], 'decorator_list', []))]
            )
            return Location(line, column + 1, max(line, begin - 1), end + 1, text)
        last = getattr(node, 'end_lineno', line)
        end = (
            self.column(line, getattr(node, 'end_col_offset', 0))
            if last == line
            else len(text.rstrip())
        )
        return Location(line, column + 1, last, end + 1, text)

    def types_of(self, node: ast.expr) -> Sequence[Type]:
        """Give the inferred types of an expression: one as a rule, none in code that mypy takes for unreachable.

        Several where mypy reads a function several times, once for each type that a type variable may stand for.
        """
        found = self._seen.get(node)
        if found is None:
            found = self._seen[node] = self._types.get(self._key(node)) or ()
        return found

    def type_of(self, node: ast.expr) -> Type | None:
        """Give the inferred type of an expression, or None where there is none, or more than one."""
        found = self.types_of(node)
        return get_proper_type(found[0]) if len(found) == 1 else None

    def mypy_node(self, node: ast.expr) -> Expression | None:
        """Give what mypy has where an expression stands."""
        if node not in self._met:
            self._met[node] = self._nodes.expressions.get(self._key(node))
        return self._met[node]

    def full_name(self, node: ast.expr) -> str:
        """Give the name by which a thing was defined, however it was imported; empty where nobody knows it."""
        found = self.mypy_node(node)
        if not isinstance(found, RefExpr):
            return ''
        if isinstance(found.node, TypeAlias) and isinstance(
            aliased := get_proper_type(found.node.target), Instance
        ):
            return aliased.type.fullname
        return (found.node.fullname if found.node is not None else '') or found.fullname

    def variable_type(self, node: ast.Name) -> Type | None:
        """Give the type of the variable that is assigned to here."""
        found = self._nodes.expressions.get(self._key(node))
        variable = found.node if isinstance(found, RefExpr) else None
        return (
            get_proper_type(variable.type)
            if isinstance(variable, Var) and variable.type is not None
            else None
        )

    def declared_type(self, function: Function) -> CallableType | None:
        """Give the type of a function as its annotations say, its decorators aside; None where it has none."""
        found = self.definition(function)
        typed = None if found is None or found.type is None else get_proper_type(found.type)
        return typed if isinstance(typed, CallableType) else None

    def decorated_type(self, function: Function) -> FunctionLike | None:
        """Give the type of a function as its callers see it; None where it has no decorator, or nobody knows."""
        found = self._nodes.decorated.get(self._place(function))
        typed = (
            get_proper_type(found.var.type)
            if isinstance(found, Decorator) and found.var.type is not None
            else None
        )
        return typed if isinstance(typed, FunctionLike) else None

    def function_at(self, line: int, column: int) -> Function | None:
        """Give the function that stands at a place, as mypy counts it."""
        return self._places.get((line, column))

    @cached_property
    def _places(self) -> Mapping[Position, Function]:
        return {self._place(one): one for one in self.functions()}

    def implements_overloads(self, function: Function) -> bool:
        """Whether callers never see this signature, but overloads of it."""
        return self._place(function) in self._nodes.implementations

    def definition(self, function: Function) -> FuncDef | None:
        """Give what mypy has of a function."""
        return self._nodes.functions.get(self._place(function))

    def _place(self, function: Function) -> Position:
        return self.positions.place(function.lineno, function.col_offset)


class Program:
    """The modules that were asked for; what they import from elsewhere is read for its types only."""

    def __init__(self, modules: Sequence[Module]) -> None:
        self.modules = modules
