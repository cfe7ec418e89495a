"""Tests of `collection` and `_mypy.node_index`: every expression has a node of mypy."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mypy.errors import Errors
from mypy.nodes import ExpressionStmt, NameExpr, TupleExpr
from mypy.options import Options
from mypy.parse import parse

from seamwise.check._mypy.build import run_mypy
from seamwise.check._mypy.node_index import AST_TYPES, Positions
from seamwise.check._mypy.sources import SourceProblem, mypy_options, source_groups
from seamwise.check.collection import cache
from seamwise.check.collection.analysis import modules
from seamwise.check.rules import unused_result
from seamwise.check.typed_ast.program import Module

ROOT = Path(__file__).parents[2]


def expressions(module: Module) -> Iterator[ast.expr]:
    """Yield the expressions that mypy has too.

    It converts annotations, patterns and bases such as `Generic[T]` to other nodes.
    """
    excluded: set[ast.AST] = set()
    for node in ast.walk(module.syntax):
        match node:
            case (
                ast.FunctionDef(returns=ast.expr() as annotation)
                | ast.AsyncFunctionDef(returns=ast.expr() as annotation)
            ):
                excluded.update(ast.walk(annotation))
            case (
                ast.arg(annotation=ast.expr() as annotation)
                | ast.AnnAssign(annotation=annotation)
                | (ast.pattern() as annotation)
            ):
                excluded.update(ast.walk(annotation))
            case ast.ClassDef(bases=bases):
                for base in bases:
                    if ast.unparse(base).startswith(('Generic[', 'Protocol')):
                        excluded.update(ast.walk(base))
            case _:
                pass
    node_types = {*AST_TYPES.values(), ast.BoolOp}
    yield from (
        node
        for node in ast.walk(module.syntax)
        if isinstance(node, ast.expr) and type(node) in node_types and node not in excluded
    )


@pytest.mark.nightly
def test_every_expression_of_this_project_has_a_mypy_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    problems: list[SourceProblem] = []
    options = mypy_options(problems)
    assert options is not None
    options.follow_imports = 'skip'
    (group,) = source_groups(['src/seamwise', 'tests/check/test_checking.py'], options, problems)
    build = run_mypy(group, problems)
    assert build is not None
    missing = [
        (str(module.path), node.lineno, ast.unparse(node))
        for module in modules(build, group.modules, problems)
        for node in expressions(module)
        if module.mypy_node(node) is None
    ]
    assert missing == []
    assert problems == []


@given(
    st.lists(
        st.tuples(st.text('aä…😀漢', max_size=6), st.sampled_from(['x', 'xy', 'xyz'])),
        min_size=1,
        max_size=5,
    )
)
def test_position_of_a_name_after_multibyte_characters_is_that_of_mypy(
    parts: list[tuple[str, str]],
) -> None:
    source = ', '.join(f'{text!r}, {name}' for text, name in parts)
    options = Options()
    options.native_parser = True
    (statement,) = parse(source.encode(), '', None, Errors(options), options, eager=True).defs
    assert isinstance(statement, ExpressionStmt)
    assert isinstance(statement.expr, TupleExpr)
    (syntax,) = ast.parse(source).body
    assert isinstance(syntax, ast.Expr)
    assert isinstance(syntax.value, ast.Tuple)
    positions = Positions([source])
    for node, mypy_node in zip(syntax.value.elts, statement.expr.items, strict=True):
        if isinstance(mypy_node, NameExpr):
            assert positions.key(node, syntax.value)[1:5] == (
                mypy_node.line,
                mypy_node.column,
                mypy_node.end_line,
                mypy_node.end_column,
            )


def test_the_digest_of_the_cache_covers_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    digested: list[bytes] = []
    monkeypatch.setattr(cache, 'digest_of', digested.extend)
    cache.code_digest.__wrapped__()
    assert Path(unused_result.__file__).read_bytes() in digested
