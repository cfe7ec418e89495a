"""Tests of commands in pages: each prints the text that the page shows below it."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.documentation.terminal import ENVIRONMENT

ROOT = Path(__file__).parents[2]
LINES = r'((?:(?!```).*\n)*)'
SESSION = re.compile(rf'^```sh\n{LINES}```\n\n```text\n{LINES}```$', re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize('page', ['docs/run.md'])
def test_the_commands_of_a_page_print_what_it_shows(page: str, tmp_path: Path) -> None:
    sessions = SESSION.findall((ROOT / page).read_text(encoding='utf-8'))
    assert sessions
    for commands, shown in sessions:
        result = subprocess.run(
            ['bash', '-c', commands],
            cwd=tmp_path,
            env=ENVIRONMENT,
            text=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert result.stdout == shown, result.stderr
