"""Tests of `settings`."""

from pathlib import Path

import pytest

from seamwise import Failure, Success
from seamwise.check.settings import CheckSettings, load_settings
from seamwise.testing import assert_success

CODES = ['SW101', 'SW102']


def test_all_default_rules_are_selected_without_a_file(tmp_path: Path) -> None:
    assert load_settings(tmp_path, CODES) == Success(CheckSettings())
    assert CheckSettings().selects('SW101')


def test_nearest_file_is_used(tmp_path: Path) -> None:
    inner = tmp_path / 'a' / 'b'
    inner.mkdir(parents=True)
    (tmp_path / 'pyproject.toml').write_text(
        '[tool.seamwise.check]\nselect = ["SW102"]\nseverity = {SW102 = "hint"}\n', encoding='utf-8'
    )
    assert load_settings(inner, CODES) == Success(
        CheckSettings(select=('SW102',), severity={'SW102': 'hint'}, root=str(tmp_path))
    )
    (tmp_path / 'a' / 'pyproject.toml').write_text('[project]\nname = "a"\n', encoding='utf-8')
    assert load_settings(inner, CODES) == Success(CheckSettings(root=str(tmp_path / 'a')))


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('[tool.seamwise.check]\nselect = ["SW9"]', "names 'SW9'"),
        ('[tool.seamwise.check]\nselect = "SW101"', 'Expected `array`'),
        ('[tool.seamwise.check]\nchoose = []', 'unknown field `choose`'),
        ('[tool.seamwise.check]\nseverity = {SW101 = "fatal"}', "Invalid enum value 'fatal'"),
        ('[tool.seamwise.check]\nper-file-ignores = {"tests/*" = ["SW9"]}', "names 'SW9'"),
        ('[tool', 'cannot be read'),
        ('[tool.seamwise.check]\nroot = "src"', 'unknown field `root`'),
        ('[tool.seamwise]\ncheck = 1', 'cannot be read'),
    ],
)
def test_invalid_settings_are_reported(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / 'pyproject.toml').write_text(text, encoding='utf-8')
    settings = load_settings(tmp_path, CODES)
    assert isinstance(settings, Failure)
    assert message in settings.failure()


def test_default_and_named_rules_are_selected_unless_ignored() -> None:
    settings = CheckSettings(extend_select=('SW115',), ignore=('SW102',))
    assert [
        settings.selects('SW101'),
        settings.selects('SW102'),
        settings.selects('SW115', is_default=False),
        settings.selects('SW116', is_default=False),
    ] == [
        True,
        False,
        True,
        False,
    ]
    exclusive = CheckSettings(select=('SW101',))
    assert [exclusive.selects('SW101'), exclusive.selects('SW102')] == [True, False]


@pytest.mark.parametrize(
    ('path', 'is_ignored'),
    [
        ('tests/test_shop.py', True),
        ('tests/deep/er/test_shop.py', True),
        ('src/shop.py', False),
        ('src/tests/shop.py', False),
    ],
)
def test_per_file_pattern_includes_subfolders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, is_ignored: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'pyproject.toml').write_text(
        '[tool.seamwise.check]\nper-file-ignores = {"tests/*" = ["SW101"]}\n', encoding='utf-8'
    )
    settings = load_settings(tmp_path, CODES)
    loaded = assert_success(settings)
    assert loaded.ignores(path, 'SW101') is is_ignored
    assert not loaded.ignores(path, 'SW102')


def test_paths_are_relative_to_the_configuration_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'pyproject.toml').write_text(
        '[tool.seamwise.check]\n'
        'per-file-ignores = {"tests/*" = ["SW101"]}\n'
        'python-executable = ".venv/bin/python"\n',
        encoding='utf-8',
    )
    folder = tmp_path / 'tests'
    folder.mkdir()
    monkeypatch.chdir(folder)
    settings = assert_success(load_settings(folder, CODES))
    assert settings.ignores('test_shop.py', 'SW101')
    assert settings.ignores(str(folder / 'test_shop.py'), 'SW101')
    assert not settings.ignores('../shop.py', 'SW101')
    assert settings.python_executable == str(tmp_path / '.venv' / 'bin' / 'python')
