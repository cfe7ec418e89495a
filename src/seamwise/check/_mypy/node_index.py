"""Nodes of mypy by source position, which connects `ast` nodes to their types.

Depends on mypy's parser, on the columns it assigns, and on the attributes of its nodes.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, TypeAlias, cast

from mypy import nodes, patterns
from mypy.errors import Errors
from mypy.nodes import AwaitExpr, CallExpr, Expression, MemberExpr, NameExpr
from mypy.options import Options
from mypy.parse import parse
from mypy.types import Type

from seamwise.check._mypy.versions import HAS_NATIVE_PARSER

Position: TypeAlias = tuple[int, int]
"""Line, from 1, and column in characters, from 0."""

ExpressionKey: TypeAlias = tuple[type[ast.expr], int, int, int | None, int | None, int]
"""Node type, line, column, end line, end column, and index among expressions that share these."""

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
"""Node types of mypy and `ast`. `a and b` is an OpExpr and indexed as BinOp, like `a + b`."""

_REPOSITIONED = frozenset({ast.BinOp, ast.BoolOp, ast.GeneratorExp})
"""Node types whose position differs between mypy and `ast`."""

_CONTINUATION_BYTES = range(0x80, 0xC0)
"""Bytes of a UTF-8 character after the first."""

CHILD_ATTRIBUTES: dict[type, tuple[str, ...]] = {
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
"""Attributes with the children of a node, in source order; mypy has no generic accessor."""

if hasattr(nodes, 'TemplateStrExpr'):
    # Template strings of Python 3.14.
    CHILD_ATTRIBUTES[nodes.TemplateStrExpr] = ('items',)


def _expression_key(node: Expression) -> ExpressionKey | None:
    """Return the key of a mypy node, or None for a node type that is not indexed."""
    ast_type = AST_TYPES.get(type(node))
    if ast_type is None:
        return None
    if isinstance(node, nodes.GeneratorExpr):
        node = node.left_expr
    return ast_type, node.line, node.column, node.end_line, node.end_column, 0


class Positions:
    """Converter from positions of `ast`, with columns in bytes, to positions of mypy."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._non_ascii = {
            number: line.encode() for number, line in enumerate(lines, 1) if not line.isascii()
        }

    def key(self, node: ast.expr, parent: ast.AST | None) -> ExpressionKey:
        """Return the key of an expression, with index 0."""
        key = self._key(node)
        return key if HAS_NATIVE_PARSER else _key_of_older_parser(key, parent)

    def _key(self, node: ast.expr) -> ExpressionKey:
        type_ = type(node)
        if isinstance(node, ast.List) and isinstance(node.ctx, ast.Store):
            # mypy reads the targets `[a, b]` and `(a, b)` alike.
            type_ = ast.Tuple
        if (
            type_ not in _REPOSITIONED
            and node.lineno not in self._non_ascii
            and node.end_lineno not in self._non_ascii
        ):
            return type_, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, 0
        if type_ is ast.BoolOp:
            type_ = ast.BinOp
        # For `ast`, the parentheses of `f(x for x in y)` belong to the generator; for mypy, to the
        # call. Both agree on the position of the element.
        positioned = node.elt if isinstance(node, ast.GeneratorExp) else node
        first, last = _leftmost_operand(positioned), _rightmost_operand(positioned)
        end_line = last.end_lineno or last.lineno
        return (
            type_,
            *self.position(first.lineno, first.col_offset),
            *self.position(end_line, last.end_col_offset or 0),
            0,
        )

    def position(self, line: int, byte_offset: int) -> Position:
        """Return the position as mypy reports it; its older parser counts bytes, as `ast` does."""
        if line not in self._non_ascii or not HAS_NATIVE_PARSER:
            return line, byte_offset
        column = self.column(line, byte_offset)
        if _subtracts_continuation_bytes_twice():
            column -= sum(
                byte in _CONTINUATION_BYTES for byte in self._non_ascii[line][: column + 2]
            )
        return line, column

    def column(self, line: int, byte_offset: int) -> int:
        """Return the number of characters before a byte of a line."""
        if line not in self._non_ascii:
            return byte_offset
        return len(self._non_ascii[line][:byte_offset].decode(errors='ignore'))

    def is_ambiguous(self, line: int) -> bool:
        """Return whether mypy may report the same position for different nodes of a line."""
        return line in self._non_ascii


def _key_of_older_parser(key: ExpressionKey, parent: ast.AST | None) -> ExpressionKey:
    """Move the start of a replacement field, and remove the end of a lambda."""
    type_, line, column, end_line, end_column, index = key
    if isinstance(parent, ast.FormattedValue):
        line, column = parent.lineno, parent.col_offset
    if type_ is ast.Lambda:
        end_line = end_column = None
    return type_, line, column, end_line, end_column, index


def _leftmost_operand(node: ast.expr) -> ast.expr:
    """Return the first operand: for mypy, `(a) + b` starts at `a`, not at the parenthesis."""
    while isinstance(node, ast.BinOp):
        node = node.left
    return node


def _rightmost_operand(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.BinOp):
        node = node.right
    return node


@cache
def _subtracts_continuation_bytes_twice() -> bool:
    """Return whether mypy's native parser computes wrong columns after non-ASCII text.

    In mypy 2.3 and 2.4, it treats a column in characters as one in bytes and converts it again, so
    that different nodes get the same position.
    """
    options = Options()
    options.native_parser = True
    (_, name) = parse(b"'\xc3\xa4'; x", '', None, Errors(options), options, eager=True).defs
    return isinstance(name, nodes.ExpressionStmt) and name.expr.column != len("'ä'; ")


class NodeIndex:
    """Expressions and functions of one file by position, and its names of classes."""

    def __init__(self, tree: nodes.MypyFile, positions: Positions) -> None:
        self.expressions: dict[ExpressionKey, Expression] = {}
        self.functions: dict[Position, nodes.FuncDef] = {}
        self.decorated: dict[Position, nodes.Decorator] = {}
        self.implementations: set[Position] = set()
        """Implementations of overloads; callers see only the overloads."""
        self.key_counts: dict[ExpressionKey, int] = {}
        """Number of expressions with equal keys, if there are several."""
        self._names = tree.names
        for node in _walk(tree):
            self._add(node, positions)

    def global_definition(self, name: str) -> nodes.SymbolNode | None:
        """Return what a global name, or one of an imported module, stands for; None if unknown."""
        names = self._names
        *modules, last = name.split('.')
        for module in modules:
            symbol = names.get(module)
            if symbol is None or not isinstance(symbol.node, nodes.MypyFile):
                return None
            names = symbol.node.names
        symbol = names.get(last)
        return symbol.node if symbol is not None else None

    @cached_property
    def class_names(self) -> Mapping[str, str]:
        """Global names of classes by their full names, as in `Gone` or, imported, `errors.Gone`."""
        symbols = {name: symbol.node for name, symbol in self._names.items()}
        in_modules = {
            symbol.node.fullname: f'{name}.{inner}'
            for name, module in symbols.items()
            if isinstance(module, nodes.MypyFile)
            for inner, symbol in module.names.items()
            if isinstance(symbol.node, nodes.TypeInfo)
            and symbol.node.module_name == module.fullname
            and not inner.startswith('_')
        }
        own = {
            node.fullname: name
            for name, node in symbols.items()
            if isinstance(node, nodes.TypeInfo)
        }
        return {**in_modules, **own}

    def _add(self, node: object, positions: Positions) -> None:
        if isinstance(node, Expression):
            key = _expression_key(node)
            if (
                key is not None
                and self.expressions.setdefault(key, node) is not node
                and positions.is_ambiguous(node.line)
            ):
                self._add_to_same_key(key, node)
        elif isinstance(node, nodes.FuncDef):
            self.functions[node.line, node.column] = node
        elif isinstance(node, nodes.Decorator):
            self.decorated[node.func.line, node.func.column] = node
        elif isinstance(node, nodes.OverloadedFuncDef) and node.impl is not None:
            function = node.impl.func if isinstance(node.impl, nodes.Decorator) else node.impl
            self.implementations.add((function.line, function.column))

    def _add_to_same_key(self, key: ExpressionKey, node: Expression) -> None:
        count = self.key_counts.get(key, 1)
        if all(self.expressions[*key[:-1], index] is not node for index in range(count)):
            self.expressions[*key[:-1], count] = node
            self.key_counts[key] = count + 1


def _walk(root: object) -> Iterator[object]:
    """Yield a node and its descendants, parents first. Not recursive, since trees may be deep."""
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            stack += reversed(cast('dict[str, Any]', node).values())
        elif isinstance(node, list | tuple):
            stack += reversed(cast('Sequence[Any]', node))
        elif node is not None:
            child: object = node
            yield child
            stack += [
                getattr(node, name) for name in reversed(CHILD_ATTRIBUTES.get(type(child), ()))
            ]


def types_by_key(
    types: Mapping[Expression, Type], indexes: Sequence[NodeIndex]
) -> list[dict[ExpressionKey, list[Type]]]:
    """Return the types of each module by expression key.

    A function with value-restricted type variables is checked once per value, each time on a copy
    that belongs to no tree. mypy stores types module by module, so a copy comes after a node of its
    own module.
    """
    types_of_modules: list[dict[ExpressionKey, list[Type]]] = [
        {key: [types[node]] for key, node in index.expressions.items() if node in types}
        for index in indexes
    ]
    module_numbers = {
        node: number for number, index in enumerate(indexes) for node in index.expressions.values()
    }
    number: int | None = None
    for node, type_ in types.items():
        if node in module_numbers:
            number = module_numbers[node]
            continue
        key = _expression_key(node)
        if number is None or key is None:
            continue
        original = indexes[number].expressions.get(key)
        if original is not None and original not in types and _may_be_copy(original, node):
            types_of_modules[number].setdefault(key, []).append(type_)
    return types_of_modules


def _may_be_copy(original: Expression, node: Expression) -> bool:
    """Return whether the nodes look alike: types of modules outside the program come in between."""
    match original, node:
        case CallExpr(), CallExpr():
            return _may_be_copy(original.callee, node.callee)
        case AwaitExpr(), AwaitExpr():
            return _may_be_copy(original.expr, node.expr)
        case NameExpr() | MemberExpr(), NameExpr() | MemberExpr():
            return original.name == node.name
        case _:
            return type(original) is type(node)
