"""Tests of the page docs/check/adopting.md: behaviour of each step, and the output shown there."""

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
from seamwise.check.migrate.migration import plan_migration

# Each test runs mypy.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / 'examples' / 'adopting'
PAGE = (ROOT / 'docs' / 'check' / 'adopting.md').read_text(encoding='utf-8')
STEPS = ('start', 'step1', 'step2', 'step3')
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
    return [block['text'] for block in BLOCK.finditer(PAGE) if block['kind'] == kind]


def source_of(step: str) -> str:
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
def test_every_step_behaves_like_the_first(  # noqa: PLR0917 -- the columns of the table
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
        saved = '{"tea": 1, "coffee": 0}' if 'coffee' in (orders or '') else stock
        assert Path('stock.json').read_text(encoding='utf-8') == saved


@every_step
def test_every_step_runs_as_a_program(step: str, folder: Path) -> None:
    (folder / 'orders.txt').write_text('tea, 4', encoding='utf-8')
    (folder / 'stock.json').write_text(STOCK, encoding='utf-8')
    command = [sys.executable, f'{step}.py', 'orders.txt', 'stock.json']
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr, result.returncode) == (
        '',
        "Only 3 of 'tea' are left.\n",
        75,
    )


def test_last_step_prints_the_reference_of_a_defect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = importlib.import_module('step3')

    def broken(*args: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(program, 'book', broken)
    assert program.main(['orders.txt', 'stock.json']) == 70
    assert re.fullmatch(r'A defect: err_\w{8}\.\n', capsys.readouterr().err)


def test_first_step_is_what_the_command_writes() -> None:
    migration = plan_migration(['start.py']).unwrap()
    ((_, new),) = migration.contents.values()
    assert new.decode() == source_of('step1').replace('step1.py', 'start.py', 1)
    assert not plan_migration(['step1.py']).unwrap().contents


def test_every_step_passes_mypy() -> None:
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
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.stdout + result.stderr == ''


def test_page_contains_the_program_and_each_change() -> None:
    assert blocks('python')[0] == source_of('start')
    assert blocks('diff') == [change(previous, current) for previous, current in pairwise(STEPS)]


def change(previous: str, current: str) -> str:
    """Return the diff of a step, without the first line, which contains the file name."""
    lines = difflib.unified_diff(
        source_of(previous).splitlines()[1:], source_of(current).splitlines()[1:], n=1, lineterm=''
    )
    hunks = [
        ' …' if line.startswith('@@') else line
        for line in lines
        if not line.startswith(('---', '+++'))
    ]
    return '\n'.join(hunks[1:]) + '\n'


@every_step
def test_page_contains_the_findings_of_each_step(step: str) -> None:
    report = run_check([f'{step}.py'])
    assert report.problems == ()
    findings = [
        f'{finding.path}:{finding.line}: {finding.code} {finding.message}'
        for finding in report.findings
    ]
    on_page = [
        line
        for text in blocks('text')
        for line in text.splitlines()
        if line.startswith(f'{step}.py:') and ' SW' in line
    ]
    assert on_page == findings


@every_step
def test_page_contains_the_adoption_of_each_step(step: str) -> None:
    lines = render_adoption_text(adoption_report([f'{step}.py'])).splitlines()
    assert f'{step}.py: {lines[0]}' in PAGE.splitlines()
    if step == 'start':
        assert '\n'.join(lines) + '\n' in PAGE
