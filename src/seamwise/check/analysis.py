"""What mypy knows of each file, joined with its syntax."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from mypy.build import BuildResult
from mypy.nodes import AwaitExpr, CallExpr, Expression, MemberExpr, NameExpr
from mypy.types import Type

from seamwise.check.mypy_build import missing_imports, run_mypy
from seamwise.check.mypy_sources import (
    SourceProblem,
    mypy_options,
    parse_problem,
    read_source,
    source_groups,
    too_deep_problem,
)
from seamwise.check.typed_ast.channels import clear_caches
from seamwise.check.typed_ast.mypy_nodes import ExpressionKey, NodeIndex, expression_key
from seamwise.check.typed_ast.program import Module, Program, Text

__all__ = ['Analysis', 'SourceProblem', 'analyse', 'modules']


class Analysis(Struct, frozen=True):
    """A program, and what is missing of it."""

    program: Program
    problems: tuple[SourceProblem, ...]


def analyse(paths: Sequence[str]) -> Analysis:
    """Read files and folders with mypy, as the configuration of mypy in the current directory says.

    Whatever cannot be read becomes a Problem, never an exception.
    """
    clear_caches()
    problems: list[SourceProblem] = []
    found: list[Module] = []
    options = mypy_options(problems)
    for group in source_groups(paths, options, problems) if options is not None else ():
        result = run_mypy(group, problems)
        if result is not None:
            problems += missing_imports(result.errors)
            found += modules(result, (one.module for one in group.sources), problems)
    return Analysis(Program(found), tuple(problems))


def modules(
    result: BuildResult, names: Iterable[str], problems: list[SourceProblem]
) -> Iterator[Module]:
    """Give the modules of these names, those that mypy has just read."""
    trees = [tree for one in names if (tree := result.files.get(one)) is not None]
    texts = [Text(read_source(tree.path)) for tree in trees]
    nodes = [NodeIndex(tree, text.positions) for tree, text in zip(trees, texts, strict=True)]
    types = _types(result.types, nodes)
    for tree, text, own, typed in zip(trees, texts, nodes, types, strict=True):
        try:
            module = Module(tree.fullname, Path(tree.path), text, own, typed)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            # The parser of mypy takes more than the one of Python.
            problems.append(parse_problem(tree.path) or too_deep_problem(tree.path))
        else:
            yield module


def _types(
    types: Mapping[Expression, Type], modules: Sequence[NodeIndex]
) -> list[dict[ExpressionKey, list[Type]]]:
    """Give the types of each module by place.

    Where a type variable stands for one of several types, mypy reads a function once for each, in copies that belong to no
    tree. It hands on types module by module, though, so that copies stand between the nodes of their own module.
    """
    found: list[dict[ExpressionKey, list[Type]]] = [
        {place: [types[node]] for place, node in one.expressions.items() if node in types}
        for one in modules
    ]
    owners = {
        node: number for number, one in enumerate(modules) for node in one.expressions.values()
    }
    before: int | None = None
    for node, typed in types.items():
        if node in owners:
            before = owners[node]
            continue
        place = expression_key(node)
        if before is None or place is None:
            continue
        original = modules[before].expressions.get(place)
        if original is not None and original not in types and _is_alike(original, node):
            found[before].setdefault(place, []).append(typed)
    return found


def _is_alike(original: Expression, copy: Expression) -> bool:
    """Whether one may be a copy of the other: what was not asked for stands between the modules, too."""
    match original, copy:
        case CallExpr(), CallExpr():
            return _is_alike(original.callee, copy.callee)
        case AwaitExpr(), AwaitExpr():
            return _is_alike(original.expr, copy.expr)
        case NameExpr() | MemberExpr(), NameExpr() | MemberExpr():
            return original.name == copy.name
        case _:
            return type(original) is type(copy)
