"""Tests of the programs of the playground, and of the module that runs them.

`tests/browser/check_playground.py` runs them in a browser.
"""

import json
import re
import subprocess
import sys
import zlib
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest
from tools.documentation.try_it import fragment_of, runs_in_browser
from tools.playground.program import confine, run

from tests.documentation.playground_examples import EXAMPLES, Example

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / 'docs' / 'playground'
PAGE = ROOT / 'tools' / 'playground' / 'page'

HEAD = """\
from seamwise import Category, Failure, Success, TaggedError
from seamwise.seams import cli, http, session

class NotFound(TaggedError, category=Category.NOT_FOUND, message='There is no {name!r}.'):
    name: str

class Busy(TaggedError, category=Category.CAPACITY, message='Busy.'):
    pass
"""


@pytest.fixture(autouse=True)
def _main_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, '__main__', sys.modules['__main__'])


def drawing(program: str) -> Any:
    return json.loads(run(HEAD + program))


@pytest.mark.parametrize('example', EXAMPLES, ids=lambda example: example.name)
def test_an_example_prints_and_fails_as_expected(
    example: Example, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = json.loads(run((FOLDER / f'{example.name}.py').read_text(encoding='utf-8')))
    assert capsys.readouterr().out == example.output
    assert drawn['error_type'] == example.error
    assert {*drawn['seams']} == {*example.seams, 'log', 'telemetry'}
    assert len({*drawn['seams'], *drawn['notes']}) == 8


@pytest.mark.slow
def test_the_type_checker_finds_the_expected_problems(tmp_path: Path) -> None:
    files = [str(FOLDER / f'{example.name}.py') for example in EXAMPLES]
    result = subprocess.run(
        [sys.executable, '-m', 'mypy', '--strict', '--no-error-summary', *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[str, set[int]] = {example.name: set() for example in EXAMPLES}
    for name, line in re.findall(r'(\w+)\.py:(\d+): (?:error|note)', result.stdout):
        found[name].add(int(line))
    assert found == {example.name: {*(example.of_mypy or example.problems)} for example in EXAMPLES}


def test_the_page_offers_all_examples_in_both_languages() -> None:
    names = {example.name for example in EXAMPLES}
    assert {path.stem for path in FOLDER.glob('*.py')} == names
    order = re.search(r'const ORDER = \[(.*?)\]', (PAGE / 'page.js').read_text(), re.DOTALL)
    assert order is not None
    assert {*re.findall(r'"(\w+)"', order[1])} == names
    texts = (PAGE / 'texts.js').read_text(encoding='utf-8')
    english, chinese = texts.split('zh_CN: {')
    keys = re.findall(r'^    (\w+): ', english, re.MULTILINE)
    assert keys == re.findall(r'^    (\w+): ', chinese, re.MULTILINE)
    assert {key.removeprefix('ex_') for key in keys if key.startswith('ex_')} == names


def test_the_last_expression_is_drawn() -> None:
    drawn = drawing("Failure(NotFound('a'))")
    assert drawn['success'] is False
    assert drawn['message'] == "There is no 'a'."
    assert drawn['retryable'] is False
    assert drawing('[Success(1), Failure(Busy())]')['error_type'] == 'Busy'
    assert drawing("Failure((Busy(), NotFound('a')))")['error_type'] == 'Busy'
    assert drawing('Success(1)')['success'] is True
    assert drawing('1') is None
    assert drawing('failed = Failure(Busy())') is None
    assert json.loads(run('')) is None


def test_a_failure_without_a_tagged_error_has_no_outputs() -> None:
    drawn = drawing("Failure('text')")
    assert (drawn['error_type'], drawn['message']) == ('str', "'text'")
    assert {*drawn['notes'].values()} == {'untagged'}
    assert len(drawn['notes']) == 8


def test_the_adapters_of_a_program_are_the_tables_of_their_seams() -> None:
    drawn = drawing(
        'AS_TEXT = cli.on(NotFound).exits(66)\n'
        "AS_HTTP = http.on(Busy).responds(503, 'BUSY')\n"
        "EVENTS = session.on(NotFound).publishes('error.permanent', 'ERR_USER_001')\n"
        "Failure(NotFound('a'))"
    )
    assert drawn['seams']['cli']['exit_code'] == 66
    assert drawn['seams']['session']['zh_CN'][0]['metadata']['error_code'] == 'ERR_USER_001'
    assert drawn['notes']['http'] == 'noArm'
    assert drawn['notes']['model'] == 'noTable_model'
    hidden = drawing('AS_HTTP = http.on(Busy).hidden()\nFailure(Busy())')
    assert hidden['notes']['http'] == 'hiddenArm'


def test_an_exception_is_printed_without_frames_of_the_playground(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run('def divide():\n    return 1 / 0\n\ndivide()') == 'null'
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == 'Traceback (most recent call last):'
    assert [line.strip() for line in lines if line.lstrip().startswith('File')] == [
        'File "program.py", line 4, in <module>',
        'File "program.py", line 2, in divide',
    ]
    assert '    return 1 / 0' in lines
    assert lines[-1] == 'ZeroDivisionError: division by zero'
    assert run('(') == 'null'
    assert "SyntaxError: '(' was never closed" in capsys.readouterr().err
    assert run('import sys; sys.exit(3)') == 'null'
    assert capsys.readouterr().err == 'SystemExit: 3\n'


def test_a_program_reaches_no_modules_of_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, 'meta_path', [*sys.meta_path])
    monkeypatch.setitem(sys.modules, 'js', sys)
    confine()
    for name in ('js', 'pyodide_js', 'pyodide.http'):
        with pytest.raises(ModuleNotFoundError, match='not available in the playground'):
            __import__(name)


def test_a_link_holds_the_compressed_program() -> None:
    program = 'print("è")\n' * 100
    fragment = fragment_of(program)
    assert re.fullmatch(r'#code=[\w-]+', fragment)
    assert len(fragment) < 50
    encoded = fragment.removeprefix('#code=')
    data = urlsafe_b64decode(encoded + '=' * (-len(encoded) % 4))
    assert zlib.decompress(data, -zlib.MAX_WBITS).decode() == program


def test_code_with_other_packages_cannot_be_tried() -> None:
    assert runs_in_browser('import asyncio\nfrom seamwise.seams import http')
    assert not runs_in_browser('from seamwise.toolhost import tool')
    assert not runs_in_browser('from seamwise import toolhost')
    assert not runs_in_browser('import click')


def test_the_lock_file_has_hashes_and_no_addresses() -> None:
    text = (ROOT / 'tools' / 'playground' / 'package-lock.json').read_text(encoding='utf-8')
    packages: dict[str, dict[str, object]] = json.loads(text)['packages']
    assert [name for name, entry in packages.items() if name and 'integrity' not in entry] == []
    assert 'resolved' not in text
