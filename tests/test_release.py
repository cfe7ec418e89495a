"""Tests of the packages of a release, and of the workflows that publish them."""

import re
import zipfile
from pathlib import Path

import pytest
from tools import release

WORKFLOWS = sorted((release.ROOT / '.github' / 'workflows').glob('*.yml'))


def test_a_tag_other_than_the_version_is_an_obstacle() -> None:
    version = release.version()
    assert f"The tag is 'v9.9', and the version in pyproject.toml is '{version}'." in [
        *release.obstacles('v9.9')
    ]


def test_the_present_commit_can_be_tried() -> None:
    assert [*release.obstacles(None)] == []


def write_wheel(path: Path, names: set[str]) -> Path:
    with zipfile.ZipFile(path, 'w') as archive:
        for name in names:
            archive.writestr(name, '')
    return path


def test_missing_and_foreign_files_of_a_wheel_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ['src/seamwise/__init__.py', *(f'src/{name}' for name in release.NEEDED_IN_WHEEL)]
    monkeypatch.setattr(release, 'tracked', lambda _: files)
    names = {name.removeprefix('src/') for name in files} | {'seamwise-0.1.0.dist-info/METADATA'}
    complete = write_wheel(tmp_path / 'complete.whl', names)
    assert [*release.check_wheel(complete)] == []
    broken = write_wheel(
        tmp_path / 'broken.whl', names - {'seamwise/__init__.py'} | {'tests/test_release.py'}
    )
    assert [*release.check_wheel(broken)] == [
        'The wheel has tests/test_release.py, which belongs to no package.',
        'The wheel lacks seamwise/__init__.py.',
    ]


@pytest.mark.parametrize('workflow', WORKFLOWS, ids=lambda path: path.name)
def test_workflows_pin_actions_by_hash_and_grant_nothing_by_default(workflow: Path) -> None:
    text = workflow.read_text(encoding='utf-8')
    actions = re.findall(r'uses: (\S+)', text)
    assert actions
    assert [action for action in actions if not re.search(r'@[0-9a-f]{40}\Z', action)] == []
    assert '\npermissions: {}\n' in text
