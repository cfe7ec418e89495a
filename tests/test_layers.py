"""Imports go down the layers, never up, and the core stays light."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / 'src' / 'seamwise'
LAYERS = ['core', 'catalog', 'policies', 'seams', 'check', 'live', 'toolhost', 'program']
"""From the lowest to the highest; a folder that is not here yet has no modules to break the rule."""


def layer(module: str) -> str:
    part = module.split('.')[1] if '.' in module else ''
    return {'__main__': 'program'}.get(part, part if part in LAYERS else 'core')


def module_of(file: Path) -> str:
    parts = ('seamwise', *file.relative_to(SOURCE).with_suffix('').parts)
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{file}: imports are absolute here'
            yield from (f'{node.module}.{one.name}' for one in node.names)


FILES = sorted(SOURCE.rglob('*.py'))


@pytest.mark.parametrize('file', FILES, ids=module_of)
def test_imports_go_down(file: Path) -> None:
    own = LAYERS.index(layer(module_of(file)))
    upwards = [
        name
        for name in imported(file)
        if name.split('.')[0] == 'seamwise' and LAYERS.index(layer(name)) > own
    ]
    assert not upwards


@pytest.mark.parametrize(
    'file', [one for one in FILES if layer(module_of(one)) == 'catalog'], ids=module_of
)
def test_no_domain_imports_the_errors_of_another(file: Path) -> None:
    assert {name for name in imported(file) if name.startswith('seamwise.catalog.')} <= {
        'seamwise.catalog.problem.Problem'
    }


def test_a_tool_knows_no_seam_and_a_seam_knows_no_tool() -> None:
    for file in FILES:
        names = [
            name
            for name in imported(file)
            if name.startswith(('seamwise.seams', 'seamwise.toolhost'))
        ]
        if layer(module_of(file)) == 'toolhost':
            assert not [name for name in names if name.startswith('seamwise.seams')], file
        if layer(module_of(file)) == 'seams':
            assert not [name for name in names if name.startswith('seamwise.toolhost')], file


@pytest.mark.parametrize(
    'seam',
    sorted(one.name for one in (SOURCE / 'seams').iterdir() if (one / '__init__.py').exists()),
)
def test_a_seam_knows_few_others(seam: str) -> None:
    """Model guidance is text inside a JSON-RPC result; beside that no seam knows another."""
    others = {
        name.split('.')[2]
        for file in (SOURCE / 'seams' / seam).rglob('*.py')
        for name in imported(file)
        if name.startswith('seamwise.seams.') and not name.split('.')[2].startswith('_')
    } - {seam, 'adapter'}
    assert others <= ({'model'} if seam == 'jsonrpc' else set())


LATER = [
    'asyncio',
    'logging',
    'traceback',
    'secrets',
    'json',
    'gettext',
    'pathlib',
    'click',
    'rich',
    'pathspec',
    'rapidfuzz',
]


@pytest.mark.parametrize('module', LATER)
def test_importing_the_core_does_not_import(module: str) -> None:
    code = f'import seamwise, sys; sys.exit({module!r} in sys.modules)'
    assert subprocess.run([sys.executable, '-I', '-c', code], check=False).returncode == 0
