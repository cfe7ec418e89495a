"""Type check of every Python snippet in the documentation, one module per page."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# The files of the tutorial import each other, and have a test of their own.
IN_DOCS = [page for page in sorted(ROOT.glob('docs/**/*.md')) if 'tutorial' not in page.parts]
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *IN_DOCS]
BLOCK = re.compile(r'^( *)```python\n(.*?)^\1```$', re.MULTILINE | re.DOTALL)


def code_of(page: str) -> str:
    """Return the snippets of a page as one module with the line numbers of the page."""
    lines = [''] * page.count('\n')
    for block in BLOCK.finditer(page):
        start = page.count('\n', 0, block.start(2))
        body = textwrap.dedent(block.group(2)).splitlines()
        lines[start : start + len(body)] = body
    return '\n'.join(lines) + '\n'


@pytest.mark.slow
def test_every_snippet_type_checks(tmp_path: Path) -> None:
    modules: list[str] = []
    for page in PAGES:
        text = page.read_text(encoding='utf-8')
        if not BLOCK.search(text):
            continue
        module = (
            tmp_path / f'page_{"_".join(page.relative_to(ROOT).with_suffix("").parts).lower()}.py'
        )
        module.write_text(code_of(text), encoding='utf-8')
        modules.append(module.name)
    assert len(modules) >= 4
    # An empty `--config-file` ignores the configuration of parent folders.
    command = [
        sys.executable,
        '-m',
        'mypy',
        '--config-file=',
        '--strict',
        '--no-error-summary',
        # Django has no type hints.
        '--disable-error-code=import-untyped',
        '--disable-error-code=untyped-decorator',
        '--cache-dir',
        str(tmp_path / 'cache'),
    ]
    result = subprocess.run(
        [*command, *modules],
        cwd=tmp_path,
        # Pages import the examples.
        env={**os.environ, 'MYPYPATH': str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout + result.stderr == ''


def test_a_type_error_in_a_snippet_is_reported(tmp_path: Path) -> None:
    (tmp_path / 'page.py').write_text(
        'from seamwise import Failure, Success\nwrong: Failure[int] = Success(1)\n'
    )
    command = [sys.executable, '-m', 'mypy', '--config-file=', '--strict', 'page.py']
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert 'Incompatible types in assignment' in result.stdout
