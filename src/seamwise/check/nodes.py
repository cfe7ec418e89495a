"""The nodes of one file as mypy has them, found again by where they stand: the way from `ast` to types."""

import ast
from collections.abc import Iterator
from typing import Any, TypeAlias

from mypy import nodes, patterns
from mypy.nodes import Expression

Key: TypeAlias = tuple[type[ast.expr], int, int, int | None, int | None]
"""What kind of expression stands where: first line and column, last line and column, as `ast` counts them."""

Place: TypeAlias = tuple[int, int]

KINDS: dict[type[Expression], type[ast.expr]] = {
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


def key_of(node: Expression) -> Key | None:
    """Give the place and kind of a node of mypy, or None for a kind that nobody asks for."""
    kind = KINDS.get(type(node))
    if kind is None:
        return None
    return kind, node.line, node.column, node.end_line, node.end_column


def key(node: ast.expr, start: ast.expr | None = None) -> Key:
    """Give the place and kind of a node of `ast`; `start` is the one that it begins with, where that is not itself."""
    start = start or node
    if isinstance(node, ast.Lambda):
        # mypy does not note where it ends.
        return ast.Lambda, start.lineno, start.col_offset, None, None
    kind = ast.BinOp if isinstance(node, ast.BoolOp) else type(node)
    return kind, start.lineno, start.col_offset, node.end_lineno, node.end_col_offset


CHILDREN: dict[type, tuple[str, ...]] = {
    nodes.Argument: ('initializer',),
    nodes.AssertStmt: ('expr', 'msg'),
    nodes.AssertTypeExpr: ('expr',),
    nodes.AssignmentExpr: ('target', 'value'),
    nodes.AssignmentStmt: ('rvalue', 'lvalues'),
    nodes.AwaitExpr: ('expr',),
    nodes.Block: ('body',),
    nodes.CallExpr: ('callee', 'args'),
    nodes.CastExpr: ('expr',),
    nodes.ClassDef: ('decorators', 'base_type_exprs', 'metaclass', 'keywords', 'defs'),
    nodes.ComparisonExpr: ('operands',),
    nodes.ConditionalExpr: ('cond', 'if_expr', 'else_expr'),
    nodes.Decorator: ('func', 'decorators', 'original_decorators'),
    nodes.DelStmt: ('expr',),
    nodes.DictExpr: ('items',),
    nodes.DictionaryComprehension: ('indices', 'sequences', 'condlists', 'key', 'value'),
    nodes.ExpressionStmt: ('expr',),
    nodes.ForStmt: ('index', 'expr', 'body', 'else_body'),
    nodes.FuncDef: ('arguments', 'body'),
    nodes.GeneratorExpr: ('indices', 'sequences', 'condlists', 'left_expr'),
    nodes.IfStmt: ('expr', 'body', 'else_body'),
    nodes.IndexExpr: ('base', 'index'),
    nodes.LambdaExpr: ('arguments', 'body'),
    nodes.ListComprehension: ('generator',),
    nodes.ListExpr: ('items',),
    nodes.MatchStmt: ('subject', 'patterns', 'guards', 'bodies'),
    nodes.MemberExpr: ('expr',),
    nodes.MypyFile: ('defs',),
    nodes.OpExpr: ('left', 'right'),
    nodes.OperatorAssignmentStmt: ('rvalue', 'lvalue'),
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
"""What is written inside of what. The visitors of mypy are compiled, and nothing can be derived from them."""


class Nodes:
    """All expressions and functions of one file, by place."""

    def __init__(self, tree: nodes.MypyFile) -> None:
        self.expressions: dict[Key, Expression] = {}
        self.functions: dict[Place, nodes.FuncDef] = {}
        self.decorated: dict[Place, nodes.Decorator] = {}
        self.implementations: set[Place] = set()
        """Of overloads: their callers see the overloads only."""
        for node in _walked(tree):
            self._note(node)

    def _note(self, node: object) -> None:
        if isinstance(node, Expression):
            place = key_of(node)
            if place is not None:
                # Of `a and b and c` mypy makes two nodes at one place, the whole one first.
                self.expressions.setdefault(place, node)
        elif isinstance(node, nodes.FuncDef):
            self.functions[node.line, node.column] = node
        elif isinstance(node, nodes.Decorator):
            self.decorated[node.func.line, node.func.column] = node
        elif isinstance(node, nodes.OverloadedFuncDef) and node.impl is not None:
            function = node.impl.func if isinstance(node.impl, nodes.Decorator) else node.impl
            self.implementations.add((function.line, function.column))


def _walked(root: object) -> Iterator[object]:
    """Give a node and all inside of it, the outer ones first; by a list of our own, since trees may be deep."""
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            waiting += node.values()
        elif isinstance(node, list | tuple):
            waiting += node
        elif node is not None:
            known: object = node
            yield known
            waiting += [getattr(node, name) for name in CHILDREN.get(type(known), ())]
