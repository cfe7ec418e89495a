"""Tests of the environment of a project, whose packages the checked code imports."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from seamwise.check.settings import project_python
from seamwise.program.check import command

# Each test runs mypy.
pytestmark = pytest.mark.slow

PACKAGE = (
    'from seamwise import Failure, Result, Success\n'
    'def save() -> Result[int, str]: return Success(1) if id else Failure("")\n'
)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the Python of an environment with a package `storage`."""
    monkeypatch.chdir(tmp_path)
    subprocess.run(
        [sys.executable, '-m', 'venv', '--without-pip', '--symlinks', 'environment'], check=True
    )
    (packages,) = (tmp_path / 'environment' / 'lib').glob('python*/site-packages')
    own_paths = [path for path in sys.path if path and Path(path).is_dir()]
    (packages / 'own.pth').write_text('\n'.join(own_paths), encoding='utf-8')
    (packages / 'storage').mkdir()
    (packages / 'storage' / 'py.typed').touch()
    (packages / 'storage' / '__init__.py').write_text(PACKAGE, encoding='utf-8')
    Path('module.py').write_text('from storage import save\nsave()\n', encoding='utf-8')
    return tmp_path / 'environment' / 'bin' / 'python'


def test_packages_of_another_environment_have_types(environment: Path) -> None:
    without = CliRunner().invoke(command, ['module.py'])
    assert (without.exit_code, 'storage' in without.stderr) == (0, True)
    found = CliRunner().invoke(command, ['module.py', '--python-executable', str(environment)])
    assert (found.exit_code, found.stderr) == (1, '')
    assert 'error[SW101]' in found.stdout
    Path('pyproject.toml').write_text(
        f'[tool.seamwise.check]\npython-executable = "{environment}"\n', encoding='utf-8'
    )
    assert CliRunner().invoke(command, ['module.py']).exit_code == 1


def test_missing_executable_is_a_usage_error(environment: Path) -> None:
    missing = str(environment.with_name('nowhere'))
    result = CliRunner().invoke(command, ['module.py', '--python-executable', missing])
    assert result.exit_code == 2
    assert f"File '{missing}' does not exist." in result.stderr


@pytest.mark.parametrize(
    ('script', 'reason'),
    [
        ('exit 3', 'it ended with the code 3'),
        ('echo one >&2; echo two >&2; exit 1', 'two'),
        ('true', 'it does not print its folders of packages'),
        ('echo 1', 'it does not print its folders of packages'),
    ],
)
def test_executable_that_is_no_python_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path('module.py').touch()
    program = tmp_path / 'program'
    program.write_text(f'#!/bin/sh\n{script}\n', encoding='utf-8')
    program.chmod(0o755)
    result = CliRunner().invoke(command, ['module.py', '--python-executable', str(program)])
    assert result.exit_code == 2
    assert result.stderr == (
        f"seamwise: '{program}' is not a Python that mypy can use: {reason}.\n"
    )


@pytest.mark.parametrize('way', ['.venv', 'venv', 'VIRTUAL_ENV'])
def test_environment_of_the_project_is_found(
    environment: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.delenv('VIRTUAL_ENV', raising=False)
    if way == 'VIRTUAL_ENV':
        monkeypatch.setenv('VIRTUAL_ENV', str(environment.parents[1]))
    else:
        Path(way).symlink_to(environment.parents[1])
    found = CliRunner().invoke(command, ['module.py'])
    assert (found.exit_code, found.stderr) == (1, '')


def test_configuration_of_mypy_and_option_come_before_a_found_environment(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv('VIRTUAL_ENV', raising=False)
    Path('.venv').symlink_to(environment.parents[1])
    own = CliRunner().invoke(command, ['module.py', '--python-executable', sys.executable])
    assert (own.exit_code, 'storage' in own.stderr) == (0, True)
    Path('.venv').unlink()
    Path('mypy.ini').write_text(f'[mypy]\npython_executable = {environment}\n', encoding='utf-8')
    assert CliRunner().invoke(command, ['module.py']).exit_code == 1


def test_broken_environment_is_no_environment(tmp_path: Path) -> None:
    (tmp_path / '.venv' / 'bin').mkdir(parents=True)
    (tmp_path / '.venv' / 'bin' / 'python').touch()
    assert project_python(tmp_path) is None
    (tmp_path / '.venv' / 'pyvenv.cfg').touch()
    assert project_python(tmp_path) == str(tmp_path / '.venv' / 'bin' / 'python')


def test_own_environment_needs_no_other_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('VIRTUAL_ENV', sys.prefix)
    assert project_python(tmp_path) is None
