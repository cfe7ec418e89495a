"""Analysed modules: the syntax of each file, joined with the nodes and types of mypy."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from seamwise.check._mypy.build import Build, import_problems, missing_imports, run_mypy
from seamwise.check._mypy.node_index import NodeIndex, types_by_key
from seamwise.check._mypy.sources import (
    SourceProblem,
    mypy_options,
    parse_problem,
    read_source,
    source_groups,
    too_deep_problem,
)
from seamwise.check.typed_ast.channels import clear_caches
from seamwise.check.typed_ast.program import Module, Program, Text

__all__ = ['Analysis', 'SourceProblem', 'analyse', 'modules']


class Analysis(Struct, frozen=True):
    """Program with its types, and the problems that leave parts of it unknown."""

    program: Program
    problems: tuple[SourceProblem, ...]


def analyse(paths: Sequence[str], *, python_executable: str = '') -> Analysis:
    """Analyse files and folders with mypy, configured as in the current directory.

    A file that cannot be read becomes a problem, never an exception.
    """
    clear_caches()
    problems: list[SourceProblem] = []
    analysed: list[Module] = []
    options = mypy_options(problems, python_executable=python_executable)
    for group in source_groups(paths, options, problems) if options is not None else ():
        build = run_mypy(group, problems)
        if build is not None:
            problems += import_problems(missing_imports(build), build)
            analysed += modules(build, group.modules, problems)
    return Analysis(Program(analysed), tuple(problems))


def modules(build: Build, names: Iterable[str], problems: list[SourceProblem]) -> Iterator[Module]:
    """Yield the modules with these names, except those without a tree in the build."""
    trees = [tree for name in names if (tree := build.tree(name)) is not None]
    sources = [
        (tree, text) for tree in trees if (text := _read_text(tree.path, problems)) is not None
    ]
    indexes = [NodeIndex(tree, text.positions) for tree, text in sources]
    types = types_by_key(build.types, indexes)
    for (tree, text), index, module_types in zip(sources, indexes, types, strict=True):
        try:
            module = Module(tree.fullname, Path(tree.path), text, index, module_types)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            # mypy's parser accepts more than Python's.
            problems.append(parse_problem(tree.path) or too_deep_problem(tree.path))
        else:
            yield module


def _read_text(path: str, problems: list[SourceProblem]) -> Text | None:
    """Read a file that mypy has analysed; None if Python cannot decode it."""
    try:
        return Text(read_source(path))
    except (OSError, ValueError, SyntaxError):
        # mypy ignores an unknown encoding. The file can also have changed since.
        problem = parse_problem(path)
        if problem is not None:
            problems.append(problem)
        return None
