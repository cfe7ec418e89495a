"""The modules that a command does not import: they would take longer than its work."""

import subprocess
import sys
from pathlib import Path

import pytest

from .helpers import CLEAN, call

# `program` exits, so the modules are printed by a handler.
CODE = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from seamwise.program import main
main()
"""
OTHER_TOOLS = {'asyncio', 'mypy', 'opentelemetry', 'pydantic', 'redis', 'starlette', 'structlog'}
SEAMS = {f'seamwise.seams.{seam}' for seam in ('http', 'session', 'planner', 'jsonrpc')}


def imported_modules(*arguments: str | Path, calls: str = '') -> set[str]:
    done = subprocess.run(
        [sys.executable, '-c', CODE, *map(str, arguments)],
        input=calls,
        capture_output=True,
        check=True,
        env=CLEAN,
        text=True,
        timeout=60,
    )
    return {*done.stderr.splitlines()[-1].split()}


@pytest.mark.parametrize('argument', ['--version', '--help'])
def test_the_group_imports_no_subcommand_and_no_table(argument: str) -> None:
    modules = imported_modules(argument)
    assert modules.isdisjoint(OTHER_TOOLS | SEAMS | {'rich', 'rapidfuzz', 'subprocess'})
    unwanted = ('check', 'documents', 'policies', 'toolhost', 'program.run', 'seams.cli.tables')
    assert not [
        name for name in modules if name.startswith(tuple(f'seamwise.{n}' for n in unwanted))
    ]


def test_a_run_imports_only_the_seam_that_it_shows(workspace: Path) -> None:
    calls = call('read_file', path='a.txt') + call('write_file', path='b.txt', content='x')
    modules = imported_modules('run', '--workspace', workspace, '--seam', 'model', calls=calls)
    assert 'seamwise.seams.model' in modules
    assert modules.isdisjoint((OTHER_TOOLS - {'asyncio'}) | SEAMS | {'rich', 'rapidfuzz'})
    assert not [
        name
        for name in modules
        if name.startswith(
            (
                'seamwise.check',
                'seamwise.documents',
                'seamwise.policies.config',
                'seamwise.program.guards_option',
                'seamwise.toolhost.formats.parsing',
            )
        )
    ]


def test_the_output_of_each_seam_is_imported_alone(workspace: Path) -> None:
    modules = imported_modules(
        'run', '--workspace', workspace, '--seam', 'cli', calls=call('read_file', path='a.txt')
    )
    assert modules.isdisjoint(SEAMS | {'seamwise.seams.log', 'rich'})
    assert {name for name in modules if name.startswith('seamwise.program.seam_outputs.')} == {
        'seamwise.program.seam_outputs.cli'
    }
