"""Type check of every Python snippet in the documentation, one module per page."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.saved_files import save_files

ROOT = Path(__file__).parent.parent
# These have tests of their own: the files of the tutorial import each other, and the page of
# `seamwise migrate` shows one module twice, before and after.
IN_DOCS = [
    page
    for page in sorted(ROOT.glob('docs/**/*.md'))
    if 'tutorial' not in page.parts and page.name != 'migrate.md'
]
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


@pytest.fixture
def modules(tmp_path: Path) -> list[str]:
    """Write the snippets of each page to a module, and return the names of the files."""
    names: list[str] = []
    for page in PAGES:
        text = page.read_text(encoding='utf-8')
        if not BLOCK.search(text):
            continue
        parts = page.relative_to(ROOT).with_suffix('').parts
        module = tmp_path / f'page_{"_".join(parts).lower()}.py'
        module.write_text(code_of(text), encoding='utf-8')
        names += [module.name, *save_files(text, tmp_path)]
    assert len(names) >= 4
    return names


@pytest.mark.slow
def test_every_snippet_type_checks(modules: list[str], tmp_path: Path) -> None:
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


@pytest.mark.nightly
def test_every_snippet_passes_pyright(modules: list[str], tmp_path: Path) -> None:
    # Django has no type hints, and pyright infers wrong ones.
    modules.remove('page_docs_frameworks_django.py')
    settings = {
        'typeCheckingMode': 'standard',
        'extraPaths': [str(ROOT)],
        'include': modules,
        # pyright does not know that a loop of attempts runs at least once.
        'reportPossiblyUnboundVariable': False,
    }
    (tmp_path / 'pyrightconfig.json').write_text(json.dumps(settings), encoding='utf-8')
    result = subprocess.run(
        [sys.executable, '-m', 'pyright', '--pythonpath', sys.executable, '--outputjson'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(result.stdout)
    errors = [
        f'{Path(item["file"]).name}:{item["range"]["start"]["line"] + 1}: {item["message"]}'
        for item in report['generalDiagnostics']
        if item['severity'] == 'error'
    ]
    assert errors == []
    assert report['summary']['filesAnalyzed'] == len(modules)


@pytest.mark.parametrize('page', PAGES + sorted(ROOT.glob('docs/tutorial/*.md')), ids=str)
def test_the_formatter_breaks_no_arm_of_a_table(page: Path) -> None:
    # It keeps one arm a line if a comment follows the first one.
    arms = re.findall(r'^.*\bon\(\w+\).*\| .*\($|^\) \| .*', page.read_text('utf-8'), re.MULTILINE)
    assert arms == []


@pytest.mark.slow
def test_a_type_error_in_a_snippet_is_reported(tmp_path: Path) -> None:
    (tmp_path / 'page.py').write_text(
        'from seamwise import Failure, Success\nwrong: Failure[int] = Success(1)\n'
    )
    command = [sys.executable, '-m', 'mypy', '--config-file=', '--strict', 'page.py']
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert 'Incompatible types in assignment' in result.stdout


@pytest.mark.slow
@pytest.mark.requirement('order-04', 'order-05', 'order-06', 'order-09')
def test_a_missing_arm_in_the_readme_is_one_error_a_seam(tmp_path: Path) -> None:
    readme = code_of((ROOT / 'README.md').read_text(encoding='utf-8'))
    for seam in ('http', 'cli', 'session'):
        head, function, rest = readme.partition(f'def to_{seam}(')
        arm = re.search(r' +case CardDeclined\(.*\):\n +return .*\n', rest)
        assert arm, f'to_{seam} has no arm for CardDeclined'
        without = head + function + rest.replace(arm.group(), '', 1)
        (tmp_path / f'without_{seam}.py').write_text(without, encoding='utf-8')
    command = [sys.executable, '-m', 'mypy', '--config-file=', '--strict', '--no-error-summary']
    files = ['without_cli.py', 'without_http.py', 'without_session.py']
    result = subprocess.run(
        [*command, '--no-pretty', '--hide-error-context', *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in result.stdout.splitlines() if ': error: ' in line]
    assert sorted(line.partition(':')[0] for line in errors) == files, result.stdout
    assert all('"assert_never"' in line and 'CardDeclined' in line for line in errors)
