"""The page docs/check/adopting.md: each step runs as the one before it did, and the check says of it what the page says."""

import difflib
import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Protocol, cast

import pytest

from seamwise.check.adoption.render import render_adoption_text
from seamwise.check.adoption.report import adoption_report
from seamwise.check.checking import run_check

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / 'examples' / 'adopting'
PAGE = (ROOT / 'docs' / 'check' / 'adopting.md').read_text(encoding='utf-8')
STEPS = ('start', 'step1', 'step2', 'step3', 'step4', 'step5')
BLOCK = re.compile(r'^```(?P<kind>\w+)\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)
STOCK = '{"tea": 3, "coffee": 1}'

every_step = pytest.mark.parametrize('step', STEPS)
every_input = pytest.mark.parametrize(
    ('orders', 'stock', 'out', 'err', 'code'),
    [
        ('tea, 2\ncoffee, 1', STOCK, 'tea: 1 left\ncoffee: 0 left\n', '', 0),
        ('', STOCK, '', '', 0),
        ('tea, 2\ntea', STOCK, '', "Line 2 is no order: 'tea'.\n", 65),
        ('tea, 2\nmilk, 1', STOCK, '', "There is no 'milk'.\n", 65),
        ('tea, 2\ntea, 2', STOCK, '', "Only 1 of 'tea' are left.\n", 75),
        (None, STOCK, '', "There is no file 'orders.txt'.\n", 66),
        ('tea, 2', None, '', "There is no file 'stock.json'.\n", 66),
        ('tea, 2', '{"tea": 3', '', "Expecting ',' delimiter: line 1 column 10 (char 9)\n", 1),
    ],
)


class Program(Protocol):
    def main(self, arguments: list[str]) -> int: ...


def blocks(kind: str) -> list[str]:
    return [one['text'] for one in BLOCK.finditer(PAGE) if one['kind'] == kind]


def code_of(step: str) -> str:
    return (FOLDER / f'{step}.py').read_text(encoding='utf-8')


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for step in STEPS:
        shutil.copy(FOLDER / f'{step}.py', tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, 'path', [str(tmp_path), *sys.path])
    yield tmp_path
    for step in STEPS:
        sys.modules.pop(step, None)


@every_input
@every_step
def test_every_step_does_the_same(  # noqa: PLR0917 -- the fixture and the columns of the table
    step: str,
    orders: str | None,
    stock: str | None,
    out: str,
    err: str,
    code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, text in (('orders.txt', orders), ('stock.json', stock)):
        if text is not None:
            Path(name).write_text(text, encoding='utf-8')
    program = cast('Program', importlib.import_module(step))
    assert program.main(['orders.txt', 'stock.json']) == code
    assert capsys.readouterr() == (out, err)
    if stock is not None:
        kept = '{"tea": 1, "coffee": 0}' if 'coffee' in (orders or '') else stock
        assert Path('stock.json').read_text(encoding='utf-8') == kept


@every_step
def test_every_step_runs_as_a_program(step: str, folder: Path) -> None:
    (folder / 'orders.txt').write_text('tea, 4', encoding='utf-8')
    (folder / 'stock.json').write_text(STOCK, encoding='utf-8')
    command = [sys.executable, f'{step}.py', 'orders.txt', 'stock.json']
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ('', "Only 3 of 'tea' are left.\n", 75)


def test_the_last_step_tells_a_bug_by_its_reference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = importlib.import_module('step5')

    def broken(*given: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(program, 'book', broken)
    assert program.main(['orders.txt', 'stock.json']) == 70
    assert re.fullmatch(r'A defect: err_\w{8}\.\n', capsys.readouterr().err)


def test_every_step_is_typed() -> None:
    for step in STEPS:
        command = [
            sys.executable,
            '-m',
            'mypy',
            '--config-file=',
            '--strict',
            '--cache-dir=cache',
            '--no-error-summary',
            f'{step}.py',
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout + done.stderr == ''


def test_the_page_shows_the_program_and_then_each_change() -> None:
    assert blocks('python')[0] == code_of('start')
    assert blocks('diff') == [change(before, after) for before, after in pairwise(STEPS)]


def change(before: str, after: str) -> str:
    """Give what a step changes, without the line at the top that names the program."""
    lines = difflib.unified_diff(
        code_of(before).splitlines()[1:], code_of(after).splitlines()[1:], n=1, lineterm=''
    )
    shown = [
        ' …' if line.startswith('@@') else line
        for line in lines
        if not line.startswith(('---', '+++'))
    ]
    return '\n'.join(shown[1:]) + '\n'


@every_step
def test_the_check_says_of_each_step_what_the_page_says(step: str) -> None:
    report = run_check([f'{step}.py'])
    assert report.problems == ()
    found = [f'{one.path}:{one.line}: {one.code} {one.message}' for one in report.findings]
    said = [
        line
        for text in blocks('text')
        for line in text.splitlines()
        if line.startswith(f'{step}.py:') and ' SW' in line
    ]
    assert said == found


@every_step
def test_the_report_says_of_each_step_what_the_page_says(step: str) -> None:
    lines = render_adoption_text(adoption_report([f'{step}.py'])).splitlines()
    assert f'{step}.py: {lines[0]}' in PAGE.splitlines()
    if step == 'start':
        assert '\n'.join(lines) + '\n' in PAGE
