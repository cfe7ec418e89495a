"""Tests of `baseline`, and of `seamwise check --baseline` and `--write-baseline`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from seamwise.program.check import command

# Each test runs mypy.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('warm_cache')]

START = (
    'from seamwise import Failure, Result, Success\n'
    'def save() -> Result[int, str]: return Success(1) if id else Failure("")\n'
)


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / 'module.py'
    file.write_text(f'{START}save()\n', encoding='utf-8')
    return file


def check(*options: str) -> tuple[int, list[int], str]:
    """Return the exit code, the lines of the findings, and standard error."""
    result = CliRunner().invoke(command, ['module.py', '--json', *options])
    findings: list[dict[str, int]] = json.loads(result.stdout or '{"findings": []}')['findings']
    return result.exit_code, [finding['line'] for finding in findings], result.stderr


def test_known_findings_are_omitted_also_on_other_lines(module: Path) -> None:
    assert check('--write-baseline', 'known.json') == (
        0,
        [],
        'seamwise: wrote 1 finding to known.json.\n',
    )
    assert check('--baseline', 'known.json')[:2] == (0, [])
    module.write_text(f'{START}\n\nsave()\n', encoding='utf-8')
    assert check('--baseline', 'known.json')[:2] == (0, [])


def test_new_findings_are_reported_also_equal_ones(module: Path) -> None:
    check('--write-baseline', 'known.json')
    module.write_text(f'{START}save()\nprint(), save()\nsave()\n', encoding='utf-8')
    assert check('--baseline', 'known.json')[:2] == (1, [4, 5])


def test_baseline_in_another_folder_fits(tmp_path: Path) -> None:
    (tmp_path / 'ci').mkdir()
    check('--write-baseline', 'ci/known.json')
    assert json.loads((tmp_path / 'ci' / 'known.json').read_bytes())['findings'][0]['path'] == (
        '../module.py'
    )
    assert check('--baseline', 'ci/known.json')[:2] == (0, [])


@pytest.mark.parametrize('content', ['', '{', '{"version": 2, "findings": []}', '[1]'])
def test_unreadable_baseline_is_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / 'known.json').write_text(content, encoding='utf-8')
    code, lines, message = check('--baseline', 'known.json')
    assert (code, lines) == (2, [])
    assert message.startswith('seamwise: --baseline: known.json ')
    assert message.count('\n') == 1


def test_missing_and_unwritable_files_are_one_line() -> None:
    assert check('--baseline', 'nowhere.json') == (
        2,
        [],
        'seamwise: --baseline: nowhere.json cannot be read: No such file or directory.\n',
    )
    code, _, message = check('--write-baseline', 'nowhere/known.json')
    assert code == 2
    assert message.startswith('seamwise: --write-baseline: cannot write nowhere/known.json: ')


def test_options_that_contradict_each_other_are_refused() -> None:
    code, _, message = check('--write-baseline', 'a.json', '--baseline', 'b.json')
    assert code == 2
    assert '--write-baseline cannot be combined with' in message
