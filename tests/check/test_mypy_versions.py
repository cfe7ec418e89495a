"""Tests of `_mypy`: the only code that imports mypy, and everything of mypy that it depends on."""

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest
from mypy import nodes, patterns
from mypy.nodes import Node

from seamwise.check import _mypy
from seamwise.check._mypy.node_index import CHILD_ATTRIBUTES
from seamwise.check._mypy.versions import UnsupportedMypyError, check_version

SOURCES = Path(_mypy.__file__).parents[2]
LEFT_OUT: dict[str, list[str]] = json.loads(
    Path(__file__).with_name('mypy_fields.json').read_text(encoding='utf-8')
)
"""Fields of nodes that contain no part of the source, or one that is also in another field."""


def node_types() -> list[type[Node]]:
    return [
        item
        for module in (nodes, patterns)
        for item in vars(module).values()
        if inspect.isclass(item) and issubclass(item, Node) and item.__module__ == module.__name__
    ]


def fields(node_type: type) -> set[str]:
    """Return the attributes of a compiled class and its base classes."""
    return {
        name
        for base in node_type.__mro__
        for name, value in vars(base).items()
        if inspect.isgetsetdescriptor(value) and not name.startswith('_')
    }


@pytest.mark.parametrize('node_type', node_types(), ids=lambda item: item.__name__)
def test_every_field_of_a_node_is_walked_or_left_out_on_purpose(node_type: type[Node]) -> None:
    name = node_type.__name__
    assert name in LEFT_OUT, 'mypy has a new node: walk its parts, or leave its fields out'
    walked = set(CHILD_ATTRIBUTES.get(node_type, ()))
    assert fields(node_type) - fields(nodes.Context) - walked - {*LEFT_OUT[name]} == set()


def test_walked_fields_exist() -> None:
    for node_type, names in CHILD_ATTRIBUTES.items():
        assert {*names} <= fields(node_type), node_type


@pytest.mark.slow
def test_only_one_folder_imports_mypy() -> None:
    importers: set[str] = set()
    for file in SOURCES.rglob('*.py'):
        for node in ast.walk(ast.parse(file.read_text(encoding='utf-8'))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or '']
            if any(name.partition('.')[0] == 'mypy' for name in names):
                importers.add(file.relative_to(SOURCES).as_posix())
    assert importers
    assert {name for name in importers if not name.startswith('check/_mypy/')} == set()


@pytest.mark.parametrize('version', ['1.18.2', '2.3.0', '2.4.1', '2.5.0+dev.abc'])
def test_known_version_is_accepted(version: str) -> None:
    check_version(version)


@pytest.mark.parametrize('version', ['1.17.1', '0.991', '2.6.0', '3.0.0'])
def test_unknown_version_is_refused(version: str) -> None:
    with pytest.raises(UnsupportedMypyError, match=f'supports mypy 1.18 to 2.5, not {version}'):
        check_version(version)


@pytest.mark.slow
@pytest.mark.parametrize(
    ('code', 'message'),
    [
        (
            "import mypy.version; mypy.version.__version__ = '1.2.3'",
            '`seamwise check` supports mypy 1.18 to 2.5, not 1.2.3. Install one of them',
        ),
        ('import mypy.main; del mypy.main.process_options', "cannot import name 'process_options'"),
    ],
)
@pytest.mark.parametrize('command', ['check', 'lsp'])
def test_unsupported_mypy_is_one_clear_line(
    tmp_path: Path, code: str, message: str, command: str
) -> None:
    (tmp_path / 'module.py').touch()
    program = f'{code}; from seamwise.program.cli import seamwise; seamwise()'
    process = subprocess.run(
        [sys.executable, '-c', program, command, 'module.py'],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 78
    assert process.stderr.startswith(f'seamwise: this mypy cannot be used: {message}')
    assert process.stderr.count('\n') == 1
