"""Imports between the modules of the guards: no cycles, also not in functions or for types only."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import seamwise.policies

PACKAGE = Path(seamwise.policies.__file__).parent
SOURCE = PACKAGE.parent.parent


def module_name(path: Path) -> str:
    """Return the dotted name of a source file."""
    return '.'.join(path.relative_to(SOURCE).with_suffix('').parts).removesuffix('.__init__')


def imported_modules(path: Path, modules: set[str]) -> Iterator[str]:
    """Yield the modules of the package that a file imports anywhere."""
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                submodule = f'{node.module}.{alias.name}'
                yield from {submodule if submodule in modules else node.module} & modules
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & modules


def test_imports_of_the_guards_have_no_cycle() -> None:
    files = {module_name(path): path for path in PACKAGE.rglob('*.py')}
    graph = {name: set(imported_modules(path, set(files))) for name, path in files.items()}
    assert len(list(TopologicalSorter(graph).static_order())) == len(files)
