"""`[tool.seamwise.check]`."""

from pathlib import Path

import pytest

from seamwise import Failure, Success
from seamwise.check.settings import CheckSettings, load_settings

CODES = ['SW101', 'SW102']


def test_without_a_file_everything_is_asked(tmp_path: Path) -> None:
    assert load_settings(tmp_path, CODES) == Success(CheckSettings())
    assert CheckSettings().selects('SW101')


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    inner = tmp_path / 'a' / 'b'
    inner.mkdir(parents=True)
    (tmp_path / 'pyproject.toml').write_text(
        '[tool.seamwise.check]\nselect = ["SW102"]\nseverity = {SW102 = "hint"}\n', encoding='utf-8'
    )
    assert load_settings(inner, CODES) == Success(
        CheckSettings(select=('SW102',), severity={'SW102': 'hint'})
    )
    (tmp_path / 'a' / 'pyproject.toml').write_text('[project]\nname = "a"\n', encoding='utf-8')
    assert load_settings(inner, CODES) == Success(CheckSettings())


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('[tool.seamwise.check]\nselect = ["SW9"]', "names 'SW9'"),
        ('[tool.seamwise.check]\nselect = "SW101"', 'Expected `array`'),
        ('[tool.seamwise.check]\nchoose = []', 'unknown field `choose`'),
        ('[tool.seamwise.check]\nseverity = {SW101 = "fatal"}', "Invalid enum value 'fatal'"),
        ('[tool.seamwise.check]\nper-file-ignores = {"tests/*" = ["SW9"]}', "names 'SW9'"),
        ('[tool', 'cannot be read'),
        ('[tool.seamwise]\ncheck = 1', 'cannot be read'),
    ],
)
def test_a_mistake_is_told(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / 'pyproject.toml').write_text(text, encoding='utf-8')
    found = load_settings(tmp_path, CODES)
    assert isinstance(found, Failure)
    assert said in found.failure()


def test_what_is_on_and_what_is_named_is_asked() -> None:
    asked = CheckSettings(extend_select=('SW115',), ignore=('SW102',))
    assert [
        asked.selects('SW101'),
        asked.selects('SW102'),
        asked.selects('SW115', is_default=False),
        asked.selects('SW116', is_default=False),
    ] == [
        True,
        False,
        True,
        False,
    ]
    only = CheckSettings(select=('SW101',))
    assert [only.selects('SW101'), only.selects('SW102')] == [True, False]


@pytest.mark.parametrize(
    ('path', 'is_excused'),
    [
        ('tests/test_shop.py', True),
        ('tests/deep/er/test_shop.py', True),
        ('src/shop.py', False),
        ('src/tests/shop.py', False),
    ],
)
def test_a_pattern_excuses_all_files_below(tmp_path: Path, path: str, is_excused: bool) -> None:
    (tmp_path / 'pyproject.toml').write_text(
        '[tool.seamwise.check]\nper-file-ignores = {"tests/*" = ["SW101"]}\n', encoding='utf-8'
    )
    found = load_settings(tmp_path, CODES)
    assert isinstance(found, Success)
    assert found.unwrap().ignores(path, 'SW101') is is_excused
    assert not found.unwrap().ignores(path, 'SW102')
