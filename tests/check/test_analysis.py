"""What mypy has is found again from the syntax: every expression has its place in both."""

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

from seamwise.check.analysis import modules
from seamwise.check.mypy_build import run_mypy
from seamwise.check.mypy_sources import SourceProblem, mypy_options, source_groups
from seamwise.check.typed_ast.mypy_nodes import AST_TYPES, Positions
from seamwise.check.typed_ast.program import Module

ROOT = Path(__file__).parents[2]


def expressions(module: Module) -> Iterator[ast.expr]:
    """Give what mypy has too: it makes other things of annotations, patterns, and bases that are there for type variables."""
    left_out: set[ast.AST] = set()
    for node in ast.walk(module.syntax):
        match node:
            case (
                ast.FunctionDef(returns=ast.expr() as other)
                | ast.AsyncFunctionDef(returns=ast.expr() as other)
            ):
                left_out.update(ast.walk(other))
            case (
                ast.arg(annotation=ast.expr() as other)
                | ast.AnnAssign(annotation=other)
                | (ast.pattern() as other)
            ):
                left_out.update(ast.walk(other))
            case ast.ClassDef(bases=bases):
                for base in bases:
                    if ast.unparse(base).startswith(('Generic[', 'Protocol')):
                        left_out.update(ast.walk(base))
            case _:
                pass
    kinds = {*AST_TYPES.values(), ast.BoolOp}
    yield from (
        one
        for one in ast.walk(module.syntax)
        if isinstance(one, ast.expr) and type(one) in kinds and one not in left_out
    )


def test_every_expression_of_this_project_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    problems: list[SourceProblem] = []
    options = mypy_options(problems)
    assert options is not None
    options.follow_imports = 'skip'
    (group,) = source_groups(['src/seamwise', 'tests/check/test_checking.py'], options, problems)
    build = run_mypy(group, problems)
    assert build is not None
    lost = [
        (str(module.path), node.lineno, ast.unparse(node))
        for module in modules(build, group.modules, problems)
        for node in expressions(module)
        if module.mypy_node(node) is None
    ]
    assert lost == []
    assert problems == []


@given(
    st.lists(
        st.tuples(st.text('aä…😀漢', max_size=6), st.sampled_from(['x', 'xy', 'xyz'])),
        min_size=1,
        max_size=5,
    )
)
def test_a_name_behind_wide_characters_is_where_mypy_has_it(parts: list[tuple[str, str]]) -> None:
    source = ', '.join(f'{text!r}, {name}' for text, name in parts)
    options = Options()
    options.native_parser = True
    (statement,) = parse(source.encode(), '', None, Errors(options), options, eager=True).defs
    assert isinstance(statement, ExpressionStmt)
    assert isinstance(statement.expr, TupleExpr)
    (own,) = ast.parse(source).body
    assert isinstance(own, ast.Expr)
    assert isinstance(own.value, ast.Tuple)
    places = Positions([source])
    for node, found in zip(own.value.elts, statement.expr.items, strict=True):
        if isinstance(found, NameExpr):
            assert places.key(node)[1:5] == (
                found.line,
                found.column,
                found.end_line,
                found.end_column,
            )
