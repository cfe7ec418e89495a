"""Tests of the tutorial: its files are written, its commands run, and their output is compared."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documentation.terminal import ENVIRONMENT
from tests.ports import free_port

FOLDER = Path(__file__).parents[2] / 'docs' / 'tutorial'
BLOCK = re.compile(
    r'`(?P<file>[\w.]+)`:\n\n```\w+\n(?P<content>.*?)^```$|^```console\n(?P<session>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
MARK = '\x1e'


def run(session: str, folder: Path, port: int) -> str:
    """Run the commands of a terminal session in one shell, and return it with the real output."""
    commands = [line[2:] for line in session.splitlines() if line.startswith('$ ')]
    script = ['set -m']
    for command in commands:
        script += [f"printf '{MARK}'", command.replace('8000', str(port))]
    if any(command.endswith('&') for command in commands):
        script.append('kill %1')
    result = subprocess.run(
        ['bash', '-c', '\n'.join(script)],
        cwd=folder,
        env=ENVIRONMENT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    outputs = result.stdout.split(MARK)[1:]
    return ''.join(
        f'$ {command}\n{output}'
        if not output or output.endswith('\n')
        else f'$ {command}\n{output}\n'
        for command, output in zip(commands, outputs, strict=True)
    )


def sessions_of(page: Path, folder: Path) -> Iterator[str]:
    """Write the files of a page as they come, and yield its terminal sessions."""
    for block in BLOCK.finditer(page.read_text(encoding='utf-8')):
        if block['file'] is not None:
            (folder / block['file']).write_text(block['content'], encoding='utf-8')
        else:
            yield block['session']


def is_as_shown(shown: str, real: str) -> bool:
    """Return whether an output is the one of a page, in which `…` stands for any text."""
    return re.fullmatch('.*?'.join(map(re.escape, shown.split('…'))), real) is not None


@pytest.mark.slow
def test_each_command_of_the_tutorial_prints_what_its_page_shows(tmp_path: Path) -> None:
    port = free_port()
    for page in sorted(FOLDER.glob('0*.md')):
        for session in sessions_of(page, tmp_path):
            real = run(session, tmp_path, port)
            assert is_as_shown(session, real), f'{page.name}\n--- shown\n{session}--- real\n{real}'
    types = run('$ mypy --strict *.py\n', tmp_path, port)
    assert types == '$ mypy --strict *.py\nSuccess: no issues found in 8 source files\n'


def test_the_comparison_detects_a_difference() -> None:
    assert is_as_shown('$ run\n5 passed in …s\n', '$ run\n5 passed in 0.2s\n')
    assert not is_as_shown('$ run\n5 passed in …s\n', '$ run\n4 passed in 0.2s\n')
