"""`seamwise check`: what it prints, and how it ends."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from seamwise.program.start import seamwise

SOURCE = 'from seamwise import Result, Success\ndef save() -> Result[int, str]: return Success(1)\n'


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'clean.py').write_text(SOURCE, encoding='utf-8')
    (tmp_path / 'dirty.py').write_text(f'{SOURCE}def run() -> None:\n\tsave()\n', encoding='utf-8')


def check(*arguments: str) -> Result:
    result = CliRunner().invoke(seamwise, ['check', *arguments], standalone_mode=False)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def code(result: Result) -> object:
    return result.return_value if result.exit_code == 0 else result.exit_code


def test_a_clean_file_ends_with_nothing() -> None:
    result = check('clean.py')
    assert result.output.startswith('nothing found in 1 file (')
    assert code(result) == 0


def test_a_finding_is_shown_with_its_line_and_a_caret() -> None:
    result = check('dirty.py')
    lines = result.output.splitlines()
    assert lines[0] == 'dirty.py:4:2: error[SW101] The Result of `save(…)` is thrown away, and with it its error (str).'
    assert lines[2] == '    \t^^^^^^'
    assert lines[-1].startswith('1 finding in 1 file (')
    assert code(result) == 1


def test_json_has_every_finding() -> None:
    result = check('dirty.py', 'clean.py', '--json')
    told = json.loads(result.stdout)
    assert told.keys() == {'findings', 'files', 'seconds'}
    assert told['files'] == 2
    (found,) = told['findings']
    assert found.keys() == {'code', 'path', 'line', 'column', 'message', 'help', 'severity'}
    assert [found[name] for name in ('code', 'path', 'line', 'column', 'severity')] == ['SW101', 'dirty.py', 4, 2, 'error']
    assert code(result) == 1


def test_what_cannot_be_read_is_told_beside_the_findings() -> None:
    Path('broken.py').write_text('def (:', encoding='utf-8')
    result = check('.', '--json')
    assert result.stderr == 'seamwise: broken.py:1: it does not parse: invalid syntax.\n'
    assert [one['path'] for one in json.loads(result.stdout)['findings']] == ['dirty.py']
    assert code(result) == 2


def test_a_missing_import_alone_ends_well() -> None:
    Path('clean.py').write_text('import nowhere\n', encoding='utf-8')
    result = check('clean.py')
    assert 'clean.py:1: Cannot find implementation' in result.stderr
    assert code(result) == 0


def test_settings_are_read_and_a_mistake_in_them_is_told() -> None:
    Path('pyproject.toml').write_text('[tool.seamwise.check]\nignore = ["SW101"]\n', encoding='utf-8')
    assert code(check('dirty.py')) == 0
    Path('pyproject.toml').write_text('[tool.seamwise.check]\nignore = ["E501"]\n', encoding='utf-8')
    result = check('dirty.py')
    assert "names 'E501'" in result.stderr
    assert code(result) == 2


def test_a_rule_is_explained() -> None:
    assert check('--explain', 'sw101').output.startswith('# SW101: a Result thrown away.\n')


@pytest.mark.parametrize('arguments', [(), ('--explain', 'SW999')])
def test_a_wrong_use_is_told(arguments: tuple[str, ...]) -> None:
    result = CliRunner().invoke(seamwise, ['check', *arguments])
    assert result.exit_code == 2
    assert 'Usage: ' in result.stderr
