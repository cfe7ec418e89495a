"""The nodes of one file as mypy has them, found again by where they stand: the way from `ast` to types."""

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

from mypy import nodes, patterns
from mypy.errors import Errors
from mypy.nodes import Expression
from mypy.options import Options
from mypy.parse import parse

Position: TypeAlias = tuple[int, int]
"""A line, from 1, and a column, which counts characters from 0."""

ExpressionKey: TypeAlias = tuple[type[ast.expr], int, int, int | None, int | None, int]
"""What kind of expression stands where: first line and column, last line and column, and which of those that mypy puts there."""

AST_TYPES: dict[type[Expression], type[ast.expr]] = {
    nodes.AssignmentExpr: ast.NamedExpr,
    nodes.AwaitExpr: ast.Await,
    nodes.CallExpr: ast.Call,
    nodes.ConditionalExpr: ast.IfExp,
    nodes.DictExpr: ast.Dict,
    nodes.DictionaryComprehension: ast.DictComp,
    nodes.GeneratorExpr: ast.GeneratorExp,
    nodes.IndexExpr: ast.Subscript,
    nodes.LambdaExpr: ast.Lambda,
    nodes.ListComprehension: ast.ListComp,
    nodes.ListExpr: ast.List,
    nodes.MemberExpr: ast.Attribute,
    nodes.NameExpr: ast.Name,
    nodes.OpExpr: ast.BinOp,
    nodes.SetComprehension: ast.SetComp,
    nodes.SetExpr: ast.Set,
    nodes.SuperExpr: ast.Attribute,
    nodes.TupleExpr: ast.Tuple,
}
"""mypy has one node for `a + b` and `a and b`; both are found as the former."""


def expression_key(node: Expression) -> ExpressionKey | None:
    """Give the place and kind of a node of mypy, or None for a kind that nobody asks for."""
    kind = AST_TYPES.get(type(node))
    if kind is None:
        return None
    if isinstance(node, nodes.GeneratorExpr):
        node = node.left_expr
    return kind, node.line, node.column, node.end_line, node.end_column, 0


REPOSITIONED = frozenset({ast.BinOp, ast.BoolOp, ast.GeneratorExp})
"""What stands elsewhere for mypy than for `ast`."""


CONTINUATION_BYTES = range(0x80, 0xC0)
"""The bytes of a character behind its first."""


class Positions:
    """Where the nodes of `ast` stand in a file as mypy counts it."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._wide = {
            number: line.encode() for number, line in enumerate(lines, 1) if not line.isascii()
        }

    def key(self, node: ast.expr) -> ExpressionKey:
        """Give the place and kind of an expression."""
        kind = type(node)
        if (
            kind not in REPOSITIONED
            and node.lineno not in self._wide
            and node.end_lineno not in self._wide
        ):
            return kind, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, 0
        if kind is ast.BoolOp:
            kind = ast.BinOp
        # Of one that is all that a call is handed, the parentheses are its own here, and the call's there.
        own = node.elt if isinstance(node, ast.GeneratorExp) else node
        first, last = _leftmost(own), _rightmost(own)
        end = last.end_lineno or last.lineno
        return (
            kind,
            *self.place(first.lineno, first.col_offset),
            *self.place(end, last.end_col_offset or 0),
            0,
        )

    def place(self, line: int, offset: int) -> Position:
        """Give a place of which `ast` says the bytes before it."""
        if line not in self._wide:
            return line, offset
        characters = self.characters(line, offset)
        if _is_counted_twice():
            characters -= sum(
                byte in CONTINUATION_BYTES for byte in self._wide[line][: characters + 2]
            )
        return line, characters

    def characters(self, line: int, offset: int) -> int:
        """Give the characters before a byte of a line."""
        return (
            len(self._wide[line][:offset].decode(errors='ignore')) if line in self._wide else offset
        )

    def is_wide(self, line: int) -> bool:
        """Whether mypy may have two places in one there."""
        return line in self._wide


def _leftmost(node: ast.expr) -> ast.expr:
    """Of a sum, give what it begins with: to mypy the parentheses around that are no part of it."""
    while isinstance(node, ast.BinOp):
        node = node.left
    return node


def _rightmost(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.BinOp):
        node = node.right
    return node


@cache
def _is_counted_twice() -> bool:
    """Whether mypy takes off the bytes that make characters longer a second time, as its parser of 2026 does.

    It takes a column of characters for one of bytes, and so puts places together that are two.
    """
    options = Options()
    options.native_parser = True
    (_, name) = parse(b"'\xc3\xa4'; x", '', None, Errors(options), options, eager=True).defs
    return isinstance(name, nodes.ExpressionStmt) and name.expr.column != len("'ä'; ")


CHILDREN: dict[type, tuple[str, ...]] = {
    nodes.Argument: ('initializer',),
    nodes.AssertStmt: ('expr', 'msg'),
    nodes.AssertTypeExpr: ('expr',),
    nodes.AssignmentExpr: ('target', 'value'),
    nodes.AssignmentStmt: ('lvalues', 'rvalue'),
    nodes.AwaitExpr: ('expr',),
    nodes.Block: ('body',),
    nodes.CallExpr: ('callee', 'args'),
    nodes.CastExpr: ('expr',),
    nodes.ClassDef: ('decorators', 'base_type_exprs', 'metaclass', 'keywords', 'defs'),
    nodes.ComparisonExpr: ('operands',),
    nodes.ConditionalExpr: ('if_expr', 'cond', 'else_expr'),
    nodes.Decorator: ('func', 'decorators', 'original_decorators'),
    nodes.DelStmt: ('expr',),
    nodes.DictExpr: ('items',),
    nodes.DictionaryComprehension: ('key', 'value', 'indices', 'sequences', 'condlists'),
    nodes.ExpressionStmt: ('expr',),
    nodes.ForStmt: ('index', 'expr', 'body', 'else_body'),
    nodes.FuncDef: ('arguments', 'body'),
    nodes.GeneratorExpr: ('left_expr', 'indices', 'sequences', 'condlists'),
    nodes.IfStmt: ('expr', 'body', 'else_body'),
    nodes.IndexExpr: ('base', 'index'),
    nodes.LambdaExpr: ('arguments', 'body'),
    nodes.ListComprehension: ('generator',),
    nodes.ListExpr: ('items',),
    nodes.MatchStmt: ('subject', 'patterns', 'guards', 'bodies'),
    nodes.MemberExpr: ('expr',),
    nodes.MypyFile: ('defs',),
    nodes.OpExpr: ('left', 'right'),
    nodes.OperatorAssignmentStmt: ('lvalue', 'rvalue'),
    nodes.OverloadedFuncDef: ('items', 'impl'),
    nodes.RaiseStmt: ('expr', 'from_expr'),
    nodes.ReturnStmt: ('expr',),
    nodes.RevealExpr: ('expr',),
    nodes.SetComprehension: ('generator',),
    nodes.SetExpr: ('items',),
    nodes.SliceExpr: ('begin_index', 'end_index', 'stride'),
    nodes.StarExpr: ('expr',),
    nodes.SuperExpr: ('call',),
    nodes.TryStmt: ('body', 'types', 'vars', 'handlers', 'else_body', 'finally_body'),
    nodes.TupleExpr: ('items',),
    nodes.UnaryExpr: ('expr',),
    nodes.WhileStmt: ('expr', 'body', 'else_body'),
    nodes.WithStmt: ('expr', 'target', 'body'),
    nodes.YieldExpr: ('expr',),
    nodes.YieldFromExpr: ('expr',),
    patterns.AsPattern: ('pattern', 'name'),
    patterns.ClassPattern: ('class_ref', 'positionals', 'keyword_values'),
    patterns.MappingPattern: ('keys', 'values', 'rest'),
    patterns.OrPattern: ('patterns',),
    patterns.SequencePattern: ('patterns',),
    patterns.StarredPattern: ('capture',),
    patterns.ValuePattern: ('expr',),
}
"""What is written inside of what, in the order of the source. The visitors of mypy are compiled, and nothing can be derived from them."""


class NodeIndex:
    """All expressions and functions of one file, by place."""

    def __init__(self, tree: nodes.MypyFile, places: Positions) -> None:
        self.expressions: dict[ExpressionKey, Expression] = {}
        self.functions: dict[Position, nodes.FuncDef] = {}
        self.decorated: dict[Position, nodes.Decorator] = {}
        self.implementations: set[Position] = set()
        """Of overloads: their callers see the overloads only."""
        self.crowds: dict[ExpressionKey, int] = {}
        """How many stand at a place that mypy takes for one."""
        for node in _walked(tree):
            self._note(node, places)

    def _note(self, node: object, places: Positions) -> None:
        if isinstance(node, Expression):
            place = expression_key(node)
            if (
                place is not None
                and self.expressions.setdefault(place, node) is not node
                and places.is_wide(node.line)
            ):
                self._crowd(place, node)
        elif isinstance(node, nodes.FuncDef):
            self.functions[node.line, node.column] = node
        elif isinstance(node, nodes.Decorator):
            self.decorated[node.func.line, node.func.column] = node
        elif isinstance(node, nodes.OverloadedFuncDef) and node.impl is not None:
            function = node.impl.func if isinstance(node.impl, nodes.Decorator) else node.impl
            self.implementations.add((function.line, function.column))

    def _crowd(self, place: ExpressionKey, node: Expression) -> None:
        crowd = self.crowds.get(place, 1)
        if all(self.expressions[*place[:-1], one] is not node for one in range(crowd)):
            self.expressions[*place[:-1], crowd] = node
            self.crowds[place] = crowd + 1


def _walked(root: object) -> Iterator[object]:
    """Give a node and all inside of it, the outer ones first; by a list of our own, since trees may be deep."""
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            waiting += reversed(cast('dict[str, Any]', node).values())
        elif isinstance(node, list | tuple):
            waiting += reversed(cast('Sequence[Any]', node))
        elif node is not None:
            known: object = node
            yield known
            waiting += [getattr(node, name) for name in reversed(CHILDREN.get(type(known), ()))]
